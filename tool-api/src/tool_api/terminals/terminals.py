"""The terminals of a sandbox, by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from contracts.terminals import MAX_TERMINALS, TerminalEntry
from tool_api.programs.environment import terminal_environment
from tool_api.terminals.terminal import Terminal, TerminalSize, start_terminal


class TooManyTerminalsError(Exception):
    """No further terminal may be opened."""


class Terminals:
    """The terminals by name; an async context manager that ends them. Opens nothing before it is used."""

    def __init__(self, workspace: Path, display: Callable[[], str | None] = lambda: None) -> None:
        self._workspace = workspace
        self._display = display
        self._terminals: dict[str, Terminal] = {}
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Terminals:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end_all()

    @property
    def is_busy(self) -> bool:
        """Whether a program runs in any of them."""
        return any(terminal.is_busy for terminal in self._terminals.values())

    def entries(self) -> list[TerminalEntry]:
        """The terminals in the order in which they were opened."""
        return [
            TerminalEntry(
                name=terminal.name,
                cols=terminal.size.cols,
                rows=terminal.size.rows,
                viewers=len(terminal.viewers),
                is_busy=terminal.is_busy,
            )
            for terminal in self._running()
        ]

    async def open(self, name: str, size: TerminalSize | None = None) -> Terminal:
        """The terminal of that name, made if it is new. Raises `TooManyTerminalsError`, `OSError`."""
        async with self._starting:
            running = self._running()
            self._terminals = {terminal.name: terminal for terminal in running}
            if (found := self._terminals.get(name)) is not None:
                return found
            if len(self._terminals) >= MAX_TERMINALS:
                raise TooManyTerminalsError
            environment = terminal_environment(self._display())
            made = await start_terminal(name, self._workspace, environment, size or TerminalSize())
            self._terminals[name] = made
            return made

    async def close(self, name: str) -> None:
        """End a terminal, with all that it ever started. Does nothing if there is none."""
        async with self._starting:
            terminal = self._terminals.pop(name, None)
        if terminal is not None:
            await terminal.close()

    async def end_commands(self) -> None:
        """End the programs that run in any of them."""
        await asyncio.gather(*(terminal.end_commands() for terminal in self._running()))

    async def end_all(self) -> None:
        """End each terminal with all it ever started."""
        async with self._starting:
            terminals, self._terminals = list(self._terminals.values()), {}
        await asyncio.gather(*(terminal.close() for terminal in terminals))

    def _running(self) -> list[Terminal]:
        return [terminal for terminal in self._terminals.values() if terminal.exit_code is None]
