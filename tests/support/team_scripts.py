"""A lead and its teammates as a model server plays them: each answers by a script of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from support.api_client import Json
from support.model_server import Answer, ModelServer
from support.scripted_stack import call, calls, said_in, tools_of

Step = Answer | Callable[[Json], Answer]


def plays(model: ModelServer, *, by_history: bool = False, **scripts: Sequence[Step]) -> dict[str, list[Json]]:
    """Each agent answers by its own script, then says that it is done; what each was asked. `by_history`: where it is
    in that, its conversation says (of chat completions), and not how often it was asked."""
    asked: dict[str, list[Json]] = {name: [] for name in scripts}

    def respond(request: Json) -> Answer:
        name = who(request)
        number = len(asked[name])
        if by_history:
            number = sum(message["role"] == "assistant" for message in request["messages"])
        asked[name].append(request)
        step = scripts[name][number] if number < len(scripts[name]) else Answer(texts=("Nothing more.",))
        return step(request) if callable(step) else step

    model.respond = respond
    return asked


def who(request: Json) -> str:
    if "submit_plan" not in tools_of(request):
        return "lead"
    found = re.search(r"You are (\w+) \(", said_in(request))
    assert found is not None
    return found[1]


def spawn(*names: str) -> Answer:
    return calls(*(call("spawn_teammate", name=name, role="helps", prompt=f"{name}, go") for name in names))


def says(text: str) -> Answer:
    return Answer(texts=(text,))


def answering(name: str, **arguments: object) -> Callable[[Json], Answer]:
    """A call with the id of the request it was told of last."""

    def step(request: Json) -> Answer:
        ids = re.findall(r"request_id (req_\w+)", said_in(request))
        return calls(call(name, request_id=ids[-1], **arguments))

    return step
