"""Runs the calls of one turn: all recorded before any starts, readers together, writers in order."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from backend_api.domain.agent.approvals import Approval
from backend_api.domain.agent.capability import ALLOW, Ask, Deny, ProposedCall, Verdict
from backend_api.domain.agent.events import ApprovalCall, ToolCalled, ToolFinished, ToolStarted
from backend_api.domain.agent.journal import Journal
from backend_api.domain.agent.model import ToolRequest
from backend_api.domain.agent.phrase import render_phrase
from backend_api.domain.agent.thread import NO_RESULT, shorten
from backend_api.domain.agent.tools import Done, OpenCall, Tool, Waits
from backend_api.domain.agent.waits import Wait

MAX_TOGETHER = 8
"""How many calls of one agent are at work at once; further ones wait their turn."""
GRACE_S = 3.0
"""A tool that ends itself at its deadline says more than one that is cut, so it gets a little longer."""

TOO_LONG = "It was ended because it did not finish {late}. Part of it may have happened."
NOT_ASKED = "Nothing was asked: {name} is not marked as a tool that asks the person (`asks_person`)."
NEVER_BEGUN = "Nothing was run: the computer was not available {late}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """A call as recorded. `tool` is None where there is none of that name, `broken` says why it can't run, and `asks`
    that it may not start yet."""

    called: ToolCalled
    tool: Tool | None
    broken: str | None = None
    asks: Ask | None = None

    @property
    def may_run_beside(self) -> bool:
        return self.broken is not None or (self.tool is not None and self.tool.spec.read_only)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunner:
    """The tools of one run."""

    tools: Sequence[Tool]
    judge: Callable[[ProposedCall], Verdict]
    journal: Journal
    new_id: Callable[[str], str]

    def announce(self, requests: Sequence[ToolRequest], *, turn: int, seen_seq: int) -> list[Announced]:
        """What is to be recorded before any of the calls starts. Every call gets an id of ours, as providers'
        repeat or lack them."""
        tools = {tool.spec.name: tool for tool in self.tools}
        return [self._announce(request, tools, turn, seen_seq) for request in requests]

    async def run_calls(self, announced: Sequence[Announced]) -> list[Wait]:
        """Run recorded calls; answers what those wait for that have no result yet. Raises `UnavailableError` where the
        place they run in can't be had."""
        waits: list[Wait] = []
        if asking := [call for call in announced if call.asks is not None]:
            waits.append(_approval(asking))
            announced = [call for call in announced if call.asks is None]
        for beside, group in groupby(announced, key=lambda call: call.may_run_beside):
            if beside:
                await _together([partial(self._run_one, call, waits) for call in group])
            else:
                for call in group:
                    await self._run_one(call, waits)
        return waits

    async def settle(self, dangling: Sequence[OpenCall]) -> list[Wait]:
        """Close calls another worker left open: readers run again, of others is said that they may have happened. What
        was held for approval never started: it runs if it is approved, and is asked for where it was not yet."""
        tools = {tool.spec.name: tool for tool in self.tools}
        again: list[Announced] = []
        for call in dangling:
            called, tool = call.called, tools.get(call.called.name)
            if call.needs_approval:
                again.append(self._judged_again(call, tool, sorted(tools)))
            elif tool is not None and tool.may_run_again(called.read_only):
                again.append(Announced(called=called, tool=tool))
            else:
                await self._finish(called, Done(success=False, output=NO_RESULT))
        return await self.run_calls(again)

    def _announce(self, request: ToolRequest, tools: dict[str, Tool], turn: int, seen_seq: int) -> Announced:
        tool = tools.get(request.name)
        arguments = request.arguments or {}
        broken, verdict = None, ALLOW
        if tool is None:
            broken = _no_tool(request.name, sorted(tools))
        elif request.arguments is None:
            broken = (
                "Nothing was run: the arguments are not a JSON object, or were cut. Send them again whole; write long "
                f"content in several smaller calls. Received: {shorten(request.raw, 300)!r}"
            )
        else:
            verdict = self.judge(ProposedCall(tool=tool.spec, arguments=arguments))
            broken = _denial(verdict)
        spec = tool.spec if tool else None
        called = ToolCalled(
            call_id=self.new_id("call"),
            name=re.sub(r"[^a-zA-Z0-9_-]", "_", request.name)[:64] or "unknown",
            arguments=arguments,
            phrase=render_phrase(spec.phrase, arguments) if spec else f"Unknown tool {request.name[:60]}",
            dangerous=spec.dangerous if spec else False,
            read_only=spec.read_only if spec else True,
            needs_computer=spec.needs_computer if spec else False,
            turn=turn,
            seen_seq=seen_seq,
            asks=isinstance(verdict, Ask),
        )
        return Announced(called=called, tool=tool, broken=broken, asks=verdict if isinstance(verdict, Ask) else None)

    def _judged_again(self, call: OpenCall, tool: Tool | None, names: Sequence[str]) -> Announced:
        """A call that was held for approval, judged anew: what is denied meanwhile stays so, approved or not."""
        if tool is None:
            return Announced(called=call.called, tool=None, broken=_no_tool(call.called.name, names))
        verdict = self.judge(ProposedCall(tool=tool.spec, arguments=call.called.arguments))
        asks = verdict if isinstance(verdict, Ask) and not call.is_approved else None
        return Announced(called=call.called, tool=tool, broken=_denial(verdict), asks=asks)

    async def _run_one(self, call: Announced, waits: list[Wait]) -> None:
        if call.broken is not None or call.tool is None:
            await self._finish(call.called, Done(success=False, output=call.broken or ""))
            return
        if call.called.asks:
            await self.journal.record([ToolStarted(call_id=call.called.call_id)])
        match await self._execute(call.called, call.tool):
            case Waits(further) if call.tool.may_wait_for(further):
                waits += further
            case Waits():
                await self._finish(call.called, Done(success=False, output=NOT_ASKED.format(name=call.called.name)))
            case Done() as done:
                await self._finish(call.called, done)

    async def _execute(self, called: ToolCalled, tool: Tool) -> Done | Waits:
        with self.journal.tool_call(called) as call:
            deadline = asyncio.timeout(tool.spec.deadline_ms / 1000 + GRACE_S)
            try:
                async with deadline:
                    call.outcome = await tool.run_call(call)
            except TimeoutError:
                if not deadline.expired():
                    raise
                late = f"within {tool.spec.deadline_ms / 1000:g} s"
                output = TOO_LONG.format(late=late) if call.has_begun else NEVER_BEGUN.format(late=late)
                call.outcome = Done(success=False, output=output)
            if isinstance(call.outcome, Done):
                call.outcome = replace(call.outcome, duration_ms=call.duration_ms())
            return call.outcome

    async def _finish(self, called: ToolCalled, outcome: Done) -> None:
        """The journal makes the preview of the output."""
        finished = ToolFinished(
            call_id=called.call_id,
            success=outcome.success,
            preview="",
            duration_ms=outcome.duration_ms,
            display=outcome.display,
        )
        await self.journal.record_result(finished, outcome)


def _approval(asking: Sequence[Announced]) -> Wait:
    """One for all calls of a turn that ask."""
    calls = [
        ApprovalCall(call_id=call.called.call_id, name=call.called.name, arguments=call.called.arguments)
        for call in asking
    ]
    expires_s = min(call.asks.expires_s for call in asking if call.asks is not None)
    return Wait(id=f"approval_{calls[0].call_id}", subject=Approval(calls=calls), expires_s=expires_s)


def _no_tool(name: str, names: Sequence[str]) -> str:
    return f"There is no tool named {name!r}. Tools: {', '.join(names)}."


def _denial(verdict: Verdict) -> str | None:
    return f"Nothing was run: {verdict.reason}" if isinstance(verdict, Deny) else None


async def _together(runs: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """In their order, `MAX_TOGETHER` of them at once."""
    waiting = iter(runs)

    async def work() -> None:
        for run in waiting:
            await run()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(len(runs), MAX_TOGETHER)):
                group.create_task(work())
    except ExceptionGroup as errors:
        # The loop above knows plain errors only; the first of several that came together stands for all.
        raise errors.exceptions[0] from errors
