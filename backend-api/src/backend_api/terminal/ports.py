"""What terminals need of the outside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.terminal.domain import TerminalState, TerminalTicket


class TerminalTickets(Protocol):
    """Keeps tickets until they are used, at most for their time."""

    async def issue(self, ticket: TerminalTicket, *, ttl_s: int) -> str:
        """The secret that stands for it. Raises `UnavailableError`."""
        ...

    async def redeem(self, secret: str) -> TerminalTicket | None:
        """The ticket the first time, None ever after."""
        ...


class OpenTerminal(Protocol):
    """One viewer's connection to a terminal: bytes, and frames of `contracts.terminals` as JSON."""

    async def send(self, message: str | bytes) -> None:
        """Raises as `messages` does."""
        ...

    def messages(self) -> AsyncIterator[str | bytes]:
        """Until the terminal ends. Raises `TerminalRefusedError`, `TooManyTerminalsError`, `TerminalFrameError`,
        `SlowViewerError`, `SandboxUnavailableError`."""
        ...


class Terminals(Protocol):
    """Terminals of sandboxes. All raise `SandboxUnavailableError`."""

    def open(
        self, sandbox: Sandbox, name: str, *, after: int | None, began: int | None
    ) -> AbstractAsyncContextManager[OpenTerminal]:
        """Connect to one, which is opened if there is none of that name. A viewer that has shown the bytes before
        `after` of the one that began then is shown the rest."""
        ...

    async def list(self, sandbox: Sandbox) -> list[TerminalState]:
        """Those that are open. Raises `SandboxLostError`."""
        ...

    async def close(self, sandbox: Sandbox, name: str) -> None:
        """End one with all it started; nothing happens where there is none. Raises `SandboxLostError`."""
        ...
