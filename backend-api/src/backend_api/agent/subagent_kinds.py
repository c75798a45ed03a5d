"""Kinds of sub-agents, as values: those that are built in, those of a deployment, and those of a user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_rules import is_named
from backend_api.kit.ids import UserId

MAIN = "main"
"""The agent that a person talks to. No kind has this name."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
MAX_KINDS = 20
"""Of a user, and as many of a deployment: the main agent reads of each with every answer."""
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
    """`description` tells the main agent what it is good for, `prompt` the agent itself how it works. `tools` names
    those it has, exactly or by globs, of all that the main agent may use; None is all; of them it is
    told those from the start that `first` names beside the usual ones. Without a `model` it is that
    for sub-agents, else the session's. An agent of it
    stops with what it has at `max_calls` of tools, `max_tokens` that were new to it, or after `max_minutes` of work,
    each agent for itself; None is no limit but the run's.

    It only takes away: its tools are some of the main agent's, whose gates judge its calls, and none reads its text.
    Built-in ones can't be replaced, as what `explore` may do would depend on who asks.
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
        """Whether an agent of this kind is given a tool, where nothing else takes it away."""
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
    """The one of that name."""
    return next((kind for kind in kinds if kind.name == name), None)


class Kinds(Protocol):
    """Those that sub-agents of a user may be of."""

    @property
    def shared(self) -> Sequence[SubagentKind]:
        """Those of everybody."""
        ...

    async def __call__(self, user_id: UserId) -> Sequence[SubagentKind]:
        """In the order in which they are offered. Raises `StoreUnavailableError`."""
        ...


class _BuiltInKinds:
    shared = BUILT_IN

    async def __call__(self, user_id: UserId) -> Sequence[SubagentKind]:
        del user_id
        return BUILT_IN


BUILT_IN_KINDS = _BuiltInKinds()
"""Where neither a deployment nor users write any."""
