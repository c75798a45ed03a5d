"""Which messages name a family of tools: ordinary words load none."""

from __future__ import annotations

import pytest

from backend_api.agent.tool import ToolSpec
from backend_api.agent.tool_families import families_of
from support.modules import known_tools

SERVERS = ("time", "git", "notion", "search", "e-mail", "company-wiki", "jira2cloud", "my_notes")
OF_SERVERS = [ToolSpec(name=f"mcp__{server}__get", description="", parameters={}, phrase="") for server in SERVERS]
FOUND = families_of([*known_tools(), *OF_SERVERS])


def named(text: str) -> list[str]:
    return [family.name for family in FOUND if family.is_named_in(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Make the background blue, with a tree in the background.",
        "It says out of memory. Which port is in use?",
        "What time is it? Search in git, and put my tasks and todos into Notion.",
        "My skills and memories are in the file. Send an e-mail to a teammate.",
        "Find all TODO comments; write a todo list app. 后台管理系统的端口和技能，待办与记忆",
        "Write to me@time.com, or to a.b@ports.org",
        "desktops, browsers, pdfs",
        "Read my papers and references, and write the paper. 论文",
    ],
)
def test_ordinary_words_name_none(text: str) -> None:
    assert named(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What is on the desktop?", ["desktop"]),
        ("在desktop上打开", ["desktop"]),
        ("用桌面和浏览器打开它", ["browser", "desktop"]),
        ("Save it as PDF in the Browser", ["browser", "documents"]),
        ("Run in  the\nbackground: sleep 9", ["background"]),
        ("在后台运行", ["background"]),
        ("Look into your todo list, and expose the port 80.", ["ports", "todos"]),
        ("Look into the company-wiki, my_notes and Jira2Cloud", [f"mcp__{name}" for name in SERVERS[-3:]]),
        ("@time, @git: go. @notion", ["mcp__time", "mcp__git", "mcp__notion"]),
        ("用@mcp__search搜索", ["mcp__search"]),
        ("(@e-mail)", ["mcp__e-mail"]),
        ("What does arXiv have of 学术论文?", ["papers"]),
        ("Put it into the bibliography", ["writing"]),
    ],
)
def test_a_family_is_named_by_what_means_nothing_else(text: str, names: list[str]) -> None:
    assert named(text) == names


def test_each_name_with_its_sign_loads() -> None:
    for family in FOUND:
        assert family.name in named(f"Use @{family.name.removeprefix('mcp__')}!")
