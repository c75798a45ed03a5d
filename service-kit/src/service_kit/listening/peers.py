"""The connections of a server: bounded in all and for each address, so that nobody shuts the others out.

A pending connection (no whole request yet, or no log-in) is the first to be closed when places run short, beginning
with the address that holds the most. So is one that does not take what it requested. Next are connections over which
nobody has logged in, also in the middle of an answer.
"""

from __future__ import annotations

import asyncio
import ipaddress
import resource
from collections.abc import Callable, Iterable
from typing import Protocol

MOST = 2000
"""Connections of one process."""
PENDING_PER_ADDRESS = 128
"""Pending connections of one address."""
LOOK_S = 1.0
CLOSE_S = 30.0
"""Seconds in which a closing connection's last bytes must be taken."""
_SPARE_DESCRIPTORS = 256


def nobody(_: str) -> bool:
    """The default check: no peer is a proxy."""
    return False


def ignore(_: str) -> None:
    """The default counter, which counts nothing."""


class Peer(Protocol):
    """A connection."""

    @property
    def is_pending(self) -> bool:
        """Whether it has sent no whole request yet, or does not take what it requested."""
        ...

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody has logged in over it, on servers with a log-in."""
        ...

    def cut(self) -> None:
        """End it at once."""
        ...

    def look(self, now: float) -> None:
        """End the connection if it took too long; called every `LOOK_S` with the loop's time."""
        ...


class Close:
    """Tracks the time that a transport is closing: it waits for its peer to take the rest, which may never happen."""

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since: float | None = None

    def is_late(self, transport: asyncio.BaseTransport, now: float) -> bool:
        """Whether closing takes too long; call it again and again, with the loop's time."""
        if not transport.is_closing():
            return False
        if self._since is None:
            self._since = now
        return now - self._since > CLOSE_S


def address_key(address: str) -> str:
    """The key of everybody behind an address: a host has many IPv6 addresses, all of one /64."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    if (mapped := found.ipv4_mapped) is not None:
        return str(mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


def room_for(wanted: int = MOST) -> int:
    """The number of connections this process may have: its limit of open files is raised if it can be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _SPARE_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, max(soft - _SPARE_DESCRIPTORS, soft // 2))


class Peers:
    """The connections of one server. A peer that `is_proxy` stands for many people and counts only towards the
    total."""

    def __init__(
        self,
        most: int = MOST,
        *,
        pending_per_address: int = PENDING_PER_ADDRESS,
        is_proxy: Callable[[str], bool] = nobody,
        count: Callable[[str], None] = ignore,
    ) -> None:
        self.most = most
        self._pending_per_address = pending_per_address
        self._is_proxy = is_proxy
        self.count = count
        self._at: dict[str, dict[Peer, None]] = {}
        self._key_of: dict[Peer, tuple[str, str]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._key_of)

    def admit(self, peer: Peer, address: str) -> bool:
        """Admit a connection, closing an idle one for it if need be; False if there is no room for it.

        An `address` of nothing is a local socket, which is counted in all alone.
        """
        if not (self._has_room_at(address) and self._has_room()):
            self.count("no room")
            return False
        self._add(peer, address_key(address), address)
        return True

    def release(self, peer: Peer) -> None:
        """Release a connection that has ended."""
        if (found := self._key_of.pop(peer, None)) is None:
            return
        mine = self._at[found[0]]
        del mine[peer]
        if not mine:
            del self._at[found[0]]

    def _add(self, peer: Peer, key: str, address: str) -> None:
        self._key_of[peer] = (key, address)
        self._at.setdefault(key, {})[peer] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._check_all)

    def _has_room_at(self, address: str) -> bool:
        mine = self._at.get(address_key(address), {})
        if len(mine) < self._pending_per_address or not address or self._is_proxy(address):
            return True
        pending = [peer for peer in mine if peer.is_pending]
        if len(pending) >= self._pending_per_address:
            self._disconnect(pending[0])
            return True
        return len(mine) < self.most // 2 or self._cut_first(pending or _anonymous(mine))

    def _has_room(self) -> bool:
        if len(self) < self.most:
            return True
        by_number = sorted(self._at.values(), key=len, reverse=True)
        pending = ([peer for peer in mine if peer.is_pending] for mine in by_number)
        return any(map(self._cut_first, pending)) or any(map(self._cut_first, map(_anonymous, by_number)))

    def _cut_first(self, peers: list[Peer]) -> bool:
        if not peers:
            return False
        self._disconnect(peers[0])
        return True

    def _disconnect(self, peer: Peer) -> None:
        self.count("made room")
        self.release(peer)
        peer.cut()

    def _check_all(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(LOOK_S, self._check_all) if self._key_of else None
        now = loop.time()
        for peer in list(self._key_of):
            peer.look(now)


def _anonymous(peers: Iterable[Peer]) -> list[Peer]:
    return [peer for peer in peers if peer.is_anonymous]
