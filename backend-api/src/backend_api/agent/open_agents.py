"""Agents of a run that began and did not end, so that none stays open when the call it works on is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from backend_api.agent.events import (
    Payload,
    SubagentFinished,
    SubagentStarted,
    ToolCalled,
    ToolFinished,
    Usage,
    UsageUpdated,
)
from backend_api.agent.new_events import NewEvent
from backend_api.agent.threads import Threads, subagent_of
from backend_api.agent.tool import ToolCall


@dataclass(frozen=True, slots=True)
class _Work:
    """The work of an agent so far."""

    usage: Usage = field(default_factory=Usage)
    calls: int = 0


class OpenAgents:
    """The open agents, updated with each stored event."""

    def __init__(self) -> None:
        self._open: dict[str, _Work] = {}

    def load(self, threads: Threads, run_id: str) -> None:
        """Add the agents that an earlier worker of this run left open."""
        for agent_id in threads.others():
            progress = threads.of(agent_id).progress(run_id)
            self._open.setdefault(agent_id, _Work(progress.usage, progress.calls))

    def note(self, payload: Payload) -> None:
        """Apply a stored event."""
        match payload:
            case SubagentStarted(subagent_id=agent_id):
                self._open.setdefault(agent_id, _Work())
            case SubagentFinished(subagent_id=agent_id):
                self._open.pop(agent_id, None)
            case ToolCalled(agent_id=str(agent_id)) if (work := self._open.get(agent_id)) is not None:
                self._open[agent_id] = replace(work, calls=work.calls + 1)
            case UsageUpdated(agent_id=str(agent_id)) if (work := self._open.get(agent_id)) is not None:
                self._open[agent_id] = replace(work, usage=payload.agent_usage or work.usage)
            case _:
                pass

    def with_ends(self, items: Sequence[NewEvent], at_work: Mapping[str, ToolCall]) -> Sequence[NewEvent]:
        """The same items, with the end of each agent added after the result of its call."""
        if not self._open:
            return items
        started = {item.payload.subagent_id for item in items if isinstance(item.payload, SubagentFinished)}
        whole: list[NewEvent] = []
        for item in items:
            whole.append(item)
            match item.payload:
                case ToolFinished(call_id=call_id) if (agent_id := subagent_of(call_id)) in self._open.keys() - started:
                    call, work = at_work.get(call_id), self._open[agent_id]
                    end = SubagentFinished(
                        subagent_id=agent_id,
                        summary=item.payload.preview,
                        usage=work.usage,
                        tool_count=work.calls,
                        duration_ms=call.duration_ms() if call is not None else 0,
                    )
                    whole.append(NewEvent(payload=end))
                case _:
                    pass
        return whole
