"""A gateway before a real tool API, programs that listen beside it, and a browser's part in reaching them."""

from __future__ import annotations

import asyncio
import http.cookies
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect

from backend_api.kit.http.ports import WebOptions
from backend_api.previews.tool_api.port_tunnels import PortTunnels
from backend_api.previews.tool_api.sandbox_apps import ToolApiSandboxApps
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from support.endpoint import RunningEndpoint, running_endpoint
from support.endpoint_tokens import FixedTokens
from support.gateway import Gateway, run_gateway
from support.gateway_sandboxes import a_sandbox
from support.listening import on_loopback
from support.same_sandbox import SameSandbox
from support.servers import Server

DOMAIN = "localhost"
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Reached:
    """An opened port as a browser that was let in has it."""

    gateway: Gateway
    session_id: str
    port_id: str
    owner: dict[str, str]
    address: str
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def host(self) -> str:
        return self.headers["Host"]

    def url(self, path: str) -> str:
        return self.gateway.url + path

    async def get(self, path: str = "/", **headers: str) -> httpx.Response:
        return await self.gateway.client.get(self.url(path), headers=self.headers | headers)

    async def close(self) -> None:
        path = f"/api/sessions/{self.session_id}/ports/{self.port_id}"
        answer = await self.gateway.client.delete(path, headers=self.owner)
        assert answer.status_code == 204, answer.text

    def socket(self, path: str, **options: Any) -> connect:
        """A WebSocket, of the app's own page unless told otherwise."""
        headers = {"Cookie": self.headers["Cookie"], "Origin": f"http://{self.host}"} | options.pop("headers", {})
        uri = urlsplit(self.gateway.url)
        return connect(
            f"ws://{self.host}{path}",
            host=uri.hostname,
            port=uri.port,
            additional_headers=headers,
            proxy=None,
            **options,
        )


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    """A real tool API, for the tests of a file."""
    with running_endpoint(tmp_path_factory.mktemp("endpoint")) as running:
        yield running


@asynccontextmanager
async def preview_gateway(
    mongo: Server,
    redis: Server,
    database_name: str,
    endpoint: RunningEndpoint,
    *,
    head_s: float = 5.0,
    is_local: bool = False,
    domain: str = DOMAIN,
    public_url: str = "",
) -> AsyncGenerator[Gateway]:
    """Every session's computer is the one of that tool API."""
    options = WebOptions(is_local=is_local, public_url=public_url)
    computers = SameSandbox(a_sandbox())
    async with Endpoints(FixedTokens(endpoint)) as endpoints:
        apps = ToolApiSandboxApps(PortTunnels(endpoints), head_s=head_s)
        async with run_gateway(
            mongo.uri,
            database_name,
            redis.uri,
            options=options,
            computers=computers,
            apps=apps,
            preview_domain=domain,
        ) as gateway:
            yield gateway


async def reach(gateway: Gateway, port: int, name: str = "anna") -> Reached:
    """The port, opened by a fresh user in a fresh session, whose browser went to its address."""
    owner = await gateway.user(name)
    session_id = await gateway.session(owner)
    path = f"/api/sessions/{session_id}/ports"
    opened = await gateway.client.post(path, json={"port": port}, headers=owner)
    assert opened.status_code == 201, opened.text
    port_id = str(opened.json()["id"])
    issued = await gateway.client.post(f"{path}/{port_id}/address", headers=owner)
    address = str(issued.json()["url"])
    return await enter(Reached(gateway, session_id, port_id, owner, address))


async def enter(reached: Reached) -> Reached:
    """With the cookie that its address is traded for."""
    url = urlsplit(reached.address)
    headers = {"Host": url.netloc}
    answer = await reached.gateway.client.get(
        reached.url(f"{url.path}?{url.query}"), headers=headers, follow_redirects=False
    )
    assert answer.status_code == 303, answer.text
    reached.gateway.client.cookies.clear()
    cookie = http.cookies.SimpleCookie(answer.headers["set-cookie"])
    (value,) = (f"{one.key}={one.value}" for one in cookie.values())
    headers["Cookie"] = value
    return Reached(reached.gateway, reached.session_id, reached.port_id, reached.owner, reached.address, headers)


async def _echo(request: Request) -> Response:
    said = {"method": request.method, "url": str(request.url), "headers": request.headers.items()}
    return Response(str(len(await request.body())) if request.method == "POST" else repr(said))


async def _events(_: Request) -> StreamingResponse:
    async def lines():
        for number in range(3):
            yield f"data: {number}\n\n"
            await asyncio.sleep(0.05)

    return StreamingResponse(lines(), media_type="text/event-stream")


async def _cookies(request: Request) -> Response:
    answer = PlainTextResponse(request.headers.get("cookie", "none"))
    answer.headers.append("set-cookie", "a=1; Domain=localhost; Path=/")
    answer.headers.append("set-cookie", "preview-access=mine; Path=/")
    answer.headers.append("strict-transport-security", "max-age=1000")
    return answer


async def _empty(request: Request) -> Response:
    return Response(status_code=int(request.query_params["status"]), headers={"ETag": "x", "Content-Length": "9"})


async def _redirect(request: Request) -> Response:
    return RedirectResponse(str(request.url.replace(path="/echo")))


async def _large(_: Request) -> StreamingResponse:
    async def pieces():
        for _ in range(320):
            yield bytes(65536)

    return StreamingResponse(pieces())


async def _socket(socket: WebSocket) -> None:
    if socket.headers.get("origin") != f"http://{socket.headers['host']}":
        await socket.close(1008)
        return
    await socket.accept(subprotocol=(socket.scope["subprotocols"] or [None])[0])
    while (message := await socket.receive())["type"] == "websocket.receive":
        if (text := message.get("text")) == "bye":
            await socket.close(4001, "as you like")
            return
        await (socket.send_text(text) if text is not None else socket.send_bytes(message["bytes"]))


@asynccontextmanager
async def web_app() -> AsyncGenerator[int]:
    """An app of an ordinary framework; its port."""
    routes = [
        Route("/echo", _echo, methods=["GET", "POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"]),
        Route("/empty", _empty),
        Route("/events", _events),
        Route("/cookies", _cookies),
        Route("/redirect", _redirect),
        Route("/large", _large),
        WebSocketRoute("/ws", _socket),
    ]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", lifespan="off"))
    async with on_loopback(server) as url:
        yield urlsplit(url).port or 0


@asynccontextmanager
async def program(handler: Handler) -> AsyncGenerator[int]:
    """A program that does with each connection what it likes; its port."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def received(socket: ClientConnection) -> str | bytes:
    return await asyncio.wait_for(socket.recv(), 5)
