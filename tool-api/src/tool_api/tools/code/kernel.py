"""A kernel behind its bridge, as one process tree: what a kernel leaves behind is adopted by the bridge."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import tool_api
from tool_api.programs import processes
from tool_api.tools.code.execution import Execution
from tool_api.tools.code.kernelspecs import KernelSpec
from tool_api.tools.code.lines import (
    MAX_LINE_BYTES,
    Ended,
    Finished,
    Line,
    MalformedJsonError,
    Ready,
    parse_line,
)
from tool_api.tools.shell.pipe_writer import PipeWriter

_SOURCES = Path(tool_api.__file__).resolve().parents[1]
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from tool_api.tools.code.bridge.main import main; sys.exit(main())"
)
_BROKEN = "its connection broke"


class KernelStartError(Exception):
    """The kernel did not start; the text says why."""


@dataclass(slots=True)
class _Pipes:
    """Our ends of those to and from the bridge."""

    commands: PipeWriter
    said: asyncio.ReadTransport
    _is_open: bool = True

    def write(self, text: str) -> None:
        if self._is_open:
            self.commands.write(text)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self.commands.close()
            self.said.close()


class Kernel:
    """A running kernel. Make one with `start`; one execution at a time."""

    def __init__(self, process: asyncio.subprocess.Process, said: asyncio.StreamReader, pipes: _Pipes) -> None:
        self._process = process
        self._said = said
        self._pipes = pipes
        self._execution: Execution | None = None
        self._since_ticks = 0
        self._ready = asyncio.Event()
        self._ended: str | None = None
        self._reader = asyncio.get_running_loop().create_task(self._read(), name="kernel")

    @classmethod
    async def start_program(
        cls, python: Path, spec: KernelSpec, folder: Path, environment: Mapping[str, str], *, limit_s: float
    ) -> Kernel:
        """Start one and wait until it answers. Raises `KernelStartError`."""
        command = (str(python), "-I", "-c", _BOOT, str(_SOURCES))
        try:
            kernel = await cls._spawn(command, folder if folder.is_dir() else Path("/"), environment)
        except OSError as error:
            raise KernelStartError(error.strerror or str(error)) from error
        try:
            kernel._send(spec.model_dump(include={"argv", "env", "interrupt_mode"}))
            async with asyncio.timeout(limit_s):
                await kernel._ready.wait()
            if kernel._ended is not None:
                raise KernelStartError(kernel._ended)
        except TimeoutError:
            await kernel.close()
            raise KernelStartError(f"it did not answer within {limit_s:.0f} s") from None
        except BaseException:
            await asyncio.shield(kernel.close())
            raise
        return kernel

    @classmethod
    async def _spawn(cls, command: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> Kernel:
        # Pipes of our own: what the bridge leaves behind may hold them, and nobody is to wait for that.
        theirs, ours = os.pipe()
        own_output, kernel_output = os.pipe()
        with contextlib.ExitStack() as stack:
            for fd in (theirs, kernel_output):
                stack.callback(os.close, fd)
            with contextlib.ExitStack() as mine:
                mine.callback(os.close, ours)
                file = mine.enter_context(os.fdopen(own_output, "rb", 0))
                process = await asyncio.create_subprocess_exec(
                    *command,
                    stdin=theirs,
                    stdout=kernel_output,
                    stderr=asyncio.subprocess.DEVNULL,
                    start_new_session=True,
                    env=dict(environment),
                    cwd=folder,
                )
                mine.pop_all()
        said = asyncio.StreamReader(limit=MAX_LINE_BYTES)
        protocol = asyncio.StreamReaderProtocol(said)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, file)
        return cls(process, said, _Pipes(PipeWriter(ours), transport))

    @property
    def is_alive(self) -> bool:
        return self._ended is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def run_code(self, execution: Execution, file_bytes: int | None = None) -> None:
        """Give the kernel code; `execution` is told what it shows and its end."""
        self._execution = execution
        for pid in (self.pid, *(pid for pid, _ in processes.descendants(self.pid))):
            processes.bound_files(pid, file_bytes)
        self._since_ticks = processes.clock_ticks()
        self._send({"op": "execute", "code": execution.code})

    async def interrupt(self, grace_s: float) -> bool:
        """End the running execution with all it started; True when the kernel, and so its variables, could be kept, as
        it let go within the time."""
        execution = self._execution
        if execution is None or execution.is_finished:
            return self.is_alive
        self._send({"op": "interrupt"})
        await self._end_started()
        if not await execution.wait(grace_s) or not self.is_alive:
            await self.close()
            return False
        # What it managed to start between the two looks.
        await self._end_started()
        return self.is_alive

    async def close(self) -> None:
        """End the kernel, its bridge and everything below them."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                # Held, it stays the one that adopts what loses its parent.
                os.kill(self.pid, signal.SIGSTOP)
            await processes.end_found(lambda: processes.started_since(self.pid, 0))
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        await self._process.wait()
        self._pipes.close()
        await self._reader

    async def _end_started(self) -> None:
        if self._process.returncode is None:
            await processes.end_found(lambda: processes.started_since(self.pid, self._since_ticks))

    def _send(self, fields: Mapping[str, object]) -> None:
        self._pipes.write(json.dumps(fields) + "\n")

    async def _read(self) -> None:
        ended = _BROKEN
        try:
            while line := await self._said.readline():
                parsed = parse_line(line)
                if isinstance(parsed, Ended):
                    ended = parsed.reason
                    break
                self._on_line(parsed)
        except (MalformedJsonError, ValueError):
            pass  # what speaks nonsense is no bridge any more
        self._ended = ended
        self._ready.set()
        if self._execution is not None:
            self._execution.finish(success=False, ended=ended)

    def _on_line(self, line: Line) -> None:
        match line:
            case Ready():
                self._ready.set()
            case Finished():
                if self._execution is not None:
                    self._execution.finish(success=line.success)
            case Ended():
                return
            case _:
                if self._execution is not None and not self._execution.is_finished:
                    self._execution.add(line)
