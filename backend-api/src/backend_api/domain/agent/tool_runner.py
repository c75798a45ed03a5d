"""Runs the calls of one turn: all recorded before any starts, readers together, writers in order."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from backend_api.domain.agent.events import ToolCalled, ToolFinished
from backend_api.domain.agent.journal import Journal, LiveOutput
from backend_api.domain.agent.model import ToolRequest
from backend_api.domain.agent.phrase import render_phrase
from backend_api.domain.agent.thread import NO_RESULT, shorten
from backend_api.domain.agent.tools import CallContext, Tool, ToolBox, ToolOutcome

MAX_PREVIEW_CHARACTERS = 2_000
GRACE_S = 3.0
"""A tool that ends itself at its deadline says more than one that is cut, so it gets a little longer."""

TOO_LONG = "It did not end {late} and was ended. What it did until then may have happened."
NEVER_BEGUN = "Nothing was run: what it runs in was not there {late}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """A call as recorded. `tool` is None where there is none of that name, `broken` says why it can't run."""

    called: ToolCalled
    tool: Tool | None
    broken: str | None = None

    @property
    def may_run_beside(self) -> bool:
        return self.broken is not None or (self.tool is not None and self.tool.read_only)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunner:
    """The tools of one run."""

    box: ToolBox
    journal: Journal
    live: LiveOutput
    new_id: Callable[[str], str]

    def announce(self, requests: Sequence[ToolRequest], *, turn: int, seen_seq: int) -> list[Announced]:
        """What is to be recorded before any of the calls starts. Every call gets an id of ours, as providers'
        repeat or lack them."""
        tools = {tool.name: tool for tool in self.box.tools()}
        return [self._announce(request, tools, turn, seen_seq) for request in requests]

    async def run_calls(self, announced: Sequence[Announced]) -> None:
        """Run recorded calls. Raises `UnavailableError` where the place they run in can't be had."""
        for beside, group in groupby(announced, key=lambda call: call.may_run_beside):
            if beside:
                await _together([self._run_one(call) for call in group])
            else:
                for call in group:
                    await self._run_one(call)

    async def settle(self, dangling: Sequence[ToolCalled]) -> None:
        """Close calls another worker left open: readers run again, of others is said that they may have happened."""
        tools = {tool.name: tool for tool in self.box.tools()}
        again: list[Announced] = []
        for called in dangling:
            tool = tools.get(called.name)
            if tool is not None and tool.read_only and called.read_only:
                again.append(Announced(called=called, tool=tool))
            else:
                await self._finish(called, ToolOutcome(success=False, output=NO_RESULT))
        await self.run_calls(again)

    def _announce(self, request: ToolRequest, tools: dict[str, Tool], turn: int, seen_seq: int) -> Announced:
        tool = tools.get(request.name)
        arguments = request.arguments or {}
        broken = None
        if tool is None:
            broken = f"There is no tool named {request.name!r}. Tools: {', '.join(sorted(tools))}."
        elif request.arguments is None:
            broken = (
                "Nothing was run: the arguments are not a JSON object, or were cut. Send them again whole; write long "
                f"content in several smaller calls. Received: {shorten(request.raw, 300)!r}"
            )
        called = ToolCalled(
            call_id=self.new_id("call"),
            name=re.sub(r"[^a-zA-Z0-9_-]", "_", request.name)[:64] or "unknown",
            arguments=arguments,
            phrase=render_phrase(tool.phrase, arguments) if tool else f"Unknown tool {request.name[:60]}",
            dangerous=tool.dangerous if tool else False,
            read_only=tool.read_only if tool else True,
            turn=turn,
            seen_seq=seen_seq,
        )
        return Announced(called=called, tool=tool, broken=broken)

    async def _run_one(self, call: Announced) -> None:
        if call.broken is not None or call.tool is None:
            outcome = ToolOutcome(success=False, output=call.broken or "")
        else:
            outcome = await self._execute(call.called, call.tool)
        await self._finish(call.called, outcome)

    async def _execute(self, called: ToolCalled, tool: Tool) -> ToolOutcome:
        async def on_output(text: str) -> None:
            self.live.show_output(called.call_id, text)

        work = _Work()
        context = work.watched(self.journal.call_context(called.call_id))
        deadline = asyncio.timeout(tool.deadline_ms / 1000 + GRACE_S)
        try:
            async with deadline:
                outcome = await self.box.call(context, tool.name, called.arguments, on_output)
        except TimeoutError:
            if not deadline.expired():
                raise
            late = f"within {tool.deadline_ms / 1000:g} s"
            output = TOO_LONG.format(late=late) if work.has_begun else NEVER_BEGUN.format(late=late)
            outcome = ToolOutcome(success=False, output=output)
        return replace(outcome, duration_ms=work.duration_ms())

    async def _finish(self, called: ToolCalled, outcome: ToolOutcome) -> None:
        finished = ToolFinished(
            call_id=called.call_id,
            success=outcome.success,
            preview=shorten(outcome.output, MAX_PREVIEW_CHARACTERS),
            duration_ms=outcome.duration_ms,
            display=outcome.display,
        )
        await self.journal.record_result(finished, outcome)


@dataclass(slots=True)
class _Work:
    """What of a call is the tool's own: how long what it runs in was awaited does not count."""

    has_begun: bool = True
    _since: float = field(default_factory=time.perf_counter)

    def watched(self, context: CallContext) -> CallContext:
        def mark_begun(is_begun: bool) -> None:
            self.has_begun = is_begun
            self._since = time.perf_counter()
            context.mark_begun(is_begun)

        return replace(context, mark_begun=mark_begun)

    def duration_ms(self) -> int:
        return round((time.perf_counter() - self._since) * 1000) if self.has_begun else 0


async def _together(runs: Sequence[Coroutine[None, None, None]]) -> None:
    if len(runs) == 1:
        await runs[0]
        return
    try:
        async with asyncio.TaskGroup() as group:
            for run in runs:
                group.create_task(run)
    except ExceptionGroup as errors:
        # The loop above knows plain errors only; the first of several that came together stands for all.
        raise errors.exceptions[0] from errors
