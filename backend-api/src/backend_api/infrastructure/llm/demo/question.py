"""What the demo model asks a person who wanted to be asked something, and what it offers as answers."""

from __future__ import annotations

import re

from backend_api.infrastructure.llm.demo.texts import Words

_WHAT_I_DO = re.compile(r"^(which|what)(\s.+?)?\s+I\s+(\w+)[.?]?$", re.IGNORECASE)
_WANTS = re.compile(r"^(?:最?喜欢|想|要)")
_IS_OPEN = re.compile(r"^(?:which|what|who|where|when|why|how)\b|什么|哪|谁|怎|几|多少", re.IGNORECASE)
_IS_ABOUT_TEA = re.compile(r"\bteas?\b|茶", re.IGNORECASE)


def asked(wanted: str, words: Words) -> tuple[str, list[str]]:
    """The question and the answers to choose from: none where only the person can know."""
    text = wanted.strip()
    if found := _WHAT_I_DO.match(text):
        asks, about, does = found.groups(default="")
        text = f"{asks.capitalize()}{about} do you {does}?"
    elif _WANTS.match(text):
        text = f"你{text.rstrip('。？?')}？"
    if not _IS_OPEN.search(text):
        return text or words.ask, [words.ask_yes, words.ask_no]
    return text, [*words.ask_teas] if _IS_ABOUT_TEA.search(text) else []
