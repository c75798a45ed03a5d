"""The words by which providers end an answer. An unknown ending is not a success."""

from __future__ import annotations

from backend_api.agent.model import FinishReason, ModelAnswerError
from backend_api.models.wire.extra_fields import text_of
from backend_api.models.wire.faults import MAX_MESSAGE_CHARACTERS, as_object

_WORDS: dict[FinishReason, tuple[str, ...]] = {
    "stop": (
        "stop",
        "eos",
        "eos_token",
        "end_turn",
        "stop_sequence",
        "stop_token",
        "end",
        "complete",
        "completed",
        "finished",
        "pause_turn",
    ),
    "length": (
        "length",
        "max_tokens",
        "max_length",
        "model_length",
        "max_output_tokens",
        "token_limit",
        "model_context_window_exceeded",
    ),
    "tool_calls": ("tool_calls", "tool_call", "function_call", "function_calls", "tool_use"),
    "refusal": (
        "content_filter",
        "refusal",
        "safety",
        "sensitive",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "guardrail_intervened",
        "model_armor",
        "image_safety",
        "image_prohibited_content",
        "image_recitation",
        "error_toxic",
    ),
}
_KNOWN: dict[str, FinishReason] = {word: reason for reason, words in _WORDS.items() for word in words}


_NONE = frozenset({"null", "none"})
"""DashScope sends these in each chunk before the last."""


def is_ending(word: object) -> bool:
    """Whether the word stands for an ending."""
    return bool(word) and not (isinstance(word, str) and word.strip().lower() in _NONE)


def ending_of(word: object) -> FinishReason | None:
    """The meaning of a provider's word; None if it is unknown, or a fault. Gemini's filter adds its finding after a
    colon."""
    if not isinstance(word, str):
        return None
    said = word.strip().lower()
    return "refusal" if said.startswith("content_filter:") else _KNOWN.get(said)


def broken_off(provider: str, word: object, *details: object) -> ModelAnswerError:
    """The error for an answer that ended with such a word."""
    said = text_of(word) or "none"
    more = ": ".join(text for text in map(_message, details) if text)
    because = f' ("{said[:100]}", {more[:MAX_MESSAGE_CHARACTERS]})' if more else f' ("{said[:100]}")'
    return ModelAnswerError(f"{provider} ended its answer before it was complete{because}. Try again.", may_retry=True)


def without_reason(provider: str) -> ModelAnswerError:
    """The error for an answer that ended without a reason."""
    return ModelAnswerError(
        f"{provider} ended its answer without a finish reason, so it may be incomplete. Try again.", may_retry=True
    )


def nothing_sent(provider: str) -> ModelAnswerError:
    """The error for an empty answer."""
    return ModelAnswerError(
        f"{provider} sent an empty answer: its stream ended without text, tool calls or a finish reason. "
        "The log of that server may say why. Try again.",
        may_retry=True,
    )


def _message(detail: object) -> str:
    fields = as_object(detail)
    return text_of(fields.get("message") or fields.get("detail")) if fields else text_of(detail)
