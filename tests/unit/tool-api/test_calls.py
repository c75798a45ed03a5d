"""How long a call may take is its tool's to say."""

from __future__ import annotations

import asyncio
import threading

import pytest
from pydantic import ValidationError

from contracts.sandboxes import Scope
from contracts.tools import FolderInstructions, ToolCall, ToolResult
from tool_api.calls import Calls
from tool_api.tools.tool import Arguments, CallContext, Tool, done


class Nothing(Arguments):
    """No arguments."""


async def test_a_call_over_its_tools_deadline_is_ended_and_says_so() -> None:
    ended = asyncio.Event()

    async def hang(call: CallContext, _: Nothing) -> ToolResult:
        await call.output("begun")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    tool = Tool(
        name="hang", description="", arguments=Nothing, phrase="", scope=Scope.EXEC, deadline_ms=50, handler=hang
    )
    async with Calls() as calls, asyncio.timeout(5):
        call = calls.start_call("c", tool, Nothing())
        result = await call.task
    assert ended.is_set()
    assert not result.success
    assert "did not finish within 0.05 s" in result.output


async def worked(_: CallContext, __: Nothing) -> ToolResult:
    return done("worked")


WORK = Tool(
    name="work", description="", arguments=Nothing, phrase="", scope=Scope.EXEC, deadline_ms=5_000, handler=worked
)


async def test_a_result_waits_a_second_at_most_for_the_instructions_of_its_folders() -> None:
    is_over = threading.Event()

    def hang(_: ToolResult) -> list[FolderInstructions]:
        is_over.wait(30)
        return [FolderInstructions(path="AGENTS.md", text="late")]

    try:
        async with Calls(hang) as calls, asyncio.timeout(5):
            result = await calls.start_call("c", WORK, Nothing()).task
    finally:
        is_over.set()
    assert (result.output, result.instructions) == ("worked", [])


async def test_a_result_stays_where_its_instructions_can_not_be_read() -> None:
    def fail(_: ToolResult) -> list[FolderInstructions]:
        raise ValueError("a path that is no text")

    async with Calls(fail) as calls, asyncio.timeout(5):
        result = await calls.start_call("c", WORK, Nothing()).task
    assert (result.output, result.instructions) == ("worked", [])


def test_a_caller_names_no_deadline() -> None:
    with pytest.raises(ValidationError, match="deadline_ms"):
        ToolCall.model_validate({"call_id": "c", "arguments": {}, "deadline_ms": 1})
