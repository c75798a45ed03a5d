"""The whole stack with real sandboxes and a model server that refuses what providers refuse, in one wire format.

Models of it are told apart by their names: `Names` says which has which role. The script of the server is one for all
of them, in the order in which they are asked; titles stand aside.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from support.api_client import ApiClient, Json
from support.model_seals import Form
from support.model_server import Answer, Call, ModelServer
from support.sites import Site, site
from support.stack import Stack, run_stack

FORMS: tuple[Form, ...] = ("chat", "responses", "messages")
in_any_form = pytest.mark.parametrize("running", ["chat"], indirect=True, scope="session")
"""For a test of what happens when an answer has been read or before a request is written: the wire format is not in
it, and tests of the same calls and answers run in all of them."""
MODELS: dict[Form, str] = {"chat": "deepseek-v4-pro", "responses": "gpt-5.5", "messages": "claude-opus-4-6"}
"""Each wants thinking asked for and sent back in a way of its own."""
SAID = Answer(texts=("All", " is", " well."))
USES_COMPUTER = "computer"
"""Of a stack with desktops: it has the newest computer tool of its provider."""
TITLES, SUMMARIES, HELPERS, INSTEAD, PRICED, LARGE = "titles", "summaries", "helpers", "instead", "priced", "large"
SEARCH_KEY = "key-of-the-search-server"
MODEL_KEY = "sk-scripted-0123456789"
_MODELS_FILE = f"""
[[model]]
names = ["{PRICED}", "{TITLES}", "{SUMMARIES}", "{HELPERS}"]
prices = {{ input = 2, cache_read = 1, output = 10 }}

[[model]]
names = ["{LARGE}"]
context_window = 2_000_000

[[model]]
names = ["{INSTEAD}"]
"""
COMPUTER_TOOLS: dict[Form, tuple[str, ...]] = {
    "chat": (),
    "responses": ("computer",),
    "messages": ("computer_toolset_20260801", "computer_20251124"),
}
"""Those of each provider that its models have in a stack with desktops: the first one of `USES_COMPUTER`, and each of a
model that is called as it is."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """A running stack and the model server that it asks."""

    form: Form
    stack: Stack
    model: ModelServer
    pages: Site
    """The one host that agents may fetch from though it is not public, by any answers."""

    @property
    def default(self) -> str:
        return MODELS[self.form]

    def answer(self, *answers: Answer) -> None:
        self.model.answer(*answers)

    def last(self) -> Json:
        return self.model.requests[-1]


def model_settings(model: ModelServer, form: Form) -> dict[str, str]:
    """Of a gateway that asks this server in this wire format."""
    if form == "messages":
        provider = {"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": MODEL_KEY, "ANTHROPIC_BASE_URL": model.url}
    else:
        provider = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": MODEL_KEY, "OPENAI_BASE_URL": model.openai_url}
        provider["OPENAI_API"] = form
    return {
        **provider,
        "MODEL": MODELS[form],
        "LLM_MAX_RETRIES": "1",
        "LLM_RETRY_BASE_DELAY": "0.01",
        "LLM_RETRY_MAX_DELAY": "2",
    }


@asynccontextmanager
async def scripted_stack(
    folder: Path, form: Form, *, has_desktop: bool = False, **more: str
) -> AsyncGenerator[Scripted]:
    """For the length of the block; `more` are settings."""
    folder.mkdir(parents=True, exist_ok=True)
    models = folder / "models.toml"
    computers = _computers(form) if has_desktop else {}
    models.write_text(_MODELS_FILE + "".join(_computer_entry(*entry) for entry in computers.items()))
    async with ModelServer(SAID) as model, site({}) as pages:
        settings = {
            **model_settings(model, form),
            "MODELS": ",".join((PRICED, LARGE, *computers)),
            "TITLE_MODEL": TITLES,
            "COMPACT_MODEL": SUMMARIES,
            "SUBAGENT_MODEL": HELPERS,
            "TEAMMATE_MODEL": HELPERS,
            "FALLBACK_MODEL": INSTEAD,
            "MODELS_FILE": str(models),
            "MICRO_COMPACT_MIN_TOKENS": "1000",
            "RATE_LIMITS": "messages=0,sessions=0",
            "QUOTAS": "runs=0",
            "SSH_TARGETS": "any",
            "SANDBOX_DESKTOP": str(has_desktop).lower(),
            "FETCH_ALLOWED_HOSTS": f"127.0.0.1:{pages.port}",
            "CUSTOM_SEARCH_URL": pages.url("/search"),
            "CUSTOM_SEARCH_API_KEY": SEARCH_KEY,
            **more,
        }
        with run_stack(folder / "stack", ordinary=False, **settings) as stack:
            yield Scripted(form, stack, model, pages)


def _computers(form: Form) -> dict[str, str]:
    """Models with the computer tool that each knows."""
    known = COMPUTER_TOOLS[form]
    return dict(zip((USES_COMPUTER, *known), (*known[:1], *known), strict=True))


def _computer_entry(model: str, tool: str) -> str:
    return f'\n[[model]]\nnames = ["{model}"]\npictures = true\ncomputer_use = "{tool}"\n'


def call(name: str, /, **arguments: Any) -> Call:
    return Call(name=name, arguments=json.dumps(arguments))


def calls(*made: Call, **fields: Any) -> Answer:
    """An answer that says nothing and calls these, each by an id of its own."""
    numbered = [replace(one, id=f"call_{at}") for at, one in enumerate(made)]
    return Answer(texts=(), calls=numbered, **fields)


def of_type(events: list[Json], *types: str) -> list[Json]:
    return [event for event in events if event["type"] in types]


def tools_of(request: Json) -> list[str]:
    """The names of the tools it offers, and of those that its prompt tells of by their families."""
    offered: list[Json] = request.get("tools") or []
    names = [tool.get("function", tool).get("name") or tool["type"] for tool in offered]
    return [*names, *(_in_families(request) if names else ())]


def _in_families(request: Json) -> list[str]:
    section = said_in(request).partition("\\nMore tools\\n")[2].partition("\\n\\n")[0]
    lines = [line for line in section.split("\\n- ")[1:] if ": " in line]
    return [name for line in lines for name in line.rpartition(": ")[2].split(", ")]


def said_in(request: Json) -> str:
    """All of it as text, as JSON has it."""
    return json.dumps(request, ensure_ascii=False)


async def begin(api: ApiClient, session: str, text: str, until: str, **extra: Any) -> Json:
    """The event of this type that a message leads to."""
    accepted = await api.send(session, text, **extra)
    return (await api.until(session, until, after=accepted["seq"] - 1))[-1]


async def results(api: ApiClient, session: str, events: list[Json]) -> list[str]:
    """What the tools gave, whole, in the order of the calls."""
    ended = {event["call_id"]: event for event in of_type(events, "tool.finished")}
    wanted = [ended[event["call_id"]] for event in of_type(events, "tool.called")]
    return [
        (await api.http.get(f"/sessions/{session}/events/{one['seq']}/body")).text if one["body"] else one["preview"]
        for one in wanted
    ]


def succeeded(events: list[Json]) -> list[bool]:
    """Of each call, in the order of the calls: those that can't be run have their result first."""
    ended = {event["call_id"]: event["success"] for event in of_type(events, "tool.finished")}
    return [ended[event["call_id"]] for event in of_type(events, "tool.called") if event["call_id"] in ended]


@asynccontextmanager
async def added_mcp_server(api: ApiClient, **config: object) -> AsyncGenerator[None]:
    """The user's server `box`, for the length of the block."""
    answer = await api.http.put("/mcp/box", json=config)
    assert answer.status_code == 200, answer.text
    try:
        yield
    finally:
        await api.http.delete("/mcp/box")
