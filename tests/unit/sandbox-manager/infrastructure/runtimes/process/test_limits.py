"""Where the limit of processes is set: against the tasks of one sandbox alone, as far as the kernel can count them."""

from __future__ import annotations

import os
import subprocess
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


def test_without_a_cgroup_each_process_has_a_limit_of_memory() -> None:
    assert f"--data={inside().memory_bytes}" in Limits("rlimit", inside()).prlimit()
    assert not [one for one in Limits("cgroup v2", inside()).prlimit() if one.startswith("--data")]


SYSTEMD_RUN = """#!/bin/sh
[ "$XDG_RUNTIME_DIR" = /run/user/7 ] || exit 1
[ "$1 $2" = "--user --scope" ] || exit 1
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


@pytest.fixture
def user_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for one that makes no scopes, and the cgroup in which it would."""
    program = tmp_path / "bin" / "systemd-run"
    program.parent.mkdir()
    program.write_text(SYSTEMD_RUN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.setattr(module, "_is_usable", lambda _: False)
    root = tmp_path / "cgroup"
    monkeypatch.setattr(module, "_ROOT", root)
    monkeypatch.setattr(module, "_GROUP_OF", "echo /user.slice/app.slice/try.scope")
    folder = root / "user.slice" / "app.slice" / "try.scope"
    folder.mkdir(parents=True)
    return folder


def test_where_systemd_holds_the_memory_of_a_scope_sandboxes_are_scopes(user_systemd: Path) -> None:
    (user_systemd / "memory.max").write_text(f"{inside().memory_bytes}\n")

    limits = limits_here(inside(), isolated=True)

    assert limits.kind == "systemd scope"
    assert limits.folders("abc") == [user_systemd.parent / "agent-sandbox-abc.scope"]
    assert limits.group("abc") == []
    command = [*limits.scope("abc"), "sh", "-c", 'echo "runs, $XDG_RUNTIME_DIR"']
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "runs, \n"
    assert {f"MemoryMax={inside().memory_bytes}", f"TasksMax={inside().pids}"} <= set(command)


@pytest.mark.parametrize("held", ["max", ""])
def test_where_it_does_not_the_limits_are_those_of_the_shell(user_systemd: Path, held: str) -> None:
    (user_systemd / "memory.max").write_text(f"{held}\n")

    limits = limits_here(inside(), isolated=True)

    assert (limits.kind, limits.scope("abc")) == ("rlimit", [])
    assert "not bounded" in limits.bounds


@pytest.mark.parametrize("kind", ["cgroup v1", "cgroup v2"])
def test_the_values_of_a_cgroup_are_those_of_the_settings(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ROOT", tmp_path)
    limits = Limits(kind, inside())
    files = {"memory.max", "pids.max", "cpu.max", "memory.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes"}
    for folder in limits.folders("abc"):
        folder.mkdir(parents=True)
        for name in files:
            (folder / name).touch()

    limits.group("abc")

    written = {path.name: value for path in tmp_path.rglob("*") if path.is_file() and (value := path.read_text())}
    assert written.pop("pids.max") == str(inside().pids)
    assert str(inside().memory_bytes) in written.values()
    # Buffers of TCP count against no other limit on v1.
    assert written.get("memory.kmem.tcp.limit_in_bytes", str(64 << 20)) == str(64 << 20)
