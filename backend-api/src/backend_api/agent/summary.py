"""Summaries of conversations: a model reads the whole one, and the agent continues from its summary."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from backend_api.agent.catalogue import ResolvedModel
from backend_api.agent.conversation import without_thinking
from backend_api.agent.events import Usage
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelContextError,
    ModelError,
    ModelInfo,
    ModelRequest,
    NoteTurn,
    TextPart,
    ThoughtSoFarPart,
    ToolCallPart,
    ToolTurn,
    Turn,
    UsagePart,
    UserTurn,
)
from backend_api.agent.shortening import shorten

SHORT_CHARACTERS = 1_000
"""The most characters of each text if the conversation is too long for the model that summarises it."""
ASKED = """\
The conversation is about to be continued from a summary instead of all that stands above. Write that summary now, as \
text alone and without calling a tool. Whoever goes on knows nothing but it and the last step, so leave out nothing \
that is still needed:
1. what the person wants, in their own words where these matter, with everything they said to keep to;
2. what was done and decided so far, and why;
3. files, commands, addresses, names and numbers that are still needed, exactly;
4. what went wrong and how it was mended;
5. the plan with the state of each step, and open tasks;
6. what is to be done next.
Write in the language of the conversation."""
FOCUS = "\nGive the most room to this: {focus}"
"""The prompt does not name the source of the focus: the agent may have set it, led by a text it read."""


class SummaryError(Exception):
    """There is no summary; the message is the reason in English. `fault` is the model's error, if it failed."""

    def __init__(self, reason: str, fault: ModelError | None = None) -> None:
        super().__init__(reason)
        self.fault = fault


@dataclass(slots=True, kw_only=True)
class Summarizer:
    """Requests one summary. `used` is its usage so far, whatever the outcome."""

    model: ResolvedModel
    used: Usage = field(default_factory=Usage)

    async def summarize(self, request: ModelRequest, focus: str | None) -> str:
        """Summarise the conversation of a request. It is sent unchanged with one more note, so that the provider's
        cache counts; for another model it is adapted. If it is too long, its long texts are cut.

        Raises `SummaryError`.
        """
        note = NoteTurn(text=ASKED + (FOCUS.format(focus=focus) if focus else ""))
        request = _request_for(self.model.info, request)
        try:
            try:
                return await self._ask(replace(request, turns=[*request.turns, note]))
            except ModelContextError:
                return await self._ask(replace(request, turns=[*_shorten_turns(request.turns), note], pictures={}))
        except ModelError as error:
            raise SummaryError(error.detail, error) from error

    async def _ask(self, request: ModelRequest) -> str:
        texts: list[str] = []
        reason, called = "stop", False
        async with aclosing(self.model.chat.stream(request)) as parts:
            async for part in parts:
                match part:
                    case TextPart():
                        texts.append(part.text)
                    case ThoughtSoFarPart():
                        texts.clear()
                    case ToolCallPart():
                        called = True
                    case UsagePart():
                        self.used = part.usage
                    case FinishPart():
                        reason = part.reason
                    case _:
                        pass
        text = "".join(texts).strip()
        if called or reason != "stop" or not text:
            raise SummaryError("The model gave no summary.")
        return text


def _request_for(info: ModelInfo, request: ModelRequest) -> ModelRequest:
    """The request adapted to this model. It holds no thinking of another model, which is signed for that one."""
    if info.id == request.model:
        return request
    return replace(
        request,
        model=info.id,
        turns=without_thinking(request.turns),
        max_output_tokens=info.output_tokens(request.max_output_tokens),
        thinking=info.thinking_for(request.thinking),
        pictures=request.pictures if info.vision else {},
    )


def _shorten_turns(turns: Sequence[Turn]) -> list[Turn]:
    return [_shorten_turn(turn) for turn in turns]


def _shorten_turn(turn: Turn) -> Turn:
    match turn:
        case UserTurn():
            return replace(turn, text=shorten(turn.text, SHORT_CHARACTERS))
        case NoteTurn():
            return replace(turn, text=shorten(turn.text, SHORT_CHARACTERS), pictures=())
        case ToolTurn():
            return replace(turn, output=shorten(turn.output, SHORT_CHARACTERS), pictures=())
        case AssistantTurn():
            calls = tuple(
                replace(call, arguments={}) if len(call.arguments_json) > SHORT_CHARACTERS else call
                for call in turn.calls
            )
            return replace(turn, text=shorten(turn.text, SHORT_CHARACTERS), thinking=(), calls=calls)
