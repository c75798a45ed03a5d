"""The tool calls in progress of all agents of a run, and what is recorded of one that is cut."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from backend_api.agent.changed_files import changed_by
from backend_api.agent.events import MAX_PREVIEW_CHARACTERS, AttachmentRead, StoredPayload, ToolCalled, ToolFinished
from backend_api.agent.new_events import Body, NewEvent
from backend_api.agent.run_progress import RunProgress
from backend_api.agent.shortening import shorten
from backend_api.agent.tasks import TaskBoard
from backend_api.agent.thread import MAX_RESULT_CHARACTERS
from backend_api.agent.tool import Delegate, Done, OpenCall, ToolCall, Waits
from backend_api.conversations.domain.entity import Run
from backend_api.kit import measures
from backend_api.runs.application.histories import History
from backend_api.runs.application.run_stream import RunStream
from service_kit.observation.spans import span
from service_kit.terminal.screen import screen_text

NOT_BEGUN = "Not begun."
MAY_HAVE_HAPPENED = "Part of it may have happened."
MAX_KEPT_OUTPUT = 16_000
"""The longest end of a call's output that is kept in case the call is cut, in characters."""


class OpenCalls:
    """Tracks each call that was recorded as started and not as ended, so that a cut run is closed properly. It stores
    nothing itself: the run's journal does, and notes here what it has stored."""

    def __init__(self, run: Run, live: RunStream, history: History, tasks: TaskBoard) -> None:
        self.at_work: dict[str, ToolCall] = {}
        """The calls that this process began, by id."""
        self._run = run
        self._live = live
        self._history = history
        self._tasks = tasks
        self._recorded: dict[str, ToolCalled] = {}
        self._unbegun: set[str] = set()
        self._written: dict[str, str] = {}
        """The end of the output of each call."""

    def load(self, progress: RunProgress) -> None:
        """Take over the calls of one agent that an earlier worker of the run left open."""
        self._recorded |= progress.open_calls
        self._unbegun |= progress.needing_approval

    def note(self, payload: StoredPayload) -> None:
        """Update the state by a payload that was stored."""
        match payload:
            case ToolCalled(call_id=call_id):
                self._recorded[call_id] = payload
                self._unbegun.add(call_id)
            case ToolFinished(call_id=call_id):
                self._recorded.pop(call_id, None)
                self._written.pop(call_id, None)
                self.at_work.pop(call_id, None)
            case AttachmentRead(call_id=call_id):
                self.at_work.pop(call_id, None)
            case _:
                pass

    def recorded_of_others(self) -> list[ToolCalled]:
        """The open calls of all agents but the main one."""
        return [called for called in self._recorded.values() if called.agent_id is not None]

    def of(self, agent_id: str | None) -> list[OpenCall]:
        """The open calls of one agent."""
        progress = self._history.threads.of(agent_id).progress(self._run.id)
        return [
            OpenCall(
                called=called,
                needs_approval=call_id in progress.needing_approval,
                is_approved=call_id in progress.approved,
            )
            for call_id, called in self._recorded.items()
            if called.agent_id == agent_id
        ]

    @contextmanager
    def tool_call(self, called: ToolCalled, delegate: Delegate | None = None) -> Generator[ToolCall]:
        """A call for the length of the block, counted and traced."""

        async def on_output(text: str) -> None:
            written = self._written.get(called.call_id, "") + text
            self._written[called.call_id] = written[-MAX_KEPT_OUTPUT:]
            self._live.show_output(called.call_id, text)

        run = self._run
        call = self.at_work[called.call_id] = ToolCall(
            session_id=run.session_id,
            user_id=run.user_id,
            run_id=run.id,
            call_id=called.call_id,
            name=called.name,
            arguments=called.arguments,
            agent_id=called.agent_id,
            on_output=on_output,
            todos=lambda: self._history.threads.of(called.agent_id).todos,
            tasks=self._tasks,
            skills_read=self._history.threads.skills_read,
            delegate=delegate,
        )
        with _observed(call):
            yield call

    def cut_all(self, reason: str, *, cancelled: bool) -> list[NewEvent]:
        """The ends of all open calls: a call ends after all calls of the sub-agent that works on it."""
        calls = sorted(self._recorded.values(), key=lambda called: called.agent_id is None)
        return self.cut(calls, reason, cancelled=cancelled)

    def cut(self, calls: Sequence[ToolCalled], reason: str, *, cancelled: bool) -> list[NewEvent]:
        """The results recorded of open calls that are cut from outside."""
        return [self._cut_result(called, reason, cancelled=cancelled) for called in calls]

    def _cut_result(self, called: ToolCalled, reason: str, *, cancelled: bool) -> NewEvent:
        call_id = called.call_id
        call = self.at_work.get(call_id)
        has_begun = call.has_begun if call is not None else call_id not in self._unbegun
        output = self._interrupted_output(call_id, reason) if has_begun else f"{NOT_BEGUN} {reason}"
        finished = ToolFinished(
            call_id=call_id,
            success=False,
            preview="",
            cancelled=cancelled,
            has_begun=has_begun,
            agent_id=called.agent_id,
        )
        return _result(finished, output)

    def _interrupted_output(self, call_id: str, reason: str) -> str:
        """The output recorded of a call that was cut while it ran."""
        written = screen_text(self._written.get(call_id, ""))
        return "".join(
            [written, "\n" if written and not written.endswith("\n") else "", f"{reason} {MAY_HAVE_HAPPENED}"]
        )


def items_of(finished: ToolFinished, outcome: Done) -> list[NewEvent]:
    """The records of a call that ended: its result, the files it changed, and its other events."""
    body = None
    if outcome.body is not None:
        body = Body(content=outcome.body, media_type=outcome.body_media_type, parts=outcome.body_parts)
    changed = changed_by(outcome)
    told = [*([] if changed is None else [changed]), *outcome.events]
    result = _result(finished, outcome.output, body, outcome.read)
    return [result, *(NewEvent(payload=payload) for payload in told)]


def _result(finished: ToolFinished, output: str, body: Body | None = None, read: str | None = None) -> NewEvent:
    """The result of a call; output longer than the preview is stored beside it."""
    if body is None and len(output) > MAX_PREVIEW_CHARACTERS:
        body = Body(content=output.encode("utf-8", "replace"), media_type="text/plain")
    if body is not None:
        finished = replace(finished, body=body.reference())
    finished = replace(finished, preview=_sendable(shorten(output, MAX_PREVIEW_CHARACTERS)))
    read = _sendable(shorten(output if read is None else read, MAX_RESULT_CHARACTERS))
    return NewEvent(payload=finished, body=body, output=read if read != finished.preview else None)


def _sendable(text: str) -> str:
    """The text without unpaired surrogates, which would make every later request fail."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def _observed(call: ToolCall) -> Generator[None]:
    began = time.perf_counter()
    outcome = "fault"
    with span("tool call", attributes={"tool.name": call.name, "tool.call_id": call.call_id}) as current:
        try:
            yield
            match call.outcome:
                case Done(success=success):
                    outcome = "success" if success else "failure"
                case Waits():
                    outcome = "waits"
                case None:
                    pass
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            measures.TOOL_CALLS.labels(call.name, outcome).inc()
            measures.TOOL_SECONDS.labels(call.name).observe(time.perf_counter() - began)
            current.set_attribute("outcome", outcome)
