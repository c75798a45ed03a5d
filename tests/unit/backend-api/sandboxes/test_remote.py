"""A session has a sandbox, or the remote host that its user chose."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from backend_api.agent.tool import Done, ToolCall
from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus
from backend_api.sandboxes.domain.errors import NoDesktopError
from backend_api.sandboxes.remote import HostRoutes, RoutedSandboxes, RoutedScreens, RoutedTools
from support.gateway_sandboxes import a_sandbox, shell_call
from support.memory.sandboxes import MemorySandboxes, MemoryScreens, MemoryWorkspace


@dataclass
class _Tools:
    where: str
    called: list[str] = field(default_factory=list[str])

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        self.called.append(sandbox.session_id)
        return Done(success=True, output=self.where)


@dataclass
class _Hosts:
    tools: _Tools = field(default_factory=lambda: _Tools("host"))
    workspace: MemoryWorkspace = field(default_factory=MemoryWorkspace)

    async def has(self, session_id: str) -> bool:
        return session_id == "remote"

    async def ensure(self, session_id: str) -> Sandbox:
        return replace(a_sandbox(session_id=session_id), is_remote_host=True)

    async def status(self, session_id: str) -> SandboxStatus:
        del session_id
        return SandboxStatus(status="ready", has_desktop=False)


async def _nothing(text: str) -> None:
    del text


async def test_a_remote_session_starts_no_sandbox_and_is_called_on_its_host() -> None:
    memory = MemorySandboxes()
    routes = HostRoutes(_Hosts())
    sandboxes = RoutedSandboxes(memory, memory, routes)
    tools = RoutedTools(_Tools("sandbox"), routes)
    outputs = dict[str, str]()
    for session in ("remote", "usual"):
        sandbox = await sandboxes.ensure(session, "u")
        await sandboxes.keep_alive(session)
        outputs[session] = (await tools.call(sandbox, shell_call(_nothing))).output
    assert outputs == {"remote": "host", "usual": "sandbox"}
    assert list(memory.living) == ["usual"]
    assert list(memory.activity) == ["usual"]
    assert await sandboxes.running("remote") is None
    assert not (await sandboxes.status("remote")).has_desktop


async def test_a_remote_host_has_no_screen() -> None:
    screens = RoutedScreens(MemoryScreens())
    with pytest.raises(NoDesktopError, match="remote host"):
        screens.open(replace(a_sandbox(), is_remote_host=True), control=False)
