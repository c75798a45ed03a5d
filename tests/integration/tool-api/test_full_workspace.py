"""A workspace that holds as much as it may: nothing more gets in, what fills it ends, and it can be cleaned up."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from support.endpoint import running_endpoint

LIMIT = 2_000_000
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


@pytest.mark.timeout(120)
def test_bytes_no_path_leads_to_fill_it_as_all_others(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, SANDBOX_DISK_BYTES=str(3 * LIMIT), MAX_UPLOAD_BYTES="100000") as endpoint:
        name = "n" * 250
        deep = f"(for i in $(seq 40); do mkdir {name}; cd {name}; done; head -c 4000000 /dev/zero > big)"
        assert endpoint.call("shell_exec", command=deep).success
        held = "exec 7> gone; head -c 4000000 /dev/zero >&7; rm gone; sleep 60"
        ended = endpoint.call("shell_exec", command=held, timeout_s=100)
        assert "The workspace is full" in ended.output
        assert "exit code" in ended.output, "it ran to its end"
