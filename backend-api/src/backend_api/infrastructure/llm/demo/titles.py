"""What the demo model calls a conversation: by the request it began with, in its language."""

from __future__ import annotations

from backend_api.domain.agent.model import Turn, UserTurn
from backend_api.domain.agent.title import MAX_CHARACTERS, asked_of
from backend_api.infrastructure.llm.demo.requests import PLANS
from backend_api.infrastructure.llm.demo.show_texts import shown_words
from backend_api.infrastructure.llm.demo.texts import words_for


def title_for(turns: list[Turn]) -> str:
    """Empty for a request it does not know, so that the conversation keeps its first line."""
    last = turns[-1] if turns else None
    asked = asked_of(last).strip() if isinstance(last, UserTurn) else ""
    found = ((pattern.search(asked), plan) for pattern, plan in PLANS)
    match, plan = next(((match, plan) for match, plan in found if match), (None, None))
    if match is None or plan is None:
        return ""
    about = next((text for text in match.groupdict().values() if text), "").strip(" `'\".。!！")
    words, name = words_for(asked), plan.__name__.removesuffix("_step")
    wanted = shown_words(words).titles.get(name) or words.titles.get(name, "")
    title = wanted.format(about=" ".join(about.split()) or shown_words(words).topic)
    return title if len(title) <= MAX_CHARACTERS else title[: MAX_CHARACTERS - 1].rstrip() + "…"
