"""Opened ports: each with its events, once in its session, and gone with it."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend_api.agent.events import (
    Event,
    MessageUser,
    PortClosed,
    PortOpened,
    PortResource,
    ResourcesUpdated,
)
from backend_api.conversations.application.event_json import event_fields
from backend_api.conversations.domain.errors import SessionNotFoundError
from backend_api.kit.ids import SessionId
from backend_api.previews.domain.entity import OpenedPort, PortId, new_port_id
from backend_api.previews.domain.errors import PortNotFoundError, TooManyPortsError
from backend_api.session_state.http.state_schemas import PortResourceBody
from support.backend_stores import ANNA, BERT, MongoStores

NOW = datetime.now(UTC).replace(microsecond=0)
MOST = 3


def port_of(session_id: SessionId, port: int = 3000, **fields: Any) -> OpenedPort:
    given: dict[str, Any] = {"id": new_port_id(), "user_id": ANNA, "label": "Shop", "opened_at": NOW, **fields}
    return OpenedPort(session_id=session_id, port=port, opened_by="agent", **given)


async def opened(stores: MongoStores, port: OpenedPort) -> OpenedPort:
    return (await stores.ports.open(port, at_most=MOST))[0]


async def told(stores: MongoStores, session_id: SessionId) -> list[Event]:
    return list(await stores.log.read(session_id, after=0, limit=50))


async def check_told(stores: MongoStores, session_id: SessionId) -> int:
    """Each change is followed at once by all that was open after it, in order, and the last one by what is open.
    Returns how many there were."""
    events = await told(stores, session_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (await stores.sessions.get(session_id, ANNA)).last_seq == len(events)
    now_open: set[str] = set()
    for change, whole in zip(events[::2], events[1::2], strict=True):
        assert isinstance(change.payload, PortOpened | PortClosed)
        now_open ^= {change.payload.port_id}
        assert isinstance(whole.payload, ResourcesUpdated)
        assert (whole.at, whole.run_id) == (change.at, change.run_id)
        resources = whole.payload.resources
        assert {one.id for one in resources} == now_open
        assert resources == sorted(resources, key=lambda one: (one.opened_at, one.id))
    state = [PortResourceBody.model_validate(one) for one in await stores.ports.of_session(session_id)]
    last = event_fields(events[-1])["resources"]
    assert last == [json.loads(one.model_dump_json()) for one in state]
    return len(events) // 2


async def test_one_is_opened_and_closed_with_an_event_each_and_the_whole_after_it(stores: MongoStores) -> None:
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
        ResourcesUpdated(
            resources=[PortResource(id=port.id, port=3000, label="Shop", opened_at=NOW, opened_by="agent")]
        ),
        PortClosed(port_id=port.id, port=3000),
        ResourcesUpdated(resources=[]),
    ]
    assert await check_told(stores, session_id) == 2
    assert await stores.ports.of_session(session_id) == []
    assert await stores.ports.present([port.id]) == {}
    with pytest.raises(PortNotFoundError):
        await stores.ports.close(session_id, ANNA, port.id)


async def test_their_events_name_the_run_at_work(stores: MongoStores) -> None:
    session_id = await stores.session()
    accepted = await stores.ledger.accept(session_id, ANNA, MessageUser(message_id="m", text="go"))
    _, events = await stores.ports.open(port_of(session_id), at_most=MOST)
    assert [event.run_id for event in events] == [accepted.run_id] * 2


async def test_one_that_is_open_stays_as_it_is_also_where_no_more_may_be(stores: MongoStores) -> None:
    session_id = await stores.session()
    first = await opened(stores, port_of(session_id))
    assert await stores.ports.open(port_of(session_id, label="Other"), at_most=1) == (first, [])
    with pytest.raises(TooManyPortsError):
        await stores.ports.open(port_of(session_id, 4000), at_most=1)
    assert await stores.ports.of_session(session_id) == [first]
    assert await check_told(stores, session_id) == 1
    assert await opened(stores, port_of(await stores.session())), "another session has its own"


async def test_however_many_open_at_once_each_is_there_once_and_there_are_no_more_than_may_be(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()
    wanted = [port_of(session_id, 3000 + number % 5) for number in range(10)]
    made = await asyncio.gather(*(stores.ports.open(one, at_most=MOST) for one in wanted), return_exceptions=True)
    refused = [one for one in made if isinstance(one, BaseException)]
    assert {type(one) for one in refused} == {TooManyPortsError}
    present = await stores.ports.of_session(session_id)
    assert len(present) == len({one.port for one in present}) == MOST
    assert await check_told(stores, session_id) == MOST


async def test_the_whole_is_right_after_each_of_many_that_are_opened_and_closed_at_once(
    stores: MongoStores,
) -> None:
    session_id = await stores.session()
    kept, *closed = [await opened(stores, port_of(session_id, 3000 + number)) for number in range(3)]
    wanted = [port_of(session_id, 4000 + number) for number in range(3)]
    await asyncio.gather(
        *(stores.ports.open(one, at_most=8) for one in wanted),
        *(stores.ports.close(session_id, ANNA, one.id) for one in closed),
    )
    assert {one.id for one in await stores.ports.of_session(session_id)} == {kept.id, *(one.id for one in wanted)}
    assert await check_told(stores, session_id) == 3 + 3 + 2


async def test_of_two_that_are_opened_in_one_millisecond_all_tell_the_same_order(stores: MongoStores) -> None:
    session_id = await stores.session()
    for number, port_id in enumerate("dcba"):
        at = NOW + timedelta(microseconds=number * 100)
        await stores.ports.open(port_of(session_id, 3000 + number, id=PortId(port_id), opened_at=at), at_most=4)
    assert await check_told(stores, session_id) == 4


async def test_the_one_opened_last_comes_last(stores: MongoStores) -> None:
    session_id = await stores.session()
    later = await opened(stores, port_of(session_id, 3000, opened_at=NOW + timedelta(seconds=1)))
    second = await opened(stores, port_of(session_id, 5000, id=PortId("b")))
    first = await opened(stores, port_of(session_id, 4000, id=PortId("a")))
    assert await stores.ports.of_session(session_id) == [first, second, later]


async def test_nobody_opens_or_closes_one_of_somebody_elses_session(stores: MongoStores) -> None:
    session_id, other = await stores.session(), await stores.session()
    port = await opened(stores, port_of(session_id))
    with pytest.raises(SessionNotFoundError):
        await stores.ports.open(port_of(session_id, 4000, user_id=BERT), at_most=MOST)
    for where, who in ((session_id, BERT), (other, ANNA)):
        with pytest.raises(PortNotFoundError):
            await stores.ports.close(where, who, port.id)
    assert await stores.ports.of_session(session_id) == [port]
    assert await told(stores, other) == []


async def test_of_a_deleted_session_none_is_present_and_none_is_opened(stores: MongoStores) -> None:
    session_id = await stores.session()
    port = await opened(stores, port_of(session_id))
    await stores.sessions.delete(session_id, ANNA)
    assert await stores.ports.present([port.id, PortId("none")]) == {}
    with pytest.raises(SessionNotFoundError):
        await stores.ports.open(port_of(session_id, 4000), at_most=MOST)
