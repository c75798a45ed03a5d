"""Runs the calls of one turn: all recorded before any starts, readers together, all others in order."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

from backend_api.agent.announced_calls import PendingCall, approval_of
from backend_api.agent.answer import MAX_OPAQUE_CHARACTERS
from backend_api.agent.attachments import DENIED, READ_TOOL, Attached, is_picture, notice_of, text_of
from backend_api.agent.capability import ALLOW, Allow, Ask, Deny, Judge, ProposedCall, Verdict
from backend_api.agent.chained_calls import NOT_REACHED, ChainedCalls
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import (
    AttachmentRead,
    SafetyCheck,
    ToolCalled,
    ToolFinished,
    ToolStarted,
)
from backend_api.agent.folder_instructions import new_instructions
from backend_api.agent.journal import Journal
from backend_api.agent.long_results import ResultLimits, Room
from backend_api.agent.model import ToolRequest
from backend_api.agent.phrase import render_phrase
from backend_api.agent.recorded import Body, Recorded
from backend_api.agent.session_choices import NO_CHOICES, SessionChoices
from backend_api.agent.shortening import shorten
from backend_api.agent.step import NO_RESULT
from backend_api.agent.tool import Delegate, Done, OpenCall, Tool, ToolCall, Waits, no_mirror
from backend_api.agent.tool_families import LOAD_TOOL, USE_TOOL, ToolSet
from backend_api.agent.use_tool_calls import ResolvedCall, differing, misfit, resolve_call, with_definition
from backend_api.agent.waits import Wait
from backend_api.kit.errors import DomainError
from service_kit.amounts import duration_text

logger = logging.getLogger(__name__)

MAX_TOGETHER = 8
"""The most calls of one agent at work at once; further ones wait their turn."""
GRACE_S = 3.0
"""Extra time before a tool is cut: one that ends itself at its deadline reports more than one that is cut."""

TOO_LONG = "It was ended because it did not finish {late}. Part of it may have happened."
NOT_ASKED = "Nothing was asked: {name} is not marked as a tool that asks the person (`asks_person`)."
NEVER_BEGUN = "Nothing was run: the computer was not available {late}."
FAULTY = "The tool failed by a fault of its own. Part of it may have happened; don't try the same again."
NOT_BEGUN = "Nothing was run: the tool failed by a fault of its own. Don't try the same again."
OUTDATED = (
    "Nothing was run: before this call could start a person controlled the computer, and has handed it back by now. "
    "What is on the screen and in files may have changed. Look first, then decide anew."
)
MAX_OUTPUT_CHARACTERS = 1_000_000
"""The most characters of a result, as in the sandbox; a longer one is cut in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunner:
    """The tools of one run."""

    tools: Sequence[Tool]
    judge: Judge
    journal: Journal
    new_id: Callable[[str], str]
    limits: ResultLimits
    tool_set: ToolSet
    """The tools defined in the agent's prompt. It may call all of them."""
    max_calls: int | None = None
    """The most calls of the agent, if it has a budget of its own."""
    delegate: Delegate | None = None
    """Gives work to another agent; None if the agent may not."""
    mirror: Callable[[], Awaitable[None]] = no_mirror
    """See `ToolCall`."""

    def announce(
        self,
        requests: Sequence[ToolRequest],
        chosen: SessionChoices = NO_CHOICES,
        *,
        turn: int,
        seen_seq: int,
        used_calls: int = 0,
    ) -> list[PendingCall]:
        """The calls of an answer, before any of them starts, judged by the choices known so far. Every call gets an id
        of ours, as providers repeat or omit theirs. Beyond the agent's own budget, of which `used_calls` are gone, none
        starts."""
        if not requests:
            return []
        tools = {tool.spec.name: tool for tool in self.tools}
        announced: list[PendingCall] = []
        named: set[str] = set()
        for request in requests:
            after = announced[-1].called.call_id if announced and request.is_next_action else None
            meant = resolve_call(request)
            one = self._announce(meant, tools, chosen, turn, seen_seq, is_again=meant.request.name in named)
            if self.max_calls is not None and used_calls + len(announced) >= self.max_calls:
                one = _left_out(one, self.max_calls)
            announced.append(replace(one, called=replace(one.called, after=after)))
            named.add(meant.request.name)
        return announced

    async def run_calls(
        self, announced: Sequence[PendingCall], conversation: Conversation, read: int = 0
    ) -> list[Wait]:
        """Run recorded calls of a turn that `read` (and wrote) this many tokens, 0 if not known. Returns the waits of
        calls without a result yet. Raises `UnavailableError` if the sandbox can't be had."""
        room = Room(
            conversation=conversation,
            calls=len(announced),
            read=read,
            instructions={**conversation.instructions},
        )
        waits: list[Wait] = []
        chain = ChainedCalls.of(announced, conversation)
        announced = [call for call in announced if call.broken is None]
        asking = [call for call in announced if call.asks is not None]
        allowed = [call for call in announced if call.asks is None]
        for beside, group in groupby(allowed, key=lambda call: call.may_run_beside):
            if beside:
                judged = await self._judge_now([*group], asking, chain)
                await _run_concurrently([partial(self._run_one, call, waits, room, chain) for call in judged])
            else:
                for call in group:
                    for judged in await self._judge_now([call], asking, chain):
                        await self._run_one(judged, waits, room, chain)
        if asking := await self._recheck_asking(announced, asking, chain):
            waits.insert(0, approval_of(asking))
        return waits

    async def _recheck_asking(
        self, announced: Sequence[PendingCall], asking: Sequence[PendingCall], chain: ChainedCalls
    ) -> list[PendingCall]:
        """The calls that still need the person's approval, in the order of the turn: another call may have caused them
        to be denied by now, or to have nothing left to do."""
        if not asking:
            return []
        wanted = {call.called.call_id: call for call in asking}
        in_order = [wanted[call.called.call_id] for call in announced if call.called.call_id in wanted]
        still: list[PendingCall] = []
        allowed = await self._judge_now(in_order, still, chain)
        left = {call.called.call_id for call in (*still, *allowed)}
        return [call for call in in_order if call.called.call_id in left]

    async def settle(self, dangling: Sequence[OpenCall], conversation: Conversation) -> list[Wait]:
        """Close calls another worker left open: readers run again if they still may, others are reported as possibly
        done. A call held for approval never started: it runs if it is approved, else its approval is requested, if it
        was not yet."""
        tools = {tool.spec.name: tool for tool in self.tools}
        again: list[PendingCall] = []
        for call in dangling:
            called, tool = call.called, tools.get(call.called.name)
            if call.needs_approval or (tool is not None and tool.may_run_again(called.read_only)):
                judged = self._judge_again(call, tool)
                again.append(judged)
                broken = judged.broken
            else:
                broken = NO_RESULT
            if broken is not None:
                await self._finish(called, Done(success=False, output=broken))
        return await self.run_calls(again, conversation)

    async def show_attached(self, messages: Sequence[Attached]) -> list[Wait]:
        """Record the pictures of messages that the model reads next, as the reading tool returns them: one after the
        other, so that no worker looks at a picture twice. It leads to no waits."""
        tool = next((tool for tool in self.tools if tool.spec.name == READ_TOOL), None)
        for message in messages:
            if tool is None:
                # The message names the files already, and more is not known.
                await self.journal.record(
                    [AttachmentRead(message_id=message.message_id, paths=[*message.left], text="")]
                )
                continue
            for path in message.first:
                await self._show_attached(message.message_id, path, tool)
            if (further := message.too_many()) is not None:
                await self.journal.record([further])
        return []

    async def _show_attached(self, message_id: str, path: str, tool: Tool) -> None:
        arguments = {"path": path}
        phrase = render_phrase(tool.spec.phrase, arguments)
        called = ToolCalled(call_id=self.new_id("call"), name=READ_TOOL, arguments=arguments, phrase=phrase)
        done = Done(success=False, output=DENIED)
        if isinstance(self.judge(_proposed(tool, arguments, ()), await self.journal.chosen()), Allow):
            outcome = await self._execute(called, tool)
            done = outcome if isinstance(outcome, Done) else done
        body = Body(content=done.body, media_type=done.body_media_type) if is_picture(done) and done.body else None
        read = AttachmentRead(
            message_id=message_id,
            paths=[path],
            text=text_of(path, done),
            call_id=called.call_id,
            body=body.reference() if body is not None else None,
        )
        items = [Recorded(payload=read, body=body)]
        if body is None and read.text:
            items.append(Recorded(payload=notice_of(path, done)))
        await self.journal.record_items(items)

    def _announce(
        self,
        meant: ResolvedCall,
        tools: dict[str, Tool],
        chosen: SessionChoices,
        turn: int,
        seen_seq: int,
        *,
        is_again: bool,
    ) -> PendingCall:
        request, via = meant.request, None if meant.said is None else USE_TOOL
        tool, arguments = tools.get(request.name), request.arguments or {}
        if via is not None and tool is None:
            # The named tool does not exist, so the call is recorded as one of `use_tool`.
            via, meant = None, replace(meant, fault=self._no_tool(request.name))
            request, arguments = replace(request, name=USE_TOOL), meant.said or {}
        broken, verdict = meant.fault, ALLOW
        if broken is not None:
            pass
        elif tool is None:
            broken = self._no_tool(request.name)
        elif request.arguments is None:
            broken = (
                "Nothing was run: the arguments are not a JSON object, or were cut. Send them again whole; write long "
                f"content in several smaller calls. Received: {shorten(request.raw, 300)!r}"
            )
        elif tool.spec.once and is_again:
            broken = f"Nothing was run: {request.name} is called once in an answer, and this is not the first call."
        elif (
            via is not None and not self.tool_set.is_in_prompt(request.name) and (text := misfit(tool.spec, arguments))
        ):
            broken = text
        else:
            verdict = self.judge(_proposed(tool, arguments, request.safety_checks), chosen)
            broken = _denial(verdict)
        spec = tool.spec if tool else None
        called = ToolCalled(
            call_id=self.new_id("call"),
            name=re.sub(r"[^a-zA-Z0-9_-]", "_", request.name)[:64] or "unknown",
            arguments=arguments,
            phrase=render_phrase(spec.phrase, arguments) if spec else f"Unknown tool {request.name[:60]}",
            dangerous=spec.dangerous if spec else False,
            read_only=spec.read_only if spec else True,
            needs_computer=spec.needs_sandbox if spec else False,
            turn=turn,
            seen_seq=seen_seq,
            asks=isinstance(verdict, Ask),
            opaque=request.opaque if len(request.opaque or "") <= MAX_OPAQUE_CHARACTERS else None,
            safety_checks=[*request.safety_checks],
            via=via,
            said=differing(meant.said, request.name, arguments) if via is not None else None,
        )
        asks = verdict if isinstance(verdict, Ask) else None
        return PendingCall(called=called, tool=tool, broken=broken, asks=asks, needs_approval=asks is not None)

    def _judge_again(self, call: OpenCall, tool: Tool | None) -> PendingCall:
        """A call that another worker left, judged anew: if it is denied meanwhile, an approval doesn't help."""
        if tool is None:
            return PendingCall(called=call.called, tool=None, broken=self._no_tool(call.called.name))
        verdict = self.judge(_proposed(tool, call.called.arguments, call.called.safety_checks))
        asks = verdict if isinstance(verdict, Ask) and not call.is_approved else None
        return PendingCall(
            called=call.called,
            tool=tool,
            broken=_denial(verdict),
            asks=asks,
            needs_approval=call.needs_approval,
            is_approved=call.is_approved,
        )

    def _no_tool(self, name: str) -> str:
        names = sorted(tool.spec.name for tool in self.tools if self.tool_set.is_in_prompt(tool.spec.name))
        families = [family.name for family in self.tool_set.families]
        more = f" More by {LOAD_TOOL}, of the families {', '.join(families)}." if families else ""
        return f"There is no tool named {name!r}. Tools: {', '.join(names)}.{more}"

    async def _run_one(self, call: PendingCall, waits: list[Wait], room: Room, chain: ChainedCalls) -> None:
        if call.tool is None:
            return
        if call.needs_approval:
            await self.journal.record([ToolStarted(call_id=call.called.call_id)])
        match await self._execute(call.called, call.tool):
            case Waits(further) if call.tool.may_wait_for(further):
                waits += further
            case Waits():
                await self._finish(call.called, Done(success=False, output=NOT_ASKED.format(name=call.called.name)))
            case Done() as done:
                if not done.success and not self.tool_set.is_in_prompt(call.called.name):
                    done = replace(done, output=with_definition(done.output, call.tool.spec))
                if not done.success:
                    chain.failed.add(call.called.call_id)
                done = replace(done, events=[*done.events, *new_instructions(done.instructions, room.instructions)])
                await self._finish(call.called, await self.limits.fitted(call.called, done, room))

    async def _judge_now(
        self, calls: Sequence[PendingCall], asking: list[PendingCall], chain: ChainedCalls
    ) -> list[PendingCall]:
        """The calls that may start. Mode and rules may have changed since the model's answer, by an earlier call or by
        the person: a call that is denied by now gets its result, and one that needs an approval by now, or that follows
        such a call, is added to `asking`. While a person controls the computer nothing starts; calls that would act on
        it then get a result that says so, as they were requested before."""
        chosen = await self.journal.chosen()
        if was_driven := chosen.driver is not None:
            chosen = await self.journal.undriven()
        may_start: list[PendingCall] = []
        for call in calls:
            if call.tool is None:
                continue
            verdict = self.judge(_proposed(call.tool, call.called.arguments, call.called.safety_checks), chosen)
            before = _approval_of_previous(call.called, asking) if asking else None
            denial = NOT_REACHED if call.called.after in chain.failed else _denial(verdict)
            if denial is None and was_driven and _is_outdated(call):
                denial = OUTDATED
            if denial is not None:
                chain.failed.add(call.called.call_id)
                await self._finish(call.called, Done(success=False, output=denial))
            elif before is not None:
                asking.append(replace(call, asks=before))
            elif isinstance(verdict, Ask) and not call.is_approved:
                asking.append(replace(call, asks=verdict))
            else:
                may_start.append(call)
        return may_start

    async def _execute(self, called: ToolCalled, tool: Tool) -> Done | Waits:
        with self.journal.tool_call(called, self.delegate) as call:
            call.load_tools = self.tool_set.load
            call.mirror = self.mirror
            deadline = asyncio.timeout(tool.spec.deadline_ms / 1000 + GRACE_S)
            try:
                async with deadline:
                    call.outcome = await tool.run_call(call)
            except DomainError:
                # A fault of the sandbox, a sub-agent's model, the store or the lease, and not of the tool.
                raise
            except Exception as error:
                if deadline.expired() and isinstance(error, TimeoutError):
                    call.outcome = _deadline_result(call, tool)
                else:
                    fields = {"tool": called.name, "call_id": called.call_id, "run_id": call.run_id}
                    logger.exception("a tool failed", extra=fields)
                    call.outcome = Done(success=False, output=FAULTY if call.has_begun else NOT_BEGUN)
            if isinstance(call.outcome, Done):
                output = shorten(call.outcome.output, MAX_OUTPUT_CHARACTERS)
                call.outcome = replace(call.outcome, output=output, duration_ms=call.duration_ms())
            return call.outcome

    async def _finish(self, called: ToolCalled, outcome: Done) -> None:
        """Record the result; the journal makes the preview from the output."""
        finished = ToolFinished(
            call_id=called.call_id,
            success=outcome.success,
            preview="",
            duration_ms=outcome.duration_ms,
            display=outcome.display,
        )
        await self.journal.record_result(finished, outcome)


def _deadline_result(call: ToolCall, tool: Tool) -> Done:
    """The result of a call that was cut at its deadline."""
    text = TOO_LONG if call.has_begun else NEVER_BEGUN
    return Done(success=False, output=text.format(late=f"within {duration_text(tool.spec.deadline_ms / 1000)}"))


def _is_outdated(call: PendingCall) -> bool:
    """Whether it would act on a computer that a person used since the model requested it."""
    return call.called.needs_computer and not call.called.read_only


def _approval_of_previous(called: ToolCalled, asking: Sequence[PendingCall]) -> Ask | None:
    """The approval that the call before it in a chain waits for; None if it waits for none."""
    return next((one.asks for one in asking if one.called.call_id == called.after), None)


def _proposed(tool: Tool, arguments: Mapping[str, Any], checks: Sequence[SafetyCheck]) -> ProposedCall:
    return ProposedCall(tool=tool.spec, arguments=arguments, is_held_back=bool(checks))


def _denial(verdict: Verdict) -> str | None:
    return f"Nothing was run: {verdict.reason}" if isinstance(verdict, Deny) else None


def _left_out(call: PendingCall, most: int) -> PendingCall:
    """The call as one that doesn't start: the answer it is in has more than the agent may still make."""
    text = f"Nothing was run: your budget of {most} calls of tools is used up. Answer from what you have."
    return replace(call, called=replace(call.called, asks=False), broken=text, asks=None, needs_approval=False)


async def _run_concurrently(runs: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Start all in their order, `MAX_TOGETHER` of them at once."""
    waiting = iter(runs)

    async def work() -> None:
        for run in waiting:
            await run()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(len(runs), MAX_TOGETHER)):
                group.create_task(work())
    except ExceptionGroup as errors:
        # The loop above handles plain errors only; the first one stands for all.
        raise errors.exceptions[0] from errors
