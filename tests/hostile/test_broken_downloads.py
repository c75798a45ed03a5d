"""A sandbox that breaks its own download off: the one who takes it can tell, and the log says so in one line."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.workspace import ToolApiWorkspace
from contracts.sandboxes import EndpointToken
from support.gateway import Gateway, run_gateway
from support.hostile_endpoint import Wire, head, hostile_endpoint
from support.servers import Server

LONG = b"x" * 300_000


@dataclass(frozen=True, slots=True)
class OneEndpoint:
    """Every sandbox is behind this socket."""

    socket: Path

    async def token(self, sandbox: Sandbox, scopes: Iterable[Scope]) -> EndpointToken:
        del scopes
        expires_at = datetime.now(UTC) + timedelta(seconds=300)
        return EndpointToken(
            token="token", expires_at=expires_at, endpoint=f"unix:{self.socket}", sandbox_id=sandbox.id, generation=1
        )

    def forget(self, sandbox: Sandbox) -> None:
        """It tells the same again."""


CHUNKED = b"a\r\n0123456789\r\n0\r\n\r\n"


async def breaks_off(wire: Wire) -> None:
    """Of a file of a known length, or of a folder, which has none, only the beginning comes; or its length is a lie."""
    if b"path=file" in wire.request:
        await wire.send(head("Content-Length: 1000000") + LONG)
    elif b"path=longer" in wire.request:
        await wire.send(head("Content-Length: 5", "Transfer-Encoding: chunked") + CHUNKED)
    elif b"path=shorter" in wire.request:
        await wire.send(head("Transfer-Encoding: chunked", "Content-Length: 1000") + CHUNKED)
    elif b"path=empty" in wire.request:
        await wire.send(b"HTTP/1.1 204 No Content\r\nContent-Length: 1000\r\n\r\n")
    else:
        await wire.send(head("Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(LONG), LONG))


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path
) -> AsyncGenerator[Gateway]:
    async with (
        hostile_endpoint(tmp_path / "door", breaks_off) as socket,
        Endpoints(OneEndpoint(socket)) as endpoints,
        run_gateway(
            mongo_server.uri, mongo_database_name, redis_server.uri, files=ToolApiWorkspace(endpoints)
        ) as running,
    ):
        yield running


@pytest.mark.parametrize("path", ["file", "folder"])
async def test_a_download_that_breaks_off_is_one_warning_and_no_whole_answer(
    gateway: Gateway, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    anna = await gateway.user("anna")
    session = await gateway.session(anna)
    address = f"/api/sessions/{session}/files/download?path={path}"
    for _ in range(3):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            async with gateway.client.stream("GET", address, headers=anna) as answer:
                assert answer.status_code == 200
                with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
                    await answer.aread()
        (told,) = caplog.records
        assert (told.levelno, told.getMessage(), told.exc_info) == (logging.WARNING, "answer broken off", None)
        assert (vars(told)["code"], vars(told)["session_id"]) == ("computer_lost", session)
    assert (await gateway.client.get("/api/auth/me", headers=anna)).status_code == 200


@pytest.mark.parametrize("path", ["longer", "shorter", "empty"])
async def test_a_download_that_is_not_as_long_as_it_says_is_refused_in_one_line(
    gateway: Gateway, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    anna = await gateway.user("anna")
    session = await gateway.session(anna)
    for _ in range(3):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            answer = await gateway.client.get(f"/api/sessions/{session}/files/download?path={path}", headers=anna)
        assert (answer.status_code, answer.json()["code"]) == (503, "computer_lost")
        assert len(caplog.records) <= 1
        assert [record.exc_info for record in caplog.records] == [None] * len(caplog.records)
