"""Opened ports: each with its event, once in its session, and gone with it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend_api.domain.agent.events import Event, MessageUser, PortClosed, PortOpened
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.errors import SessionNotFoundError
from backend_api.domain.previews.entity import OpenedPort, PortId, new_port_id
from backend_api.domain.previews.errors import PortNotFoundError, TooManyPortsError
from support.backend_stores import ANNA, BERT, ConversationStores

NOW = datetime.now(UTC).replace(microsecond=0)
MOST = 3


def port_of(session_id: SessionId, port: int = 3000, **fields: Any) -> OpenedPort:
    given: dict[str, Any] = {"id": new_port_id(), "user_id": ANNA, "label": "Shop", "opened_at": NOW, **fields}
    return OpenedPort(session_id=session_id, port=port, opened_by="agent", **given)


async def opened(stores: ConversationStores, port: OpenedPort) -> OpenedPort:
    return (await stores.ports.open(port, at_most=MOST))[0]


async def told(stores: ConversationStores, session_id: SessionId) -> list[Event]:
    return list(await stores.log.read(session_id, after=0, limit=50))


async def test_one_is_opened_and_closed_with_an_event_each(stores: ConversationStores) -> None:
    session_id = await stores.session()
    port = port_of(session_id)
    kept, events = await stores.ports.open(port, at_most=MOST)
    assert kept == port
    assert await stores.ports.of_session(session_id) == [port]
    assert await stores.ports.present([port.id]) == {port.id: port}
    events += await stores.ports.close(session_id, ANNA, port.id)
    assert events == await told(stores, session_id)
    assert [event.payload for event in events] == [
        PortOpened(port_id=port.id, port=3000, label="Shop", opened_by="agent"),
        PortClosed(port_id=port.id, port=3000),
    ]
    assert (await stores.sessions.get(session_id, ANNA)).last_seq == 2
    assert await stores.ports.of_session(session_id) == []
    assert await stores.ports.present([port.id]) == {}
    with pytest.raises(PortNotFoundError):
        await stores.ports.close(session_id, ANNA, port.id)


async def test_their_events_name_the_run_at_work(stores: ConversationStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    _, events = await stores.ports.open(port_of(session_id), at_most=MOST)
    assert [event.run_id for event in events] == [accepted.run_id]


async def test_one_that_is_open_stays_as_it_is_also_where_no_more_may_be(stores: ConversationStores) -> None:
    session_id = await stores.session()
    first = await opened(stores, port_of(session_id))
    assert await stores.ports.open(port_of(session_id, label="Other"), at_most=1) == (first, [])
    with pytest.raises(TooManyPortsError):
        await stores.ports.open(port_of(session_id, 4000), at_most=1)
    assert await stores.ports.of_session(session_id) == [first]
    assert len(await told(stores, session_id)) == 1
    assert await opened(stores, port_of(await stores.session())), "another session has its own"


async def test_however_many_open_at_once_each_is_there_once_and_there_are_no_more_than_may_be(
    stores: ConversationStores,
) -> None:
    session_id = await stores.session()
    wanted = [port_of(session_id, 3000 + number % 5) for number in range(10)]
    made = await asyncio.gather(*(stores.ports.open(one, at_most=MOST) for one in wanted), return_exceptions=True)
    refused = [one for one in made if isinstance(one, BaseException)]
    assert {type(one) for one in refused} == {TooManyPortsError}
    present = await stores.ports.of_session(session_id)
    assert len(present) == len({one.port for one in present}) == MOST
    assert len(await told(stores, session_id)) == MOST


async def test_the_one_opened_last_comes_last(stores: ConversationStores) -> None:
    session_id = await stores.session()
    later = await opened(stores, port_of(session_id, 3000, opened_at=NOW + timedelta(seconds=1)))
    second = await opened(stores, port_of(session_id, 5000, id=PortId("b")))
    first = await opened(stores, port_of(session_id, 4000, id=PortId("a")))
    assert await stores.ports.of_session(session_id) == [first, second, later]


async def test_nobody_opens_or_closes_one_of_somebody_elses_session(stores: ConversationStores) -> None:
    session_id, other = await stores.session(), await stores.session()
    port = await opened(stores, port_of(session_id))
    with pytest.raises(SessionNotFoundError):
        await stores.ports.open(port_of(session_id, 4000, user_id=BERT), at_most=MOST)
    for where, who in ((session_id, BERT), (other, ANNA)):
        with pytest.raises(PortNotFoundError):
            await stores.ports.close(where, who, port.id)
    assert await stores.ports.of_session(session_id) == [port]
    assert await told(stores, other) == []


async def test_of_a_deleted_session_none_is_present_and_none_is_opened(stores: ConversationStores) -> None:
    session_id = await stores.session()
    port = await opened(stores, port_of(session_id))
    await stores.sessions.delete(session_id, ANNA)
    assert await stores.ports.present([port.id, PortId("none")]) == {}
    with pytest.raises(SessionNotFoundError):
        await stores.ports.open(port_of(session_id, 4000), at_most=MOST)
