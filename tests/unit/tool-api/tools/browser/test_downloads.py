"""Downloads that have ended get a name of their own, or it is said why not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tool_api.tools.browser.downloads import FOLDER, INCOMING, Downloads
from tool_api.workspace import Workspace


async def any_room(_: int) -> int | None:
    return None


async def ended(downloads: Downloads, root: Path, guid: str) -> str | None:
    """What is told of a download of `a.txt`."""
    (root / INCOMING).mkdir(parents=True, exist_ok=True)
    (root / INCOMING / guid).write_text(guid)
    assert downloads.begin({"guid": guid, "suggestedFilename": "a.txt"}) is not None
    ending = downloads.progress({"guid": guid, "state": "completed"})
    assert ending is not None
    return await ending


async def test_downloads_of_one_name_are_numbered_as_uploads_are(tmp_path: Path) -> None:
    downloads = Downloads(Workspace(tmp_path), any_room)
    told = [await ended(downloads, tmp_path, guid) for guid in "abc"]
    assert told == [f"Downloaded {FOLDER}/{name}, 1 bytes." for name in ("a.txt", "a (2).txt", "a (3).txt")]
    assert (tmp_path / FOLDER / "a.txt").read_text() == "a"
    assert (tmp_path / FOLDER / "a (3).txt").read_text() == "c"


async def test_why_a_download_could_not_be_kept_is_told_without_numbers_and_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: str, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", source)

    monkeypatch.setattr(os, "link", fail)
    told = await ended(Downloads(Workspace(tmp_path), any_room), tmp_path, "a")
    assert told == "The download of a.txt could not be kept: No space left on device"
