"""Where the limit of processes is set: against the tasks of one sandbox alone, as far as the kernel can count them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process import limits as module
from sandbox_manager.infrastructure.runtimes.process.limits import Limits, limits_here
from support.sandboxes import inside


def _of_processes(command: list[str]) -> list[str]:
    return [one for one in command if one.startswith("--nproc")]


def test_where_namespaces_are_counted_apart_the_limit_is_set_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_own_tasks", lambda: 30)
    limits = Limits("rlimit", inside(), counts_by_namespace=True)

    assert _of_processes(limits.prlimit()) == []
    assert limits.prlimit_inside() == ["prlimit", f"--nproc={inside().pids}", "--"]


def test_before_that_it_is_set_outside_and_leaves_room_for_what_else_the_user_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_own_tasks", lambda: 30)
    limits = Limits("rlimit", inside())

    assert _of_processes(limits.prlimit()) == [f"--nproc={inside().pids + 30}"]
    assert limits.prlimit_inside() == []


def test_a_sandbox_in_a_cgroup_has_no_other_limit_inside() -> None:
    assert Limits("cgroup v2", inside(), counts_by_namespace=True).prlimit_inside() == []


@pytest.mark.parametrize(("isolated", "counted"), [(True, True), (False, False)])
def test_without_a_namespace_of_its_own_nothing_is_counted_apart(
    monkeypatch: pytest.MonkeyPatch, isolated: bool, counted: bool
) -> None:
    monkeypatch.setattr(module, "_is_usable", lambda _: False)
    monkeypatch.setattr(module, "_counts_by_namespace", lambda: True)

    assert limits_here(inside(), isolated=isolated).counts_by_namespace is counted


@pytest.mark.parametrize(("script", "counted"), [("exit 0", True), ("exit 1", False), (None, False)])
def test_what_is_tried_tells_whether_namespaces_are_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, counted: bool
) -> None:
    if script is not None:
        bubblewrap = tmp_path / "bwrap"
        bubblewrap.write_text(f"#!/bin/sh\n{script}\n")
        bubblewrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(module, "_is_usable", lambda _: False)

    assert limits_here(inside(), isolated=True).counts_by_namespace is counted
