"""The capability for sessions on a remote host: shells, files and ports only, with a question before each change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from backend_api.agent.capabilities.sandbox import TARGET, ExecutionTarget
from backend_api.agent.capability import ALLOW, Capability, Deny, ProposedCall, Setup, Verdict
from backend_api.agent.options import NO_OPTIONS, Options
from backend_api.agent.tool import ToolSpec
from backend_api.kit.ids import SessionId, UserId
from backend_api.targets.domain import Target

TOOLS = frozenset(
    {
        *("shell_exec", "shell_view", "shell_wait", "shell_write", "shell_kill"),
        *("file_read", "file_write", "file_append", "file_edit", "file_list", "file_find", "file_search"),
        *("file_move", "file_delete"),
    }
)
"""Tools that run in a sandbox and on a remote host."""
PORT_TOOLS = frozenset({"expose_port", "close_port"})

_TEXT = """\
Your computer
- It is a remote host of the person's, {username}@{host}, which you reach over SSH: a real machine with what is theirs \
on it, not a sandbox. Change nothing outside of the working folder that you were not asked to change.
- The working folder is {folder}; relative paths of your tools begin there, and there is no /workspace. Put what the \
person should get there.
- It has shells and files; there is no desktop and no browser. Shells have no terminal: programs that draw on one \
don't work. Open shells end when the connection is lost; what ran may then run on.
- A web app that you started there can be opened to the person's browser, where you have expose_port: it has to listen \
on 127.0.0.1.
- AGENTS.md files are not read by themselves here: read one where it matters."""
_MISSING = "{name} does not work on the remote host of this conversation, which has shells, files and ports only."


@dataclass(frozen=True, slots=True)
class RemoteHost(ExecutionTarget):
    """The data loaded for a session on a remote host."""


def _tools(setup: Setup, tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
    if not _is_remote(setup):
        return tools
    return [tool for tool in tools if not tool.needs_sandbox or tool.name in TOOLS | PORT_TOOLS]


def _judge(setup: Setup, call: ProposedCall) -> Verdict:
    if not _is_remote(setup) or not call.tool.needs_sandbox or call.tool.name in TOOLS | PORT_TOOLS:
        return ALLOW
    return Deny(_MISSING.format(name=call.tool.name))


def _is_remote(setup: Setup) -> bool:
    return isinstance(setup.loaded.get(TARGET), RemoteHost)


def _defaults(loaded: object) -> Options:
    return Options(enable_approval=True) if isinstance(loaded, RemoteHost) else NO_OPTIONS


def target_capability(target_of: Callable[[SessionId], Awaitable[Target | None]]) -> Capability:
    """The capability. `target_of` returns a session's host; a deleted one is None, and calls on it fail."""

    async def load(user_id: UserId, session_id: SessionId) -> object:
        del user_id
        target = await target_of(session_id)
        if target is None:
            return None
        host = target.ssh
        folder = host.folder or "the home folder"
        return RemoteHost(_TEXT.format(username=host.username, host=host.host, folder=folder))

    return Capability(name=TARGET, load_of_session=load, defaults=_defaults, offers=_tools, gate=_judge)
