"""A text lent to an X server that says what it likes."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

import pytest

from tool_api.tools.desktop.clipboard import ClipboardError, temporary_clipboard

VERSION = b"RFB 003.008\n"
HEAD = struct.pack(">HH16x", 10, 10)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 400\r\n\r\n",
        VERSION + b"\x00",
        VERSION + b"\x01\x02",
        VERSION + b"\x01\x01" + b"\0" * 4 + HEAD + struct.pack(">I", 2**32 - 1),
    ],
    ids=["nothing", "another protocol", "no kind of security", "a password", "a name without end"],
)
async def test_a_server_that_is_none_is_told(tmp_path: Path, said: bytes) -> None:
    path = str(tmp_path / "x.sock")

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async with await asyncio.start_unix_server(serve, path):
        with pytest.raises(ClipboardError):
            async with temporary_clipboard("text", path):
                raise AssertionError("it was lent")


async def test_a_server_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(ClipboardError):
        async with temporary_clipboard("text", str(tmp_path / "x.sock")):
            raise AssertionError("it was lent")
