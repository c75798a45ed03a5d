"""Bytes no viewer and no X server sends, at the bridge of a sandbox: nothing breaks, no input of who may only look gets
through, and whoever looks beside goes on."""

from __future__ import annotations

import asyncio
import random
import struct
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed

from support.bridge import running_bridge
from support.endpoint import KeyPair

pytestmark = pytest.mark.thorough

ROUNDS = 60
HELLO = b"RFB 003.008\n\x01\x01"
UPDATE = struct.pack(">BBHHHH", 3, 0, 0, 0, 10, 10)
PASSING = {0: 20, 3: 10, 150: 10}
"""Lengths of what may pass of one who only looks; two kinds more have lengths of their own."""
EXPECTED = {1000, 1002, 1003, 1007, 1009, 1012, 4408}


class Screen:
    """In place of the X server: keeps what each viewer sends, and answers each message of a viewer in kind."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.read: list[bytearray] = []
        self.ended: set[int] = set()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mine = bytearray()
        self.read.append(mine)
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                mine.extend(data)
                noise = self.dice.randbytes(self.dice.randrange(1, 5000))
                writer.write(UPDATE if data.endswith(UPDATE) else noise)
                await writer.drain()
        writer.close()
        self.ended.add(id(mine))


@asynccontextmanager
async def bridge(folder: Path, screen: Screen, keys: KeyPair) -> AsyncGenerator[Path]:
    """Before this screen."""
    async with await asyncio.start_unix_server(screen, folder / "x.sock"):
        async with running_bridge(folder, str(folder / "x.sock"), keys) as path:
            yield path


def viewer(path: Path, keys: KeyPair, *scopes: str) -> connect:
    headers = {"Authorization": f"Bearer {keys.token(scopes=list(scopes))}"}
    return unix_connect(
        str(path), "ws://endpoint/vnc", additional_headers=headers, max_size=None, compression=None, open_timeout=30
    )


def stream(dice: random.Random) -> Iterator[bytes | str]:
    """Messages that are right, cut, mixed, with lengths that lie, or noise."""
    if dice.random() < 0.8:
        yield HELLO if dice.random() < 0.8 else dice.randbytes(14)
    for _ in range(dice.randrange(1, 12)):
        kind = dice.randrange(9)
        if kind == 0:
            yield dice.randbytes(dice.randrange(0, 400))
        elif kind == 1:
            yield UPDATE[: dice.randrange(11)]
        elif kind == 2:
            yield struct.pack(">BxH", 2, dice.randrange(65536)) + dice.randbytes(dice.randrange(200))
        elif kind == 3:
            yield struct.pack(">B3xi", 6, dice.choice([0, 5, -5, 2**31 - 1, -(2**31), 2**24])) + dice.randbytes(50)
        elif kind == 4:
            yield struct.pack(">B3xIB", 248, 1, dice.randrange(256)) + dice.randbytes(dice.randrange(80))
        elif kind == 5:
            yield struct.pack(">BBHI", dice.choice([250, 251, 253, 255]), dice.randrange(256), dice.randrange(65536), 0)
        elif kind == 6:
            yield struct.pack(">BBxxI", 4, 1, 0x61) + struct.pack(">BBHH", 5, 1, 7, 7)
        elif kind == 7:
            yield UPDATE * dice.randrange(1, 300)
        else:
            yield dice.choice(["", "text", "\u2028" * 100])


def may_pass(data: bytes) -> bool:
    """Whether it is nothing but a hand-shake and whole messages of those that may pass, by a reading of our own."""
    hello = data[:12]
    at = 12 if hello in (b"", b"RFB 003.003\n") else 13
    if data and (len(data) < 12 or not hello.startswith(b"RFB 003.00")):
        return False
    at += 1
    while at < len(data):
        kind = data[at]
        if kind == 2:
            length = 4 + 4 * int.from_bytes(data[at + 2 : at + 4], "big")
        elif kind == 248:
            length = 9 + data[at + 8]
        elif kind in PASSING:
            length = PASSING[kind]
        else:
            return False
        if at + length > len(data):
            return False
        at += length
    return True


async def throw(socket: ClientConnection, frames: Iterator[bytes | str]) -> int | None:
    """The code it was closed with, None where it stayed open."""

    async def drain() -> None:
        with suppress(ConnectionClosed):
            async for _ in socket:
                pass

    draining = asyncio.create_task(drain())
    try:
        for frame in frames:
            await socket.send(frame)
        await socket.ping()
    except ConnectionClosed:
        await draining
        return socket.close_code
    finally:
        draining.cancel()
        await asyncio.wait({draining})
    return socket.close_code


async def answers(socket: ClientConnection) -> None:
    """Whoever looks beside still gets its picture."""
    await socket.send(UPDATE)
    async with asyncio.timeout(30):
        while not (await socket.recv()).endswith(UPDATE):  # type: ignore[arg-type]
            pass


@pytest.mark.timeout(120)
async def test_no_bytes_of_a_viewer_or_a_screen_break_the_bridge(tmp_path: Path) -> None:
    dice, keys = random.Random(20261122), KeyPair()
    screen = Screen(dice)
    async with bridge(tmp_path, screen, keys) as path, viewer(path, keys, "vnc:control") as beside:
        await beside.send(HELLO)
        await answers(beside)  # and so it is the first at the screen
        codes: set[int | None] = set()
        for number in range(ROUNDS):
            scopes = ("vnc:view",) if number % 3 else ("vnc:control",)
            before = len(screen.read)
            async with viewer(path, keys, *scopes) as socket:
                codes.add(await throw(socket, stream(dice)))
            async with asyncio.timeout(30):
                while len(screen.read) == before or id(screen.read[before]) not in screen.ended:
                    await asyncio.sleep(0.01)
            if scopes == ("vnc:view",):
                assert may_pass(bytes(screen.read[before])), (number, bytes(screen.read[before][:80]))
            if number % 20 == 0:
                await answers(beside)
        assert codes - {None} <= EXPECTED
        await answers(beside)
        await raw_noise(path, keys, dice)
        await answers(beside)
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("vnc ")]


async def raw_noise(path: Path, keys: KeyPair, dice: random.Random) -> None:
    """After the upgrade: frames that are none."""
    head = (
        "GET /vnc HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: Bearer {keys.token(scopes=['vnc:view'])}\r\n\r\n"
    )
    for _ in range(10):
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(head.encode())
        async with asyncio.timeout(30):
            assert (await reader.readline()).startswith(b"HTTP/1.1 101")
            # Reserved bits, no mask, lengths beyond all, control frames that are too long: one of them is always there.
            writer.write(b"\xf2\xff" + dice.randbytes(dice.randrange(10, 3000)))
            with suppress(ConnectionError):
                await reader.read()
        writer.close()


async def test_a_message_of_many_megabytes_is_dropped_without_being_held(tmp_path: Path) -> None:
    keys, screen = KeyPair(), Screen(random.Random(1))
    async with bridge(tmp_path, screen, keys) as path, viewer(path, keys, "vnc:view") as socket:
        await socket.send(HELLO + struct.pack(">B3xi", 6, 16 * 1024 * 1024))
        began = time.monotonic()
        for _ in range(16):
            await socket.send(bytes(1024 * 1024))
        await answers(socket)
        assert time.monotonic() - began < 60
    assert bytes(screen.read[0]) == HELLO + UPDATE
