"""A running kernel, spoken to by `jupyter_client`. This module is loaded when the first kernel starts."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import signal
import tempfile
from asyncio.subprocess import STDOUT
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import write_connection_file

from service_kit.programs import Program, ProgramStart, Tail, start_program
from tool_api.programs import processes
from tool_api.tools.code.execution import Execution
from tool_api.tools.code.kernelspecs import KernelSpec, KernelStartError

MARK = "SANDBOX_KERNEL"
"""An environment variable of each kernel; processes that its code started inherit it and are found by it."""
_LAST_WORDS_S = 0.2
_MAX_STRAY_BYTES = 4000
_LONGEST_PATH = 80
"""Most characters of the folder for temporary files, as a socket's path may have 107."""
_log = logging.getLogger(__name__)


class Kernel:
    """One kernel with its client; one execution at a time. Its sockets are files in a folder of this user alone: no
    page of a browser and no forwarded port reaches them."""

    def __init__(self, program: Program, client: AsyncKernelClient, spec: KernelSpec, folder: Path, mark: str) -> None:
        self._program = program
        self._client = client
        self._spec = spec
        self._folder = folder
        self._mark = f"{MARK}={mark}".encode()
        self._stray = Tail(program.output, _MAX_STRAY_BYTES)
        self._execution: Execution | None = None
        self._began_ticks = self._since_ticks = processes.clock_ticks()
        self._running: asyncio.Task[None] | None = None
        self._exit = asyncio.get_running_loop().create_task(program.wait(), name="end of a kernel")
        self._is_broken = False

    @classmethod
    async def start_kernel(
        cls, spec: KernelSpec, python: Path, folder: Path, environment: Mapping[str, str], *, limit_s: float
    ) -> Kernel:
        """Start a kernel and wait until it answers. Raises `KernelStartError`."""
        place, mark = _make_folder(), secrets.token_hex(8)
        connection = place / "connection.json"
        write_connection_file(
            str(connection), transport="ipc", ip=str(place / "channel"), key=secrets.token_hex(32).encode()
        )
        # Kernels of Python look whether this process still lives, and end when it does not.
        variables = {**environment, **spec.env, MARK: mark, "JPY_PARENT_PID": str(os.getpid())}
        start = ProgramStart(
            command=spec.command(python, connection),
            environment=variables,
            folder=folder if folder.is_dir() else "/",
            stderr=STDOUT,
        )
        try:
            program = await start_program(start)
        except OSError as error:
            shutil.rmtree(place, ignore_errors=True)
            raise KernelStartError(error.strerror or str(error)) from error
        client = AsyncKernelClient(connection_file=str(connection))
        client.load_connection_file()
        kernel = cls(program, client, spec, place, mark)
        try:
            client.start_channels(stdin=False, hb=False)
            await kernel._wait_until_ready(limit_s)
        except BaseException:
            await asyncio.shield(kernel.close())
            raise
        return kernel

    async def _wait_until_ready(self, limit_s: float) -> None:
        answer = asyncio.ensure_future(self._client.wait_for_ready(timeout=limit_s))
        try:
            await asyncio.wait({answer, self._exit}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                await answer
            elif self._exit.done():
                await self._stray.wait(_LAST_WORDS_S)
                raise KernelStartError(f"{self._ending()}: {self._stray.text.strip()}")
            else:
                raise KernelStartError(f"it did not answer within {limit_s:.0f} s")
        except RuntimeError as error:
            raise KernelStartError(str(error)) from error
        finally:
            answer.cancel()

    @property
    def is_alive(self) -> bool:
        return not self._exit.done() and not self._is_broken

    def run_code(self, execution: Execution, file_bytes: int | None = None) -> None:
        """Run code that makes no file larger than `file_bytes`; `execution` collects its output."""
        self._execution = execution
        for pid in (self._program.pid, *self._processes(self._began_ticks)):
            processes.bound_files(pid, file_bytes)
        self._since_ticks = processes.clock_ticks()
        self._running = asyncio.get_running_loop().create_task(self._run(execution), name="execution in a kernel")

    async def interrupt(self, grace_s: float) -> bool:
        """End the running execution with all it started; True if the kernel, and so its variables, could be kept, as it
        stopped in time."""
        execution = self._execution
        if execution is None or execution.is_finished:
            return self.is_alive
        if self._spec.interrupt_mode == "message":
            self._client.control_channel.send(self._client.session.msg("interrupt_request", content={}))
        else:
            self._program.send_signal(signal.SIGINT)
        await self._end_started()
        if not await execution.wait(grace_s) or not self.is_alive:
            await self.close()
            return False
        # End what it started between the two looks.
        await self._end_started()
        return self.is_alive

    async def close(self) -> None:
        """End the kernel and everything its code started."""
        if self._execution is not None:
            self._execution.finish(success=False, ended="it was ended")
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        await processes.end_found(lambda: self._processes(self._began_ticks))
        await self._program.end()
        await self._exit
        self._client.stop_channels()
        self._stray.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _run(self, execution: Execution) -> None:
        asked = asyncio.ensure_future(
            self._client.execute_interactive(  # pyright: ignore[reportUnknownMemberType] - its hooks are untyped
                execution.code, allow_stdin=False, output_hook=execution.add_message
            )
        )
        try:
            await asyncio.wait({asked, self._exit}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                await asyncio.wait({asked}, timeout=_LAST_WORDS_S)
            if asked.done():
                reply = await asked
                execution.finish(success=reply["content"].get("status") == "ok")
            else:
                execution.finish(success=False, ended=self._ending())
        except Exception:  # noqa: BLE001 - edge of an owned task; the agent may install any kernel
            _log.warning("the messages of a kernel can't be read", exc_info=True)
            self._is_broken = True
            execution.finish(success=False, ended="its messages can't be read")
        finally:
            asked.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await asked

    async def _end_started(self) -> None:
        await processes.end_found(lambda: self._processes(self._since_ticks))

    def _processes(self, since_ticks: int) -> list[int]:
        """Pids of the processes that its code started since then and left running."""
        return [pid for pid in processes.with_variable(self._mark, since_ticks) if pid != self._program.pid]

    def _ending(self) -> str:
        return f"it ended with exit code {self._exit.result()}"


def _make_folder() -> Path:
    folder = tempfile.gettempdir()
    return Path(tempfile.mkdtemp(prefix="kernel-", dir=folder if len(folder) < _LONGEST_PATH else "/tmp"))
