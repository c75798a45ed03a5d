"""The choice of the tools defined in an agent's prompt, and the families of the others, whose definitions it loads when
it needs them.

A tool without a definition in the prompt can still be called through `use_tool`, or by its own name, and is judged,
recorded and shown as itself. A conversation's first request has at most `MOST_TOOLS` tools, and with its prompt
`MOST_BYTES`; if the prompt alone is long, there are still `LEAST_BYTES` of tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from backend_api.agent.tool import Done, ToolSpec
from backend_api.agent.tool_family import FamilyKind
from backend_api.agent.tool_rules import FOREIGN_PREFIX, is_named

LOAD_TOOL = "load_tools"
USE_TOOL = "use_tool"
PAIR = frozenset({LOAD_TOOL, USE_TOOL})
"""The tools that reach all others: every agent with tools has them."""
MOST_TOOLS = 30
MOST_BYTES = 21_500
"""The most bytes of prompt and tools as a provider is sent them. With the rest of a first request, such as the day and
the message, they are 24 kB at most."""
DESKTOP = frozenset({"desktop_screenshot", "desktop_mouse", "desktop_keyboard"})
"""The tools that are parts of a provider's own computer tool, for a model that knows that."""
LEAST_BYTES = 6_000
"""The bytes kept for tools, however long a person's prompt is."""
_WIRE_BYTES = 40
"""The most bytes that a provider's format adds to a definition."""
MAX_LOADED_CHARACTERS = 12_000
"""The most characters of definitions loaded at once: a longer result would be cut."""
_MAX_LINE_CHARACTERS = 320
_MAX_FOREIGN_CHARACTERS = 160
_MOST_LETTERS_OF_WORD = 5
OTHERS = "others"
_HEAD = "Tools of "
_UNKNOWN = "There is no family {name!r}. Families: {families}."
_NONE_FOUND = "No tool of {name} has {find!r} in its name or description. Leave `find` out to see all of them."


FAMILIES = (
    FamilyKind(
        name="browser",
        line="more that the browser can do",
        tools=("browser_*",),
        first=("browser_navigate", "browser_view", "browser_click", "browser_type"),
        words=("browser", "浏览器"),
    ),
    FamilyKind(
        name="desktop",
        line="the screen, mouse, keyboard and windows of the computer; a person logs in or solves a captcha there",
        tools=("desktop_*", "ask_to_drive"),
        words=("desktop", "桌面"),
    ),
    FamilyKind(
        name="navigation",
        line="definitions and uses of names in source code",
        tools=("code_symbols", "code_definition", "code_references"),
    ),
    FamilyKind(name="contexts", line="contexts of code_run", tools=("code_*",), first=("code_run",)),
    FamilyKind(
        name="shells",
        line="what runs in a shell",
        tools=("shell_*",),
        first=("shell_exec", "shell_wait", "shell_write"),
    ),
    FamilyKind(
        name="background",
        line="commands that run on while you do other things; their end is told",
        tools=("background_*", "check_background"),
        words=(
            *("background command", "background commands", "run in the background", "running in the background"),
            *("后台运行", "后台命令"),
        ),
    ),
    FamilyKind(
        name="files",
        line="more for files",
        tools=("file_*",),
        first=("file_read", "file_write", "file_edit", "file_list", "file_find", "file_search"),
    ),
    FamilyKind(
        name="documents",
        line="a PDF or Markdown file of a text, a link to download a file",
        tools=("save_to_*", "generate_download_url"),
        words=("pdf",),
    ),
    FamilyKind(
        name="ports",
        line="show the person a server that runs on the computer",
        tools=("expose_port", "close_port"),
        words=("expose port", "expose the port", "expose a port", "暴露端口", "开放端口"),
    ),
    FamilyKind(
        name="todos",
        line="a list of your own",
        tools=("todo_*",),
        words=("your todos", "your todo list", "你的待办"),
    ),
    FamilyKind(
        name="tasks",
        line="tasks that depend on each other, the same for all agents of the session",
        tools=("task_*",),
        words=("shared tasks", "shared task list", "共享任务"),
    ),
    FamilyKind(
        name="resources",
        line="keep papers, pages, files and notes for the person",
        tools=("resource_*",),
        words=("resources of this conversation", "list of resources", "资源列表"),
    ),
    FamilyKind(
        name="papers",
        line="scientific papers: search, read, cite, keep",
        tools=("paper_*", "papers_*", "corpus_*", "findings_*"),
        words=("arxiv", "doi", "bibtex", "scientific papers", "semantic scholar", "openalex", "crossref", "学术论文"),
    ),
    FamilyKind(
        name="writing",
        line="papers and reports: outline, sections, citations",
        tools=("project_*", "outline_*", "section_*", "citation_*", "citations_*", "draft_*"),
        words=("literature review", "bibliography", "论文大纲", "参考文献"),
    ),
    FamilyKind(
        name="skills",
        line="list and install skills",
        tools=("list_skills", "install_skill", "read_skill"),
        first=("read_skill",),
        words=(
            *("your skills", "install skill", "install the skill", "install a skill"),
            *("你的技能", "安装技能"),
        ),
    ),
    FamilyKind(
        name="team",
        line="work with the team",
        tools=(
            "spawn_teammate",
            "list_teammates",
            "send_message",
            "read_inbox",
            "broadcast",
            "shutdown_request",
            "check_protocol",
            "plan_review",
            "submit_plan",
            "answer_shutdown",
        ),
        words=("your teammates", "spawn a teammate", "spawn teammates", "你的队友"),
    ),
    FamilyKind(name=OTHERS, line="more", tools=("think", "utc_now", "compact")),
)
"""The families of tools that name none themselves, in the order of the prompt. A tool of no family is defined in the
prompt as long as there is room, else it is among the `others`; the tools of each MCP server are a family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family that an agent can load: its kind, and those of its tools that are not in the prompt."""

    kind: FamilyKind
    tools: tuple[ToolSpec, ...]
    line: str = field(init=False, compare=False, repr=False)
    """Its line in the prompt: the names of its tools, or the first ones of many."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", self._line())

    @property
    def name(self) -> str:
        return self.kind.name

    def _line(self) -> str:
        names, left = list[str](), _MAX_FOREIGN_CHARACTERS if _is_foreign(self.name) else _MAX_LINE_CHARACTERS
        for tool in self.tools:
            left -= len(tool.name) + 2
            if left < 0:
                names.append(f"... ({len(self.tools)} tools)")
                break
            names.append(tool.name)
        line = f"{self.kind.line}: " if self.kind.line else ""
        return f"- {self.name}: {line}{', '.join(names)}"

    def is_named_in(self, text: str) -> bool:
        """Whether the text names it: by `@` and its name, or by one of its words."""
        return _pattern_of(self.kind).search(text) is not None

    def definitions(self, find: str = "") -> str | None:
        """The definitions of its tools that have every word of `find` in their name or description; None if there are
        none. If the definitions are too long together, the result lists names and short descriptions."""
        wanted = find.casefold().split()
        found = [one for one in self.tools if all(word in _searched(one) for word in wanted)]
        return _defined(self.name, found) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """The tools of an agent: those in its prompt, and the families of the others."""

    first: Sequence[ToolSpec] = ()
    families: Sequence[Family] = ()
    _prompt_names: frozenset[str] = field(init=False, repr=False, compare=False, default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "_prompt_names", frozenset([tool.name for tool in self.first]))

    def is_in_prompt(self, name: str) -> bool:
        """Whether the tool of that name is defined in the prompt."""
        return name in self._prompt_names

    def find(self, name: str) -> Family | None:
        """The family of that name; for a tool's name, its family with that tool alone."""
        for family in self.families:
            if family.name == name:
                return family
        named = ((one, [tool for tool in one.tools if tool.name == name]) for one in self.families)
        return next((replace(family, tools=(*tools,)) for family, tools in named if tools), None)

    def load(self, name: str, find: str = "") -> Done:
        """The result of a call of `load_tools`."""
        family = self.find(name)
        if family is None:
            names = ", ".join(one.name for one in self.families) or "none, you know all of your tools"
            return Done(success=False, output=_UNKNOWN.format(name=name, families=names))
        definitions = family.definitions(find)
        if definitions is None:
            return Done(success=False, output=_NONE_FOUND.format(name=family.name, find=find))
        return Done(success=True, output=definitions)

    def loaded(self, asked: Sequence[tuple[str, str]], most: int = MAX_LOADED_CHARACTERS) -> str:
        """The definitions of all these loads; the last ones if there is no room for all."""
        texts = list[str]()
        for name, find in reversed(asked):
            family = self.find(name)
            text = family.definitions(find) if family is not None else None
            if text is None or text in texts:
                continue
            most -= len(text)
            if most < 0:
                break
            texts.insert(0, text)
        return "\n\n".join(texts)


def choose_prompt_tools(
    specs: Sequence[ToolSpec], wanted: Collection[str], taken: int, free: Collection[str] = ()
) -> ToolSet:
    """Choose the tools for a prompt of `taken` bytes: all if they fit, else those that are `first` in their families,
    those that `wanted` names by globs, and those of no family, as long as there is room. `free` tools cost nothing, as
    the provider knows them."""
    return _choose_prompt_tools(
        _Specs(tuple([spec.offer for spec in specs]), specs), frozenset(wanted), taken, frozenset(free)
    )


@dataclass(frozen=True, slots=True)
class _Specs:
    """A cache key: tools with the same definitions are equal."""

    offers: tuple[str, ...]
    specs: Sequence[ToolSpec] = field(compare=False)


# Usually the same as for the last conversation.
@lru_cache(maxsize=32)
def _choose_prompt_tools(all_: _Specs, wanted: frozenset[str], taken: int, free: frozenset[str]) -> ToolSet:
    specs = all_.specs
    own = [spec for spec in specs if spec.name not in PAIR]
    if not has_pair(specs) or _fits(own, taken, free):
        return ToolSet(first=own)
    later = [spec for spec in own if not is_first(spec, wanted) and spec.name not in free]
    asked = {spec.name for spec in later}
    room = _Room(MOST_TOOLS - len(PAIR), max(MOST_BYTES - taken - _size_of_lines(later), LEAST_BYTES))
    # Tools that the provider knows come first, then the usual ones, then those that the preset wants.
    ranked = sorted(own, key=lambda spec: (spec.name not in free, is_named(spec.name, wanted)))
    told = {spec.name for spec in ranked if spec.name not in asked and room.take(spec, is_free=spec.name in free)}
    first = [spec for spec in specs if spec.name in told or spec.name in PAIR]
    return ToolSet(first=first, families=families_of([spec for spec in own if spec.name not in told]))


def has_pair(specs: Sequence[ToolSpec]) -> bool:
    """Whether the agent can reach tools that are not in the prompt."""
    return len([spec for spec in specs if spec.name in PAIR]) == len(PAIR)


def is_first(spec: ToolSpec, wanted: Collection[str] = ()) -> bool:
    """Whether the tool is in the prompt if there is room."""
    kind = kind_of(spec)
    return kind is None or spec.name in kind.first or is_named(spec.name, wanted)


def kind_of(spec: ToolSpec) -> FamilyKind | None:
    """The family of a tool; None if it has none."""
    return spec.family_kind or _kind_by_name(spec.name)


@lru_cache(maxsize=4_096)
def _kind_by_name(name: str) -> FamilyKind | None:
    if _is_foreign(name):
        server = name.removeprefix(FOREIGN_PREFIX).partition("__")[0]
        return FamilyKind(name=f"{FOREIGN_PREFIX}{server}", line="", words=_words_of(server))
    return next((kind for kind in FAMILIES if is_named(name, kind.tools)), None)


def _is_foreign(name: str) -> bool:
    return name.startswith(FOREIGN_PREFIX)


def _words_of(server: str) -> tuple[str, ...]:
    """The word of an MCP server: its bare name, unless that may be an ordinary word, such as `time` or `git`. It needs
    a digit, hyphen or underscore, and more than five letters."""
    is_own = re.search("[0-9_-]", server) is not None and sum(map(str.isalpha, server)) > _MOST_LETTERS_OF_WORD
    return (server,) if is_own else ()


def families_of(specs: Sequence[ToolSpec]) -> list[Family]:
    """These tools grouped by family, in the order of `FAMILIES`, behind them the others as they come."""
    found: dict[str, tuple[FamilyKind, list[ToolSpec]]] = {kind.name: (kind, []) for kind in FAMILIES}
    for spec in specs:
        kind = kind_of(spec) or FAMILIES[-1]
        found.setdefault(kind.name, (kind, []))[1].append(spec)
    return [Family(kind=kind, tools=(*tools,)) for kind, tools in found.values() if tools]


@dataclass(slots=True)
class _Room:
    tools: int
    bytes: int

    def take(self, spec: ToolSpec, *, is_free: bool) -> bool:
        size = 0 if is_free else _size(spec)
        if self.tools < 1 or self.bytes < size:
            return False
        self.tools -= 0 if is_free else 1
        self.bytes -= size
        return True


def _fits(specs: Sequence[ToolSpec], taken: int, free: Collection[str]) -> bool:
    costly = [spec for spec in specs if spec.name not in free]
    return len(costly) <= MOST_TOOLS and taken + sum(map(_size, costly)) <= MOST_BYTES


def _size(spec: ToolSpec) -> int:
    return spec.offer_bytes + _WIRE_BYTES


def _size_of_lines(specs: Sequence[ToolSpec]) -> int:
    return sum(len(family.line.encode()) + 1 for family in families_of(specs)) + _MAX_LINE_CHARACTERS


def _searched(spec: ToolSpec) -> str:
    return f"{spec.name} {spec.description}".casefold()


def _defined(name: str, specs: Sequence[ToolSpec]) -> str:
    offers = [spec.offer for spec in specs]
    if sum(map(len, offers)) <= MAX_LOADED_CHARACTERS:
        return "\n".join([f"{_HEAD}{name}, to be called by {USE_TOOL}:", *offers])
    if len(specs) == 1:
        return f"The tool {specs[0].name}, to be called by {USE_TOOL}:\n{_cut(specs[0])}"
    lines, left = list[str](), MAX_LOADED_CHARACTERS
    for spec in specs:
        line = f"- {spec.name}: {' '.join(spec.description.split())[:_MAX_FOREIGN_CHARACTERS]}"
        left -= len(line) + 1
        if left < 0:
            lines.append(f"- and {len(specs) - len(lines)} more")
            break
        lines.append(line)
    head = (
        f"{name} has {len(specs)} tools. Load those you need by {LOAD_TOOL} with `find`, a word of name or description:"
    )
    return "\n".join([head, *lines])


# A conversation is sent again at each turn.
@lru_cache(maxsize=256)
def defined_in(text: str) -> tuple[ToolSpec, ...]:
    """The tools that a result of `load_tools` defines, with the model's part of the definition alone; none if the text
    is anything else, or was cut."""
    head, *lines = text.split("\n")
    try:
        offers = [json.loads(line) for line in lines] if head.startswith(_HEAD) else []
        return tuple([ToolSpec(**offer, phrase="") for offer in offers])
    except (ValueError, TypeError, RecursionError):
        return ()


def _cut(spec: ToolSpec) -> str:
    """The definition of a tool that is too long: its arguments whole as long as they fit, and the head of its
    description."""
    parameters = json.dumps(spec.parameters, ensure_ascii=False, separators=(",", ":"))
    head = spec.description[: max(MAX_LOADED_CHARACTERS - len(parameters), 200)]
    return json.dumps({"name": spec.name, "description": head}, ensure_ascii=False) + "\n" + parameters


@lru_cache(maxsize=512)
def _pattern_of(kind: FamilyKind) -> re.Pattern[str]:
    """A pattern for words of Latin letters as whole words, also beside Chinese, which has no space around a word."""
    prefix = rf"(?:{FOREIGN_PREFIX})?" if _is_foreign(kind.name) else ""
    sign = rf"(?<![\w.+-])@{prefix}{re.escape(kind.name.removeprefix(FOREIGN_PREFIX))}(?![\w-])"
    words = [rf"(?<![\w-]){_spaced(one)}(?![\w-])" if one.isascii() else re.escape(one) for one in kind.words]
    return re.compile("|".join([sign, *words]), re.IGNORECASE | re.ASCII)


def _spaced(words: str) -> str:
    return r"\s+".join(map(re.escape, words.split()))
