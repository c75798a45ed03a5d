"""`ask_user`: questions to the person, whose answer the run waits for without a process."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from backend_api.agent.events import Question
from backend_api.agent.questions import Questions
from backend_api.agent.tool import Tool, ToolCall, Waits
from backend_api.agent.tools.local import Arguments, Words, local_tool
from backend_api.agent.waits import Wait

EXPIRES_S = 7 * 86_400.0
Option = Annotated[Words, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]


class AskedQuestion(Arguments):
    id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,40}$", description="Its id.")
    question: Words = Field(min_length=1, max_length=2_000, description="As the person reads it.")
    options: list[Option] = Field(default=[], max_length=4, description="2 to 4 answers to choose from, or none.")
    allow_text: bool = Field(default=True, description="Whether another answer may be written.")
    several: bool = Field(default=False, description="Whether more than one option may be chosen.")

    @field_validator("options")
    @classmethod
    def _differ(cls, options: list[str]) -> list[str]:
        if options and len(set(options)) < max(2, len(options)):
            raise PydanticCustomError("options", "Give 2 to 4 different options, or none.")
        return options


class AskUserArguments(Arguments):
    questions: list[AskedQuestion] = Field(min_length=1, max_length=4, description="What you have to know to go on.")

    @field_validator("questions")
    @classmethod
    def _differ(cls, questions: list[AskedQuestion]) -> list[AskedQuestion]:
        ids = [asked.id or f"q{number}" for number, asked in enumerate(questions, 1)]
        if len(set(ids)) < len(ids):
            raise PydanticCustomError("ids", "Give each question an id of its own, or none of them one.")
        return questions


def ask_user(*, expires_s: float = EXPIRES_S) -> Tool:
    """The tool; if there is no answer after `expires_s` seconds, the run goes on without one."""

    async def run_call(call: ToolCall, arguments: AskUserArguments) -> Waits:
        questions = [
            Question(
                id=asked.id or f"q{number}",
                text=asked.question,
                options=asked.options,
                allow_text=asked.allow_text or not asked.options,
                several=asked.several and bool(asked.options),
            )
            for number, asked in enumerate(arguments.questions, 1)
        ]
        asked = Questions(call_id=call.call_id, questions=questions)
        # The page sends its answer with this id.
        return Waits([Wait(id=f"question_{call.call_id}", subject=asked, expires_s=expires_s)])

    return local_tool(
        name="ask_user",
        description=(
            "Ask the person, and wait for the answer. Ask only what you can neither find out nor decide yourself, and "
            "everything at once; offer options where there are a few."
        ),
        arguments=AskUserArguments,
        phrase="Asking you",
        asks_person=True,
        effect="reads",
        run_call=run_call,
    )
