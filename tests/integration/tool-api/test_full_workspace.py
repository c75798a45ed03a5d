"""A workspace that holds as much as it may: nothing more gets in, what fills it ends, and it can be cleaned up."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from service_kit.tree_size import tree_size
from support.endpoint import ROOT, RunningEndpoint, await_true, running_endpoint

LIMIT = 2_000_000
SLACK = 200_000
"""Folders and the ends of blocks."""
FILL = "head -c 4000000 /dev/zero > big; sleep 120"


def put(client: httpx.Client, name: str, size: int) -> httpx.Response:
    return client.post("/files", files=[("files", (name, b"x" * size))])


@pytest.mark.timeout(120)
def test_a_full_workspace_takes_nothing_more_until_files_are_deleted(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, SANDBOX_DISK_BYTES=str(LIMIT), MAX_UPLOAD_BYTES="5000000") as endpoint:
        with endpoint.client() as client:
            assert put(client, "small.txt", 1000).status_code == 201
            over = put(client, "more.bin", LIMIT)
            assert (over.status_code, over.json()["code"]) == (413, "disk_full")
            assert "Delete files first" in over.json()["detail"]

            ended = endpoint.call("shell_exec", command=FILL, timeout_s=100)
            assert "The workspace is full" in ended.output
            assert "exit code" in ended.output, "it ran to its end"

            refused = put(client, "tiny.txt", 10)
            assert (refused.status_code, refused.json()["code"]) == (413, "disk_full")
            written = endpoint.call("file_write", path="tiny.txt", content="tiny")
            assert not written.success
            assert "Delete files first" in written.output
            assert not (endpoint.workspace / "tiny.txt").exists()
            shorter = endpoint.call("file_edit", path="small.txt", old="x" * 1000, new="y")
            assert shorter.success, "a file may shrink"

            cleaned = endpoint.call("shell_exec", command="rm big && echo freed")
            assert cleaned.success
            assert "freed" in cleaned.output
            assert put(client, "tiny.txt", 10).status_code == 201
            assert endpoint.call("file_write", path="tiny.txt", content="tiny").success


@pytest.mark.timeout(120)
def test_a_workspace_with_as_many_files_as_it_may_have_takes_no_more(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, SANDBOX_MAX_FILES="200") as endpoint, endpoint.client() as client:
        assert put(client, "first.txt", 10).status_code == 201
        make = "mkdir many; for i in $(seq 300); do : > many/$i; done; sleep 60"
        ended = endpoint.call("shell_exec", command=make, timeout_s=100)
        assert "files and folders it may" in ended.output
        assert "exit code" in ended.output, "it ran to its end"
        refused = put(client, "tiny.txt", 10)
        assert (refused.status_code, refused.json()["code"]) == (413, "disk_full")
        assert not endpoint.call("file_write", path="tiny.txt", content="tiny").success
        assert endpoint.call("shell_exec", command="rm -r many").success
        assert put(client, "tiny.txt", 10).status_code == 201


def held(endpoint: RunningEndpoint) -> int:
    return tree_size(str(endpoint.workspace)).bytes


@pytest.mark.thorough
@pytest.mark.timeout(120)
def test_short_commands_leave_no_more_behind_than_the_workspace_may_hold(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, SANDBOX_DISK_BYTES=str(LIMIT)) as endpoint:
        results = [
            endpoint.call("shell_exec", command=f"head -c {size} /dev/zero > f{number}")
            for number, size in enumerate((900_000, 1_500_000, 3_000_000, 900_000, 900_000, 900_000))
        ]

        assert results[0].success
        assert [one.success for one in results[1:]] == [False] * 5
        assert all("The workspace is full" in one.output for one in results[1:])
        assert held(endpoint) <= LIMIT + SLACK


@pytest.mark.timeout(120)
def test_a_full_workspace_runs_no_command_that_writes_and_any_that_deletes(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, SANDBOX_DISK_BYTES=str(LIMIT)) as endpoint:
        assert endpoint.call("shell_exec", command="mkdir made; export CHOSEN=yes; own=kept; cd made").success
        endpoint.call("shell_exec", command="head -c 3000000 /dev/zero > big")
        before = held(endpoint)

        writes = "pwd; echo $CHOSEN; ulimit -f unlimited; echo more > more; cat more"
        written = endpoint.call("shell_exec", command=writes)
        assert "The workspace is full" in written.output
        assert f"{endpoint.workspace}/made" in written.output
        assert "yes" in written.output
        assert not (endpoint.workspace / "made/more").exists() or (endpoint.workspace / "made/more").stat().st_size == 0
        assert held(endpoint) <= before + 4096

        for tool, arguments in (
            ("code_run", {"code": "open('/workspace/x', 'w').write('x')"}),
            ("background_run", {"command": "echo x > x"}),
        ):
            refused = endpoint.call(tool, **arguments)
            assert not refused.success
            assert "delete" in refused.output

        cleaned = endpoint.call("shell_exec", command="rm -f big more; ls -A; echo ok > after; cat after")
        assert not cleaned.success
        assert "The workspace was full when it began" in cleaned.output
        again = endpoint.call("shell_exec", command="echo $own > small && cat small")
        assert again.success, again.output
        assert "kept" in again.output, "the shell went on as it was"


@pytest.mark.timeout(120)
def test_what_writes_too_large_a_file_is_told_why_it_failed(tmp_path: Path) -> None:
    large = tmp_path / "large"
    writes = f"head -c 4000000 /dev/zero > {large}"
    signalled = (
        "import os, signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
        "os.execvp('head', ['head', '-c', '4000000', '/dev/zero'])"
    )
    may = "no file, in /tmp neither, may become larger than "
    kernels = str(ROOT / ".venv-kernels" / "bin" / "python")
    with running_endpoint(tmp_path, SANDBOX_DISK_BYTES=str(LIMIT), SANDBOX_KERNEL_PYTHON=kernels) as endpoint:
        ended = endpoint.call("shell_exec", command=f'python3 -c "{signalled}" > {large}')
        assert not ended.success
        assert f"[exit code 153]\n[It was ended because it wrote too large a file: {may}" in ended.output
        assert "Delete files there first" in endpoint.call("shell_view").output
        refused = endpoint.call("shell_exec", command=writes)
        assert f'[exit code 1]\n[As to "File too large": {may}' in refused.output
        assert endpoint.call("shell_exec", command="(exit 3)").output == "[exit code 3]"

        assert endpoint.call("background_run", command=writes, background_id="one").success
        told = endpoint.call("check_background", background_id="one", wait_s=60)
        assert f'[exit code 1]\n[As to "File too large": {may}' in told.output
        code = endpoint.call("code_run", code=f"open({str(large)!r}, 'wb').write(bytes(4_000_000))")
        assert f'[As to "File too large": {may}' in code.output


@pytest.mark.thorough
@pytest.mark.timeout(120)
def test_what_is_left_running_behind_a_command_ends_when_it_fills_the_workspace(tmp_path: Path) -> None:
    writer = "(while :; do n=$((n + 1)); head -c 200000 /dev/zero > more$n; sleep 1; done) >/dev/null 2>&1 &"
    with running_endpoint(tmp_path, SANDBOX_DISK_BYTES=str(LIMIT)) as endpoint:
        assert endpoint.call("shell_exec", command=f"n=0; {writer}").success
        await_true(lambda: held(endpoint) >= LIMIT, 60)
        sizes: list[int] = []

        def rests() -> bool:
            endpoint.call("shell_exec", command="sleep 2")
            sizes.append(held(endpoint))
            return len(sizes) > 1 and sizes[-1] == sizes[-2]

        await_true(rests, 60)
        assert sizes[-1] < 4 * LIMIT
