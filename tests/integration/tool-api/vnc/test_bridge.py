"""The bridge with a real X server behind it and real WebSockets before it."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.types import Message
from starlette.websockets import WebSocket
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from contracts.sandboxes import Scope
from support.bridge import running_bridge
from support.desktops import desktop_settings
from support.endpoint import KeyPair
from support.rfb import RfbClient
from tool_api.desktop.settings import DesktopSettings
from tool_api.desktop.supervisor import Desktop
from tool_api.desktop_turn import DesktopTurn
from tool_api.http.vnc import screen_of
from tool_api.vnc import bridge as module
from tool_api.vnc.bridge import CloseCode, bridge
from tool_api.vnc.resize import ResizeError, resize_screen
from tool_api.vnc.sizes import ScreenSize

KEYS = KeyPair()
WAITING = 6
"""Two more than a queue of one takes on Linux, with some to spare."""


def token(*scopes: Scope, sandbox: str = "sandbox-1") -> str:
    return KEYS.token(scopes=list(scopes), sub=sandbox)


@pytest.fixture
def settings() -> Iterator[DesktopSettings]:
    with desktop_settings() as made:
        # Only the screen is wanted here.
        programs = made.run_dir.parent / "programs"
        programs.mkdir()
        (programs / "Xvnc").symlink_to("/usr/bin/Xvnc")
        yield replace(made, search_path=str(programs))


@asynccontextmanager
async def viewer(path: Path, bearer: str) -> AsyncIterator[tuple[ClientConnection, RfbClient]]:
    async with connect(
        "ws://endpoint/vnc",
        sock=_socket(path),
        additional_headers={"Authorization": f"Bearer {bearer}"},
        subprotocols=["binary"],  # type: ignore[list-item]
        max_size=None,
        compression=None,
        proxy=None,
    ) as opened:

        async def receive() -> bytes:
            data = await asyncio.wait_for(opened.recv(), 30)
            assert isinstance(data, bytes)
            return data

        yield opened, RfbClient(send=opened.send, receive=receive)


def _socket(path: Path):
    made = socket.socket(socket.AF_UNIX)
    made.connect(str(path))
    made.setblocking(False)
    return made


@pytest.fixture
async def desktop(settings: DesktopSettings) -> AsyncIterator[Desktop]:
    async with Desktop(settings) as started:
        assert await started.wait_settled(20), started.reason
        yield started


@pytest.fixture
async def path(desktop: Desktop, tmp_path: Path) -> AsyncIterator[Path]:
    async with running_bridge(tmp_path, screen_of(desktop), KEYS) as made:
        yield made


def xdotool(desktop: Desktop, command: str) -> str:
    return subprocess.run(
        ["/usr/bin/xdotool", command],
        env={**os.environ, "DISPLAY": desktop.display or ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    ).stdout


def pointer_position(desktop: Desktop) -> tuple[int, int]:
    values = dict(part.split(":") for part in xdotool(desktop, "getmouselocation").split())
    return int(values["x"]), int(values["y"])


def screen_size(desktop: Desktop) -> tuple[int, int]:
    width, height = xdotool(desktop, "getdisplaygeometry").split()
    return int(width), int(height)


async def test_a_viewer_sees_the_screen_and_several_see_it_at_once(path: Path) -> None:
    async with (
        viewer(path, token(Scope.VNC_VIEW)) as (socket, first),
        viewer(path, token(Scope.VNC_VIEW)) as (_, second),
    ):
        await first.connect()
        await second.connect()
        pictures = await asyncio.gather(first.picture(), second.picture())

    assert socket.subprotocol == "binary"
    assert (first.width, first.height, first.name) == (1280, 800, "sandbox")
    assert pictures[0] == pictures[1]
    assert len(pictures[0]) == 1280 * 800 * 4


@pytest.mark.thorough
async def test_viewers_cut_in_their_handshake_lock_nobody_out(path: Path) -> None:
    for _ in range(8):
        async with viewer(path, token(Scope.VNC_VIEW)) as (socket, _client):
            assert await asyncio.wait_for(socket.recv(), 30) == b"RFB 003.008\n"
    async with viewer(path, token(Scope.VNC_VIEW)) as (_, last):
        await last.connect()


async def test_a_pointer_is_moved_by_who_may_control_and_not_by_who_may_view(path: Path, desktop: Desktop) -> None:
    async with viewer(path, token(Scope.VNC_CONTROL)) as (_, client):
        await client.connect()
        await client.pointer(111, 222)
        await client.picture()
    assert pointer_position(desktop) == (111, 222)

    async with viewer(path, token(Scope.VNC_VIEW)) as (_, client):
        await client.connect()
        await client.pointer(333, 444)
        await client.picture()
    assert pointer_position(desktop) == (111, 222)


async def test_a_viewer_that_breaks_the_protocol_is_closed(path: Path) -> None:
    async with viewer(path, token(Scope.VNC_VIEW)) as (socket, client):
        await client.connect()
        await socket.send(b"\x7f")
        with pytest.raises(ConnectionClosed):
            await client.picture()

        assert socket.close_code == 1002


async def turned_away(folder: Path, screen: str | CloseCode) -> int | None:
    """The close code."""
    async with (
        running_bridge(folder, screen, KEYS) as path,
        viewer(path, token(Scope.VNC_VIEW)) as (opened, client),
    ):
        with pytest.raises(ConnectionClosed):
            await client.connect()
        return opened.close_code


async def test_without_a_desktop_the_socket_closes_with_4404(tmp_path: Path, settings: DesktopSettings) -> None:
    assert await turned_away(tmp_path, screen_of(None)) == 4404
    async with Desktop(replace(settings, search_path="/nowhere")) as none:
        assert await turned_away(tmp_path, screen_of(none)) == 4404


@pytest.mark.thorough
async def test_while_the_x_server_is_away_the_viewer_is_told_to_come_again(
    tmp_path: Path, settings: DesktopSettings
) -> None:
    assert await turned_away(tmp_path, "/nowhere/vnc.sock") == 1012
    async with Desktop(settings) as desktop:
        assert desktop.is_starting
        assert await turned_away(tmp_path, screen_of(desktop)) == 1012


@pytest.mark.thorough
async def test_more_viewers_at_once_than_an_x_server_queues_all_get_in(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "x.sock"))
        listener.listen(1)
        listener.setblocking(False)
        loop = asyncio.get_running_loop()
        async with running_bridge(tmp_path, str(tmp_path / "x.sock"), KEYS) as path, AsyncExitStack() as viewers:
            sockets = [
                (await viewers.enter_async_context(viewer(path, token(Scope.VNC_VIEW))))[0] for _ in range(WAITING)
            ]
            for _ in sockets:
                accepted, _ = await asyncio.wait_for(loop.sock_accept(listener), 10)
                viewers.callback(accepted.close)
                await loop.sock_sendall(accepted, b"RFB 003.008\n")
            async with asyncio.timeout(10):
                assert [await one.recv() for one in sockets] == [b"RFB 003.008\n"] * WAITING


async def test_the_viewer_is_told_to_come_again_when_the_x_server_goes(tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "x.sock")
    async with server, running_bridge(tmp_path, str(tmp_path / "x.sock"), KEYS) as path:
        async with viewer(path, token(Scope.VNC_VIEW)) as (socket, client):
            gone.set()
            with pytest.raises(ConnectionClosed):
                await client.connect()

            assert socket.close_code == 1012


@pytest.mark.thorough
async def test_a_viewer_that_reads_nothing_holds_the_server_back_and_leaves_no_task(tmp_path: Path) -> None:
    sent, chunk = 0, bytes(1 << 20)
    left = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        try:
            while True:
                writer.write(chunk)
                await writer.drain()
                sent += len(chunk)
        except OSError:
            left.set()
        finally:
            writer.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "x.sock")
    async with server, running_bridge(tmp_path, str(tmp_path / "x.sock"), KEYS) as path:
        async with viewer(path, token(Scope.VNC_VIEW)) as (socket, _):
            before = -1
            async with asyncio.timeout(30):
                while sent != before or sent == 0:
                    before = sent
                    await asyncio.sleep(0.2)
            assert sent < 16 << 20
            socket.transport.abort()
        await asyncio.wait_for(left.wait(), 30)

        assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("vnc ")]


@pytest.mark.thorough
async def test_an_x_server_that_takes_no_input_holds_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STALLED_AFTER_S", "FLUSH_S"):
        monkeypatch.setattr(module, name, 0.1)
    heard = asyncio.Queue[Message]()
    heard.put_nowait({"type": "websocket.connect"})
    pasted = struct.pack(">B3xi", 6, 8 << 20) + bytes(8 << 20)
    heard.put_nowait({"type": "websocket.receive", "bytes": b"RFB 003.008\n\x01\x01" + pasted})
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "x.sock"))
        listener.listen(1)
        opened = WebSocket({"type": "websocket", "headers": []}, heard.get, send)
        await opened.accept()
        await asyncio.wait_for(bridge(opened, str(tmp_path / "x.sock"), view_only=False), 5)

    assert (said[-1]["type"], said[-1]["code"]) == ("websocket.close", CloseCode.RESTART)


async def test_what_passes_upwards_is_whole_messages_only(tmp_path: Path) -> None:
    received = bytearray()
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            received.extend(data)
        ended.set()
        writer.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "x.sock")
    update = struct.pack(">BBHHHH", 3, 0, 0, 0, 10, 10)
    stream = b"RFB 003.008\n\x01\x01" + update + struct.pack(">BBxxI", 4, 1, 65) + update
    async with server, running_bridge(tmp_path, str(tmp_path / "x.sock"), KEYS) as path:
        async with viewer(path, token(Scope.VNC_VIEW)) as (socket, _):
            for byte in stream:
                await socket.send(bytes([byte]))
        await asyncio.wait_for(ended.wait(), 30)

    assert bytes(received) == b"RFB 003.008\n\x01\x01" + update + update


def wanted_size(width: int, height: int) -> bytes:
    return struct.pack(">BxHHBx", 251, width, height, 1) + struct.pack(">IHHHHI", 0, 0, 0, width, height, 0)


RESIZABLE = struct.pack(">BxH2i", 2, 2, 0, -308)
"""Who can't be told of another size is disconnected by the X server."""


async def until_size(desktop: Desktop, *size: int) -> None:
    async with asyncio.timeout(30):
        while screen_size(desktop) != size:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("scope", [Scope.VNC_VIEW, pytest.param(Scope.VNC_CONTROL, marks=pytest.mark.thorough)])
async def test_the_screen_takes_the_nearest_size_to_that_of_who_watches(
    path: Path, desktop: Desktop, scope: Scope
) -> None:
    async with viewer(path, token(scope)) as (_, client):
        await client.connect()
        await client.send(RESIZABLE + wanted_size(545, 741))
        await until_size(desktop, 544, 736)
        await client.send(wanted_size(30_000, 20_000))
        await until_size(desktop, 2400, 1600)


@pytest.mark.thorough
async def test_the_screen_keeps_its_size_while_the_agent_uses_it_and_is_as_it_was_once_nobody_watches(
    tmp_path: Path, desktop: Desktop
) -> None:
    turn, usual = DesktopTurn(held_s=1.5), screen_size(desktop)
    screen = screen_of(desktop)
    async with running_bridge(tmp_path, screen, KEYS, turn=turn, unwatched_s=0.1) as path:
        async with viewer(path, token(Scope.VNC_VIEW)) as (_, client):
            await client.connect()
            async with turn:
                await client.send(RESIZABLE + wanted_size(640, 480))
                await asyncio.sleep(0.5)
                assert screen_size(desktop) == usual
            # The agent may still refer to the picture it has.
            await asyncio.sleep(0.5)
            assert screen_size(desktop) == usual
            await until_size(desktop, 640, 480)
        await until_size(desktop, *usual)


@pytest.mark.thorough
async def test_an_x_server_that_refuses_a_size_keeps_its_own(desktop: Desktop) -> None:
    usual, screen = screen_size(desktop), screen_of(desktop)
    assert isinstance(screen, str)
    with pytest.raises(ResizeError):
        await resize_screen(screen, ScreenSize(0, 0))
    assert screen_size(desktop) == usual
    await resize_screen(screen, ScreenSize(*usual))
