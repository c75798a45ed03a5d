"""Routing between the two kinds of computers of a session: its own sandbox, or a remote host that its user chose."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from backend_api.agent.tool import Done, ToolCall
from backend_api.sandboxes.domain.choices import USUAL, SandboxConfiguration
from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus
from backend_api.sandboxes.domain.errors import NoDesktopError
from backend_api.sandboxes.ports import (
    ConfigurationOf,
    Download,
    FileEntry,
    FilePreview,
    RemoteHosts,
    RunningSandboxes,
    Sandboxes,
    SandboxTools,
    Screen,
    Screens,
    Upload,
    Workspace,
)


@dataclass(slots=True)
class HostRoutes:
    """`hosts` and `configurations` are set once the module that has them is open; None: there are none."""

    hosts: RemoteHosts | None = field(default=None)
    configurations: ConfigurationOf | None = field(default=None)

    async def configuration_of(self, session_id: str) -> SandboxConfiguration:
        """The image and size of the session's sandbox, if it has one."""
        return USUAL if self.configurations is None else await self.configurations(session_id)

    async def of(self, session_id: str) -> RemoteHosts | None:
        """The hosts, or None if the session has a sandbox."""
        return self.hosts if self.hosts is not None and await self.hosts.has(session_id) else None

    def at(self, sandbox: Sandbox) -> RemoteHosts | None:
        """The hosts, or None for a sandbox."""
        return self.hosts if sandbox.is_remote_host else None


@dataclass(slots=True)
class Arrivals:
    """`place` puts into a sandbox what is to be there before whoever asked for it, for this user, has it; it raises
    nothing. Put in once the module that has it is open; None: there is nothing."""

    place: Callable[[Sandbox, str], Awaitable[None]] | None = field(default=None)


class RoutedSandboxes:
    """`Sandboxes` and `RunningSandboxes` of all sessions. Those on remote hosts have no sandbox to start, and their
    host is never deleted."""

    def __init__(
        self, sandboxes: Sandboxes, running: RunningSandboxes, routes: HostRoutes, arrivals: Arrivals | None = None
    ) -> None:
        self._arrivals = arrivals or Arrivals()
        self._sandboxes = sandboxes
        self._running = running
        self._routes = routes

    async def ensure(self, session_id: str, user_id: str, *, queue_s: float | None = None) -> Sandbox:
        if (hosts := await self._routes.of(session_id)) is not None:
            return await hosts.ensure(session_id)
        sandbox = await self._sandboxes.ensure(session_id, user_id, queue_s=queue_s)
        if self._arrivals.place is not None:
            await self._arrivals.place(sandbox, user_id)
        return sandbox

    async def running(self, session_id: str) -> Sandbox | None:
        if await self._routes.of(session_id) is not None:
            return None
        return await self._running.running(session_id)

    async def status(self, session_id: str) -> SandboxStatus:
        if (hosts := await self._routes.of(session_id)) is not None:
            return await hosts.status(session_id)
        return await self._sandboxes.status(session_id)

    async def renew(self, session_id: str) -> SandboxStatus:
        if (hosts := await self._routes.of(session_id)) is not None:
            return await hosts.status(session_id)
        return await self._sandboxes.renew(session_id)

    async def keep_alive(self, session_id: str) -> None:
        if await self._routes.of(session_id) is None:
            await self._sandboxes.keep_alive(session_id)

    async def delete(self, session_id: str, user_id: str) -> None:
        await self._sandboxes.delete(session_id, user_id)


class RoutedTools:
    """`SandboxTools` of all computers."""

    def __init__(self, tools: SandboxTools, routes: HostRoutes) -> None:
        self._tools = tools
        self._routes = routes

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        hosts = self._routes.at(sandbox)
        return await (self._tools if hosts is None else hosts.tools).call(sandbox, call)


class RoutedWorkspace:
    """`Workspace` of all computers."""

    def __init__(self, workspace: Workspace, routes: HostRoutes) -> None:
        self._workspace = workspace
        self._routes = routes

    async def list(self, sandbox: Sandbox, path: str) -> list[FileEntry]:
        return await self._of(sandbox).list(sandbox, path)

    async def preview(self, sandbox: Sandbox, path: str) -> FilePreview:
        return await self._of(sandbox).preview(sandbox, path)

    def download(self, sandbox: Sandbox, path: str) -> AbstractAsyncContextManager[Download]:
        return self._of(sandbox).download(sandbox, path)

    async def upload(
        self, sandbox: Sandbox, subdir: str, files: AsyncIterable[Upload], *, replaces: bool = False
    ) -> list[str]:
        return await self._of(sandbox).upload(sandbox, subdir, files, replaces=replaces)

    def _of(self, sandbox: Sandbox) -> Workspace:
        hosts = self._routes.at(sandbox)
        return self._workspace if hosts is None else hosts.workspace


class RoutedScreens:
    """`Screens` of all computers; remote hosts have none."""

    def __init__(self, screens: Screens) -> None:
        self._screens = screens

    def open(self, sandbox: Sandbox, *, control: bool) -> AbstractAsyncContextManager[Screen]:
        if sandbox.is_remote_host:
            raise NoDesktopError("This conversation works on a remote host, which has no desktop.")
        return self._screens.open(sandbox, control=control)
