"""Start the desktop in order, keep it alive, end it whole."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType

from contracts.tools import ServiceState
from tool_api.desktop import programs
from tool_api.desktop.process import DesktopProgram, StartFailedError, number_pipe, running
from tool_api.desktop.rest import are_stopped, resume_processes, stop_processes
from tool_api.desktop.settings import DesktopSettings
from tool_api.desktop.trust import trust_authorities

logger = logging.getLogger(__name__)

XVNC, WINDOW_MANAGER, BROWSER = "xvnc", "window_manager", "browser"
RFB_GREETING = b"RFB "
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 10.0
STEADY_AFTER_S = 10.0
STARTS_BEFORE_FAILED = 3

Up = Callable[[DesktopProgram], Awaitable[None]]


class Desktop:
    """The X server, the window manager and Chrome, one after the other as each becomes ready.

    Use it as an async context manager. Programs that die are restarted with growing pauses; if the X server dies the
    others end with it. A program that fails to start three times in a row counts as failed and is still tried. While it
    rests its programs are stopped and nothing is started; its users wake it.
    """

    def __init__(self, settings: DesktopSettings) -> None:
        self._settings = settings
        self._programs = programs.find_programs(settings.search_path)
        self._wanted = self._programs.xvnc is not None
        self._states: dict[str, ServiceState] = dict.fromkeys((XVNC, WINDOW_MANAGER, BROWSER), ServiceState.OFF)
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self._display: str | None = None
        self._cdp: str | None = None
        self._chrome: DesktopProgram | None = None
        self._pids: set[int] = set()
        self._awake = asyncio.Event()
        self._awake.set()
        self.reason = self._programs.missing
        """The reason why the desktop is missing or incomplete."""

    @property
    def has_desktop(self) -> bool:
        """Whether there is a screen to look at."""
        return self._states[XVNC] is ServiceState.READY

    @property
    def is_starting(self) -> bool:
        """Whether a screen is not there yet, or not there again, and soon will be."""
        return self._states[XVNC] is ServiceState.STARTING

    @property
    def has_browser(self) -> bool:
        """Whether a browser is installed and has not failed for good."""
        return self._states[BROWSER] not in (ServiceState.OFF, ServiceState.FAILED)

    @property
    def display(self) -> str | None:
        """The value of DISPLAY for programs that want to be seen, once the X server is up."""
        return self._display

    @property
    def vnc_socket(self) -> str | None:
        """The socket that speaks RFB, while there is one."""
        self.wake()
        return str(self._settings.vnc_socket) if self.has_desktop else None

    def states(self) -> dict[str, ServiceState]:
        """The state of each service."""
        return dict(self._states)

    async def wait_settled(self, timeout_s: float) -> bool:
        """Wait until each wanted service is ready or has failed; False when the time was over first."""
        return await self._wait_for(lambda: ServiceState.STARTING not in self._states.values(), timeout_s)

    async def cdp_address(self, timeout_s: float) -> str | None:
        """The WebSocket address of Chrome's control port, waiting while Chrome is being started."""
        self.wake()
        await self._wait_for(lambda: self._cdp is not None or not self.has_browser, timeout_s)
        return self._cdp

    @property
    def control_address(self) -> str | None:
        """`cdp_address` as it is now, without waking or waiting."""
        return self._cdp

    async def restart_browser(self) -> None:
        """End Chrome, hung or not; it is restarted as if it had ended by itself."""
        self.wake()
        if (chrome := self._chrome) is not None:
            self._cdp = None
            await chrome.end(self._settings.stop_grace_s)

    @property
    def rests(self) -> bool:
        """Whether the whole desktop is up and stopped."""
        is_whole = ServiceState.STARTING not in self._states.values()
        return is_whole and not self._awake.is_set() and are_stopped(self._pids)

    async def rest(self) -> None:
        """Stop the desktop's programs; `rests` reports whether that worked."""
        self._awake.clear()
        # Whoever needs it meanwhile has it at once.
        await stop_processes(lambda: () if self._awake.is_set() else self._pids)

    def wake(self) -> None:
        """Let the desktop go on; does nothing if it runs."""
        if not self._awake.is_set():
            self._awake.set()
            resume_processes(self._pids)

    async def __aenter__(self) -> Desktop:
        if self._wanted and self._make_folders():
            for name, path in (
                (XVNC, self._programs.xvnc),
                (WINDOW_MANAGER, self._programs.window_manager),
                (BROWSER, self._programs.browser),
            ):
                self._states[name] = ServiceState.STARTING if path else ServiceState.OFF
            self._task = asyncio.create_task(self._keep_running(XVNC, self._xvnc, self._on_screen), name="desktop")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wake()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._states = dict.fromkeys(self._states, ServiceState.OFF)

    def _make_folders(self) -> bool:
        try:
            for folder in (self._settings.run_dir, self._settings.profile.parent):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.reason = f"no folder for the desktop: {error}"
            return False
        return True

    async def _keep_running(self, name: str, start: Callable[[Up], Awaitable[None]], up: Up) -> None:
        failures, pause_s = 0, FIRST_PAUSE_S
        while True:
            began: float | None = None

            async def ready(program: DesktopProgram) -> None:
                nonlocal began
                began = time.monotonic()
                await self._report(name, ServiceState.READY)
                if ServiceState.FAILED not in self._states.values():
                    self.reason = self._programs.missing
                logger.info("service is ready", extra={"service": name, "pid": program.pid})
                async with _run_beside(up(program)):
                    code = await program.wait()
                logger.warning("service ended", extra={"service": name, "exit_code": code})

            await self._awake.wait()
            try:
                await start(ready)
            except (StartFailedError, OSError) as error:
                logger.warning("service did not start", extra={"service": name, "reason": str(error)})
                failures += 1
                self.reason = str(error)
            else:
                failures = 0
            if began is not None and time.monotonic() - began > STEADY_AFTER_S:
                pause_s = FIRST_PAUSE_S
            await self._report(name, ServiceState.FAILED if failures >= STARTS_BEFORE_FAILED else ServiceState.STARTING)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _on_screen(self, _: DesktopProgram) -> None:
        async with asyncio.TaskGroup() as group:
            if self._programs.window_manager:
                group.create_task(self._keep_running(WINDOW_MANAGER, self._window_manager, _do_nothing))
            if self._programs.browser:
                await self._wait_for(
                    lambda: self._states[WINDOW_MANAGER] is not ServiceState.STARTING, self._settings.start_timeout_s
                )
                group.create_task(self._keep_running(BROWSER, self._browser, _do_nothing))

    async def _xvnc(self, ready: Up) -> None:
        path, settings = self._programs.xvnc or "", self._settings
        with number_pipe() as (write_fd, number):
            command = programs.xvnc_command(path, settings, write_fd)
            async with self._running(XVNC, command, programs.environment(settings), (write_fd,)) as program:
                display = f":{await program.before_end(number, settings.start_timeout_s)}"
                await self._check_greeting()
                self._display = display
                try:
                    await ready(program)
                finally:
                    self._display = None
                    for name in (WINDOW_MANAGER, BROWSER):
                        if self._states[name] is not ServiceState.OFF:
                            await self._report(name, ServiceState.STARTING)

    async def _check_greeting(self) -> None:
        try:
            async with asyncio.timeout(self._settings.start_timeout_s):
                reader, writer = await asyncio.open_unix_connection(self._settings.vnc_socket)
                greeting = await reader.read(len(RFB_GREETING))
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError) as error:
            raise StartFailedError("xvnc does not answer on its socket") from error
        if greeting != RFB_GREETING:
            raise StartFailedError("xvnc does not speak RFB on its socket")

    async def _window_manager(self, ready: Up) -> None:
        path, settings = self._programs.window_manager or "", self._settings
        environment = programs.environment(settings, self._display)
        async with self._running(WINDOW_MANAGER, programs.window_manager_command(path), environment) as program:
            await program.said(_window_manager_ready, settings.start_timeout_s)
            await ready(program)

    async def _browser(self, ready: Up) -> None:
        path, settings = self._programs.browser or "", self._settings
        await trust_authorities(settings)
        # A Chrome that was killed leaves its lock behind; this one is the only user of the profile.
        for left in settings.profile.glob("Singleton*"):
            left.unlink(missing_ok=True)
        environment = programs.environment(settings, self._display)
        async with self._running(BROWSER, programs.browser_command(path, settings), environment) as program:
            self._cdp = await program.said(programs.cdp_address, settings.start_timeout_s)
            self._chrome = program
            try:
                await ready(program)
            finally:
                self._cdp = self._chrome = None

    @asynccontextmanager
    async def _running(
        self, name: str, command: list[str], environment: dict[str, str], pass_fds: tuple[int, ...] = ()
    ) -> AsyncGenerator[DesktopProgram]:
        async with running(name, command, environment, self._settings, pass_fds) as program:
            self._pids.add(program.pid)
            try:
                yield program
            finally:
                self._pids.discard(program.pid)

    async def _report(self, name: str, state: ServiceState) -> None:
        self._states[name] = state
        async with self._changed:
            self._changed.notify_all()

    async def _wait_for(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s), self._changed:
                await self._changed.wait_for(condition)
        except TimeoutError:
            return False
        return True


async def _do_nothing(_: DesktopProgram) -> None:
    return


def _window_manager_ready(line: str) -> str | None:
    return line if programs.WINDOW_MANAGER_READY in line else None


@asynccontextmanager
async def _run_beside(work: Awaitable[None]) -> AsyncGenerator[None]:
    """Let `work` run during the block and end with it."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        for outcome in await asyncio.gather(task, return_exceptions=True):
            if isinstance(outcome, Exception):
                logger.error("work beside a service failed", exc_info=outcome)
