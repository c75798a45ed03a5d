"""It goes on with an answer that was cut at its length, and says something where it said nothing."""

from __future__ import annotations

from backend_api.domain.agent.answer import Answer
from backend_api.domain.agent.capability import Capability, GiveUp, GoOn
from backend_api.domain.agent.conversation import Conversation
from backend_api.domain.agent.events import Notice
from backend_api.domain.agent.written_calls import is_call_written

MOST = 3
"""In a run."""
CUT_CALL = (
    "Your answer was cut at the length limit in the middle of a call of {name}. None of its calls was made. Make them "
    "again, each much smaller: write long content in several calls, one part after the other."
)
CUT = "Your answer was cut at the length limit. Go on exactly where it stops, without repeating anything."
EMPTY = "Your last answer was empty. Tell the person the result of what you did, or go on working."
TOO_LONG = Notice(text="The answer was cut at the length limit.", code="length")
WRITTEN = Notice(
    text=(
        "The model wrote a call of a tool as text, so nothing was run: its server lacks a tool parser for this model. "
        "Start it with one (vLLM: --enable-auto-tool-choice --tool-call-parser; SGLang: --tool-call-parser; "
        "llama.cpp: --jinja), or choose another model."
    ),
    code="call_as_text",
)
SILENT = Notice(text="The model said nothing, though it was asked again.", code="silent")


def _closing(conversation: Conversation, answer: Answer) -> GoOn | GiveUp | None:
    if answer.calls or answer.reason == "refusal":
        return None
    is_cut = answer.reason == "length"
    if not is_cut and is_call_written(answer.text or answer.last_thought, [tool.name for tool in answer.tools]):
        return GiveUp(WRITTEN)
    if not is_cut and answer.text.strip():
        return None
    if conversation.continuations + len(answer.continuations) >= MOST:
        return GiveUp(TOO_LONG if is_cut else SILENT)
    if answer.unfinished:
        return GoOn(CUT_CALL.format(name=answer.unfinished[:64]))
    return GoOn(CUT if is_cut else EMPTY)


CONTINUATION = Capability(name="continuation", closing=_closing)
