"""`utc_now`: the present time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from backend_api.agent.tool import Done, Tool, ToolCall
from backend_api.agent.tools.local import Arguments, local_tool


class UtcNowArguments(Arguments):
    pass


def utc_now(clock: Callable[[], datetime]) -> Tool:
    async def run_call(call: ToolCall, arguments: UtcNowArguments) -> Done:
        now = clock()
        return Done(success=True, output=f"{now:%Y-%m-%dT%H:%M:%SZ} ({now:%A})")

    return local_tool(
        name="utc_now",
        description="The present date, time and day of the week in UTC.",
        arguments=UtcNowArguments,
        phrase="Looking at the clock",
        effect="reads",
        run_call=run_call,
        deadline_ms=5_000,
    )
