"""Sub-agents: each a thread of the same run for one call of the main agent, under its lease, stop and budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend_api.agent.ending import Ending
from backend_api.agent.events import (
    MAX_PREVIEW_CHARACTERS,
    Notice,
    SubagentDefinition,
    SubagentFinished,
    SubagentStarted,
)
from backend_api.agent.journal import Journal
from backend_api.agent.loop import AgentLoop
from backend_api.agent.model import AssistantTurn, ModelError
from backend_api.agent.shortening import shorten
from backend_api.agent.subagent_kinds import BUILT_IN, SubagentKind, find_kind, is_built_in
from backend_api.agent.tool import Assignment, Done, ToolCall, Waits
from backend_api.runs.application.run_journal import RunJournal
from backend_api.runs.application.run_waits import DrainedError
from backend_api.runs.application.subagent_journal import SubagentJournal
from service_kit.amounts import duration_text

TOO_LONG = "The agent was ended because it did not finish within {duration}. Part of it may have happened."
NOT_DONE = "The agent did not finish: {why}"
SILENT = "The agent ended without an answer."
KIND_GONE = "The agent kind {name} no longer exists. This agent continues, but can only read."
UNKNOWN = "agent_type: there is no agent of the kind {name!r}. There are: {known}."
LoopOf = Callable[[SubagentKind, Journal], Awaitable[AgentLoop]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subagents:
    """`Delegate` of one run. A model error is the call's result; what ends the run ends the agent."""

    journal: RunJournal
    loop_of: LoopOf
    kinds: Callable[[], Awaitable[Sequence[SubagentKind]]]
    """The current kinds of sub-agents."""
    clock: Callable[[], datetime]

    async def __call__(self, call: ToolCall, assignment: Assignment) -> Done | Waits:
        """Run the sub-agent. Raises what `AgentLoop.run_turns` raises, but for the `ModelError` family."""
        try:
            return await self._assign(call, assignment)
        except DrainedError:
            # The call stays open. Others end their present step; the main agent's next one gives the run back.
            return Waits(())

    async def _assign(self, call: ToolCall, assignment: Assignment) -> Done | Waits:
        journal = SubagentJournal(self.journal, call.call_id)
        started = await journal.started()
        if started is None:
            kinds = await self.kinds()
            kind = find_kind(kinds, assignment.kind)
            if kind is None:
                known = ", ".join(repr(one.name) for one in kinds)
                return Done(success=False, output=UNKNOWN.format(name=assignment.kind, known=known))
            started = _started_event(journal.agent_id, call, kind, assignment.task)
            await journal.begin(started)
        deadline = asyncio.timeout(assignment.within_s)
        try:
            async with deadline:
                ending = await self._work(journal, started)
                if ending is None:
                    return Waits(journal.waits)
        except TimeoutError:
            if not deadline.expired():
                raise
            reason = TOO_LONG.format(duration=duration_text(assignment.within_s))
            await journal.cut_open_calls(reason)
            ending = Ending(status="failed", reason=reason)
        except ModelError as error:
            ending = Ending(status="failed", reason=error.detail)
        return await self._finish(journal, ending)

    async def _work(self, journal: SubagentJournal, started: SubagentStarted) -> Ending | None:
        loop = await self.loop_of(kind_of(started), journal)
        # Shown with the opening that the notice makes necessary, so only once.
        if _is_gone(started) and loop.opening.after((await journal.conversation()).opened, is_due=False):
            text = KIND_GONE.format(name=started.kind)
            loop.notices = [*loop.notices, Notice(text=text, code="agent_kind_gone", params={"kind": started.kind})]
        ending = await loop.run_turns()
        if ending is not None and ending.said:
            await journal.record(ending.said)
        return ending

    async def _finish(self, journal: SubagentJournal, ending: Ending) -> Done:
        thread, run_id = await self.journal.thread(journal.agent_id), self.journal.lease.run.id
        turns, progress = thread.conversation(run_id).turns, thread.progress(run_id)
        text = turns[-1].text if turns and isinstance(turns[-1], AssistantTurn) else ""
        is_done = ending.status == "completed" and bool(text)
        reasons = [] if is_done else [SILENT if ending.status == "completed" else NOT_DONE.format(why=ending.reason)]
        if ending.status == "completed" and ending.reason is not None:
            reasons.append(ending.reason)
        output = "\n\n".join(part for part in (text, *reasons) if part)
        finished = SubagentFinished(
            subagent_id=journal.agent_id,
            summary=shorten(output, MAX_PREVIEW_CHARACTERS),
            usage=progress.usage,
            tool_count=progress.calls,
            duration_ms=max(round((self.clock() - (progress.since or self.clock())).total_seconds() * 1000), 0),
        )
        return Done(success=is_done, output=output, events=[finished])


def _started_event(agent_id: str, call: ToolCall, kind: SubagentKind, task: str) -> SubagentStarted:
    tools = None if kind.tools is None else sorted(kind.tools)
    own = None
    if not is_built_in(kind.name):
        own = SubagentDefinition(
            prompt=kind.prompt,
            tools=tools,
            model=kind.model,
            max_calls=kind.max_calls,
            max_tokens=kind.max_tokens,
            max_minutes=kind.max_minutes,
        )
    return SubagentStarted(subagent_id=agent_id, kind=kind.name, task=task, parent_call_id=call.call_id, definition=own)


def _is_gone(started: SubagentStarted) -> bool:
    return started.definition is None and not is_built_in(started.kind)


def kind_of(started: SubagentStarted) -> SubagentKind:
    """The kind of an agent as of its beginning. For a kind built into another version only the name is known, so the
    agent has no tool that changes anything."""
    own = started.definition
    if own is None:
        unknown = SubagentKind(name=started.kind, description="", only_reads=True)
        return find_kind(BUILT_IN, started.kind) or unknown
    tools = None if own.tools is None else frozenset(own.tools)
    return SubagentKind(
        name=started.kind,
        description="",
        prompt=own.prompt,
        tools=tools,
        model=own.model,
        max_calls=own.max_calls,
        max_tokens=own.max_tokens,
        max_minutes=own.max_minutes,
    )
