"""The agents of a session as threads of its one stream: each conversation is folded from its own events only."""

from __future__ import annotations

from collections.abc import Iterator

from backend_api.agent.events import (
    Event,
    LlmRequest,
    LlmResponse,
    McpUpdated,
    PathSelected,
    RunFinished,
    TeammateUpdated,
    TeamMessage,
    ToolFinished,
    agent_of,
)
from backend_api.agent.mcp_servers import KnownMcpServer, known_after
from backend_api.agent.model_traces import TracedSoFar
from backend_api.agent.run_progress import RunProgress
from backend_api.agent.skills import together
from backend_api.agent.team import LEAD, Team
from backend_api.agent.thread import Thread


def subagent_of(call_id: str) -> str:
    """The agent that works on a call: the same for whichever worker continues it."""
    return f"agent_{call_id}"


class Threads:
    """The main agent's thread, and those of its sub-agents and teammates. A sub-agent's is dropped when its call has a
    result, and all of them when the run has ended: nothing continues in them then."""

    def __init__(self) -> None:
        self.main = Thread()
        self.traced = TracedSoFar()
        """Stored model calls. No other state depends on them: a conversation is the same without."""
        self.mcp: dict[str, KnownMcpServer] = {}
        """The state of each MCP server."""
        self.team = Team()
        self._others: dict[str, Thread] = {}

    def apply(self, event: Event, output: str | None = None) -> None:
        """Add the next event of the session; see `Thread.apply`."""
        match event.payload:
            case LlmRequest() | LlmResponse():
                self.traced.apply(event)
                return
            case TeamMessage() as message:
                self._apply_message(event, message)
                return
            case TeammateUpdated() as update:
                self.team.apply_update(update)
            case _:
                pass
        agent_id = agent_of(event.payload)
        if agent_id is not None:
            self._others.setdefault(agent_id, Thread()).apply(event, output)
            self.main.apply_of_another(event)
            return
        self.main.apply(event, output)
        match event.payload:
            case ToolFinished(call_id=call_id):
                self._others.pop(subagent_of(call_id), None)
                self.traced.forget(subagent_of(call_id))
            case McpUpdated() as told:
                self._apply_mcp(event, told)
            case RunFinished() | PathSelected():
                self._others.clear()
                self.team.clear()
                self.traced.forget_others()
            case _:
                pass

    def apply_beside(self, event: Event) -> None:
        """Add the next event of the session, which is not on its path; see `Thread.apply_beside`."""
        match event.payload:
            case LlmRequest() | LlmResponse():
                self.traced.apply(event)
            case McpUpdated() as told:
                self._apply_mcp(event, told)
            case _:
                self.main.apply_beside(event)

    def _apply_mcp(self, event: Event, told: McpUpdated) -> None:
        if (known := known_after(self.mcp.get(told.server), event, told)) is not None:
            self.mcp[told.server] = known

    def _apply_message(self, event: Event, message: TeamMessage) -> None:
        """Add a message to the threads of its readers."""
        self.team.apply_message(message)
        for name in message.recipients:
            if (member := self.team.members.get(name)) is not None:
                self._others.setdefault(member.agent_id, Thread()).apply(event)
        if LEAD in message.recipients:
            self.main.apply(event)
        else:
            self.main.apply_of_another(event)

    def of(self, agent_id: str | None) -> Thread:
        """The thread of an agent; an empty one if it has no events."""
        return self.main if agent_id is None else self._others.get(agent_id) or Thread()

    def others(self) -> list[str]:
        """The ids of sub-agents and teammates."""
        return list(self._others)

    def skills_read(self) -> list[str]:
        """Names of the skills read by any agent that may go on: all agents share a sandbox."""
        return together(self.main.skills_read, *(thread.skills_read for thread in self._others.values()))

    def progress(self, run_id: str) -> Iterator[RunProgress]:
        """The progress of all agents in a run, the main agent's last."""
        for thread in (*self._others.values(), self.main):
            yield thread.progress(run_id)
