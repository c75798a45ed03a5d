"""Current connections of opened ports: limited per port and per user, and ended with the port, its session or the
log-in."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from backend_api.identity.application.connection_auth import AuthenticatedConnections, ConnectionAuth
from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.errors import UnavailableError
from backend_api.kit.ids import UserId
from backend_api.kit.notifier import Notifier, Topic
from backend_api.previews.domain.entity import OpenedPort, PortId
from backend_api.previews.domain.errors import TooManyPreviewsError
from backend_api.previews.ports import OpenedPorts

logger = logging.getLogger(__name__)

CHECK_S = 2.0
RETRY_AFTER_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewLimits:
    """Limits at one gateway. `requests` are those of one port that begin within `window_s`. `sockets_of_a_user` are
    part of `at_once_of_a_user`: each buffers whole messages, which may be large."""

    at_once_of_a_port: int = 48
    at_once_of_a_user: int = 96
    sockets_of_a_user: int = 24
    requests: int = 3000
    window_s: float = 10.0


class PreviewConnections:
    """Counted here, not across gateways: a connection belongs to one process, and so does its cost."""

    def __init__(
        self,
        ports: OpenedPorts,
        log_ins: AuthenticatedConnections,
        notifier: Notifier,
        *,
        limits: PreviewLimits | None = None,
        every_s: float = CHECK_S,
    ) -> None:
        self._ports = ports
        self._log_ins = log_ins
        self._notifier = notifier
        self._limits = limits or PreviewLimits()
        self._every_s = every_s
        self._held: dict[PortId, set[ConnectionAuth]] = {}
        self._of_users: Counter[UserId] = Counter()
        self._sockets: Counter[UserId] = Counter()
        self._requests_begun: Counter[PortId] = Counter()
        self._window_ends = 0.0
        self._is_closed = False

    @contextmanager
    def claim(self, port: OpenedPort, claims: AccessClaims, *, is_socket: bool = False) -> Generator[ConnectionAuth]:
        """Occupy a place for the length of the block; its `ended` is done when the block has to end. Raises
        `TooManyPreviewsError`."""
        self._count(port, is_socket=is_socket)
        with (
            self._log_ins.register(claims) as auth,
            _counting(self._of_users, port.user_id, 1),
            _counting(self._sockets, port.user_id, int(is_socket)),
        ):
            if self._is_closed:
                auth.end(None)
            beside = self._held.setdefault(port.id, set())
            beside.add(auth)
            try:
                yield auth
            finally:
                beside.discard(auth)
                if not beside and self._held.get(port.id) is beside:
                    del self._held[port.id]

    def _count(self, port: OpenedPort, *, is_socket: bool) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._window_ends:
            self._window_ends = now + self._limits.window_s
            self._requests_begun.clear()
        self._requests_begun[port.id] += 1
        if (
            self._requests_begun[port.id] > self._limits.requests
            or len(self._held.get(port.id, ())) >= self._limits.at_once_of_a_port
            or self._of_users[port.user_id] >= self._limits.at_once_of_a_user
            or (is_socket and self._sockets[port.user_id] >= self._limits.sockets_of_a_user)
        ):
            raise TooManyPreviewsError(
                "Too many requests are in progress. Try again in a moment.", retry_after_s=RETRY_AFTER_S
            )

    def close(self) -> None:
        """Signal to all connections that the gateway shuts down."""
        self._is_closed = True
        for auth in [auth for beside in self._held.values() for auth in beside]:
            auth.end(None)

    async def watch_ports(self) -> None:
        """End connections of ports that are closed, until cancelled."""
        loop = asyncio.get_running_loop()
        async with self._notifier.subscribe(Topic.PORT_CLOSED) as closed:
            look_at = loop.time() + self._every_s
            while True:
                port_id = await closed.next(max(look_at - loop.time(), 0.0))
                if port_id is not None and port_id not in self._held and loop.time() < look_at:
                    continue
                look_at = loop.time() + self._every_s
                try:
                    await self._end_revoked()
                except UnavailableError:
                    logger.warning("opened ports could not be checked; their connections go on")
                except Exception:
                    logger.exception("checking opened ports failed")

    async def _end_revoked(self) -> None:
        # Connections that began meanwhile were checked then.
        asked = {port_id: tuple(beside) for port_id, beside in self._held.items()}
        if not asked:
            return
        present = await self._ports.present(asked)
        for port_id in asked.keys() - present.keys():
            for auth in asked[port_id]:
                auth.end(None)


@contextmanager
def _counting(places: Counter[UserId], user_id: UserId, so_many: int) -> Generator[None]:
    """Count for the length of the block; entries of users without connections are removed."""
    places[user_id] += so_many
    try:
        yield
    finally:
        places[user_id] -= so_many
        if not places[user_id]:
            del places[user_id]
