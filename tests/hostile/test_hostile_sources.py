"""Source code that is made to take all time or memory, to break a grammar, or to lead out of the workspace."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.tools import ToolResult
from tool_api.navigation.programs import SourcePrograms
from tool_api.tools.navigation.controller import NavigationController
from tool_api.tools.navigation.types import CodeDefinition, CodeReferences, CodeSymbols
from tool_api.tools.tool import CallContext
from tool_api.workspace import Workspace

pytestmark = pytest.mark.thorough

SOON_S = 0.5


@pytest.fixture
def root() -> Iterator[Path]:
    # In memory: a hundred thousand files are made.
    root = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield root
    subprocess.run(["rm", "-rf", str(root)], check=True)


async def _no_output(_: str) -> None:
    return


def controller(root: Path) -> NavigationController:
    return NavigationController(workspace=Workspace(root), programs=SourcePrograms())


def call(within_s: float = 60) -> CallContext:
    return CallContext(call_id="c", deadline=time.monotonic() + within_s, write_output=_no_output)


async def symbols(root: Path, path: str = ".", query: str = "", within_s: float = 60) -> ToolResult:
    return await controller(root).symbols(call(within_s), CodeSymbols(path=path, query=query))


HARD = {
    "ambiguous.cpp": b"a<b(c*" * 150_000,
    "brackets.py": b"[(" * 300_000,
    "tags.jsx": b"<a>" * 250_000,
    "templates.js": b"`${" * 200_000,
    "classes.rb": b"class A\n" * 100_000,
    "types.ts": b"type A<T> = T extends " * 40_000,
    "pointers.c": b"int " + b"*" * 500_000 + b"x;",
    "heredocs.sh": b"cat <<A\n" * 100_000,
    "one_line.js": b"var a=1;" * 120_000,
    "strings.php": b'<?php $a = "{$' * 60_000,
    "generics.java": b"A<" * 400_000,
    "macros.rs": b"a!(" * 300_000,
    "interpolated.cs": b'$"{' * 300_000,
    "calls.go": b"package p\nfunc f() {" + b"f(" * 400_000,
}


@pytest.mark.parametrize("name", HARD)
async def test_a_source_made_to_take_long_ends_in_its_time(root: Path, name: str) -> None:
    (root / name).write_bytes(HARD[name][: 1024 * 1024])
    (root / "z.py").write_text("def found(): ...\n")
    started = time.monotonic()
    said = await symbols(root, within_s=28)
    assert time.monotonic() - started < 24
    assert len(said.output) < 100_000
    assert "found" in said.output or "more left out" in said.output
    assert "function found" in (await symbols(root, query="found")).output


async def test_what_takes_too_long_is_named_and_the_others_are_found(root: Path) -> None:
    (root / "a.cpp").write_bytes(HARD["ambiguous.cpp"])
    (root / "b.py").write_text("def found(): ...\n")
    said = await symbols(root)
    assert "b.py:1 function found" in said.output
    assert "[not understood, as it takes too long: a.cpp]" in said.output


async def test_a_hundred_thousand_files_are_bounded(root: Path) -> None:
    for folder in range(200):
        (root / f"f{folder}").mkdir()
        for number in range(500):
            (root / f"f{folder}/a{number}.py").write_text(f"def f{number}(): ...\n")
    started = time.monotonic()
    found = await controller(root).references(call(), CodeReferences(symbol="f499"))
    assert time.monotonic() - started < 30
    assert found.output.count("definition") >= 150 or "not all was looked through" in found.output
    listed = await symbols(root, within_s=12)
    assert listed.output.count(" function ") == 300
    assert "more left out" in listed.output


async def test_large_files_are_left_out_and_named(root: Path) -> None:
    with (root / "large.py").open("wb") as file:
        file.truncate(1024**3)
    (root / "small.py").write_text("def found(): ...\n")
    said = await symbols(root)
    assert said.output.startswith("small.py:1 function found")
    assert "[not read, as larger than 1 MB: large.py]" in said.output


async def test_no_link_leads_out_and_nothing_but_files_is_opened(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("def secret(): ...\n")
    (root / "file.py").symlink_to(tmp_path / "secret.py")
    (root / "folder").symlink_to(tmp_path)
    (root / "loop").symlink_to(root)
    (root / ".gitignore").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.py")
    (root / "own.py").write_text("def own(): ...\n")
    assert (await symbols(root)).output == "own.py:1 function own"
    for path in ("file.py", "folder"):
        said = await symbols(root, path)
        assert not said.success
        assert "outside of the workspace" in said.output


async def test_names_that_are_no_text_are_told_as_marks(root: Path) -> None:
    (root / os.fsdecode(b"\xff\n.py")).write_text("def own(): ...\n")
    said = await symbols(root)
    assert "function own" in said.output
    said.model_dump_json()


async def test_who_asks_for_a_pattern_gets_a_name(root: Path) -> None:
    (root / "a.py").write_text("def a(): ...\n" * 10)
    for symbol in ("(a+)+$", "a|b", "\\", "[", "a" * 200, "\0"):
        said = await controller(root).references(call(), CodeReferences(symbol=symbol))
        assert "a.py" not in said.output
    assert (await controller(root).definition(call(), CodeDefinition(symbol="a"))).output.startswith("a.py:1 ")


async def test_a_call_ends_soon_after_it_is_cancelled(root: Path) -> None:
    for number in range(20):
        (root / f"a{number}.cpp").write_bytes(HARD["ambiguous.cpp"])
    task = asyncio.create_task(symbols(root))
    await asyncio.sleep(1)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < SOON_S
