"""RFB bytes a second of whole raw pictures: through gateway and bridge against straight from the X server's socket.

Needs root, to open the socket inside the sandbox.

    .venv/bin/python bench/vnc_throughput.py
"""

from __future__ import annotations

import asyncio
import struct
import time
from pathlib import Path

import psutil
from websockets.asyncio.client import connect

from setting import Stack, machine, plain_stack
from support.api_client import ApiClient
from support.rfb import RfbClient

PICTURES = 60


async def rate(client: RfbClient) -> float:
    """MB/s of `PICTURES` whole pictures in raw encoding."""
    await client.connect()
    await client.send(struct.pack(">BxH", 2, 1) + struct.pack(">i", 0))
    request = struct.pack(">BBHHHH", 3, 0, 0, 0, client.width, client.height)
    taken = 0
    began = time.perf_counter()
    for _ in range(PICTURES):
        await client.send(request)
        covered = 0
        while covered < client.width * client.height:
            _, rectangles = struct.unpack(">xBH", await client.read(4))
            for _ in range(rectangles):
                _, _, width, height, _ = struct.unpack(">HHHHi", await client.read(12))
                await client.read(width * height * 4)
                covered += width * height
        taken += covered * 4
    return taken / (time.perf_counter() - began) / 1e6


async def through_the_gateway(stack: Stack, session: str) -> float:
    async with ApiClient(stack.base_url) as api:
        ticket = await api.json("POST", f"/sessions/{session}/vnc/ticket", json={"mode": "view"}, expect=201)
    address = f"{stack.base_url.replace('http', 'ws', 1)}/api/sessions/{session}/vnc?ticket={ticket['ticket']}"
    async with connect(address, subprotocols=["binary"], max_size=None, compression=None) as socket:  # type: ignore[list-item]

        async def receive() -> bytes:
            message = await socket.recv()
            return message if isinstance(message, bytes) else message.encode()

        return await rate(RfbClient(send=socket.send, receive=receive))


async def straight() -> float:
    servers = [one for one in psutil.process_iter(["name", "create_time"]) if "vnc" in one.info["name"].lower()]
    newest = max(servers, key=lambda one: one.info["create_time"])
    path = Path(f"/proc/{newest.pid}/root/run/sandbox/vnc.sock")
    reader, writer = await asyncio.open_unix_connection(path)

    async def send(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    try:
        return await rate(RfbClient(send=send, receive=lambda: reader.read(262_144)))
    finally:
        writer.close()


async def measure(stack: Stack) -> None:
    async with ApiClient(stack.base_url) as api:
        session = await api.new_session()
        await api.ask(session, "run true")
        for _ in range(5):
            direct, proxied = await straight(), await through_the_gateway(stack, session)
            print(f"straight {direct:.0f} MB/s, through the gateway {proxied:.0f} MB/s ({proxied / direct:.0%})")


def main() -> None:
    assert psutil.Process().uids().effective == 0, "run it as root"
    print(machine())
    with plain_stack(SANDBOX_RUNTIME="process") as stack:
        asyncio.run(measure(stack))


if __name__ == "__main__":
    main()
