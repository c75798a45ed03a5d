"""Going through a tree."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from support.descriptors import open_below
from support.nested_folders import nest
from tool_api.tree_walk import DEEPEST, walk


def test_folders_are_met_before_those_inside_of_them_and_in_order(tmp_path: Path) -> None:
    for path in ("b/y", "b/x", "a"):
        (tmp_path / path).mkdir(parents=True)
    for path in ("2", "1", "b/x/file"):
        (tmp_path / path).touch()
    (tmp_path / "b" / "link").symlink_to(tmp_path)
    met = [
        (folder.path, folder.depth, list(folder.folders), list(folder.files))
        for folder in walk(os.open(tmp_path, os.O_RDONLY))
    ]
    assert met == [
        ("", 0, ["a", "b"], ["1", "2"]),
        ("a", 1, [], []),
        ("b", 1, ["link", "x", "y"], []),
        ("b/x", 2, [], ["file"]),
        ("b/y", 2, [], []),
    ]
    assert open_below(tmp_path) == []


def test_what_is_taken_out_is_not_gone_into_and_what_is_left_leaves_nothing_open(tmp_path: Path) -> None:
    for path in ("a/x", "b/y"):
        (tmp_path / path).mkdir(parents=True)
    with closing(walk(os.open(tmp_path, os.O_RDONLY))) as folders:
        next(folders).folders.remove("a")
        folder = next(folders)
        assert folder.path == "b"
        assert os.listdir(folder.fd) == ["y"]
    assert open_below(tmp_path) == []


def test_folders_that_lie_deeper_than_those_of_honest_programs_are_left_out(tmp_path: Path) -> None:
    nest(tmp_path, DEEPEST + 50, "d")
    assert max(folder.depth for folder in walk(os.open(tmp_path, os.O_RDONLY))) == DEEPEST
    assert open_below(tmp_path) == []
