"""The state of a session's stored model calls, apart from the conversation itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend_api.agent.events import Event, LlmRequest, LlmResponse, ModelRole

OF_AN_AGENT: frozenset[ModelRole] = frozenset({"agent", "subagent", "teammate", "fallback"})
"""Roles whose requests extend a conversation. A request of another role may begin like one (a summary), but none
extends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRequest:
    """A stored request that the next one may extend: the numbers of its events, their number of turns together, and the
    digest of the whole."""

    seqs: tuple[int, ...]
    turn_count: int
    digest: str


@dataclass(slots=True)
class TracedSoFar:
    """`last_number` of all calls, 0 before the first, and the last request of each agent; None is the main one."""

    last_number: int = 0
    requests: dict[str | None, TracedRequest] = field(default_factory=dict[str | None, TracedRequest])

    def apply(self, event: Event) -> None:
        """Add the next event of a call."""
        match event.payload:
            case LlmRequest(role="title") | LlmResponse(role="title"):
                pass  # numbered apart, as they belong to no run
            case LlmRequest() as request:
                self.last_number = max(self.last_number, request.number)
                # An omitted request is skipped: the next one extends the last that is stored.
                if request.role in OF_AN_AGENT and request.omitted is None:
                    self.requests[request.agent_id] = TracedRequest(
                        seqs=(*request.extends, event.seq or 0), turn_count=request.turn_count, digest=request.digest
                    )
            case LlmResponse(number=number):
                self.last_number = max(self.last_number, number)
            case _:
                pass

    def forget(self, agent_id: str) -> None:
        """Drop an agent that is done: it makes no more requests."""
        self.requests.pop(agent_id, None)

    def forget_others(self) -> None:
        """Drop all agents but the main one: they are done."""
        self.requests = {agent: request for agent, request in self.requests.items() if agent is None}
