"""Downloads of pages: first under a name that Chrome makes up, then, once whole and within bounds, under a safe name of
ours.

Left to itself Chrome writes over a file of the same name, as soon as a page wants it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import stat
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any

from service_kit.amounts import size_text
from tool_api.errors import InvalidUploadError, PathForbiddenError
from tool_api.file_names import numbered, safe_name
from tool_api.tools.browser.cdp import Payload
from tool_api.workspace import Located, Workspace

FOLDER, INCOMING = "downloads", "downloads/.incoming"
LARGEST_BYTES = 1024 * 1024 * 1024
MOST_AT_ONCE = 5
_MOST_NAMES = 1000
_MOST_PATHS = 100
_GUID = re.compile(r"[0-9a-fA-F-]{1,64}")
Room = Callable[[int], Awaitable[int | None]]


@dataclass(slots=True)
class Download:
    """A file on its way. `outcome` is set before `ended`; `path` is None if nothing was kept."""

    guid: str
    name: str
    frame: str = ""
    """The main frame of the tab that began the download."""
    path: str | None = None
    size: int = 0
    """The size as far as it is known."""
    received: int = 0
    outcome: str = ""
    refusal: str | None = None
    is_checked: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Downloads:
    """The downloads of all tabs. `room` returns the bytes that may still be written, None for any number."""

    def __init__(self, workspace: Workspace, room: Room) -> None:
        self._workspace = workspace
        self._room = room
        self._running: dict[str, Download] = {}
        self._paths: deque[str] = deque(maxlen=_MOST_PATHS)
        self._expected: asyncio.Future[Download] | None = None
        self._begun: list[Download] = []
        self._frames: deque[str] = deque(maxlen=_MOST_PATHS)

    @property
    def incoming(self) -> str:
        """The folder for Chrome's unfinished downloads."""
        return str(self._workspace.root / INCOMING)

    def take_paths(self) -> list[str]:
        """The files that arrived since the last call."""
        paths = list(self._paths)
        self._paths.clear()
        return paths

    def take_begun(self) -> list[Download]:
        """The downloads that began since the last call and that nobody expected."""
        begun, self._begun = self._begun, []
        return begun

    def came_from(self, frame: str) -> bool:
        """Whether a tab's page, by its main frame, began one."""
        return frame in self._frames

    @contextlib.contextmanager
    def expected(self) -> Generator[asyncio.Future[Download]]:
        """The next download that begins in the block."""
        self._expected = asyncio.get_running_loop().create_future()
        try:
            yield self._expected
        finally:
            self._expected.cancel()
            self._expected = None

    def begin(self, parameters: Payload) -> Download | None:
        """Record the start of a download; None if there are too many at once."""
        guid = str(parameters.get("guid", ""))
        if len(self._running) >= MOST_AT_ONCE or not _GUID.fullmatch(guid):
            return None
        name, frame = _name(str(parameters.get("suggestedFilename", ""))), str(parameters.get("frameId", ""))[:100]
        download = self._running[guid] = Download(guid, name, frame)
        self._frames.append(frame)
        if self._expected is not None and not self._expected.done():
            self._expected.set_result(download)
        elif len(self._begun) < MOST_AT_ONCE:
            self._begun.append(download)
        return download

    def progress(self, parameters: Payload) -> Coroutine[Any, Any, str | None] | None:
        """The follow-up of a progress event: it returns a note on a download that ended, or None."""
        download = self._running.get(str(parameters.get("guid")))
        if download is None:
            return None
        match parameters.get("state"):
            case "completed":
                return self._finish(download)
            case "canceled":
                return self._end_cancelled(download)
            case _:
                download.received = _count(parameters, "receivedBytes")
                download.size = max(_count(parameters, "totalBytes"), download.received)
                return None

    async def refuses(self, download: Download) -> bool:
        """Whether the download is larger than allowed, checked while it arrives."""
        if download.refusal is not None or download.is_checked:
            return False
        download.is_checked = True
        try:
            room = await self._room(download.size)
        finally:
            download.is_checked = False
        most = LARGEST_BYTES if room is None else min(room, LARGEST_BYTES)
        if download.size <= most:
            return False
        download.refusal = f"{download.name} is larger than the {size_text(most)} that may be downloaded."
        return True

    def find(self, guid: str) -> Download | None:
        """The running download of this id."""
        return self._running.get(guid)

    async def forget(self) -> list[str]:
        """Forget the downloads of a Chrome that is gone: they never end. Returns notes on them."""
        outcomes = [await self._end_cancelled(download) for download in list(self._running.values())]
        await asyncio.to_thread(self._clean)
        return outcomes

    async def _end_cancelled(self, download: Download) -> str:
        reason = download.refusal
        if reason:
            return self._end(download, f"Its download was stopped: {reason}")
        came = f"after {download.received:,} bytes; nothing of it is kept"
        return self._end(download, f"The download of {download.name} was canceled, or broke off, {came}.")

    async def _finish(self, download: Download) -> str:
        try:
            path, size = await asyncio.to_thread(self._place, download)
        except (OSError, PathForbiddenError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            return self._end(download, f"The download of {download.name} could not be kept: {reason}")
        download.path, download.size = path, size
        self._paths.append(path)
        return self._end(download, f"Downloaded {path}, {size:,} bytes.")

    def _end(self, download: Download, outcome: str) -> str:
        self._running.pop(download.guid, None)
        download.outcome = outcome
        download.ended.set()
        return outcome

    def _place(self, download: Download) -> tuple[str, int]:
        with (
            self._workspace.locate(f"{INCOMING}/{download.guid}", follow=False) as came,
            self._workspace.locate(f"{FOLDER}/{download.name}", follow=False) as place,
        ):
            found = came.stat()
            if not stat.S_ISREG(found.st_mode):
                raise PathForbiddenError(f"{came.path} is not a regular file.")
            name = _link(came, place, download.name)
            os.unlink(came.name, dir_fd=came.folder)
            return f"{FOLDER}/{name}", found.st_size

    def _clean(self) -> None:
        with contextlib.suppress(OSError, PathForbiddenError), self._workspace.locate(f"{INCOMING}/x") as place:
            for name in os.listdir(f"/proc/self/fd/{place.folder}"):
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=place.folder)


def _name(suggested: str) -> str:
    try:
        return safe_name(suggested).lstrip(".") or "download"
    except InvalidUploadError:
        return "download"


def _link(came: Located, place: Located, name: str) -> str:
    """Link the download under the wanted name, or with a number if that is taken. Nothing is ever replaced.

    The second file of a name is the first that gets a number, as with uploads.
    """
    for number in range(1, _MOST_NAMES + 1):
        tried = name if number == 1 else numbered(name, number)
        with contextlib.suppress(FileExistsError):
            os.link(came.name, tried, src_dir_fd=came.folder, dst_dir_fd=place.folder, follow_symlinks=False)
            return tried
    raise FileExistsError(f"{FOLDER} has too many files named {name}")


def _count(parameters: Payload, name: str) -> int:
    value = parameters.get(name, 0)
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**63 else 0
