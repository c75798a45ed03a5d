"""A model that works on tasks and decides from the conversation alone, as a real one does.

A message `task t7 steps=WRSP` asks for its steps one after another, and then for an answer that names the task:
W writes a line with a token of its own into the ledger, S does and then takes a while, R only reads, P does two things
in one turn. Every call carries a token that no other call has, so whatever happens twice is seen in the ledger.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from support.model_server import Answer, Call

LEDGER = "ledger.txt"
_TASK = re.compile(r"task (t\d+) steps=([WRSP]*)")


@dataclass(slots=True)
class Brain:
    """`respond` of a `ModelServer`."""

    chance: random.Random
    words: int = 25
    word_s: float = 0.01
    asked: int = 0

    def __call__(self, body: dict[str, Any]) -> Answer:
        self.asked += 1
        messages: list[dict[str, Any]] = body["messages"]
        tasks = [task for text in _said(messages, "user") for task in _TASK.findall(text)]
        called = "\n".join(_arguments(messages))
        for name, steps in tasks:
            for index, step in enumerate(steps):
                if f"{name}.{index}." not in called:
                    return self._act(name, index, step)
        answered = "\n".join(_said(messages, "assistant"))
        open_tasks = [name for name, _ in tasks if f"answered {name}." not in answered]
        texts = [f"answered {name}. " for name in open_tasks] or ["Nothing is left to do. "]
        texts += [f"word{number} " for number in range(self.words)]
        return Answer(texts=texts, delay_s=self.word_s)

    def _act(self, name: str, index: int, step: str) -> Answer:
        def token() -> str:
            return f"{name}.{index}.{self.chance.getrandbits(48):012x}"

        write = f"echo {token()} >> {LEDGER}"
        if step == "R":
            calls = [_call("file_find", path=".", pattern=f"{token()}*")]
        elif step == "S":
            calls = [_call("shell_exec", command=f"{write}; sleep 0.5")]
        elif step == "P":
            calls = [_call("file_find", path=".", pattern=f"{token()}*"), _call("shell_exec", command=write)]
        else:
            calls = [_call("shell_exec", command=write)]
        return Answer(texts=(f"Step {index} ", f"of {name}. "), calls=calls, delay_s=self.word_s)


def tokens(text: str) -> list[str]:
    """The tokens of calls in a text."""
    return re.findall(r"t\d+\.\d+\.[0-9a-f]{12}", text)


def _call(name: str, **arguments: str) -> Call:
    return Call(name=name, arguments=json.dumps(arguments))


def _said(messages: Iterable[dict[str, Any]], role: str) -> Iterator[str]:
    return (message.get("content") or "" for message in messages if message["role"] == role)


def _arguments(messages: Iterable[dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        for call in message.get("tool_calls") or ():
            yield call["function"]["arguments"]
