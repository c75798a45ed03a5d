"""The present state of a session, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.conversations.ports import RunLedger, SessionRepository, Transcripts
from backend_api.module import Module, Parts
from backend_api.sandboxes.ports import Sandboxes
from backend_api.session_state.application import (
    NO_QUEUE,
    NONE,
    CommandsOfSession,
    PortsOfSession,
    QueueOfSession,
    ReadState,
    ResourcesOfSession,
)
from backend_api.session_state.http.session_state import router


@asynccontextmanager
async def open_session_state(
    *,
    sessions: SessionRepository,
    transcripts: Transcripts,
    ledger: RunLedger,
    sandboxes: Sandboxes,
    background_commands: CommandsOfSession = NONE,
    opened_ports: PortsOfSession = NONE,
    kept_resources: ResourcesOfSession = NONE,
    queued_messages: QueueOfSession = NO_QUEUE,
) -> AsyncGenerator[Parts]:
    """Open the module. Port: `read_state`."""
    read = ReadState(
        sessions,
        transcripts,
        ledger,
        sandboxes,
        background_commands,
        opened_ports,
        kept_resources,
        queued_messages,
    )
    yield Parts(ports={"read_state": read})


SESSION_STATE = Module(
    name="session_state",
    description="The present state of a conversation.",
    routes=[router],
    open=open_session_state,
)
