"""A tunnel as a stream of bytes."""

from __future__ import annotations

from typing import Any, cast

import httpcore
import pytest
from websockets.exceptions import ConnectionClosedError

from backend_api.previews.domain.errors import (
    AppFailedError,
    NothingListensError,
    PortRefusedError,
    TooManyPreviewsError,
)
from backend_api.previews.tool_api.port_tunnels import TunnelStream
from backend_api.sandboxes.domain.errors import SandboxUnavailableError


class Socket:
    """What a program said, and how the socket closed."""

    refused: str | None = None

    def __init__(self, *said: bytes, code: int = 1000) -> None:
        self._said = list(said)
        self.close_code = code

    async def recv(self, *, decode: bool) -> bytes:
        assert not decode
        if not self._said:
            raise ConnectionClosedError(None, None)
        return self._said.pop(0)


def stream(*said: bytes, code: int = 1000) -> TunnelStream:
    return TunnelStream(cast("Any", Socket(*said, code=code)))


async def test_no_more_is_read_at_once_than_is_wanted_and_the_end_is_empty() -> None:
    tunnel = stream(b"hello", b"world")

    assert [await tunnel.read(3) for _ in range(5)] == [b"hel", b"lo", b"wor", b"ld", b""]


async def test_a_head_may_have_so_many_bytes_and_a_body_any_number() -> None:
    tunnel = stream(*[b"x" * 100] * 9)
    tunnel.may_read = 250
    assert len(await tunnel.read(200) + await tunnel.read(200)) == 200
    with pytest.raises(httpcore.ReadError):
        await tunnel.read(200)
    tunnel.may_read = None
    assert await tunnel.read(200) == b"x" * 100


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (4401, SandboxUnavailableError),
        (4403, PortRefusedError),
        (4404, NothingListensError),
        (4429, TooManyPreviewsError),
        (4408, AppFailedError),
        (1006, AppFailedError),
    ],
)
async def test_why_there_is_no_answer_is_said_by_how_the_sandbox_closed_it(code: int, kind: type[Exception]) -> None:
    tunnel = stream(code=code)
    with pytest.raises(httpcore.ReadError):
        await tunnel.read(10)

    assert type(tunnel.fault("it broke", 3000)) is kind
