"""Web servers of a test, and a network that leads every connection to them: nothing a test fetches leaves loopback."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpcore
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answer = bytes | Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]
PUBLIC = "198.41.0.4"
"""Passes for public; what connects by `LoopbackNetwork` never gets there."""


@dataclass(slots=True)
class Site:
    """Answers by path. `asked` are the requests, `left` is set once somebody closes a connection."""

    answers: dict[str, Answer]
    port: int = 0
    asked: list[str] = field(default_factory=list[str])
    connected: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    serving: list[asyncio.Task[object]] = field(default_factory=list[asyncio.Task[object]])

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        if (task := asyncio.current_task()) is not None:
            self.serving.append(task)
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = re.search(r"(?i)\ncontent-length: (\d+)", head)
            self.asked.append(head + (await reader.readexactly(int(length[1]) if length else 0)).decode())
            answer = self.answers.get(head.split(" ", 2)[1], b"404 Not Found\r\n\r\n")
            if isinstance(answer, bytes):
                start, _, body = answer.partition(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (start, len(body), body))
                await writer.drain()
            else:
                # For as long as anybody is there.
                both = {asyncio.create_task(answer(writer)), asyncio.create_task(_gone(reader))}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                for one in both:
                    one.cancel()
                await asyncio.gather(*both, return_exceptions=True)
        self.left.set()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _gone(reader: asyncio.StreamReader) -> None:
    while await reader.read(65_536):
        pass


@asynccontextmanager
async def site(answers: Mapping[str, Answer], certificate: ssl.SSLContext | None = None) -> AsyncGenerator[Site]:
    running = Site(dict(answers))
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0, ssl=certificate)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
        if running.serving:
            await asyncio.wait(running.serving, timeout=5)


@dataclass(slots=True)
class LoopbackNetwork(httpcore.AsyncNetworkBackend):
    """Leads each address to a port of this machine; `dialled` are the addresses that were to be connected to."""

    port: int
    dialled: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        del local_address, socket_options
        self.dialled.append((host, port))
        inner: httpcore.AsyncNetworkBackend = httpcore.AnyIOBackend()  # pyright: ignore[reportAssignmentType] # missing without anyio
        return await inner.connect_tcp("127.0.0.1", self.port, timeout=timeout)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(slots=True)
class Names:
    """A resolver of answers, one list after the other for each name; the last one stays."""

    answers: Mapping[str, list[list[str]]]
    asked: list[str] = field(default_factory=list[str])

    async def __call__(self, host: str, port: int) -> list[str]:
        given = self.answers.get(host, [[]])
        answer = given[min(self.asked.count(host), len(given) - 1)]
        self.asked.append(host)
        return answer


def certified(folder: Path, *names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What a server of these names has, and what somebody has who trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cadata=made.public_bytes(serialization.Encoding.PEM).decode())
