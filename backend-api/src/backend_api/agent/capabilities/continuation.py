"""An answer that was cut at its length is continued, and an empty one is requested again."""

from __future__ import annotations

from backend_api.agent.answer import Answer
from backend_api.agent.calls_in_text import has_call_in_text
from backend_api.agent.capability import Abort, Capability, Continue
from backend_api.agent.conversation import Conversation
from backend_api.agent.events import Notice

MOST = 3
"""The most continuations in a run."""
CUT_CALL = (
    "Your answer was cut at the length limit in the middle of a call of {name}. None of its calls was made. Make them "
    "again, each much smaller: write long content in several calls, one part after the other."
)
CUT = "Your answer was cut at the length limit. Go on exactly where it stops, without repeating anything."
EMPTY = "Your last answer was empty. Tell the person the result of what you did, or go on working."
UNCALLED = (
    "Your last answer ended as if it called a tool, but there was no call in it. Make the call now; if you meant none, "
    "tell the person the result of what you did."
)
TOO_LONG = Notice(text="The answer was cut at the length limit.", code="length")
WRITTEN = Notice(
    text=(
        "The model wrote a call of a tool as text, so nothing was run: its server lacks a tool parser for this model. "
        "Start it with one (vLLM: --enable-auto-tool-choice --tool-call-parser; SGLang: --tool-call-parser; "
        "llama.cpp: --jinja), or choose another model."
    ),
    code="call_as_text",
)
NO_CALL = Notice(
    text="The model's answer ended as if it called a tool, but no call came with it, so nothing was run.",
    code="no_call",
)
SILENT = Notice(text="The model said nothing, though it was asked again.", code="silent")


def _closing(conversation: Conversation, answer: Answer) -> Continue | Abort | None:
    if answer.calls or answer.reason == "refusal":
        return None
    is_cut = answer.reason == "length"
    if not is_cut and has_call_in_text(answer.text or answer.last_thought, [tool.name for tool in answer.tools]):
        return Abort(WRITTEN)
    is_uncalled = answer.reason == "tool_calls" and bool(answer.tools)
    if not is_cut and answer.text.strip():
        return _uncalled(conversation, answer) if is_uncalled else None
    if conversation.continuations + len(answer.continuations) >= MOST:
        return Abort(TOO_LONG if is_cut else SILENT)
    if answer.unfinished:
        return Continue(CUT_CALL.format(name=answer.unfinished[:64]))
    return Continue(CUT if is_cut else EMPTY)


def _uncalled(conversation: Conversation, answer: Answer) -> Continue | Abort:
    """Request the call once only, as some servers end each of their answers so."""
    is_asked = any(one.note == UNCALLED for one in answer.continuations)
    is_last = conversation.continuations + len(answer.continuations) >= MOST
    return Abort(NO_CALL) if is_asked or is_last else Continue(UNCALLED)


CONTINUATION = Capability(name="continuation", closing=_closing)
