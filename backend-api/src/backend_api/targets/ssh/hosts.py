"""`RemoteHosts`: the hosts of sessions, and their tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import asyncssh
from pydantic import ValidationError

from backend_api.agent.tool import Done, ToolCall
from backend_api.kit.errors import InvalidError
from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus
from backend_api.sandboxes.domain.errors import SandboxLostError, SandboxUnavailableError
from backend_api.sandboxes.ports import Workspace
from backend_api.settings.ports import SecretBox
from backend_api.targets.application.change_targets import private_key
from backend_api.targets.domain import HOST_PREFIX, SshAccess, Target
from backend_api.targets.errors import HostKeyUnconfirmedError, SignInRefusedError, TargetGoneError
from backend_api.targets.ports import TargetsOfSessions
from backend_api.targets.ssh import file_tools, shell_tools
from backend_api.targets.ssh.arguments import (
    Arguments,
    FileDelete,
    FileEdit,
    FileFind,
    FileList,
    FileMove,
    FileRead,
    FileSearch,
    FileWrite,
    OfShell,
    ShellExec,
    ShellWait,
    ShellWrite,
)
from backend_api.targets.ssh.connections import Connected, HostConnections, bounded
from backend_api.targets.ssh.files import HostFiles
from backend_api.targets.ssh.forwarding import ForwardedPort, open_port
from backend_api.targets.ssh.workspace import HostWorkspace

FILE_S = 60.0
GONE = "The remote host of this conversation was deleted from your computers. Start a new conversation."
_LIVES = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Tool:
    arguments: type[Arguments]
    run: Callable[[Connected, ToolCall, Arguments], Awaitable[Done]]


def _of_files(arguments: type[Arguments], work: Callable[..., Awaitable[Done]]) -> _Tool:
    async def run(on: Connected, call: ToolCall, given: Arguments) -> Done:
        del call
        path = str(getattr(given, "path", None) or getattr(given, "source", ""))
        try:
            return await bounded(on, file_tools.explained(path, lambda: work(HostFiles(on), given)), FILE_S)
        except TimeoutError:
            return Done(success=False, output=f"The host did not finish within {FILE_S:.0f} s: {path}")

    return _Tool(arguments, run)


def _of_shell(arguments: type[Arguments], work: Callable[..., Awaitable[Done]], *, follows: bool) -> _Tool:
    async def run(on: Connected, call: ToolCall, given: Arguments) -> Done:
        return await (work(on, call, given) if follows else work(on, given))

    return _Tool(arguments, run)


TOOLS = {
    "shell_exec": _of_shell(ShellExec, shell_tools.execute, follows=True),
    "shell_view": _of_shell(OfShell, shell_tools.view, follows=False),
    "shell_wait": _of_shell(ShellWait, shell_tools.wait, follows=True),
    "shell_write": _of_shell(ShellWrite, shell_tools.write, follows=True),
    "shell_kill": _of_shell(OfShell, shell_tools.kill, follows=False),
    "file_read": _of_files(FileRead, file_tools.read),
    "file_write": _of_files(FileWrite, file_tools.write),
    "file_append": _of_files(FileWrite, file_tools.append),
    "file_edit": _of_files(FileEdit, file_tools.edit),
    "file_list": _of_files(FileList, file_tools.list_folder),
    "file_find": _of_files(FileFind, file_tools.find),
    "file_search": _of_files(FileSearch, file_tools.search),
    "file_move": _of_files(FileMove, file_tools.move),
    "file_delete": _of_files(FileDelete, file_tools.delete),
}


@dataclass(frozen=True, slots=True)
class HostTools:
    """`SandboxTools` of connected hosts."""

    connections: HostConnections

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        tool = TOOLS.get(call.name)
        if tool is None:
            return Done(success=False, output=f"{call.name} does not work on a remote host: it has shells and files.")
        try:
            arguments = tool.arguments.model_validate(call.arguments)
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            return Done(success=False, output=f"Nothing was run: the arguments do not fit {call.name}. {faults[:2000]}")
        on = self.connections.find(sandbox.session_id)
        if on is None or not on.is_open:
            # Nothing was sent yet: the caller requests the computer again.
            raise SandboxUnavailableError("The connection to the host was lost.")
        try:
            return await tool.run(on, call, arguments)
        except (asyncssh.Error, OSError) as error:
            on.lost(error)
            raise SandboxLostError("The connection to the host was lost during the call.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SshHosts:
    """`RemoteHosts` over SSH."""

    store: TargetsOfSessions
    connections: HostConnections
    box: SecretBox
    access: SshAccess

    @property
    def tools(self) -> HostTools:
        return HostTools(self.connections)

    @property
    def workspace(self) -> Workspace:
        return HostWorkspace(self.connections)

    async def has(self, session_id: str) -> bool:
        found = await self.store.id_of(session_id)
        return found is not None and found.startswith(HOST_PREFIX)

    async def ensure(self, session_id: str) -> Sandbox:
        target = await self._target(session_id)
        try:
            key = private_key(self.box, target)
        except InvalidError as error:
            raise SignInRefusedError(error.detail) from error
        await self.connections.of(session_id, target, key)
        return Sandbox(
            id=target.id,
            session_id=session_id,
            generation=target.version,
            has_desktop=False,
            has_network=True,
            expires_at=datetime.now(UTC) + _LIVES,
            is_remote_host=True,
        )

    @asynccontextmanager
    async def port(self, sandbox: Sandbox, port: int) -> AsyncGenerator[ForwardedPort]:
        on = self.connections.find(sandbox.session_id)
        if on is None or not on.is_open:
            raise SandboxUnavailableError("The connection to the host was lost. Try again.")
        async with open_port(on, port) as connection:
            yield connection

    async def status(self, session_id: str) -> SandboxStatus:
        try:
            target = await self._target(session_id)
        except SandboxUnavailableError as error:
            return SandboxStatus(status="failed", reason=error.detail, has_desktop=False)
        return SandboxStatus(status="ready", generation=target.version, has_desktop=False)

    async def _target(self, session_id: str) -> Target:
        """The session's target. Raises `TargetGoneError`, `HostKeyUnconfirmedError`, and `RemoteHostError` if remote
        hosts are off."""
        target = await self.store.of_session(session_id)
        if target is None:
            await self.connections.forget(session_id)
            raise TargetGoneError(GONE)
        if self.access == "off":
            raise TargetGoneError("Remote hosts have been turned off on this server (SSH_TARGETS).")
        if target.ssh.host_key is None:
            raise HostKeyUnconfirmedError(
                f"The host key of {target.ssh.host} is not confirmed yet. Test this computer in the settings, "
                "and confirm the key."
            )
        return target
