"""A walk through folders that are exchanged for links and back while it goes on."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

from tool_api.workspace import Workspace

MOVED = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
"""What is said of a folder that is away, or has become something else, at the moment it is looked at."""


def test_a_link_that_becomes_a_folder_meanwhile_is_looked_at_again(tmp_path: Path) -> None:
    workspace, inside = Workspace(tmp_path), tmp_path / "inside"
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("inside")
    inside.mkdir()
    ended = threading.Event()

    def swap() -> None:
        folder, link, place, spare = (str(tmp_path / name) for name in ("folder", "link", "place", "spare"))
        os.rename(folder, place)
        while not ended.is_set():
            os.rename(place, spare)
            os.rename(link, place)
            os.rename(place, link)
            os.rename(spare, place)

    swapper = threading.Thread(target=swap)
    swapper.start()
    faults: set[int | None] = set()
    try:
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            try:
                with workspace.locate("place/file"):
                    pass
            except OSError as error:
                faults.add(error.errno)
    finally:
        ended.set()
        swapper.join(5)
    assert faults <= MOVED
    assert errno.ENOENT in faults, "nothing was exchanged"
