"""Ports of a session's computer, opened and closed over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from support.gateway import Gateway, run_gateway
from support.servers import Server, emptied_database_name
from support.streams import reading

__all__ = ["emptied_database_name"]

DOMAIN = "apps.example.org"


@pytest.fixture
async def gateway(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Gateway]:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, preview_domain=DOMAIN) as gateway:
        yield gateway


@pytest.fixture
def preview_domain() -> str:
    return DOMAIN


async def opened(gateway: Gateway, headers: dict[str, str], session_id: str, port: int = 3000) -> dict[str, Any]:
    answer = await gateway.client.post(
        f"/api/sessions/{session_id}/ports", json={"port": port, "label": "Shop"}, headers=headers
    )
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def told(gateway: Gateway, headers: dict[str, str], session_id: str) -> list[dict[str, Any]]:
    answer = await gateway.client.get(f"/api/sessions/{session_id}/events?format=json", headers=headers)
    return [event for event in answer.json()["items"] if event["type"].startswith("port.")]


async def check_resources(gateway: Gateway, headers: dict[str, str], session_id: str) -> list[dict[str, Any]]:
    """Those of the state are those that were told last, right after what changed. Returns them."""
    events = await gateway.client.get(f"/api/sessions/{session_id}/events?format=json", headers=headers)
    *_, change, whole = events.json()["items"]
    state = (await gateway.client.get(f"/api/sessions/{session_id}/state", headers=headers)).json()
    assert change["type"] in ("port.opened", "port.closed")
    assert (whole["type"], whole["seq"]) == ("resources.updated", change["seq"] + 1)
    assert whole["seq"] == state["last_seq"] == state["session"]["last_seq"]
    assert whole["resources"] == state["resources"]
    return list(state["resources"])


async def test_a_port_is_opened_once_listed_and_closed(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    path = f"/api/sessions/{session_id}/ports"
    port = await opened(gateway, anna, session_id)
    again = await gateway.client.post(path, json={"port": 3000, "label": "Other"}, headers=anna)

    assert (again.status_code, again.json()) == (200, port)
    assert port.keys() == {"id", "port", "label", "opened_at", "opened_by"}
    assert (port["port"], port["label"], port["opened_by"]) == (3000, "Shop", "person")
    assert (await gateway.client.get(path, headers=anna)).json() == {"ports": [port]}
    assert (await gateway.client.delete(f"{path}/{port['id']}", headers=anna)).status_code == 204
    assert (await gateway.client.get(path, headers=anna)).json() == {"ports": []}
    gone = await gateway.client.delete(f"{path}/{port['id']}", headers=anna)
    assert (gone.status_code, gone.json()["code"]) == (404, "port_not_found")
    first, second = await told(gateway, anna, session_id)
    assert (first["type"], first["port_id"], first["port"], first["label"], first["opened_by"]) == (
        *("port.opened", port["id"], 3000),
        *("Shop", "person"),
    )
    assert (second["type"], second["port_id"], second["port"]) == ("port.closed", port["id"], 3000)


@pytest.mark.thorough
async def test_the_state_of_a_session_tells_what_is_open_in_the_order_it_was_opened(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id, other = await gateway.session(anna), await gateway.session(anna)
    first = await opened(gateway, anna, session_id, 5000)
    assert await check_resources(gateway, anna, session_id) == [{"kind": "port"} | first]
    second = await opened(gateway, anna, session_id, 3000)

    async def resources(session: str) -> list[dict[str, Any]]:
        answer = await gateway.client.get(f"/api/sessions/{session}/state", headers=anna)
        return list(answer.json()["resources"])

    assert await check_resources(gateway, anna, session_id) == [{"kind": "port"} | port for port in (first, second)]
    assert await resources(other) == []
    await gateway.client.delete(f"/api/sessions/{session_id}/ports/{first['id']}", headers=anna)
    assert await check_resources(gateway, anna, session_id) == [{"kind": "port"} | second]
    await gateway.client.delete(f"/api/sessions/{session_id}/ports/{second['id']}", headers=anna)
    assert await check_resources(gateway, anna, session_id) == []


async def test_a_reader_of_the_stream_is_told_of_the_change_and_then_of_the_whole(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    async with reading(gateway.client, f"/api/sessions/{session_id}/events", anna) as frames:
        port = await opened(gateway, anna, session_id)
        change, whole = await frames.take_frames(2)
    assert [frame.event for frame in (change, whole)] == ["port.opened", "resources.updated"]
    assert [frame.id for frame in (change, whole)] == ["1", "2"]
    assert whole.data["resources"] == [{"kind": "port"} | port]


@pytest.mark.thorough
async def test_a_computer_that_is_gone_leaves_open_what_was_opened(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    await gateway.sandboxes.ensure(session_id, "anna")
    port = await opened(gateway, anna, session_id)
    await gateway.sandboxes.end(session_id)
    assert await check_resources(gateway, anna, session_id) == [{"kind": "port"} | port]


@pytest.mark.parametrize(
    "port",
    [
        -1,
        pytest.param(0, marks=pytest.mark.thorough),
        pytest.param(80, marks=pytest.mark.thorough),
        1023,
        pytest.param(7000, marks=pytest.mark.thorough),
        9222,
        65536,
        pytest.param(10**30, marks=pytest.mark.thorough),
    ],
)
async def test_a_port_that_may_not_be_opened_is_refused_with_those_that_may(gateway: Gateway, port: int) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    answer = await gateway.client.post(f"/api/sessions/{session_id}/ports", json={"port": port}, headers=anna)

    assert (answer.status_code, answer.json()["code"]) == (422, "port_refused")
    assert "1024 to 65535" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, marks=pytest.mark.thorough),
        {"port": "3000"},
        pytest.param({"port": 3000, "label": "x" * 81}, marks=pytest.mark.thorough),
        {"port": 3000, "host": "x"},
    ],
)
async def test_a_body_that_is_none_is_refused(gateway: Gateway, body: dict[str, Any]) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)

    assert (await gateway.client.post(f"/api/sessions/{session_id}/ports", json=body, headers=anna)).status_code == 422


async def test_an_address_has_the_ports_own_host_and_a_token_and_no_event_has_either(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    port = await opened(gateway, anna, session_id)
    answer = await gateway.client.post(f"/api/sessions/{session_id}/ports/{port['id']}/address", headers=anna)
    url = urlsplit(str(answer.json()["url"]))
    (token,) = parse_qs(url.query)["preview_token"]

    assert answer.status_code == 200
    assert (url.scheme, url.hostname, url.path) == ("http", f"p-{port['id']}.apps.example.org", "/")
    assert url.port == urlsplit(gateway.url).port
    assert len(port["id"]) <= 61
    events = await gateway.client.get(f"/api/sessions/{session_id}/events?format=json", headers=anna)
    assert token not in events.text
    assert "apps.example.org" not in events.text


async def test_a_port_of_another_session_is_not_there(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    of_anna, other, of_bert = await gateway.session(anna), await gateway.session(anna), await gateway.session(bert)
    port = await opened(gateway, anna, of_anna)
    for headers, session_id in ((anna, other), (bert, of_bert), (bert, of_anna)):
        path = f"/api/sessions/{session_id}/ports/{port['id']}"
        assert (await gateway.client.post(f"{path}/address", headers=headers)).status_code == 404
        assert (await gateway.client.delete(path, headers=headers)).status_code == 404
    assert (await gateway.client.get(f"/api/sessions/{of_anna}/ports", headers=anna)).json() == {"ports": [port]}


async def test_where_there_is_no_domain_for_them_no_port_is_opened(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri) as gateway:
        anna = await gateway.user("anna")
        session_id = await gateway.session(anna)
        answer = await gateway.client.post(f"/api/sessions/{session_id}/ports", json={"port": 3000}, headers=anna)

    assert (answer.status_code, answer.json()["code"]) == (409, "ports_off")
    assert "PREVIEW_DOMAIN" in answer.json()["detail"]
