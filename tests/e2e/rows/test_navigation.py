"""Definitions and uses in the source code of a real sandbox."""

from __future__ import annotations

import pytest

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import Scripted, call, calls, results, said_in, tools_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
SAID = Answer(texts=("Done.",))
TOOLS = ("code_symbols", "code_definition", "code_references")
CODE = "class Mill:\n    def grind(self):\n        return 1\n\n\ndef main():\n    Mill().grind()  # grind\n"


async def test_it_finds_its_way_in_code_by_definitions_and_uses(scripted: Scripted, api: ApiClient) -> None:
    session = await api.new_session(title="named")
    scripted.answer(
        calls(
            call("file_write", path="src/mill.py", content=CODE),
            call("file_write", path="web/mill.ts", content="export const grind = () => 1\n"),
            call("file_write", path=".gitignore", content="web/\n"),
        ),
        calls(
            call("code_symbols", path="src/mill.py"),
            call("code_definition", symbol="Mill.grind"),
            call("code_references", symbol="grind"),
            call("file_read", path="src/mill.py", start_line=6, end_line=7),
            call("code_symbols", path="../etc"),
        ),
        SAID,
    )
    *_, listed, defined, used, read, refused = await results(api, session, await api.ask(session, "find your way"))
    assert listed.splitlines() == [
        "src/mill.py:1-3 class Mill",
        "src/mill.py:2-3 method Mill.grind",
        "src/mill.py:6-7 function main",
    ]
    assert defined.splitlines()[:2] == ["src/mill.py:2-3 method Mill.grind", "    def grind(self):"]
    assert used.splitlines() == [
        "src/mill.py:2 definition in Mill: def grind(self):",
        "src/mill.py:7 use in main: Mill().grind()  # grind",
    ]
    assert "Mill().grind()" in read
    assert "outside" in refused
    assert "src/mill.py:7 use in main" in said_in(scripted.last())


@pytest.mark.parametrize("kind", ["explore", "plan", "code", "general"])
async def test_agents_below_that_only_read_have_it_too(scripted: Scripted, api: ApiClient, kind: str) -> None:
    session = await api.new_session(title="named")
    scripted.answer(calls(call("task", description="look", prompt="look at it", agent_type=kind)), SAID, SAID)
    await api.ask(session, "look")
    main, below, _ = [tools_of(request) for request in scripted.model.requests]
    assert set(TOOLS) <= set(main)
    assert set(TOOLS) <= set(below)
