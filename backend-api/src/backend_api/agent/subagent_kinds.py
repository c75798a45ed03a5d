"""Kinds of sub-agents, as values: built-in ones, a deployment's, and a user's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import is_named
from backend_api.kit.ids import UserId

MAIN = "main"
"""The kind of the agent that a person talks to. No other kind has this name."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
MAX_KINDS = 20
"""The most kinds of a user, and of a deployment: the main agent's prompt lists each."""
MAX_DESCRIPTION_CHARACTERS = 300
MAX_PROMPT_CHARACTERS = 8_000
MAX_TOOL_RULES = 100
MAX_TOOL_RULE_CHARACTERS = 200
MAX_CALLS = 1_000
MIN_TOKENS, MAX_TOKENS = 1_000, 100_000_000
MAX_MINUTES = 25
"""Shorter than what the call of an agent takes at most, so that it can still say what it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentKind:
    """A kind of sub-agent. `description` tells the main agent its purpose, and `prompt` tells the sub-agent how to
    work. `tools` names its tools, exactly or by globs, out of those the main agent may use; None is all. `first` names
    those defined in its prompt beside the usual ones. Without a `model` it has the one for sub-agents, else the
    session's.

    Each agent of the kind stops, with what it has, at `max_calls` of tools, at `max_tokens` that were new to it, or
    after `max_minutes` of work; None is no limit but the run's.

    A kind can only take away: its tools are some of the main agent's, whose gates judge its calls and never read its
    text. Built-in kinds can't be replaced, as otherwise the rights of `explore` would depend on the user.
    """

    name: str
    description: str
    prompt: str = ""
    tools: frozenset[str] | None = None
    first: frozenset[str] = frozenset()
    model: str | None = None
    only_reads: bool = False
    max_calls: int | None = None
    max_tokens: int | None = None
    max_minutes: int | None = None

    def has(self, tool: ToolSpec) -> bool:
        """Whether an agent of this kind may have the tool, unless something else takes it away."""
        if tool.asks_person or (self.only_reads and not tool.read_only):
            return False
        return self.tools is None or is_named(tool.name, self.tools)


BUILT_IN = (
    SubagentKind(
        name="general",
        description="has your tools, but this one and those that ask the person",
    ),
    SubagentKind(
        name="explore",
        description="only looks, and reports",
        prompt="- You look and report; you have no tool that changes anything.",
        only_reads=True,
    ),
    SubagentKind(
        name="code",
        description="changes code, and checks what it did",
        prompt="""\
- You change code. Read what you are about to change and who uses it, and follow the project's own ways. Afterwards \
run its tests, or the program itself: answer with the files you changed, what you ran, and what that said, also where \
it failed.""",
        first=frozenset({"code_symbols", "code_definition", "code_references"}),
    ),
    SubagentKind(
        name="plan",
        description="only looks, and answers with a plan",
        prompt="""\
- You look and plan; you have no tool that changes anything. Answer with numbered steps: of each what is to be done, \
where, and how one sees that it worked. At the end say what you are not sure of.""",
        only_reads=True,
    ),
    SubagentKind(
        name="research",
        description="finds out on the web and in files, and answers with its sources",
        prompt="""\
- You find out. Open what you cite, look for several sources that don't copy from each other, and keep what they claim \
apart from what you saw. Answer with the address of its source after each finding, and say what you could not find.
- Of scientific papers: search wide (other words, citations, references), choose the best and read those (paper_read), \
keep them (corpus_add), and hand in what they say by findings_submit: claim, record, section or page, and the passage \
word for word. What is refused is mended or left out. Your answer has no sentence about a paper without the mark of \
its finding, record and section in brackets, behind it.""",
        tools=frozenset(
            {
                *(
                    "web_*",
                    "paper_*",
                    "papers_*",
                    "corpus_*",
                    "findings_submit",
                    "browser_*",
                    "file_*",
                    "think",
                    "utc_now",
                    "todo_*",
                    "task_*",
                ),
                *("*_skill", "*_skills"),
            }
        ),
        first=frozenset({"papers_search", "paper_read", "corpus_add", "findings_submit"}),
        max_calls=60,
        max_tokens=100_000,
        max_minutes=15,
    ),
)
_BUILT_IN_NAMES = frozenset(kind.name for kind in BUILT_IN)


def is_built_in(name: str) -> bool:
    """Whether the product has a kind of this name."""
    return name in _BUILT_IN_NAMES


def find_kind(kinds: Iterable[SubagentKind], name: str) -> SubagentKind | None:
    """The kind of that name; None if there is none."""
    return next((kind for kind in kinds if kind.name == name), None)


class Kinds(Protocol):
    """The kinds that a user's sub-agents may have."""

    @property
    def shared(self) -> Sequence[SubagentKind]:
        """The kinds that all users have."""
        ...

    async def __call__(self, user_id: UserId) -> Sequence[SubagentKind]:
        """The user's kinds in display order. Raises `StoreUnavailableError`."""
        ...


class _BuiltInKinds:
    shared = BUILT_IN

    async def __call__(self, user_id: UserId) -> Sequence[SubagentKind]:
        del user_id
        return BUILT_IN


BUILT_IN_KINDS = _BuiltInKinds()
"""The kinds if neither the deployment nor users define any."""
