"""How long a call may take is its tool's to say."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from contracts.sandboxes import Scope
from contracts.tools import ToolCall, ToolResult
from tool_api.calls import Calls
from tool_api.tools.tool import Arguments, CallContext, Tool


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


def test_a_caller_names_no_deadline() -> None:
    with pytest.raises(ValidationError, match="deadline_ms"):
        ToolCall.model_validate({"call_id": "c", "arguments": {}, "deadline_ms": 1})
