"""Terminals without an engine: each echoes what is typed. For tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from backend_api.kit.errors import DomainError
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.terminal.domain import TerminalState


class MemoryTerminal:
    """`OpenTerminal`: bytes come back, and frames are kept. What is typed as `bye` ends it."""

    def __init__(self, name: str, after: int | None) -> None:
        first = {"type": "attached", "offset": after or 0, "cols": 80, "rows": 24, "began": 1}
        self._messages: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._messages.put_nowait(json.dumps(first))
        self.name = name
        self.frames: list[str] = []

    async def send(self, message: str | bytes) -> None:
        if isinstance(message, str):
            self.frames.append(message)
        else:
            self._messages.put_nowait(None if message == b"bye" else message)

    async def messages(self) -> AsyncIterator[str | bytes]:
        while (message := await self._messages.get()) is not None:
            yield message


class MemoryTerminals:
    """`Terminals` by session. `fault` is raised by each that is opened."""

    def __init__(self) -> None:
        self.opened: dict[str, list[MemoryTerminal]] = {}
        self.fault: DomainError | None = None

    @asynccontextmanager
    async def open(
        self, sandbox: Sandbox, name: str, *, after: int | None, began: int | None
    ) -> AsyncGenerator[MemoryTerminal]:
        del began
        if self.fault is not None:
            raise self.fault
        made = MemoryTerminal(name, after)
        opened = self.opened.setdefault(sandbox.session_id, [])
        opened.append(made)
        try:
            yield made
        finally:
            opened.remove(made)

    async def list(self, sandbox: Sandbox) -> list[TerminalState]:
        opened = self.opened.get(sandbox.session_id, [])
        return [TerminalState(name=one.name, cols=80, rows=24, viewers=1, is_busy=False) for one in opened]

    async def close(self, sandbox: Sandbox, name: str) -> None:
        for one in self.opened.get(sandbox.session_id, []):
            if one.name == name:
                await one.send(b"bye")
