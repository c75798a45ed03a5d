"""Arguments of the gateway's own tools in which nobody sees anything, or with NUL: told, and nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest

from backend_api.agent.tool import Done
from backend_api.agent.tools.ask_user import ask_user
from backend_api.agent.tools.local import LocalTools
from backend_api.agent.tools.plan_update import PLAN_UPDATE
from backend_api.agent.tools.task import task_tool
from backend_api.agent.tools.tasks import task_tools
from backend_api.agent.tools.team import team_tools
from backend_api.agent.tools.todos import todo_tools
from support.scripted import call_tool

PLACES: list[tuple[str, dict[str, Any], str]] = [
    ("task_create", {}, "subject"),
    ("task_update", {"taskId": "1"}, "subject"),
    ("task_update", {"taskId": "1"}, "owner"),
    ("todo_add", {}, "content"),
    ("spawn_teammate", {"name": "amy", "prompt": "dig"}, "role"),
    ("spawn_teammate", {"name": "amy", "role": "digs"}, "prompt"),
    ("send_message", {"to": "amy"}, "content"),
    ("submit_plan", {}, "plan"),
]
FILLER = "\u3164"
"""A letter without a shape."""


async def run(name: str, arguments: dict[str, Any]) -> Done:
    own = [*task_tools(), *todo_tools(), *team_tools(), PLAN_UPDATE, task_tool(), ask_user()]
    return await call_tool(LocalTools(own), name, arguments)


def check_refused(done: Done, field: str) -> None:
    assert not done.success
    assert done.events == ()
    assert done.output.startswith("Nothing was run: the arguments do not fit")
    assert f"- {field}: " in done.output


@pytest.mark.parametrize(("name", "beside", "field"), PLACES)
@pytest.mark.parametrize("text", ["\u200b", " \u2060 ", FILLER, "\u2800"])
async def test_a_text_in_which_nothing_is_seen_is_refused(
    name: str, beside: dict[str, Any], field: str, text: str
) -> None:
    done = await run(name, beside | {field: text})
    check_refused(done, field)
    assert "only white space or invisible characters" in done.output


@pytest.mark.parametrize(("name", "beside", "field"), PLACES)
async def test_a_text_with_nul_is_refused(name: str, beside: dict[str, Any], field: str) -> None:
    done = await run(name, beside | {field: "a\0b"})
    check_refused(done, field)
    assert "NUL (U+0000)" in done.output


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("todo_write", {"todos": [{"content": "dig\0"}]}, "todos.0.content"),
        ("todo_write", {"todos": [{"content": "\u200b"}]}, "todos.0.content"),
        ("plan_update", {"steps": [{"title": "\u200b"}]}, "steps.0.title"),
        ("ask_user", {"questions": [{"question": "\u200b"}]}, "questions.0.question"),
        ("ask_user", {"questions": [{"question": "Tea?\0"}]}, "questions.0.question"),
        ("task_update", {"taskId": "1", "metadata": {"why": "a\0"}}, "metadata"),
    ],
)
async def test_so_is_one_further_down(name: str, arguments: dict[str, Any], field: str) -> None:
    check_refused(await run(name, arguments), field)


async def test_what_may_be_empty_may_stay_so() -> None:
    assert (await run("task_create", {"subject": "Dig \u4f60", "activeForm": ""})).success
