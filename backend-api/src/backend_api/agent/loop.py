"""The agent: ask the model, run the tools, record, decide to stop.

It keeps no state between turns, except that another model answers: each turn starts from the log, on any worker.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from backend_api.agent.announced_calls import recorded_of
from backend_api.agent.answer import Answer
from backend_api.agent.capability import Abort, Capabilities, Compact, Continue, FinalTurn, WaitForOthers
from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.compactor import Compactor
from backend_api.agent.conversation import Conversation
from backend_api.agent.ending import Ending
from backend_api.agent.events import Notice
from backend_api.agent.fallback import answer_fallback_notice
from backend_api.agent.journal import Journal
from backend_api.agent.model import ModelContextError, ModelError, ModelRequest, ModelRequestError, NoteTurn
from backend_api.agent.opening import BODY_MEDIA_TYPE, ContextPrefix
from backend_api.agent.options import AgentMode
from backend_api.agent.pictures import Pictures
from backend_api.agent.recorded import Body, Recorded
from backend_api.agent.tool_runner import ToolRunner
from backend_api.agent.waits import Wait

REFUSED = Ending(status="failed", reason="The model refused to answer this request.", code="model_refusal")


@dataclass(slots=True, kw_only=True)
class AgentLoop:
    """Works on one run until the model is done or a bound is hit."""

    model: ResolvedModel
    tools: ToolRunner
    journal: Journal
    pictures: Pictures
    capabilities: Capabilities
    compactor: Compactor
    opening: ContextPrefix
    max_output_tokens: int
    new_id: Callable[[str], str]
    in_mode: Callable[[AgentMode], Awaitable[AgentLoop]]
    """Makes the loop for another mode."""
    fallback: Callable[[], AgentLoop] | None = None
    """Makes the loop with the fallback model, used if this one's fails before any part of an answer came."""
    notices: Sequence[Notice] = ()
    """Notices to record with the next answer."""

    async def run_turns(self) -> Ending | None:
        """Go on from the log; None if the run now waits without a process. Raises the `ModelError` family,
        `UnavailableError`, `LeaseLostError`."""
        while True:
            conversation = await self.journal.conversation()
            if mode := self.capabilities.changed_mode(conversation):
                return await replace(await self.in_mode(mode), notices=self.notices).run_turns()
            if dangling := self.journal.dangling_calls():
                waits = await self.tools.settle(dangling, conversation)
            elif conversation.attached:
                waits = await self.tools.show_attached(conversation.attached)
            elif conversation.is_answered:
                return Ending(status="completed")
            elif isinstance(outcome := await self._turn(conversation), Ending):
                return outcome
            else:
                waits = outcome
            if waits and await self.journal.wait(waits):
                return None

    async def _turn(self, conversation: Conversation) -> Ending | list[Wait]:
        """Run one answer and its calls; the result is what those wait for, or the end."""
        bound = await self.capabilities.brake(conversation)
        if self.journal.others_at_work > conversation.others_at_work:
            return []  # They began during the brake, and may use what it counted on.
        if isinstance(bound, Ending):
            return bound
        if isinstance(bound, WaitForOthers | Compact):
            await (self._compact(conversation, bound) if isinstance(bound, Compact) else self.journal.other_answered())
            return []
        try:
            with self.journal.answering():
                answer = await self._ask(conversation, bound)
                used = self.journal.counted(answer.total, context=answer.context_tokens)
        except ModelContextError:
            is_old = conversation.is_just_compacted or conversation.has_compaction_failed
            if is_old or not await self._compact(conversation, Compact(kind="auto")):
                raise
            return []
        announced = self.tools.announce(
            answer.calls,
            conversation.chosen,
            turn=answer.turn,
            seen_seq=answer.seen_seq,
            used_calls=conversation.own.calls,
        )
        said = [*answer.payloads(), used]
        if not announced and answer.reason != "refusal":
            if bound is None:
                return Ending(status="completed", said=tuple(said))
            return replace(bound.ending, said=(*said, *bound.ending.said))
        await self.journal.record([*said, *recorded_of(announced)])
        if answer.reason == "refusal":
            return REFUSED
        return await self.tools.run_calls(announced, conversation, answer.context_tokens)

    async def _compact(self, conversation: Conversation, wanted: Compact) -> bool:
        request = await self._request(conversation, None, None)
        notes = self.capabilities.notes_after_compaction(conversation)
        return await self.compactor.compact(request, conversation, wanted, notes)

    async def _ask(self, conversation: Conversation, last: FinalTurn | None) -> Answer:
        answer = Answer.to(conversation, self.journal.live, self.new_id, self.opening.thinking)
        try:
            await self._fill(answer, conversation, last)
        except ModelError as error:
            if self.fallback is None or answer.has_begun or error.is_of_request:
                raise
            self._fall_back(self.fallback(), error)
            answer = Answer.to(conversation, self.journal.live, self.new_id, self.opening.thinking)
            try:
                await self._fill(answer, conversation, last)
            except ModelError as second:
                raise (second if answer.has_begun else error) from second
        self.notices = ()
        return answer

    def _fall_back(self, other: AgentLoop, error: ModelError) -> None:
        """Let the other model answer from here on, after an opening of its own, within its window."""
        self.notices = [*self.notices, answer_fallback_notice(error, other.model.info)]
        self.model, self.opening, self.max_output_tokens = other.model, other.opening, other.max_output_tokens
        self.tools, self.capabilities, self.compactor = other.tools, other.capabilities, other.compactor
        self.in_mode, self.fallback = other.in_mode, None

    async def _fill(self, answer: Answer, conversation: Conversation, last: FinalTurn | None) -> None:
        request, unexplained = await self._request(conversation, last, answer), None
        while True:
            try:
                await self._call(request, answer)
            except ModelError as error:
                if unexplained and answer.is_empty:
                    raise unexplained from error
                if not request.pictures or not answer.is_empty or not error.may_be_of_pictures:
                    raise
                # The provider may be unable to read one of the pictures: every further request would fail, too.
                request = await self._request(conversation, last, answer, is_refused=True)
                if not isinstance(error, ModelRequestError):
                    # Open servers fail at such a picture as in an outage, and the wait for one is not repeated.
                    request, unexplained = replace(request, is_retried=False), error
                continue
            if last is not None:
                answer.calls.clear()
            match self.capabilities.closing(conversation, answer):
                case None:
                    return None
                case Abort(notice):
                    return await self.journal.record([notice])
                case Continue(note):
                    request = replace(request, turns=[*request.turns, *answer.go_on(note)], is_retried=True)

    async def _request(
        self, conversation: Conversation, last: FinalTurn | None, answer: Answer | None, *, is_refused: bool = False
    ) -> ModelRequest:
        """The next request to the model; its `last` answer has no tools. A new opening and new notes are recorded with
        the answer. If the first request `is_refused` or failed, the second one has no pictures."""
        opening = self.opening if last is None else replace(self.opening, tools=())
        preface = [Recorded(payload=notice) for notice in self.notices]
        is_due = is_refused or self.capabilities.is_opening_due(conversation)
        if opened := opening.after(conversation.opened, is_due=is_due):
            opened = self.capabilities.limited(conversation, opened)
            opened = replace(opened, pictures=0) if is_refused else opened
            preface.append(Recorded(payload=opened, body=Body(content=opening.body(), media_type=BODY_MEDIA_TYPE)))
            preface += [Recorded(payload=told) for told in self.capabilities.compaction_events(conversation, opened)]
            conversation = conversation.reopened(opened)
        notes = [*self.capabilities.notes(conversation), *([last.note] if last is not None else [])]
        fresh = [note for note in notes if conversation.notes.get(note.key) != note.text]
        preface += [Recorded(payload=note) for note in fresh]
        sent = self.capabilities.project(conversation)
        request = ModelRequest(
            model=opening.model,
            system=opening.system,
            turns=[*sent.turns, *(NoteTurn(text=note.text) for note in fresh)],
            tools=opening.tools,
            max_output_tokens=self.max_output_tokens,
            thinking=opening.thinking,
            lasting=sent.lasting,
            rendered=conversation.rendered,
            pictures=await self.pictures.load(wanted) if (wanted := sent.shown_pictures()) else {},
            on_failed_attempt=self.journal.live.show_retry,
        )
        if answer is not None:
            answer.tools = opening.tools
            self.journal.open_message(answer, preface)
        return request

    async def _call(self, request: ModelRequest, answer: Answer) -> None:
        try:
            await answer.read(self.model.chat.stream(request))
        except BaseException as error:
            # The request is paid for, unless the provider refused it before any part of an answer.
            if answer.has_begun or not isinstance(error, ModelError):
                self.journal.counted(answer.cut_call(self.model.info))
            raise
        answer.close_call(self.model.info)
