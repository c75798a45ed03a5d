"""A run whose agent has a team: agents that work side by side, as threads of the same run, under its lease, stop and
budget. Their whole state is in the log, so a worker that takes the run over goes on inside each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from backend_api.agent.ending import Ending
from backend_api.agent.events import MessageCompleted, StoredPayload, TeamMessage
from backend_api.agent.journal import Journal
from backend_api.agent.loop import AgentLoop
from backend_api.agent.model import ModelError
from backend_api.agent.shortening import shorten
from backend_api.agent.tasks import TaskChange, TasksRefusedError, free_task, with_change
from backend_api.agent.team import LEAD, MAX_CONTENT_CHARACTERS, TASKS, Team, Teammate, updated
from backend_api.agent.waits import Wait
from backend_api.runs.application.run_journal import RunJournal
from backend_api.runs.application.run_waits import DrainedError
from backend_api.runs.application.subagent_journal import SubagentJournal

RUN_ENDED = "The run ended."
LEFT = "It has left the team."
MAX_DETAIL_CHARACTERS = 500
LoopOfTeammate = Callable[[Teammate, Journal], Awaitable[AgentLoop]]
MirrorTeam = Callable[[str, str, Team], Awaitable[None]]
"""Writes a changed team into the workspace of a user's session, as far as possible."""


async def no_mirror(session_id: str, user_id: str, team: Team) -> None:
    """Write the team nowhere."""
    del session_id, user_id, team


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamTiming:
    """Times in seconds: a teammate without work looks for some at least every `poll_s`, and leaves after `idle_s`."""

    idle_s: float = 60.0
    poll_s: float = 5.0


class _Phase(Enum):
    WORKING = "working"
    IDLE = "idle"
    WAITING = "waiting"
    """The teammate waits for a person, with the run."""


@dataclass(slots=True)
class _Member:
    """A teammate in this process."""

    teammate: Teammate
    journal: SubagentJournal
    phase: _Phase = _Phase.WORKING


class TeamRun:
    """Drives the main agent and its team. The run goes on until the main agent has finished, no teammate can go on, and
    nobody has an unread message; then the team leaves with it. Questions of teammates to a person are asked together,
    once nobody can go on."""

    def __init__(
        self,
        lead: AgentLoop,
        journal: RunJournal,
        loop_of: LoopOfTeammate,
        *,
        timing: TeamTiming,
        mirror: MirrorTeam = no_mirror,
    ) -> None:
        self._lead = lead
        self._journal = journal
        self._loop_of = loop_of
        self._timing = timing
        self._mirror = mirror
        self._members: dict[str, _Member] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._rests = False
        self._is_over = False

    async def run_turns(self) -> Ending | None:
        """As `AgentLoop.run_turns`."""
        # Teammates that began under an earlier worker are known from here on.
        await self._journal.conversation()
        self._journal.waits.running_team = self
        try:
            async with asyncio.TaskGroup() as group:
                beginning = group.create_task(self._begin_members(group))
                mirroring = group.create_task(self._keep_mirrored())
                try:
                    ending = await self._run_lead()
                except DrainedError:
                    # The others end their present step as well.
                    if self._tasks:
                        await asyncio.wait(self._tasks)
                    raise
                else:
                    # A write in progress is finished first, as it must not come after the final one.
                    self._is_over = True
                    self._journal.writes.changed.notify()
                finally:
                    for task in (beginning, *self._tasks, *([] if self._is_over else [mirroring])):
                        task.cancel()
        except ExceptionGroup as errors:
            # The actor knows plain errors only; the first of several that came together stands for all.
            raise errors.exceptions[0] from errors
        finally:
            self._journal.waits.running_team = None
        if ending is not None:
            await self._journal.writes.cut_calls_of_others(RUN_ENDED)
            await self._write_mirror(is_over=True)
        return ending

    async def wait_until_idle(self) -> Sequence[Wait]:
        """See `RunningTeam`."""
        while True:
            changed = self._journal.writes.changed.next
            if self._can_rest():
                self._rests = True
                return [wait for one in self._waiting() for wait in one.journal.waits]
            await self._await_change(changed, self._timing.poll_s)
            if self._journal.waits.draining.is_set():
                raise DrainedError

    def resume(self) -> None:
        """See `RunningTeam`."""
        self._rests = False
        for one in self._waiting():
            one.phase = _Phase.WORKING
        self._journal.writes.changed.notify()

    async def _run_lead(self) -> Ending | None:
        while True:
            ending = await self._lead.run_turns()
            if ending is None or ending.status != "completed" or ending.reason:
                return ending
            if not self._journal.team.present() and not self._journal.has_unread_messages:
                return ending
            if ending.said:
                await self._journal.record(ending.said)
            if await self._has_to_read():
                continue
            if not self._waiting():
                return Ending(status="completed")
            if await self._journal.wait([]):
                return None

    async def _has_to_read(self) -> bool:
        """Whether the main agent gets a message before all teammates rest."""
        while True:
            changed = self._journal.writes.changed.next
            if not (await self._journal.conversation()).is_answered:
                return True
            if self._can_rest():
                self._rests = not self._waiting()
                return False
            await self._await_change(changed, self._timing.poll_s)

    def _can_rest(self) -> bool:
        return all(self._is_at_rest(one) for one in self._journal.team.present())

    def _is_at_rest(self, teammate: Teammate) -> bool:
        one = self._members.get(teammate.agent_id)
        if one is None or one.phase is _Phase.WORKING:
            return False
        if one.phase is _Phase.WAITING:
            return True
        return not self._journal.has_unread(teammate.agent_id) and not self._may_claim(teammate)

    def _waiting(self) -> list[_Member]:
        return [one for one in self._members.values() if one.phase is _Phase.WAITING]

    def _may_claim(self, teammate: Teammate) -> bool:
        if self._journal.team.open_plan_of(teammate.name) is not None:
            return False
        return free_task(self._journal.tasks.known().tasks, teammate.name) is not None

    async def _begin_members(self, group: asyncio.TaskGroup) -> None:
        while True:
            changed = self._journal.writes.changed.next
            for teammate in self._journal.team.present():
                if teammate.agent_id not in self._members:
                    journal = SubagentJournal(self._journal, teammate.call_id, teammate.agent_id)
                    one = self._members[teammate.agent_id] = _Member(teammate, journal)
                    task = group.create_task(self._run_member(one))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            await self._await_change(changed, self._timing.poll_s)

    async def _run_member(self, one: _Member) -> None:
        """Run a teammate until it leaves. One that had not become idle works first; a waiting one goes on."""
        is_at_work = one.teammate.status == "working"
        try:
            loop = await self._loop_of(one.teammate, one.journal)
            while True:
                if is_at_work and not await self._work_until_done(one, loop):
                    return
                if not await self._is_called(one):
                    return
                is_at_work = True
        except DrainedError:
            # The main agent's next step gives the run back.
            return

    async def _work_until_done(self, one: _Member, loop: AgentLoop) -> bool:
        """Run turns until the teammate has finished; False if it has left."""
        one.phase = _Phase.WORKING
        while True:
            try:
                ending = await loop.run_turns()
            except ModelError as error:
                await self._fail(one, error.detail)
                return False
            if self._has_left(one):
                # Even if it left beside a call that asks: nobody would run that call any more.
                await self._journal.writes.cut_calls_of(one.teammate.agent_id, LEFT)
                return False
            if ending is None:
                await self._wait(one)
                continue
            if ending.status != "completed":
                if ending.said:
                    await one.journal.record(ending.said)
                await self._fail(one, ending.reason or "")
                return False
            now = self._journal.team.members[one.teammate.name]
            await one.journal.record([*ending.said, *_report(now, ending), updated(now, "idle")])
            self._change(one, _Phase.IDLE)
            return True

    async def _wait(self, one: _Member) -> None:
        """Wait with the run. A waiting run is in no process, so this returns only if the wait is refused."""
        self._change(one, _Phase.WAITING)
        while one.phase is _Phase.WAITING:
            await self._await_change(self._journal.writes.changed.next, self._timing.poll_s)
            if self._journal.waits.draining.is_set():
                raise DrainedError

    async def _is_called(self, one: _Member) -> bool:
        """Wait until there is work for the teammate, which is then recorded; False if it has left."""
        if one.phase is not _Phase.IDLE:
            self._change(one, _Phase.IDLE)
        clock = asyncio.get_running_loop().time
        until = clock() + self._timing.idle_s
        while True:
            changed = self._journal.writes.changed.next
            if not self._rests and (found := self._next_events(one)) is not None:
                one.phase = _Phase.WORKING
                await one.journal.record(found)
                return True
            has_plan = self._journal.team.open_plan_of(one.teammate.name) is not None
            left_s = self._timing.idle_s if has_plan else until - clock()
            if left_s <= 0 and not self._rests:
                await one.journal.record([updated(one.teammate, "left", reason="idle")])
                return False
            await self._await_change(changed, max(min(left_s, self._timing.poll_s), 0.01))
            if self._journal.waits.draining.is_set():
                raise DrainedError

    def _next_events(self, one: _Member) -> list[StoredPayload] | None:
        """The events recorded as it goes to work again, for an unread message or a free task that it takes."""
        working = updated(one.teammate, "working")
        if self._journal.has_unread(one.teammate.agent_id):
            return [working]
        if not self._may_claim(one.teammate):
            return None
        board, name = self._journal.tasks, one.teammate.name
        free = free_task(board.known().tasks, name)
        if free is None:
            return None
        change = TaskChange(status="in_progress", owner=name)
        try:
            tasks = board.change(lambda known: with_change(known, free.id, change))
        except TasksRefusedError:
            # The task list is too long by now for one more owner.
            return None
        told = TeamMessage(
            message_id=f"team_task_{tasks.version}",
            sender=TASKS,
            recipients=[name],
            content=f"Task {free.id}: {free.subject}\n{free.description}".strip(),
            msg_type="task",
        )
        return [working, tasks, told]

    def _has_left(self, one: _Member) -> bool:
        now = self._journal.team.members.get(one.teammate.name)
        return now is None or now.agent_id != one.teammate.agent_id or now.status == "left"

    async def _fail(self, one: _Member, reason: str) -> None:
        detail = shorten(reason, MAX_DETAIL_CHARACTERS)
        message = TeamMessage(
            message_id=f"team_left_{one.teammate.agent_id}",
            sender=one.teammate.name,
            recipients=[LEAD],
            content=f"It could not go on: {detail}",
            msg_type="left",
        )
        await one.journal.record([message, updated(one.teammate, "left", reason="failed", detail=detail)])

    def _change(self, one: _Member, phase: _Phase) -> None:
        one.phase = phase
        self._journal.writes.changed.notify()

    async def _await_change(self, changed: asyncio.Event, within_s: float) -> None:
        """Wait for a change, for `within_s` seconds, or until the process is to end."""
        tasks = [asyncio.ensure_future(one.wait()) for one in (changed, self._journal.waits.draining)]
        try:
            await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    async def _keep_mirrored(self) -> None:
        while not self._is_over:
            changed = self._journal.writes.changed.next
            await self._write_mirror()
            await changed.wait()

    async def _write_mirror(self, *, is_over: bool = False) -> None:
        team, run = self._journal.team, self._journal.lease.run
        if is_over:
            members = {name: replace(one, status="left") for name, one in team.members.items()}
            team = replace(team, members=members, mirrored=0)
        await self._mirror(run.session_id, run.user_id, team)


def _report(one: Teammate, ending: Ending) -> list[StoredPayload]:
    """Its last text as a report for the main agent, if it has sent no other."""
    text = "".join(said.text for said in ending.said if isinstance(said, MessageCompleted)).strip()
    if one.has_reported or not text:
        return []
    return [
        TeamMessage(
            message_id=f"team_{next(said.message_id for said in ending.said if isinstance(said, MessageCompleted))}",
            sender=one.name,
            recipients=[LEAD],
            content=shorten(text, MAX_CONTENT_CHARACTERS),
            msg_type="result",
        )
    ]
