"""How much goes over opened ports at once, and how fast."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from backend_api.identity.application.connection_auth import AuthenticatedConnections
from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.in_process_notifier import InProcessNotifier
from backend_api.previews.application.preview_connections import PreviewConnections, PreviewLimits
from backend_api.previews.domain.entity import OpenedPort, new_port_id
from backend_api.previews.domain.errors import TooManyPreviewsError

NOBODY: Any = None
"""What is not asked here."""


def port_of(user_id: str) -> OpenedPort:
    return OpenedPort(
        id=new_port_id(),
        session_id=SessionId("s"),
        user_id=UserId(user_id),
        port=3000,
        label="",
        opened_at=datetime.now(UTC),
        opened_by="person",
    )


def connections(**limits: Any) -> PreviewConnections:
    notifier = InProcessNotifier()
    log_ins = AuthenticatedConnections(NOBODY, notifier, lambda: 0.0)
    return PreviewConnections(NOBODY, log_ins, notifier, limits=PreviewLimits(**limits))


def claims_of(port: OpenedPort) -> AccessClaims:
    return AccessClaims(user_id=port.user_id, family="", token_version=0)


async def test_a_port_and_a_user_have_so_many_places_which_come_free_again() -> None:
    held = connections(at_once_of_a_port=1, at_once_of_a_user=2)
    ports, others = [port_of("anna") for _ in range(3)], port_of("bert")
    with ExitStack() as places:
        for port in ports[:2]:
            places.enter_context(held.claim(port, claims_of(port)))
        for port in (ports[0], ports[2]):
            with pytest.raises(TooManyPreviewsError), held.claim(port, claims_of(port)):
                pass
        with held.claim(others, claims_of(others)):
            pass
    for port in ports:
        with held.claim(port, claims_of(port)) as auth:
            assert not auth.ended.done()


async def test_a_user_has_fewer_sockets_than_places() -> None:
    held, ports, others = connections(sockets_of_a_user=2), [port_of("anna"), port_of("anna")], port_of("bert")
    with ExitStack() as places:
        for port in ports:
            places.enter_context(held.claim(port, claims_of(port), is_socket=True))
        for port in ports:
            with pytest.raises(TooManyPreviewsError), held.claim(port, claims_of(port), is_socket=True):
                pass
            with held.claim(port, claims_of(port)):
                pass
        with held.claim(others, claims_of(others), is_socket=True):
            pass
    for port in ports:
        with held.claim(port, claims_of(port), is_socket=True) as auth:
            assert not auth.ended.done()


async def test_a_port_has_so_many_requests_in_a_window_of_time() -> None:
    held, fast = connections(requests=2), connections(requests=2, window_s=0.0)
    port, beside = port_of("anna"), port_of("anna")
    for _ in range(2):
        with held.claim(port, claims_of(port)):
            pass
    with pytest.raises(TooManyPreviewsError), held.claim(port, claims_of(port)):
        pass
    with held.claim(beside, claims_of(beside)):
        pass
    for _ in range(9):
        with fast.claim(port, claims_of(port)):
            pass


async def test_a_gateway_that_ends_tells_what_is_open_and_what_comes() -> None:
    held, port = connections(), port_of("anna")
    with held.claim(port, claims_of(port)) as auth:
        held.close()
        assert auth.ended.done()
        with held.claim(port, claims_of(port)) as late:
            assert late.ended.done()
    assert cast("object", auth.ended.result()) is None
