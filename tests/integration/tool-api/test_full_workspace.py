"""A workspace that holds as much as it may: nothing more gets in, what fills it ends, and it can be cleaned up."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from support.door import running_door

LIMIT = 2_000_000
FILL = "head -c 4000000 /dev/zero > big; sleep 120"


def put(client: httpx.Client, name: str, size: int) -> httpx.Response:
    return client.post("/files", files=[("files", (name, b"x" * size))])


@pytest.mark.timeout(120)
def test_a_full_workspace_takes_nothing_more_until_files_are_deleted(tmp_path: Path) -> None:
    with running_door(tmp_path, SANDBOX_DISK_BYTES=str(LIMIT), MAX_UPLOAD_BYTES="5000000") as door:
        with door.client() as client:
            assert put(client, "small.txt", 1000).status_code == 201
            over = put(client, "more.bin", LIMIT)
            assert (over.status_code, over.json()["code"]) == (413, "disk_full")
            assert "Delete files first" in over.json()["detail"]

            ended = door.call("shell_exec", command=FILL, timeout_s=100)
            assert "The workspace is full" in ended.output
            assert "exit code" in ended.output, "it ran to its end"

            refused = put(client, "tiny.txt", 10)
            assert (refused.status_code, refused.json()["code"]) == (413, "disk_full")
            written = door.call("file_write", path="tiny.txt", content="tiny")
            assert not written.success
            assert "Delete files first" in written.output
            assert not (door.workspace / "tiny.txt").exists()
            shorter = door.call("file_edit", path="small.txt", old="x" * 1000, new="y")
            assert shorter.success, "a file may shrink"

            cleaned = door.call("shell_exec", command="rm big && echo freed")
            assert cleaned.success
            assert "freed" in cleaned.output
            assert put(client, "tiny.txt", 10).status_code == 201
            assert door.call("file_write", path="tiny.txt", content="tiny").success
