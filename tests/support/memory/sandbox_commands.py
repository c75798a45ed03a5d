"""Background commands of sandboxes that a test begins and ends by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from backend_api.agent.tool import Done, ToolCall
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import SandboxLostError


class MemorySandboxCommands:
    """`SandboxTools` with the background tools alone, of all sandboxes together. `fault` makes every call fail so."""

    def __init__(self) -> None:
        self.started: list[str] = []
        """Texts of commands, in their order."""
        self.calls: list[ToolCall] = []
        self.fault: Callable[[], Exception] | None = None
        self.loses_starts = False
        """The connection breaks right after each start."""
        self.after_start: Callable[[], Awaitable[None]] | None = None
        """What is waited for between a start and its answer."""
        self._states: dict[str, dict[str, Any]] = {}
        self._outputs: dict[str, str] = {}
        self._changed = asyncio.Event()

    def end(self, background_id: str, output: str = "", *, state: str = "ended", exit_code: int | None = 0) -> None:
        """As if by itself."""
        self._states[background_id] |= {"background": state, "exit_code": exit_code}
        self._outputs[background_id] = output
        self._changed.set()

    def forget(self, background_id: str) -> None:
        """It never was there."""
        del self._states[background_id]
        self._changed.set()

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        """See `SandboxTools`."""
        del sandbox
        self.calls.append(call)
        if self.fault is not None:
            raise self.fault()
        background_id = str(call.arguments["background_id"])
        match call.name:
            case "background_run":
                self.started.append(str(call.arguments["command"]))
                self._states[background_id] = {"type": "shell", "background": "running", "exit_code": None}
                if self.after_start is not None:
                    await self.after_start()
                if self.loses_starts:
                    raise SandboxLostError("The connection to the computer was lost.")
            case "background_stop":
                if self._states.get(background_id, {}).get("background") == "running":
                    self.end(background_id, "[stopped]", state="stopped", exit_code=None)
            case _:
                await self._wait(background_id, float(call.arguments.get("wait_s", 0)))
        state = self._states.get(background_id, {"type": "shell", "background": "unknown"})
        return Done(success=True, output=self._outputs.get(background_id, "[no output]"), display={**state})

    async def _wait(self, background_id: str, wait_s: float) -> None:
        try:
            async with asyncio.timeout(wait_s):
                while self._states.get(background_id, {}).get("background") == "running":
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass
