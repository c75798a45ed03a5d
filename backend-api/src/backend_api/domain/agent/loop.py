"""The agent: ask the model, run the tools, record, decide to stop.

It keeps nothing between turns: each turn starts from the recorded conversation, so a run that another worker takes
over goes on from its last recorded step by the same code.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from backend_api.domain.agent.answer import Answer
from backend_api.domain.agent.capability import Capabilities, GiveUp, GoOn
from backend_api.domain.agent.catalogue import ChosenModel
from backend_api.domain.agent.ending import Ending
from backend_api.domain.agent.events import Usage
from backend_api.domain.agent.journal import Journal, LiveOutput
from backend_api.domain.agent.model import ModelRequest, NoteTurn, Turn
from backend_api.domain.agent.opening import BODY_MEDIA_TYPE, Opening
from backend_api.domain.agent.recorded import Body, Recorded
from backend_api.domain.agent.thread import Conversation, without_thinking
from backend_api.domain.agent.tool_runner import ToolRunner

REFUSED = Ending(status="failed", reason="The model refused to answer this request.", code="model_refusal")


@dataclass(slots=True, kw_only=True)
class AgentLoop:
    """Works on one run until the model is done or a bound is hit."""

    model: ChosenModel
    tools: ToolRunner
    journal: Journal
    live: LiveOutput
    capabilities: Capabilities
    opening: Opening
    max_output_tokens: int
    new_id: Callable[[str], str]

    async def run_turns(self) -> Ending | None:
        """Go on from what is recorded; None where the run now waits without a process.

        Raises the `ModelError` family, `UnavailableError`, `LeaseLostError`.
        """
        conversation = await self.journal.conversation()
        if dangling := self.journal.dangling_calls():
            waits = await self.tools.settle(dangling)
            if waits and await self.journal.wait(waits):
                return None
            conversation = await self.journal.conversation()
        while not conversation.is_answered:
            if ending := self.capabilities.brake(conversation):
                return ending
            answer = await self._ask(conversation)
            announced = self.tools.announce(answer.calls, turn=answer.turn, seen_seq=answer.seen_seq)
            said = [*answer.payloads(), self.journal.counted(answer.total)]
            if not announced and answer.reason != "refusal":
                return Ending(status="completed", said=tuple(said))
            await self.journal.record([*said, *(announcement.called for announcement in announced)])
            if answer.reason == "refusal":
                return REFUSED
            waits = await self.tools.run_calls(announced)
            if waits and await self.journal.wait(waits):
                return None
            conversation = await self.journal.conversation()
        return Ending(status="completed")

    async def _ask(self, conversation: Conversation) -> Answer:
        answer = Answer(
            message_id=self.new_id("msg"),
            turn=conversation.next_turn,
            seen_seq=conversation.seen_seq,
            journal=self.journal,
            live=self.live,
            new_id=self.new_id,
            thinking=self.opening.thinking,
        )
        preface, turns = self._with_notes(conversation)
        self.journal.open_message(answer.message_id, turn=answer.turn, seen_seq=answer.seen_seq, preface=preface)
        while True:
            await self._call(turns, answer)
            match self.capabilities.closing(conversation, answer):
                case None:
                    return answer
                case GiveUp(notice):
                    await self.journal.record([notice])
                    return answer
                case GoOn(note):
                    turns = [*turns, *answer.go_on(note)]

    def _with_notes(self, conversation: Conversation) -> tuple[list[Recorded], list[Turn]]:
        """What is to be recorded before the answer, and the conversation with it."""
        preface: list[Recorded] = []
        turns = conversation.turns
        if opened := self.opening.after(conversation.opened):
            body = Body(content=self.opening.body(), media_type=BODY_MEDIA_TYPE)
            preface.append(Recorded(payload=opened, body=body))
            turns = without_thinking(turns)
        fresh = [note for note in self.capabilities.notes() if conversation.notes.get(note.kind) != note.text]
        preface += [Recorded(payload=note) for note in fresh]
        return preface, [*turns, *(NoteTurn(text=note.text) for note in fresh)]

    async def _call(self, turns: list[Turn], answer: Answer) -> None:
        request = ModelRequest(
            model=self.opening.model,
            system=self.opening.system,
            turns=turns,
            tools=self.opening.tools,
            max_output_tokens=self.max_output_tokens,
            thinking=self.opening.thinking,
        )
        answer.last_call = Usage()
        async with aclosing(self.model.chat.stream(request)) as parts:
            async for part in parts:
                answer.add_part(part)
        answer.close_call(self.model.info.id)
        used = answer.last_call.input + answer.last_call.output
        if used:
            self.live.show_context(used, self.model.info.context_window)
