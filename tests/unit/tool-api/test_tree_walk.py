"""Going through any tree: everything in it is met once, with few folders open."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tool_api import tree_walk
from tool_api.tree_walk import walk

OPEN = 3
LIMIT = 32
Tree: TypeAlias = "dict[str, Tree]"
Met: TypeAlias = tuple[str, int, list[str], list[str]]


def _branches(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.dictionaries(st.sampled_from("abc"), inner, max_size=3)


TREES: st.SearchStrategy[Tree] = st.recursive(st.builds(dict[str, Tree]), _branches, max_leaves=12)


@pytest.fixture
def root() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(dir="/dev/shm"))
    # What other tests left open is not closed in the middle of one that counts descriptors.
    gc.collect()
    gc.disable()
    yield root
    gc.enable()
    shutil.rmtree(root)


def make(root: Path, tree: Tree) -> None:
    root.mkdir()
    (root / "file").touch()
    for name, inner in tree.items():
        make(root / name, inner)


def met(root: Path) -> tuple[list[Met], int]:
    """What the walk goes through, and how many descriptors it had open at most."""
    before = len(os.listdir("/proc/self/fd"))
    found: list[Met] = []
    most = 0
    for folder in walk(os.open(root, os.O_RDONLY | os.O_DIRECTORY)):
        assert sorted(os.listdir(folder.fd)) == sorted(folder.folders + folder.files)
        most = max(most, len(os.listdir("/proc/self/fd")) - before)
        found.append((folder.path, folder.depth, list(folder.folders), list(folder.files)))
    assert len(os.listdir("/proc/self/fd")) == before
    return found, most


def plain(root: Path) -> list[Met]:
    found: list[Met] = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        path = os.path.relpath(folder, root).removeprefix(".")
        found.append((path, path.count("/") + 1 if path else 0, list(folders), sorted(files)))
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=TREES)
def test_a_walk_meets_what_a_plain_one_meets(tree: Tree, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_walk, "_OPEN", OPEN)
    top = root / "top"
    make(top, tree)
    try:
        found, most = met(top)
        assert found == plain(top)
        assert most <= OPEN + 1
    finally:
        shutil.rmtree(top)


@pytest.mark.parametrize("depth", range(LIMIT - 3, LIMIT + 12, 2))
def test_siblings_far_below_are_all_met(root: Path, depth: int) -> None:
    bottom = root.joinpath(*["d"] * depth)
    bottom.mkdir(parents=True)
    for name in "abcde":
        make(bottom / name, {"x": {}, "y": {"z": {}}})
    found, most = met(root)
    assert found == plain(root)
    assert most <= LIMIT + 1
