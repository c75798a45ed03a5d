"""The named shells of a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from tool_api import measures
from tool_api.programs.environment import program_environment
from tool_api.tools.shell.bash import Bash, ShellState
from tool_api.tools.shell.command import Command
from tool_api.write_bound import WriteBound

MAX_SHELLS = 16
OF_AGENT = "agent-"
"""Prefix of the shells that the gateway gives to sub-agents, one each."""
_WARM_UP_S = 5.0
UNBOUND = WriteBound()


class ShellBusyError(Exception):
    """The shell still runs another command."""

    def __init__(self, command: Command) -> None:
        super().__init__(command.text)
        self.command = command


class TooManyShellsError(Exception):
    """No further shell may be opened."""


class Shell:
    """A named shell: a bash that is started when first needed and again after it ended, and its latest command."""

    def __init__(self, name: str, folder: Path, environment: Callable[[], dict[str, str]]) -> None:
        self.name = name
        self.command: Command | None = None
        self._state = ShellState(folder=str(folder))
        self._environment = environment
        self._bash: Bash | None = None
        self._aside: Bash | None = None
        self._turn = asyncio.Lock()

    @property
    def is_busy(self) -> bool:
        return self.command is not None and not self.command.is_finished

    async def start_command(self, text: str, *, wait_s: float, bound: WriteBound = UNBOUND) -> Command:
        """Start a command, waiting for a shell that is just ending; a busy one raises `ShellBusyError`.

        If the workspace is full, the command runs in a bash of its own that can write to no file, with the folder and
        the exported variables of this one: the limit can't be lifted again, and this one is used again once files were
        deleted.
        """
        if self.command is not None and not await self.command.wait(wait_s):
            raise ShellBusyError(self.command)
        async with self._turn:
            if self.command is not None and not self.command.is_finished:
                raise ShellBusyError(self.command)
            await self._close_aside()
            bash = await (self._bash_aside() if bound.is_full else self._living_bash())
            self.command = Command(text, bash.state.folder)
            bash.run_command(self.command, bound.file_bytes)
            return self.command

    @property
    def has_terminal(self) -> bool:
        """Whether it is on a terminal, as it is unless the machine had none left when its bash was started."""
        return self._bash is None or self._bash.has_terminal

    def type_text(self, text: str) -> int:
        """Type for the running command; returns how many bytes were taken."""
        bash = self._aside or self._bash
        return bash.type_text(text) if bash is not None and bash.is_alive else 0

    async def abort(self) -> bool:
        """End the running command with all it started; False when bash had to be ended too."""
        async with self._turn:
            if not self.is_busy:
                return True
            if self._aside is not None:
                await self._close_aside()
                return True
            if self._bash is None:
                return True
            kept = await self._bash.abort()
            self._state = self._bash.state
            return kept

    async def warm_up(self) -> None:
        """Start bash and let it read its first commands, before the first command is due.

        A bash that is not ready in time is ended: its late output would be taken for the first command's.
        """
        async with self._turn:
            bash = await self._living_bash()
            nothing = Command(":", bash.state.folder)
            bash.run_command(nothing)
            if not await nothing.wait(_WARM_UP_S):
                await bash.close()

    async def close(self) -> None:
        """End bash with all it ever started; the next command starts another one."""
        async with self._turn:
            await self._close_aside()
            if self._bash is not None:
                await self._bash.close()

    async def _bash_aside(self) -> Bash:
        self._aside = await Bash.start_shell(
            self._bash.state if self._bash is not None else self._state, self._environment(), writes=False
        )
        return self._aside

    async def _close_aside(self) -> None:
        aside, self._aside = self._aside, None
        if aside is not None:
            await aside.close()

    async def _living_bash(self) -> Bash:
        if self._bash is not None and self._bash.is_alive:
            if self._bash.has_terminal or self.command is not None:
                return self._bash
            # It has run nothing yet that would be lost, and there may be a terminal by now.
            await self._bash.close()
        if self._bash is not None:
            self._state = self._bash.state
        self._bash = await Bash.start_shell(self._state, self._environment())
        return self._bash


class Shells:
    """The shells by name; an async context manager that ends them. Opens nothing before it is used."""

    def __init__(self, workspace: Path, display: Callable[[], str | None] = lambda: None) -> None:
        self._workspace = workspace
        self._display = display
        self._shells: dict[str, Shell] = {}

    async def __aenter__(self) -> Shells:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(shell.close() for shell in self._shells.values()))

    @property
    def is_busy(self) -> bool:
        """Whether a command runs in any of them."""
        return any(shell.is_busy for shell in self._shells.values())

    async def end_commands(self) -> None:
        """End the commands of all shells, with all they started."""
        await asyncio.gather(*(shell.abort() for shell in self._shells.values() if shell.is_busy))

    async def end_all(self) -> None:
        """End each shell with all it ever started, also programs left running by ended commands."""
        await asyncio.gather(*(shell.close() for shell in self._shells.values()))

    def find(self, name: str) -> Shell | None:
        return self._shells.get(name)

    async def open(self, name: str) -> Shell:
        """The shell of that name, made if it is new. If there are too many, the sub-agent's shell that was idle longest
        is closed for it.

        Raises:
            TooManyShellsError: no sub-agent's shell is idle.
        """
        while name not in self._shells and len(self._shells) >= MAX_SHELLS:
            idle = [one for one in self._shells.values() if one.name.startswith(OF_AGENT) and not one.is_busy]
            if not idle:
                raise TooManyShellsError
            await self._shells.pop(idle[0].name).close()
        # The one that was used last comes last.
        shell = self._shells.pop(name, None) or Shell(name, self._workspace, self.environment)
        self._shells[name] = shell
        measures.SHELLS.set(len(self._shells))
        return shell

    def names(self) -> list[str]:
        return sorted(self._shells)

    def environment(self) -> dict[str, str]:
        """The environment of the workspace's programs."""
        return program_environment(self._display())
