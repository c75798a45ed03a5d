"""Questions whether a server is up, each answered within five seconds."""

from __future__ import annotations

import asyncio


async def answers_http(host: str, port: int, path: str) -> bool:
    """Whether a GET of the path answers 200."""
    head = await _exchange(host, port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    return head.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200"))


async def body_of(host: str, port: int, path: str) -> str:
    """What a GET of the path says, whatever its status; empty when nothing answers. At most 1,000 characters."""
    request = f"GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
    try:
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(request)
                answer = await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return ""
    return answer.partition(b"\r\n\r\n")[2].decode(errors="replace").strip()[:1000]


async def answers_redis(host: str, port: int, password: str) -> bool:
    answer = await _exchange(host, port, f"AUTH {password}\r\nPING\r\n".encode(), until=b"PONG")
    return b"PONG" in answer


async def _exchange(host: str, port: int, request: bytes, *, until: bytes = b"\r\n") -> bytes:
    try:
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(request)
                return await reader.readuntil(until)
            finally:
                writer.close()
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return b""
