"""One request of the person, as the demo model's scripts see it, and what they make of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend_api.domain.agent.model import AssistantTurn, ToolRequest, ToolTurn
from backend_api.infrastructure.llm.demo.texts import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the model says and calls next."""

    text: str
    calls: tuple[ToolRequest, ...] = ()
    thought: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One request of the person and what came of it: `results` are the tool results since, in order."""

    words: Words
    asked: str
    match: re.Match[str] | None
    results: list[ToolTurn]
    tools: frozenset[str]
    is_first: bool
    step: int
    spoken: list[AssistantTurn] = field(default_factory=list[AssistantTurn])
    is_subagent: bool = False
    attachments: Sequence[str] = ()
    """Paths in the workspace that came with it."""


Plan = Callable[[Scene], Step]


def call_of(scene: Scene, name: str, **arguments: Any) -> ToolRequest:
    return ToolRequest(call_id=f"demo_{scene.step}_{name}", name=name, arguments=arguments)


def outcome(scene: Scene, done: str) -> Step:
    """The closing words of a one-step plan: the result as it is, a failure named as one."""
    result = scene.results[-1]
    text = done if result.success else scene.words.failed
    return Step(text=text.replace("{output}", fenced(result.output)))


def fenced(output: str) -> str:
    shown = _shorten(output)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"


def quoted(answer: str) -> str:
    """What another agent says, as Markdown that may hold code of its own."""
    return "\n".join(f"> {line}".rstrip() for line in _shorten(answer).split("\n"))


def _shorten(output: str) -> str:
    body = output.strip() or "-"
    return body if len(body) <= 1500 else body[:1500] + "\n…"
