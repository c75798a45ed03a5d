"""`ask_to_drive`: the agent asks the person to take control of the computer, and waits until they hand it back."""

from __future__ import annotations

from pydantic import Field

from backend_api.agent.events import Question
from backend_api.agent.questions import Questions
from backend_api.agent.tool import Tool, ToolCall, Waits
from backend_api.agent.tools.local import Arguments, Words, local_tool
from backend_api.agent.waits import Wait
from backend_api.control.domain import QUESTION

EXPIRES_S = 7 * 86_400.0


class AskToDriveArguments(Arguments):
    reason: Words = Field(
        min_length=1, max_length=1_000, description="What the person has to do, in their language, as they read it."
    )


def ask_to_drive(*, expires_s: float = EXPIRES_S) -> Tool:
    """The tool; if nobody took control within `expires_s` seconds, the run goes on without."""

    async def run_call(call: ToolCall, arguments: AskToDriveArguments) -> Waits:
        asked = Questions(call_id=call.call_id, questions=[Question(id=QUESTION, text=arguments.reason)])
        return Waits([Wait(id=f"question_{call.call_id}", subject=asked, expires_s=expires_s)])

    return local_tool(
        name="ask_to_drive",
        description=(
            "Ask the person to take control of the computer's screen and do what only they can: log in, solve a "
            "captcha, pay. Waits until they hand it back."
        ),
        arguments=AskToDriveArguments,
        phrase="Asking you to take control",
        asks_person=True,
        effect="reads",
        run_call=run_call,
    )
