"""How thinking is requested of each provider, and which of OpenAI's models think, as far as their names tell;
Anthropic's are in `models.toml`.

Sources: Anthropic's model pages and migration guides; OpenAI's reasoning guide. OpenAI refuses chat completions with
both tools and reasoning from gpt-5.2 on, and some of those models reason unless it is turned off. For other names the
request follows the servers' documentation, and a refusal is reported as the run's reason.
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
"""Models that require each call's thinking back, with the value sent if there is none. Sources: DeepSeek's guide on the
thinking mode; for Kimi a user's report that it refuses an empty one. None was found for MiMo, which is assumed to do as
DeepSeek does."""
_EXTRA_HIGH_SINCE = 2
_ALWAYS_REASONS = re.compile(r"codex|-pro")
_SHARES = {"high": 2, "max": 4}
MIN_BUDGET = 1_024


def claude_fields(
    facts: ModelFacts, thinking: ThinkingLevel | None, max_tokens: int, *, has_begun_without: bool = False
) -> dict[str, Any]:
    """The thinking fields of a request to Anthropic. A turn that `has_begun_without` thinking continues without it for
    models with a budget: they refuse calls that no thinking precedes."""
    if thinking is None:
        return {}
    if thinking == "off":
        return {"thinking": {"type": "disabled"}}
    if facts.thinking_form == "adaptive":
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": thinking}}
    if has_begun_without:
        return {"thinking": {"type": "disabled"}}
    # A share of the answer's tokens, since the budget is part of them.
    budget = max(max_tokens - max_tokens // _SHARES[thinking], MIN_BUDGET)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def openai_thinks(model: str, *, is_official: bool) -> Thinks:
    """Whether a model thinks in chat completions of OpenAI or of a compatible server."""
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
    """The `reasoning_content` of a turn with calls but no thinking, for models that refuse a turn without it; None for
    all others, which are not sent the field."""
    return next((empty for names, empty in _WANT_REASONING if names.match(model)), None)


def openai_fields(model: str, thinking: ThinkingLevel | None, *, is_official: bool, has_tools: bool) -> dict[str, Any]:
    """The thinking fields of a chat completion. Compatible servers have no common value for off: most are sent nothing,
    and thinking that comes anyway is not shown."""
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
    """Whether a model thinks in OpenAI's Responses API, which accepts tools and reasoning together."""
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
    """The thinking fields of a Responses request. A model that does not reason refuses a request for its reasoning, and
    summaries are only requested to be shown, since not every key may have them."""
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
