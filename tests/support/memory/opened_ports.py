"""Opened ports in memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from backend_api.domain.agent.events import Event
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.identity.entity import UserId
from backend_api.domain.previews.change_events import ChangeEvents, closing_events, opening_events
from backend_api.domain.previews.entity import OpenedPort, PortId
from backend_api.domain.previews.errors import PortNotFoundError, TooManyPortsError
from support.memory.store import MemoryStore


class MemoryOpenedPorts:
    """`OpenedPorts` on a `MemoryStore`."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._ports: dict[PortId, OpenedPort] = {}

    async def open(self, port: OpenedPort, *, at_most: int) -> tuple[OpenedPort, list[Event]]:
        """At once."""
        self._store.own(port.session_id, port.user_id)
        present = await self.of_session(port.session_id)
        if found := next((one for one in present if one.port == port.port), None):
            return found, []
        if len(present) >= at_most:
            raise TooManyPortsError.of(at_most)
        self._ports[port.id] = port
        changes = opening_events(port, await self.of_session(port.session_id))
        return port, self._record_events(port.session_id, port.user_id, changes)

    async def close(self, session_id: SessionId, user_id: UserId, port_id: PortId) -> list[Event]:
        """At once."""
        port = self._ports.get(port_id)
        if port is None or (port.session_id, port.user_id) != (session_id, user_id):
            raise PortNotFoundError("This port is not open.")
        self._store.own(session_id, user_id)
        del self._ports[port_id]
        changes = closing_events(port, await self.of_session(session_id))
        return self._record_events(session_id, user_id, changes)

    async def of_session(self, session_id: SessionId) -> list[OpenedPort]:
        """As they are."""
        found = [one for one in self._ports.values() if one.session_id == session_id]
        return sorted(found, key=lambda one: (one.opened_at, one.id))

    async def present(self, port_ids: Collection[PortId]) -> dict[PortId, OpenedPort]:
        """As they are."""
        found = {one: self._ports[one] for one in port_ids if one in self._ports}
        return {port_id: port for port_id, port in found.items() if self._is_there(port)}

    def _is_there(self, port: OpenedPort) -> bool:
        row = self._store.sessions.get(port.session_id)
        return row is not None and row.session.user_id == port.user_id

    def _record_events(self, session_id: SessionId, user_id: UserId, changes: ChangeEvents) -> list[Event]:
        row = self._store.own(session_id, user_id)
        events = self._store.store(row, row.session.active_run_id, changes)
        row.session = replace(row.session, last_seq=len(row.events), updated_at=self._store.clock())
        return events
