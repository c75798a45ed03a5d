"""Sandboxes without an engine: files in dictionaries, a screen that echoes. For tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus
from backend_api.sandboxes.domain.errors import (
    FileMissingError,
    NoDesktopError,
    PathForbiddenError,
    SandboxUnavailableError,
    UploadTooLargeError,
)
from backend_api.sandboxes.ports import Download, FileEntry, FilePreview, Screen, Upload
from service_kit.amounts import size_text

MAX_PREVIEW = 100 * 1024


class MemorySandboxes:
    """`Sandboxes`. `fault` makes every start fail with that reason; `activity` counts `keep_alive`."""

    def __init__(self, *, has_desktop: bool = True) -> None:
        self.living: dict[str, Sandbox] = {}
        self.has_desktop = has_desktop
        self.fault: str | None = None
        self.activity: dict[str, int] = {}

    async def ensure(self, session_id: str, user_id: str, *, queue_s: float | None = None) -> Sandbox:
        """The same one until it is deleted."""
        del user_id, queue_s
        if self.fault is not None:
            raise SandboxUnavailableError(self.fault)
        if session_id not in self.living:
            self.living[session_id] = Sandbox(
                id=f"c-{session_id}",
                session_id=session_id,
                generation=1,
                has_desktop=self.has_desktop,
                has_network=True,
                expires_at=datetime.now(UTC) + timedelta(hours=24),
            )
        return self.living[session_id]

    async def running(self, session_id: str) -> Sandbox | None:
        """The one there is."""
        return self.living.get(session_id)

    async def status(self, session_id: str) -> SandboxStatus:
        """Ready or none."""
        sandbox = self.living.get(session_id)
        if sandbox is None:
            return SandboxStatus(status="none")
        return SandboxStatus(status="ready", has_desktop=sandbox.has_desktop, expires_at=sandbox.expires_at)

    async def renew(self, session_id: str) -> SandboxStatus:
        """Counted."""
        if session_id not in self.living:
            raise SandboxUnavailableError("There is no computer to keep running. Start it first.")
        await self.keep_alive(session_id)
        return await self.status(session_id)

    async def keep_alive(self, session_id: str) -> None:
        """Count."""
        self.activity[session_id] = self.activity.get(session_id, 0) + 1

    async def delete(self, session_id: str, user_id: str) -> None:
        """Gone, also when there was none."""
        del user_id
        await self.end(session_id)

    async def end(self, session_id: str) -> None:
        """As when it ran out."""
        self.living.pop(session_id, None)


class MemoryWorkspace:
    """`Workspace` by session."""

    def __init__(self, *, max_bytes: int = 10 * 1024 * 1024) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self._max_bytes = max_bytes

    async def list(self, sandbox: Sandbox, path: str) -> list[FileEntry]:
        """One level."""
        folder = _relative_path(path)
        entries: dict[str, FileEntry] = {}
        for name, content in self.files.get(sandbox.session_id, {}).items():
            place = PurePosixPath(name)
            if folder not in ("", str(place.parent)) and not name.startswith(f"{folder}/"):
                continue
            first = place.relative_to(folder).parts[0]
            is_dir = len(place.relative_to(folder).parts) > 1
            at = str(PurePosixPath(folder) / first)
            size = 0 if is_dir else len(content)
            entries[at] = FileEntry(path=at, name=first, size=size, modified_at=datetime.now(UTC), is_dir=is_dir)
        return list(entries.values())

    async def preview(self, sandbox: Sandbox, path: str) -> FilePreview:
        """Text or nothing."""
        content = self._content(sandbox, path)
        is_binary = b"\0" in content
        return FilePreview(
            path=_relative_path(path),
            name=PurePosixPath(path).name,
            size=len(content),
            content=None if is_binary else content[:MAX_PREVIEW].decode(errors="replace"),
            binary=is_binary,
            language=None,
            truncated=len(content) > MAX_PREVIEW,
        )

    @asynccontextmanager
    async def download(self, sandbox: Sandbox, path: str) -> AsyncGenerator[Download]:
        """The whole in one piece."""
        content = self._content(sandbox, path)

        async def chunks() -> AsyncIterator[bytes]:
            yield content

        yield Download(name=PurePosixPath(path).name, size=len(content), chunks=chunks())

    async def upload(
        self, sandbox: Sandbox, subdir: str, files: AsyncIterable[Upload], *, replaces: bool = False
    ) -> list[str]:
        """All or nothing."""
        written: dict[str, bytes] = {}
        there = self.files.get(sandbox.session_id, {})
        async for file in files:
            content = b"".join([chunk async for chunk in file.chunks])
            if len(content) > self._max_bytes:
                raise UploadTooLargeError(f"A file may have at most {size_text(self._max_bytes)}.")
            path = PurePosixPath(_relative_path(f"{subdir}/{file.name}"))
            name, number = str(path), 1
            while not replaces and (name in there or name in written):
                number += 1
                name = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
            written[name] = content
        self.files.setdefault(sandbox.session_id, {}).update(written)
        return list(written)

    def _content(self, sandbox: Sandbox, path: str) -> bytes:
        content = self.files.get(sandbox.session_id, {}).get(_relative_path(path))
        if content is None:
            raise FileMissingError("There is no such file.")
        return content


def _relative_path(path: str) -> str:
    place = PurePosixPath(path.lstrip("/").removeprefix("workspace/"))
    if ".." in place.parts:
        raise PathForbiddenError("This path is outside the workspace.")
    return "" if str(place) == "." else str(place)


class EchoScreen:
    """`Screen` that greets and then sends back what it gets."""

    def __init__(self, *, control: bool) -> None:
        self._control = control
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=16)
        self._queue.put_nowait(b"RFB 003.008\n")

    async def send(self, data: bytes) -> None:
        """Kept only when in control."""
        if self._control:
            await self._queue.put(data)

    async def frames(self) -> AsyncIterator[bytes]:
        """Until closed."""
        while True:
            yield await self._queue.get()


class MemoryScreens:
    """`Screens`."""

    @asynccontextmanager
    async def open(self, sandbox: Sandbox, *, control: bool) -> AsyncGenerator[Screen]:
        """An echo."""
        if not sandbox.has_desktop:
            raise NoDesktopError("This computer has no desktop.")
        yield EchoScreen(control=control)
