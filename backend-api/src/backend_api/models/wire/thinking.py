"""How each provider is asked for thinking, and which models of OpenAI's think, as far as their names tell; which of
Anthropic's do stands in `models.toml`.

Sources: Anthropic's model pages and migration guides; OpenAI's reasoning guide. OpenAI refuses chat completions with
both tools and reasoning from gpt-5.2 on, and some of those models reason unless told not to. Names that say nothing are
asked as their servers document it, and what a server refuses is told as the run's reason.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from backend_api.agent.model import Thinks
from backend_api.agent.options import ThinkingLevel
from backend_api.models.model_facts import ModelFacts

_GPT_5 = re.compile(r"gpt-5(?:\.(?P<minor>\d+))?(?![\d.])")
_O_SERIES = re.compile(r"o\d")
_OPENAI_PLAIN = re.compile(r"gpt-[34]|chatgpt|.*-chat")
_NO_TOOLS_BESIDE_SINCE = 2
_WANT_REASONING: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:.*/)?deepseek-(?:v(?:3\.[12]|[4-9])|reasoner|chat|flash)", re.IGNORECASE), ""),
    (re.compile(r"(?:.*/)?kimi-(?:k[2-9]|for-coding|thinking)", re.IGNORECASE), " "),
    (re.compile(r"(?:.*/)?mimo-v[2-9]", re.IGNORECASE), ""),
)
"""Models that want each call's thinking back, and what stands there where there is none. Sources: DeepSeek's guide on
the thinking mode; for Kimi a user's report that it refuses an empty one. For MiMo none was found: it is taken to do as
DeepSeek does."""
_EXTRA_HIGH_SINCE = 2
_ALWAYS_REASONS = re.compile(r"codex|-pro")
_SHARES = {"high": 2, "max": 4}
MIN_BUDGET = 1_024


def claude_fields(
    facts: ModelFacts, thinking: ThinkingLevel | None, max_tokens: int, *, has_begun_without: bool = False
) -> dict[str, Any]:
    """What a request to Anthropic says of it. A turn that `has_begun_without` goes on without where there is a budget:
    those models refuse calls that no thinking stands before."""
    if thinking is None:
        return {}
    if thinking == "off":
        return {"thinking": {"type": "disabled"}}
    if facts.thinking_form == "adaptive":
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": thinking}}
    if has_begun_without:
        return {"thinking": {"type": "disabled"}}
    # A part of the answer's tokens, as the budget counts among them.
    budget = max(max_tokens - max_tokens // _SHARES[thinking], MIN_BUDGET)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def openai_thinks(model: str, *, is_official: bool) -> Thinks:
    """Of a model behind OpenAI's chat completions, or behind a server that speaks as they do."""
    if not is_official:
        return "optional"
    if _OPENAI_PLAIN.match(model):
        return "never"
    if _O_SERIES.match(model):
        return "always"
    if (minor := _gpt_5_minor(model)) is None:
        return "optional"
    if minor >= _NO_TOOLS_BESIDE_SINCE:
        return "never"
    return "optional" if minor == 1 and "codex" not in model else "always"


@lru_cache(maxsize=256)
def empty_reasoning(model: str) -> str | None:
    """What a turn with calls and no thinking says as its `reasoning_content`, for models that refuse one without; None
    for all others, which aren't sent it."""
    return next((empty for names, empty in _WANT_REASONING if names.match(model)), None)


def openai_fields(model: str, thinking: ThinkingLevel | None, *, is_official: bool, has_tools: bool) -> dict[str, Any]:
    """What a request for chat completions says of it. Compatible servers have no common word for off: most are
    asked for nothing, and what comes all the same is not shown."""
    if not is_official:
        switch = {"thinking": {"type": "disabled" if thinking == "off" else "enabled"}}
        named = switch if thinking and empty_reasoning(model) is not None else {}
        return {**named, "reasoning_effort": thinking} if thinking in ("high", "max") else named
    minor = _gpt_5_minor(model)
    if minor is not None and minor >= _NO_TOOLS_BESIDE_SINCE and not _OPENAI_PLAIN.match(model):
        return {"reasoning_effort": "none"} if has_tools else {}
    if thinking is None:
        return {}
    return {"reasoning_effort": "none" if thinking == "off" else "high"}


def responses_thinks(model: str, *, is_official: bool) -> Thinks:
    """Of a model behind OpenAI's responses, which take tools and reasoning together."""
    if not is_official:
        return "optional"
    if _OPENAI_PLAIN.match(model):
        return "never"
    if _O_SERIES.match(model):
        return "always"
    minor = _gpt_5_minor(model)
    can_be_off = minor is None or (minor >= 1 and _ALWAYS_REASONS.search(model) is None)
    return "optional" if can_be_off else "always"


def responses_fields(model: str, thinking: ThinkingLevel | None, *, is_official: bool) -> dict[str, Any]:
    """What a request for responses says of it. A model that does not reason refuses to be asked for what it reasoned,
    and summaries are asked for only by who wants to see them, as not every key may have them."""
    if is_official and _OPENAI_PLAIN.match(model):
        return {}
    fields: dict[str, Any] = {"include": ["reasoning.encrypted_content"]}
    if thinking == "off":
        return {**fields, "reasoning": {"effort": "none"}}
    if thinking is None:
        return fields
    minor = _gpt_5_minor(model)
    knows_more = minor is not None and minor >= _EXTRA_HIGH_SINCE
    effort = "xhigh" if thinking == "max" and knows_more else "high"
    return {**fields, "reasoning": {"effort": effort, "summary": "auto"}}


def _gpt_5_minor(model: str) -> int | None:
    found = _GPT_5.match(model)
    return int(found["minor"] or 0) if found else None
