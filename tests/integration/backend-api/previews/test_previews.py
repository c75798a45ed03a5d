"""Apps in a sandbox as a browser reaches them: a real gateway, a real tool API, real programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from support.gateway import Gateway
from support.previews import program, reach, received, web_app

BODY_BYTES = 20 * 1024 * 1024


async def test_an_address_is_traded_for_a_cookie_and_leads_to_the_same_place_without_its_token(
    gateway: Gateway,
) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        token = app.address.partition("?")[2]
        answer = await gateway.client.get(
            app.url(f"//evil.example/a?b=1&{token}&c=2"), headers={"Host": app.host}, follow_redirects=False
        )

    assert answer.status_code == 303
    assert answer.headers["location"] == f"http://{app.host}//evil.example/a?b=1&c=2"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("preview-access=")
    assert "; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax" in cookie
    assert "domain" not in cookie.lower()


async def test_an_app_is_asked_as_at_localhost_and_never_hears_the_cookie(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        answer = await app.get("/echo?a=%2F&b", Cookie=f"theme=dark; {app.headers['Cookie']}")

    assert answer.status_code == 200
    assert f"http://localhost:{port}/echo?a=%2F&b" in answer.text
    assert "('cookie', 'theme=dark')" in answer.text
    assert f"('x-forwarded-host', '{app.host}')" in answer.text
    assert "preview-access" not in answer.text
    assert "x-frame-options" not in answer.headers
    assert "content-security-policy" not in answer.headers


async def test_events_come_as_they_are_sent(gateway: Gateway) -> None:
    pieces: list[tuple[float, bytes]] = []
    async with web_app() as port:
        app = await reach(gateway, port)
        async with gateway.client.stream("GET", app.url("/events"), headers=app.headers) as answer:
            async for piece in answer.aiter_raw():
                pieces.append((asyncio.get_running_loop().time(), piece))

    assert b"".join(piece for _, piece in pieces) == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"
    assert len(pieces) == 3
    assert pieces[-1][0] - pieces[0][0] > 0.05


async def test_large_bodies_pass_both_ways_with_a_length_and_without(gateway: Gateway) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES // 65536):
            yield bytes(65536)

    async with web_app() as port:
        app = await reach(gateway, port)
        known = await gateway.client.post(app.url("/echo"), content=bytes(BODY_BYTES), headers=app.headers)
        chunked = await gateway.client.post(app.url("/echo"), content=pieces(), headers=app.headers)
        down = await app.get("/large")

    assert known.text == chunked.text == str(BODY_BYTES)
    assert len(down.content) == BODY_BYTES


async def test_a_browser_keeps_its_connection(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=1)) as client:
            answers = [await client.get(app.url("/echo"), headers=app.headers) for _ in range(5)]

    assert {answer.status_code for answer in answers} == {200}
    assert len({id(answer.extensions["network_stream"]) for answer in answers}) == 1


async def test_an_app_sets_cookies_for_its_own_host_and_redirects_to_it(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        cookies = await app.get("/cookies")
        redirect = await gateway.client.get(app.url("/redirect"), headers=app.headers, follow_redirects=False)

    assert cookies.headers.get_list("set-cookie") == ["a=1; Path=/"]
    assert "strict-transport-security" not in cookies.headers
    assert cookies.text == "none"
    assert redirect.headers["location"] == f"http://{app.host}/echo"


async def test_a_socket_passes_texts_bytes_subprotocol_and_the_apps_close(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        async with app.socket("/ws", subprotocols=[Subprotocol("vite-hmr")]) as socket:
            assert socket.subprotocol == "vite-hmr"
            await socket.send("hello")
            assert await received(socket) == "hello"
            await socket.send(bytes(range(256)) * 1000)
            assert await received(socket) == bytes(range(256)) * 1000
            await socket.send("bye")
            await asyncio.wait_for(socket.wait_closed(), 5)

    assert (socket.close_code, socket.close_reason) == (4001, "as you like")


async def test_a_socket_of_elsewhere_and_one_without_the_cookie_are_refused(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        for headers in ({"Origin": "http://p-other.localhost"}, {"Cookie": "preview-access=x"}):
            with pytest.raises(InvalidStatus) as refused:
                await app.socket("/ws", headers=headers)
            assert refused.value.response.status_code == 403


async def test_pages_of_elsewhere_may_link_to_an_app_and_do_nothing_else(gateway: Gateway) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
    async with web_app() as port:
        app = await reach(gateway, port)
        may = [link, own, {"Sec-Fetch-Site": "none"}, {"Origin": f"http://{app.host}"}]
        may_not = [
            link | {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "iframe"},
            link | {"Sec-Fetch-Mode": "no-cors"},
            {"Origin": "http://localhost:8000"},
            {"Origin": "null"},
        ]
        let_in = [(await app.get("/echo", **headers)).status_code for headers in may]
        kept_out = [(await app.get("/echo", **headers)).status_code for headers in may_not]
        posted = await gateway.client.post(app.url("/echo"), headers=app.headers | link)

    assert let_in == [200] * 4
    assert kept_out == [403] * 4
    assert posted.status_code == 403


async def test_where_nothing_listens_a_page_says_so_in_the_readers_language(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
    english = await app.get("/", **{"Accept-Language": "de,en;q=0.8,zh;q=0.2"})
    chinese = await app.get("/", **{"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})

    assert (english.status_code, chinese.status_code) == (502, 502)
    assert "Nothing listens on this port yet" in english.text
    assert "这个端口上还没有应用" in chinese.text
    assert english.headers["content-type"].startswith("text/html")


async def test_methods_and_answers_without_a_body_pass(gateway: Gateway) -> None:
    async with web_app() as port:
        app = await reach(gateway, port)
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=1)) as client:
            for method in ("PUT", "DELETE", "OPTIONS", "PROPFIND"):
                answer = await client.request(method, app.url("/echo"), headers=app.headers)
                assert f"'method': '{method}'" in answer.text
            head = await client.head(app.url("/echo"), headers=app.headers)
            empty = [await client.get(app.url(f"/empty?status={n}"), headers=app.headers) for n in (204, 304)]
            again = await client.get(app.url("/echo"), headers=app.headers)

    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 100
    assert [(one.status_code, one.content, one.headers["etag"]) for one in empty] == [(204, b"", "x"), (304, b"", "x")]
    assert again.status_code == 200


@pytest.mark.thorough
async def test_an_app_that_dies_in_an_answer_breaks_it_off(gateway: Gateway) -> None:
    async def dies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    async with program(dies) as port:
        app = await reach(gateway, port)
        with pytest.raises(httpx.RemoteProtocolError):
            await app.get("/")


async def test_an_answer_ends_with_its_port_and_so_does_a_socket(gateway: Gateway) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nfirst")
        ended = await reader.read()
        assert ended == b""
        over.set()
        writer.close()

    over = asyncio.Event()
    async with program(endless) as port, web_app() as other:
        app, with_socket = await reach(gateway, port), await reach(gateway, other, "bert")
        async with with_socket.socket("/ws") as socket:
            async with gateway.client.stream("GET", app.url("/"), headers=app.headers) as answer:
                pieces = answer.aiter_raw()
                assert await anext(pieces) == b"first"
                await app.close()
                await with_socket.close()
                with pytest.raises(httpx.RemoteProtocolError):
                    await asyncio.wait_for(anext(pieces), 5)
            with pytest.raises(ConnectionClosed):
                await received(socket)
        await asyncio.wait_for(over.wait(), 5)

        assert (await app.get("/")).status_code == 404


@pytest.mark.thorough
async def test_an_answer_without_end_ends_with_its_reader(gateway: Gateway) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nfirst")
        await reader.read()
        over.set()
        writer.close()

    over = asyncio.Event()
    async with program(endless) as port:
        app = await reach(gateway, port)
        async with httpx.AsyncClient() as client, client.stream("GET", app.url("/"), headers=app.headers) as answer:
            assert await anext(answer.aiter_raw()) == b"first"
        await asyncio.wait_for(over.wait(), 5)
