"""A child's output on disk, bounded, with its errors and changes of stored data echoed to the terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from pathlib import Path
from typing import Any, BinaryIO, cast

MAX_BYTES = 5 * 1024 * 1024
MAX_LINE = 16_384
_CHANGES_DATA = "service_kit.migrations"
"""Who logs that the data of a former version is brought to this one, which may take long."""


class LogFile:
    """Two files of at most `MAX_BYTES`: the current one and the one before."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.path = folder / f"{name}.log"
        self.tail: deque[str] = deque(maxlen=20)
        self.changes_data = False
        """Whether the last it said was that it changes what a former version stored, or waits for who does."""
        self._file: BinaryIO = self.path.open("ab")
        self._rest = b""

    async def follow(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(65_536):
            self._write(chunk)

    def close(self) -> None:
        self._file.close()

    def _write(self, chunk: bytes) -> None:
        if self._file.tell() + len(chunk) > MAX_BYTES:
            self._file.close()
            self.path.replace(self.path.with_suffix(".log.1"))
            self._file = self.path.open("ab")
        self._file.write(chunk)
        self._file.flush()
        *lines, rest = (self._rest + chunk).split(b"\n")
        self._rest = rest[:MAX_LINE]
        for line in lines:
            text = line[:MAX_LINE].decode("utf-8", "replace").rstrip()
            if text:
                self.tail.append(text)
                self._echo(text)

    def _echo(self, text: str) -> None:
        if not text.startswith("{"):
            return
        try:
            record = cast("dict[str, Any]", json.loads(text))
        except ValueError:
            return
        self.changes_data = record.get("logger") == _CHANGES_DATA
        message = record.get("message") or text
        if str(record.get("level", "")).upper() in ("ERROR", "CRITICAL"):
            print(f"[{self.name}] {message} (more in {self.path})", file=sys.stderr, flush=True)
        elif self.changes_data:
            print(f"[{self.name}] {message}: {record.get('change', '')}", file=sys.stderr, flush=True)
