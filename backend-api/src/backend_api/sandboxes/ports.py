"""Ports through which the gateway uses a session's sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from backend_api.agent.tool import Done, ToolCall
from backend_api.sandboxes.domain.choices import SandboxChoices, SandboxConfiguration
from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus


class RunningSandboxes(Protocol):
    """Read access to existing sandboxes; none of these calls starts one."""

    async def running(self, session_id: str) -> Sandbox | None:
        """The session's sandbox if it is ready, or if it is paused, in which case using it wakes it. Raises
        `SandboxUnavailableError`."""
        ...


class ReadChoices(Protocol):
    """The images and sizes that the deployment allows."""

    async def __call__(self) -> SandboxChoices:
        """Read the current choices. Raises `SandboxUnavailableError`."""
        ...


class ConfigurationOf(Protocol):
    """The image and size of a session's sandbox."""

    async def __call__(self, session_id: str) -> SandboxConfiguration:
        """Read the user's choice. Raises `StoreUnavailableError`."""
        ...


class Sandboxes(Protocol):
    """The sandbox manager. Creating and deleting are idempotent."""

    async def ensure(self, session_id: str, user_id: str, *, queue_s: float | None = None) -> Sandbox:
        """The session's sandbox, started and waited for if need be, in the queue for `queue_s` seconds at most, or as
        long as the manager allows. Raises `SandboxUnavailableError`, of which `SandboxQueuedError`."""
        ...

    async def status(self, session_id: str) -> SandboxStatus: ...

    async def renew(self, session_id: str) -> SandboxStatus:
        """Count as activity at once, waking a paused sandbox. Raises `SandboxUnavailableError`."""
        ...

    async def keep_alive(self, session_id: str) -> None:
        """Count as activity; throttled by the adapter."""
        ...

    async def delete(self, session_id: str, user_id: str) -> None:
        """Remove the sandbox, its workspace and its snapshots. Raises `SandboxUnavailableError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    path: str
    name: str
    size: int
    modified_at: datetime
    is_dir: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePreview:
    path: str
    name: str
    size: int
    content: str | None
    binary: bool
    language: str | None
    truncated: bool
    encoding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """Bytes of a file, or of a folder as zip; the empty path is the whole workspace. `size` is None if not known
    beforehand."""

    name: str
    size: int | None
    chunks: AsyncIterator[bytes]
    is_folder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file of an upload as it arrives."""

    name: str
    chunks: AsyncIterator[bytes]


class Workspace(Protocol):
    """Files of a sandbox. Raises `PathForbiddenError`, `FileMissingError`, `UploadTooLargeError`,
    `SandboxFullError`, `SandboxUnavailableError`, `SandboxLostError`."""

    async def list(self, sandbox: Sandbox, path: str) -> list[FileEntry]: ...

    async def preview(self, sandbox: Sandbox, path: str) -> FilePreview: ...

    def download(self, sandbox: Sandbox, path: str) -> AbstractAsyncContextManager[Download]: ...

    async def upload(
        self, sandbox: Sandbox, subdir: str, files: AsyncIterable[Upload], *, replaces: bool = False
    ) -> list[str]:
        """Write the files and return their paths. If a name is taken, the file gets a number, unless it is to replace
        the other. Nothing is left of a file that was over the limit."""
        ...


class SandboxTools(Protocol):
    """Tools that run inside a sandbox."""

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        """Run a call. Raises `SandboxLostError` if the connection broke in the middle."""
        ...


class Screen(Protocol):
    """A live RFB connection to the desktop of a sandbox; bytes both ways."""

    async def send(self, data: bytes) -> None: ...

    def frames(self) -> AsyncIterator[bytes]: ...


class Screens(Protocol):
    """Opens screens. View-only is enforced inside the sandbox by the token's scope."""

    def open(self, sandbox: Sandbox, *, control: bool) -> AbstractAsyncContextManager[Screen]:
        """Open a screen. Raises `NoDesktopError`, `SandboxUnavailableError`."""
        ...


class PortConnection(Protocol):
    """A connection to a program that listens on a remote host. A broken one raises `OSError`."""

    async def read(self, most: int) -> bytes:
        """Read at most `most` bytes; empty at the end."""
        ...

    async def write(self, piece: bytes) -> None:
        """Write, waiting until the host accepts it."""
        ...


class RemoteHosts(Protocol):
    """Remote hosts of sessions, which no manager starts."""

    @property
    def tools(self) -> SandboxTools:
        """Tools that run on them."""
        ...

    @property
    def workspace(self) -> Workspace:
        """Their working folders."""
        ...

    async def has(self, session_id: str) -> bool:
        """Whether the session works on one. Raises `StoreUnavailableError`."""
        ...

    async def ensure(self, session_id: str) -> Sandbox:
        """The session's host, connected. Raises `SandboxUnavailableError` with what failed and why."""
        ...

    async def status(self, session_id: str) -> SandboxStatus:
        """The last known status, without a connection."""
        ...

    def port(self, sandbox: Sandbox, port: int) -> AbstractAsyncContextManager[PortConnection]:
        """A connection to the program that listens at this port of the host's loopback, closed with the block. Raises
        `ConnectionRefusedError` if nothing listens, and `SandboxUnavailableError` with any other failure."""
        ...
