"""Terminals of people, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.conversations.application.stream_slots import StreamSlots
from backend_api.conversations.ports import SessionRepository
from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.redis.client import Redis
from backend_api.kit.redis.tickets import RedisTickets
from backend_api.module import Module, Parts
from backend_api.sandboxes.ports import RunningSandboxes, Sandboxes
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.terminal.application import ConnectTerminal, IssueTerminalTicket, SessionTerminals
from backend_api.terminal.domain import TerminalTicket
from backend_api.terminal.http import router
from backend_api.terminal.ports import Terminals
from backend_api.terminal.tool_api import ToolApiTerminals

VIEWERS_OF_A_USER = 32
"""The most viewers of a user at one gateway."""


@asynccontextmanager
async def open_terminals(
    *,
    sessions: SessionRepository,
    redis: Redis,
    limiter: RateLimiter,
    limits: Limits,
    connections: AuthenticatedConnections,
    sandboxes: Sandboxes,
    running_sandboxes: RunningSandboxes,
    endpoints: Endpoints,
    terminals: Terminals | None = None,
) -> AsyncGenerator[Parts]:
    """Open the terminals. Ports: the use cases of its routes."""
    tickets, of_sandboxes = (
        RedisTickets(redis, "terminal-ticket", TerminalTicket),
        terminals or ToolApiTerminals(endpoints),
    )
    slots = StreamSlots(VIEWERS_OF_A_USER, connections)
    yield Parts(
        ports={
            "issue_terminal_ticket": IssueTerminalTicket(
                sessions=sessions, tickets=tickets, limiter=limiter, limits=limits
            ),
            "connect_terminal": ConnectTerminal(
                tickets=tickets,
                connections=connections,
                slots=slots,
                session_sandbox=SessionSandbox(sessions, sandboxes),
                terminals=of_sandboxes,
            ),
            "session_terminals": SessionTerminals(sessions=sessions, running=running_sandboxes, terminals=of_sandboxes),
        },
        closings=[slots.close],
    )


TERMINAL = Module(
    name="terminal",
    description="Terminals of people in the computers of their conversations.",
    routes=[router],
    open=open_terminals,
)
