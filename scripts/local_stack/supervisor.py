"""Start children in order, keep them running, end them in the opposite order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from local_stack.child import Child, ChildSpec
from local_stack.errors import StackError
from local_stack.log_file import LogFile

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
MAX_RESTARTS = 8
STEADY_AFTER = 30.0


class Supervisor:
    """Owner of the children. `failure` is set when one can't be kept running."""

    def __init__(self, stages: list[list[ChildSpec]], logs: Path, state_file: Path) -> None:
        self._stages = stages
        self._specs = [spec for stage in stages for spec in stage]
        self._logs = {spec.name: LogFile(spec.name, logs) for spec in self._specs}
        self._state_file = state_file
        self._children: dict[str, Child] = {}
        self._asked: set[str] = set()
        self._guards: list[asyncio.Task[None]] = []
        self.failure: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def start_all(self, announce: Callable[[str], None]) -> None:
        """Start all, each stage ready before the next. Raises `StackError` when one does not come up."""
        for stage in self._stages:
            starting = [asyncio.create_task(self._start_one(spec, announce)) for spec in stage]
            try:
                await asyncio.gather(*starting)
            finally:
                for task in starting:
                    task.cancel()
                await asyncio.gather(*starting, return_exceptions=True)

    async def _start_one(self, spec: ChildSpec, announce: Callable[[str], None]) -> None:
        began = monotonic()
        await self._launch(spec)
        announce(f"  {spec.name} is ready ({monotonic() - began:.1f} s)")
        self._guards.append(asyncio.create_task(self._guard(spec), name=f"guard-{spec.name}"))

    async def stop_all(self) -> None:
        for guard in self._guards:
            guard.cancel()
        await asyncio.gather(*self._guards, return_exceptions=True)
        for spec in reversed(self._specs):
            if (child := self._children.pop(spec.name, None)) and not await child.stop_process():
                _say(f"{spec.name} did not end within {spec.stop_within:.0f} s and was killed")
        for log in self._logs.values():
            log.close()
        self._state_file.unlink(missing_ok=True)

    def runs(self, name: str) -> bool:
        """Whether there is such a child."""
        return name in self._children

    async def restart(self, name: str) -> None:
        """End a child for its guard to start anew; not counted as a failure."""
        self._asked.add(name)
        await self._children[name].stop_process()

    async def _launch(self, spec: ChildSpec) -> None:
        log = self._logs[spec.name]
        log.tail.clear()
        log.changes_data = False
        child = await Child.start_process(spec, log)
        self._children[spec.name] = child
        self._record()
        try:
            async with asyncio.timeout(spec.ready_within) as limit:
                while not await spec.is_ready():
                    if child.has_ended:
                        raise StackError(f"{spec.name} {await child.ended()} while starting.{self._excerpt(log)}")
                    if log.changes_data:  # however long it takes, as it would begin anew
                        limit.reschedule(asyncio.get_running_loop().time() + spec.ready_within)
                    await asyncio.sleep(0.05)
        except TimeoutError:
            detail = await spec.why_not() if spec.why_not else ""
            reason = f" It says: {detail}" if detail else ""
            await child.kill()
            raise StackError(
                f"{spec.name} was not ready within {spec.ready_within:.0f} s.{reason}{self._excerpt(log)}"
            ) from None

    async def _guard(self, spec: ChildSpec) -> None:
        pause, restarts = FIRST_PAUSE, 0
        while True:
            began = monotonic()
            reason = await self._children[spec.name].ended()
            if monotonic() - began > STEADY_AFTER or spec.name in self._asked:
                self._asked.discard(spec.name)
                pause, restarts = FIRST_PAUSE, 0
            while True:
                if restarts >= MAX_RESTARTS:
                    self._fail(
                        f"{spec.name} {reason} and could not be brought back.{self._excerpt(self._logs[spec.name])}"
                    )
                    return
                _say(f"{spec.name} {reason}; starting it again in {pause:.1f} s")
                await asyncio.sleep(pause)
                pause, restarts = min(pause * 2, LONGEST_PAUSE), restarts + 1
                try:
                    await self._launch(spec)
                except StackError as error:
                    reason = f"did not come back ({error})"
                    continue
                _say(f"{spec.name} is back")
                break

    def _fail(self, reason: str) -> None:
        with contextlib.suppress(asyncio.InvalidStateError):
            self.failure.set_result(reason)

    def _record(self) -> None:
        pids = {name: child.pid for name, child in self._children.items()}
        self._state_file.write_text(json.dumps({"children": pids}), encoding="utf-8")

    def _excerpt(self, log: LogFile) -> str:
        lines = "".join(f"\n    {line[:400]}" for line in list(log.tail)[-8:])
        return f" Its last lines ({log.path}):{lines}" if lines else f" See {log.path}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
