"""A folder that holds too much for one download is refused before its first byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tool_api.errors import FolderTooLargeError
from tool_api.files import download
from tool_api.workspace import Workspace


@pytest.mark.parametrize(("bound", "value"), [("MAX_ZIP_ENTRIES", 5), ("MAX_ZIP_BYTES", 100)])
async def test_too_many_files_and_too_many_bytes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(download, bound, value)
    fits, over = tmp_path / "fits", tmp_path / "over"
    for folder, count in ((fits, 2), (over, 7)):
        (folder / "inner").mkdir(parents=True)
        for n in range(count):
            (folder / "inner" / f"{n}.txt").write_bytes(b"x" * 20)
    workspace = Workspace(tmp_path)
    response = await download.download(workspace, "fits")
    assert response.headers["content-type"] == "application/zip"
    open_before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(FolderTooLargeError):
            await download.download(workspace, "over")
    assert len(os.listdir("/proc/self/fd")) == open_before
