"""A model that asks before it acts: for approvals, an answer or a plan, and that is summed up in between.

What it does is told by the words in a message: `two approvals`, `one approval`, `a question`, `a plan`, `a summary`,
`a background`.
Each call that acts writes a line of its own into the ledger, so whatever happens twice is seen there.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from support.model_server import Answer, Call

LEDGER = "ledger.txt"
SUMMED_UP = "It wrote into the ledger; nothing is left to do."


@dataclass(slots=True)
class Asker:
    """`respond` of a `ModelServer`. The first summary is never answered: `summing_up` is set once it was asked for.
    `read` is what the model was given, request by request."""

    summing_up: asyncio.Event = field(default_factory=asyncio.Event)
    read: list[str] = field(default_factory=list[str])

    def __call__(self, body: dict[str, Any]) -> Answer:
        messages: list[dict[str, Any]] = body["messages"]
        text = json.dumps(messages)
        self.read.append(text)
        if "continued from a summary" in str(messages[-1].get("content")):
            if self.summing_up.is_set():
                return Answer(texts=(SUMMED_UP,))
            self.summing_up.set()
            return Answer(hang=True)
        if messages[-1]["role"] == "tool" and "background_id" in text:
            return Answer(texts=("It is on its way.",))
        if any(message["role"] == "tool" for message in messages) or SUMMED_UP in text:
            return Answer(texts=("It is done.",))
        return next(answer for words, answer in _ANSWERS.items() if words in text)


def _write(name: str) -> Call:
    return Call(name="shell_exec", id=f"call_{name}", arguments=json.dumps({"command": f"echo {name} >> {LEDGER}"}))


_QUESTION = {"questions": [{"id": "q", "question": "Which colour?", "options": ["red", "blue"]}]}
_ANSWERS = {
    "two approvals": Answer(
        texts=("Two.",),
        calls=[
            _write("first"),
            Call(name="file_find", id="call_look", arguments='{"path": ".", "pattern": "*"}'),
            _write("second"),
        ],
    ),
    "one approval": Answer(texts=("One.",), calls=[_write("only")]),
    "a question": Answer(texts=(), calls=[Call(name="ask_user", id="call_ask", arguments=json.dumps(_QUESTION))]),
    "a hello": Answer(texts=("Hello.",)),
    "a plan": Answer(texts=(), calls=[Call(name="exit_plan_mode", id="call_plan", arguments='{"plan": "1. write"}')]),
    "a background": Answer(
        texts=("Later.",),
        calls=[
            Call(
                name="background_run",
                id="call_later",
                arguments=json.dumps({"command": f"sleep 6; echo later >> {LEDGER}; echo it is built"}),
            )
        ],
    ),
    # As many tokens as the model's window is to be summed up at, and more.
    "a summary": Answer(texts=("Full.",), calls=[_write("before")], usage=(150_000, 0, 10)),
}
