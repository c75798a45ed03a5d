"""What is open under a log-in ends with it, at every gateway; the next token goes on where the last one stood."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack

import pytest
import websockets
from websockets.asyncio.client import ClientConnection

from backend_api.identity.application.authenticate import Authenticate
from backend_api.identity.application.log_out import LogOut
from backend_api.identity.tokens import JwtAccessTokens
from backend_api.kit.http.ports import WebOptions
from support.gateway import SECRET, Gateway, run_gateway
from support.servers import Server
from support.streams import reading

WAIT_S = 20.0
SOON_S = 5


@pytest.fixture
def web_options() -> WebOptions:
    """Whose streams are looked at often."""
    return WebOptions(heartbeat_s=1.0)


def socket_of(gateway: Gateway, path: str) -> str:
    return gateway.url.replace("http", "ws") + path


async def screen_of(gateway: Gateway, at: Gateway, session_id: str, headers: dict[str, str]) -> str:
    """Address of the screen at one gateway by a ticket of another."""
    gateway.sandboxes.has_desktop = at.sandboxes.has_desktop = True
    issued = await gateway.client.post(f"/api/sessions/{session_id}/vnc/ticket", headers=headers)
    assert issued.status_code == 201, issued.text
    return socket_of(at, issued.json()["url"])


async def close_of(socket: ClientConnection) -> int:
    async with asyncio.timeout(WAIT_S):
        await socket.wait_closed()
    return socket.close_code or 0


async def end_of(stream: AsyncExitStack, gateway: Gateway, path: str, headers: dict[str, str]) -> asyncio.Task[None]:
    """Follow a stream in the background; the task ends when the stream has ended properly."""
    reader = await stream.enter_async_context(reading(gateway.client, path, headers))

    async def ended() -> None:
        async with asyncio.timeout(WAIT_S):
            while True:
                try:
                    await reader.next()
                except EOFError:
                    return

    return asyncio.create_task(ended())


@pytest.mark.parametrize(
    "how", ["log out", pytest.param("log out everywhere", marks=pytest.mark.thorough), "closed account"]
)
async def test_streams_sockets_and_screens_of_a_log_in_end_at_every_gateway(gateways: list[Gateway], how: str) -> None:
    near, far = gateways
    anna, bert = await near.user("anna"), await near.user("bert")
    session_id = await near.session(anna)
    async with AsyncExitStack() as stack:
        ends = [
            await end_of(stack, far, path, anna)
            for path in (f"/api/sessions/{session_id}/events?after=0", "/api/events")
        ]
        others = await end_of(stack, far, "/api/events", bert)
        socket = await stack.enter_async_context(
            websockets.connect(socket_of(far, f"/api/sessions/{session_id}/ws"), additional_headers=anna)
        )
        unused = await screen_of(near, far, session_id, anna)
        screen = await stack.enter_async_context(
            websockets.connect(await screen_of(near, far, session_id, anna), subprotocols=["binary"])  # type: ignore[list-item]
        )
        await screen.send(b"RFB 003.008\n")
        await screen.recv()
        if how == "closed account":
            await near.database["users"].update_one({"username": "anna"}, {"$set": {"is_active": False}})
        else:
            path = "/api/auth/logout" if how == "log out" else "/api/auth/logout-all"
            assert (await near.client.post(path, headers=anna)).status_code == 204
        await asyncio.gather(*ends)
        assert (await close_of(socket), await close_of(screen)) == (4401, 4401)
        async with websockets.connect(unused) as late:
            assert await close_of(late) == 4401
        assert not others.done()
        others.cancel()


async def test_another_log_in_of_the_same_user_goes_on(gateways: list[Gateway]) -> None:
    near, far = gateways
    anna = await near.user("anna")
    login = {"username": "anna", "password": "anna-password"}
    other = (await near.client.post("/api/auth/login", json=login)).json()["access_token"]
    async with AsyncExitStack() as stack:
        ended = await end_of(stack, far, "/api/events", anna)
        going = await end_of(stack, far, "/api/events", {"Authorization": f"Bearer {other}"})
        await near.client.post("/api/auth/logout", headers=anna)
        await ended
        assert not going.done()
        going.cancel()


def short_lived(gateway: Gateway, headers: dict[str, str]) -> dict[str, str]:
    """A token of the same log-in that ends soon."""
    claims = gateway.port("access_tokens", JwtAccessTokens).read(headers["Authorization"].removeprefix("Bearer "))
    token, _ = JwtAccessTokens(SECRET, algorithm="HS256", expires_s=SOON_S).sign(claims)
    return {"Authorization": f"Bearer {token}"}


async def test_an_expired_token_ends_what_it_opened_and_the_next_one_resumes(gateways: list[Gateway]) -> None:
    gateway, _ = gateways
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    path, said = (f"/api/sessions/{session_id}/{kind}" for kind in ("events", "messages"))
    await gateway.client.post(said, json={"text": "one"}, headers=anna)
    soon = short_lived(gateway, anna)
    async with (
        reading(gateway.client, path, soon) as reader,
        websockets.connect(socket_of(gateway, f"/api/sessions/{session_id}/ws"), additional_headers=soon) as socket,
        websockets.connect(await screen_of(gateway, gateway, session_id, soon)) as screen,
    ):
        seen = await reader.until("run.queued")
        with pytest.raises(EOFError):
            await reader.next()
        assert (await close_of(screen), await close_of(socket)) == (4401, 4401)
    async with asyncio.timeout(WAIT_S):
        while (await gateway.client.get("/api/auth/me", headers=soon)).status_code != 401:
            await asyncio.sleep(0.05)
    await gateway.client.post(said, json={"text": "two"}, headers=anna)
    async with reading(gateway.client, path, anna, last_id=seen[-1].id) as again:
        frame = await again.next()
    assert (frame.event, frame.id, frame.data["text"]) == ("message.user", str(int(seen[-1].id or 0) + 1), "two")


async def test_a_socket_goes_on_under_a_newer_token(gateways: list[Gateway]) -> None:
    gateway, _ = gateways
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    url = socket_of(gateway, f"/api/sessions/{await gateway.session(anna)}/ws")
    soon = short_lived(gateway, anna)
    async with (
        websockets.connect(url, additional_headers=soon) as renewed,
        websockets.connect(url, additional_headers=soon) as left,
    ):
        await renewed.send(auth(anna))
        assert await close_of(left) == 4401
        await renewed.send(json.dumps({"type": "ping"}))
        async with asyncio.timeout(WAIT_S):
            assert json.loads(await renewed.recv()) == {"type": "pong"}
        await renewed.send(auth(bert))
        async with asyncio.timeout(WAIT_S):
            assert json.loads(await renewed.recv())["code"] == "token_invalid"


def auth(headers: dict[str, str]) -> str:
    return json.dumps({"type": "auth", "token": headers["Authorization"].removeprefix("Bearer ")})


@pytest.mark.thorough
async def test_in_local_mode_nothing_expires(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions(is_local=True)
    async with (
        run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options, expires_s=1) as gateway,
        websockets.connect(socket_of(gateway, f"/api/sessions/{await gateway.session({})}/ws")) as socket,
    ):
        caller = await gateway.port("authenticate", Authenticate)(None)
        await gateway.port("log_out", LogOut).everywhere(caller.user.id)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5):
                await socket.wait_closed()
