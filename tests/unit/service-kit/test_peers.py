"""Places for connections: fair by address, and the ones that said nothing yet go first."""

from __future__ import annotations

import resource

import pytest

from service_kit.listening.peers import Peers, address_key, room_for


class Caller:
    """A connection that only remembers what happened to it."""

    def __init__(self, *, is_pending: bool = True, is_anonymous: bool = False) -> None:
        self.is_pending = is_pending
        self.is_anonymous = is_anonymous
        self.is_cut = False

    def cut(self) -> None:
        self.is_cut = True

    def look(self, now: float) -> None:
        del now


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("a name", "a name"),
    ],
)
def test_who_may_take_any_address_of_a_network_is_one(address: str, key: str) -> None:
    assert address_key(address) == key


async def test_an_address_that_says_nothing_loses_its_oldest_connection() -> None:
    peers = Peers(100, pending_per_address=3)
    callers = [Caller() for _ in range(5)]
    assert all(peers.admit(caller, "192.0.2.1") for caller in callers)
    assert [caller.is_cut for caller in callers] == [True, True, False, False, False]


async def test_no_address_takes_more_than_half_and_a_proxy_may() -> None:
    peers = Peers(10, pending_per_address=2, is_proxy=lambda address: address == "10.0.0.1")
    assert [peers.admit(Caller(is_pending=False), "192.0.2.1") for _ in range(7)] == [True] * 5 + [False] * 2
    assert [peers.admit(Caller(is_pending=False), "10.0.0.1") for _ in range(6)] == [True] * 5 + [False]


async def test_where_all_is_full_the_one_who_holds_most_gives_way_and_nobody_who_is_served() -> None:
    reasons: list[str] = []
    peers = Peers(6, pending_per_address=4, count=reasons.append)
    many, served, honest = [Caller() for _ in range(3)], [Caller(is_pending=False) for _ in range(2)], Caller()
    for caller in many:
        peers.admit(caller, "192.0.2.1")
    for caller in served:
        peers.admit(caller, "192.0.2.2")
    peers.admit(honest, "192.0.2.3")
    assert peers.admit(Caller(), "192.0.2.4")
    assert [caller.is_cut for caller in many] == [True, False, False]
    assert not any(caller.is_cut for caller in (*served, honest))
    assert reasons == ["made room"]


async def test_where_nobody_is_idle_the_one_who_has_not_logged_in_gives_way() -> None:
    peers = Peers(6)
    served = [Caller(is_pending=False) for _ in range(3)]
    asking = [Caller(is_pending=False, is_anonymous=True) for _ in range(3)]
    for caller in served:
        assert peers.admit(caller, "192.0.2.1")
    for caller in asking:
        assert peers.admit(caller, "192.0.2.2")
    assert [peers.admit(Caller(is_pending=False), f"192.0.2.{last}") for last in (3, 4, 5, 6)] == [True] * 3 + [False]
    assert all(caller.is_cut for caller in asking)
    assert not any(caller.is_cut for caller in served)


async def test_of_an_address_that_holds_half_of_all_its_own_anonymous_one_gives_way() -> None:
    peers = Peers(4, pending_per_address=1)
    callers = [Caller(is_pending=False, is_anonymous=True) for _ in range(3)]
    assert all(peers.admit(caller, "192.0.2.1") for caller in callers)
    assert [caller.is_cut for caller in callers] == [True, False, False]


async def test_one_that_ended_leaves_its_place() -> None:
    peers = Peers(1)
    first = Caller(is_pending=False)
    assert peers.admit(first, "")
    assert not peers.admit(Caller(), "")
    peers.release(first)
    peers.release(first)
    assert len(peers) == 0
    assert peers.admit(Caller(), "")


def test_there_is_room_for_no_more_than_files_may_be_open() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert room_for(10) == 10
        assert 0 < room_for(2000) <= 2000
        if hard == resource.RLIM_INFINITY or hard >= 2256:
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
            assert room_for(2000) == 2000
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
