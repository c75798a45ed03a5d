"""Ports that terminals need."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.terminal.domain import TerminalState, TerminalTicket


class TerminalTickets(Protocol):
    """Keeps tickets until they are used, at most until they expire."""

    async def issue(self, ticket: TerminalTicket, *, ttl_s: int) -> str:
        """Store a ticket and return its secret. Raises `UnavailableError`."""
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
        """Receive until the terminal ends. Raises `TerminalRefusedError`, `TooManyTerminalsError`,
        `TerminalFrameError`, `SlowViewerError`, `SandboxUnavailableError`."""
        ...


class Terminals(Protocol):
    """Terminals of sandboxes. All raise `SandboxUnavailableError`."""

    def open(
        self, sandbox: Sandbox, name: str, *, after: int | None, began: int | None
    ) -> AbstractAsyncContextManager[OpenTerminal]:
        """Connect to a terminal, which is opened if there is none of that name. A viewer that has shown the bytes
        before `after` of the terminal that began at `began` gets the rest."""
        ...

    async def list(self, sandbox: Sandbox) -> list[TerminalState]:
        """The open terminals. Raises `SandboxLostError`."""
        ...

    async def close(self, sandbox: Sandbox, name: str) -> None:
        """End a terminal with all it started; does nothing if there is none. Raises `SandboxLostError`."""
        ...
