"""Who controls the computer of a session, over HTTP and over the socket of its screen."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
import websockets

from backend_api.agent.events import MessageUser
from backend_api.agent.tool import ToolCall, Waits
from backend_api.agent.waits import Wait
from backend_api.control.application import ControlSandbox
from backend_api.control.mongo import MongoControlLeases
from backend_api.control.tools import ask_to_drive
from backend_api.kit.ids import SessionId
from support.gateway import Gateway

DESK, PHONE = {"client": "window-at-the-desk"}, {"client": "window-of-the-phone"}


class Wheel:
    """The route of a session, for its user."""

    def __init__(self, gateway: Gateway, headers: dict[str, str], session_id: str) -> None:
        self.url = f"/api/sessions/{session_id}/control"
        self._gateway, self.headers, self.session_id = gateway, headers, session_id

    async def ask(self, method: str, body: dict[str, Any] | None = None) -> httpx.Response:
        return await self._gateway.client.request(method, self.url, json=body, headers=self.headers)

    async def told(self) -> list[tuple[str, Any]]:
        url = f"/api/sessions/{self.session_id}/events?format=json"
        events = (await self._gateway.client.get(url, headers=self.headers)).json()["items"]
        told = [event for event in events if event["type"].startswith("control.")]
        return [(one["type"], one.get("holder") or (one["by"], one.get("note"))) for one in told]

    async def screen(self, **ticket: str) -> str:
        url = f"/api/sessions/{self.session_id}/vnc/ticket"
        answer = await self._gateway.client.post(url, json={"mode": "control", **ticket}, headers=self.headers)
        return self._gateway.url.replace("http", "ws") + str(answer.json()["url"])


async def wheel(gateway: Gateway, name: str = "anna") -> Wheel:
    headers = await gateway.user(name)
    return Wheel(gateway, headers, await gateway.session(headers))


async def close_code(socket: websockets.ClientConnection) -> int:
    async with asyncio.timeout(15):
        await socket.wait_closed()
    return socket.close_code or 0


async def test_one_client_controls_and_the_others_read_who_it_is(gateway: Gateway) -> None:
    its = await wheel(gateway)
    assert (await its.ask("GET")).json() is None
    taken = await its.ask("POST", DESK | {"holder": "Desk"})
    assert (taken.status_code, taken.json()["holder"], taken.json()["client"]) == (200, "Desk", DESK["client"])
    refused = await its.ask("POST", PHONE)
    assert (refused.status_code, refused.json()["code"], refused.json()["detail"]) == (
        409,
        "control_held",
        "Desk controls the computer.",
    )
    assert (await its.ask("GET")).json()["holder"] == "Desk"
    assert (await its.ask("PUT", DESK)).status_code == 200
    assert (await its.ask("PUT", PHONE)).json()["code"] == "control_lost"
    # The same client once more renews it, and says nothing.
    assert (await its.ask("POST", DESK | {"holder": "Desk"})).status_code == 200
    over = await its.ask("POST", PHONE | {"take_over": True})
    assert (over.status_code, over.json()["holder"]) == (200, "anna")
    assert (await its.ask("PUT", DESK)).status_code == 409
    assert (await its.ask("DELETE", DESK)).json()["code"] == "control_lost"
    assert (await its.ask("DELETE", PHONE | {"note": " $signed in. "})).status_code == 204
    assert (await its.ask("GET")).json() is None
    assert await its.told() == [
        ("control.taken", "Desk"),
        ("control.taken", "anna"),
        ("control.returned", ("user", "$signed in.")),
    ]


async def test_of_many_that_take_it_at_once_one_has_it(gateway: Gateway) -> None:
    its = await wheel(gateway)
    answers = await asyncio.gather(*(its.ask("POST", {"client": f"window-{number:04}"}) for number in range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 11
    assert len(await its.told()) == 1


async def test_a_note_is_stored_though_the_lease_is_over(gateway: Gateway) -> None:
    its = await wheel(gateway)
    assert (await its.ask("DELETE")).status_code == 204
    assert (await its.ask("DELETE", DESK | {"note": "Done."})).status_code == 204
    assert await its.told() == [("control.returned", ("user", "Done."))]


@pytest.mark.parametrize(
    ("method", "body"),
    [
        pytest.param("POST", {}, marks=pytest.mark.thorough),
        ("POST", {"client": "short"}),
        pytest.param("POST", {"client": "x" * 65}, marks=pytest.mark.thorough),
        pytest.param("POST", {"client": "window of mine"}, marks=pytest.mark.thorough),
        ("POST", DESK | {"holder": "x" * 81}),
        pytest.param("PUT", {}, marks=pytest.mark.thorough),
        ("DELETE", DESK | {"note": "x" * 4_001}),
    ],
)
async def test_what_is_no_client_or_too_long_is_refused(gateway: Gateway, method: str, body: dict[str, Any]) -> None:
    its = await wheel(gateway)
    assert (await its.ask(method, body)).status_code == 422
    assert await its.told() == []


async def test_a_session_of_somebody_else_or_none_is_not_found(gateway: Gateway) -> None:
    its, others = await wheel(gateway), await wheel(gateway, "bert")
    others.url = its.url
    for method, body in (("GET", None), ("POST", DESK), ("PUT", DESK), ("DELETE", DESK)):
        assert (await others.ask(method, body)).status_code == 404, method


@pytest.mark.thorough
async def test_a_lease_that_nobody_renews_is_over_and_told(gateway: Gateway) -> None:
    its = await wheel(gateway)
    ports = gateway.ports
    leases = MongoControlLeases(gateway.database, lease_s=0.05)
    control = ControlSandbox(sessions=ports.sessions, leases=leases, stream=ports.stream, notifier=ports.notifier)
    session = SessionId(its.session_id)
    user_id = (await ports.sessions.get(session, await owner(gateway, its))).user_id
    await control.take(session, user_id, DESK["client"], "Desk")
    expiring = [asyncio.create_task(control.expire_until_cancelled()) for _ in range(2)]
    try:
        async with asyncio.timeout(20):
            while len(await its.told()) < 2:
                await asyncio.sleep(0.05)
    finally:
        for task in expiring:
            task.cancel()
        await asyncio.wait(expiring)
    assert await its.told() == [("control.taken", "Desk"), ("control.returned", ("timeout", None))]


async def owner(gateway: Gateway, its: Wheel) -> Any:
    document = await gateway.database["sessions"].find_one({"_id": its.session_id})
    assert document is not None
    return document["user_id"]


async def test_a_session_that_is_deleted_while_it_is_held_leaves_no_lease(gateway: Gateway) -> None:
    its = await wheel(gateway)
    await its.ask("POST", DESK)
    assert (await gateway.client.delete(f"/api/sessions/{its.session_id}", headers=its.headers)).status_code == 204
    assert (await its.ask("PUT", DESK)).status_code == 404
    leases = MongoControlLeases(gateway.database)
    await gateway.database["control_leases"].update_one({}, [{"$set": {"expires_at": {"$subtract": ["$$NOW", 1000]}}}])
    assert await leases.expired() == [its.session_id]
    assert await leases.expire(SessionId(its.session_id)) == []
    assert await leases.expired() == []


async def test_the_screen_is_controlled_by_the_client_that_has_the_lease(gateway: Gateway) -> None:
    its = await wheel(gateway)
    async with websockets.connect(await its.screen(**DESK)) as early:
        assert await close_code(early) == 4409
    await its.ask("POST", DESK)
    async with websockets.connect(await its.screen(**PHONE)) as other:
        assert await close_code(other) == 4409
    async with websockets.connect(await its.screen()) as nameless:
        assert await close_code(nameless) == 4409
    async with websockets.connect(await its.screen(**DESK)) as driver:
        assert await driver.recv() == b"RFB 003.008\n"
        await its.ask("POST", PHONE | {"take_over": True})
        assert await close_code(driver) == 4409


async def test_a_socket_without_a_client_has_a_lease_of_its_own_while_it_is_open(gateway: Gateway) -> None:
    its = await wheel(gateway)
    async with websockets.connect(await its.screen()) as socket:
        assert await socket.recv() == b"RFB 003.008\n"
        assert (await its.ask("POST", DESK)).status_code == 409
    async with asyncio.timeout(20):
        while (await its.ask("GET")).json() is not None:
            await asyncio.sleep(0.02)
    assert [kind for kind, _ in await its.told()] == ["control.taken", "control.returned"]


async def test_handing_back_answers_the_agent_that_asked_for_it(gateway: Gateway) -> None:
    its = await wheel(gateway)
    session, ledger = SessionId(its.session_id), gateway.ports.ledger
    user_id = await owner(gateway, its)
    accepted = await ledger.accept(session, user_id, MessageUser(message_id="m", text="go"))
    lease = await ledger.claim("w", lease_s=30, model="m", run_id=accepted.run_id)
    assert lease is not None
    call = ToolCall(
        session_id=session, user_id=user_id, run_id=accepted.run_id, call_id="c", name="ask_to_drive",
        arguments={"reason": "Log in, please."},
    )  # fmt: skip
    waits = await ask_to_drive().run_call(call)
    assert isinstance(waits, Waits)
    wait: Wait = waits.waits[0]
    assert await ledger.wait(lease, [wait], read_seq=accepted.seq)
    await its.ask("POST", DESK)
    assert (await its.ask("DELETE", DESK | {"note": "Logged in."})).status_code == 204
    state = (await gateway.client.get(f"/api/sessions/{session}", headers=its.headers)).json()
    assert state["status"] == "queued"
    url = f"/api/sessions/{session}/events?format=json"
    events = (await gateway.client.get(url, headers=its.headers)).json()["items"]
    (answered,) = [event for event in events if event["type"] == "question.answered"]
    assert answered["answers"] == {"control:taken": "Logged in."}
