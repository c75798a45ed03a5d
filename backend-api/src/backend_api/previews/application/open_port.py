"""Opening a port of a session's sandbox to its user's browser, and closing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Quotas
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.notifier import Notifier, Topic
from backend_api.previews.domain.entity import (
    OpenedBy,
    OpenedPort,
    PortId,
    check_port,
    clean_label,
    new_port_id,
)
from backend_api.previews.domain.errors import PortNotFoundError, PortsOffError
from backend_api.previews.ports import OpenedPorts

ADDRESS_TTL_S = 60
COOKIE_TTL_S = 12 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPolicy:
    """The deployment's choices. Without a `domain` no port can be opened, and open ones can't be reached."""

    domain: str = ""
    most: int = Quotas().opened_ports
    address_ttl_s: int = ADDRESS_TTL_S
    cookie_ttl_s: int = COOKIE_TTL_S

    def check_on(self) -> None:
        """Raises `PortsOffError`."""
        if not self.domain:
            raise PortsOffError


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPort:
    """Opens a port, whether a program listens there yet or not. Raises `PortsOffError`, `PortRefusedError`,
    `SessionNotFoundError`, `TooManyPortsError`."""

    sessions: SessionRepository
    ports: OpenedPorts
    stream: SessionStream
    policy: PreviewPolicy
    clock: Callable[[], datetime] = _now

    async def __call__(
        self, session_id: SessionId, user_id: UserId, port: int, *, label: str = "", opened_by: OpenedBy
    ) -> tuple[OpenedPort, bool]:
        """Open the port; returns it, and whether it was not open before."""
        await self.sessions.get(session_id, user_id)
        self.policy.check_on()
        check_port(port)
        wanted = OpenedPort(
            id=new_port_id(),
            session_id=session_id,
            user_id=user_id,
            port=port,
            label=clean_label(label),
            opened_at=self.clock(),
            opened_by=opened_by,
        )
        opened, events = await self.ports.open(wanted, at_most=self.policy.most)
        if events:
            await self.stream.append(session_id, events)
        return opened, bool(events)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosePort:
    """Closes a port; its connections end at once, in every gateway. Raises `SessionNotFoundError`,
    `PortNotFoundError`."""

    sessions: SessionRepository
    ports: OpenedPorts
    stream: SessionStream
    notifier: Notifier

    async def __call__(self, session_id: SessionId, user_id: UserId, port_id: PortId) -> None:
        await self.sessions.get(session_id, user_id)
        events = await self.ports.close(session_id, user_id, port_id)
        await self.notifier.notify(Topic.PORT_CLOSED, port_id)
        await self.stream.append(session_id, events)

    async def by_number(self, session_id: SessionId, user_id: UserId, port: int) -> None:
        """Close the port of this number."""
        opened = next((one for one in await self.ports.of_session(session_id) if one.port == port), None)
        if opened is None:
            raise PortNotFoundError(f"The port {port} is not open.")
        await self(session_id, user_id, opened.id)
