"""The model server of the tests refuses what providers refuse, in the words of their error form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from support.model_rules import refusal_of
from support.model_seals import Form, blocks_of, sealed
from support.model_server import Answer, ModelServer
from support.tls import NO_TLS

Json = dict[str, Any]
Change = Callable[[Json], object]
PATHS: dict[Form, str] = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
TOOL: Json = {"name": "look", "description": "Looks.", "parameters": {}}


def chat_call(identifier: str) -> Json:
    return {"id": identifier, "type": "function", "function": {"name": "look", "arguments": "{}"}}


def chat() -> Json:
    messages: list[Json] = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "reasoning_content": "", "tool_calls": [chat_call("a"), chat_call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "seen"},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        {"role": "user", "content": "And now?"},
    ]
    body: Json = {"model": "deepseek-v4", "messages": messages, "tools": [{"type": "function", "function": dict(TOOL)}]}
    detail = {"type": "reasoning.encrypted", "data": sealed(blocks_of("chat", body)[:3], "")}
    messages[2]["reasoning_details"] = [detail]
    return body


def messages() -> Json:
    def said(role: str, *blocks: Json) -> Json:
        return {"role": role, "content": list(blocks)}

    uses: list[Json] = [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in "ab"]
    results: list[Json] = [{"type": "tool_result", "tool_use_id": one, "content": "seen"} for one in "ab"]
    turns = [said("user", {"type": "text", "text": "Look."}), said("assistant", *uses)]
    turns.append(said("user", *results, {"type": "text", "text": "And now?"}))
    body: Json = {
        "model": "claude",
        "system": [{"type": "text", "text": "Be kind."}],
        "messages": turns,
        "tools": [{"name": "look", "input_schema": {}}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    signature = sealed(blocks_of("messages", body)[:2], "hm")
    turns[1]["content"].insert(0, {"type": "thinking", "thinking": "hm", "signature": signature})
    return body


def responses() -> Json:
    calls: list[Json] = [{"type": "function_call", "call_id": one, "name": "look", "arguments": "{}"} for one in "ab"]
    results: list[Json] = [{"type": "function_call_output", "call_id": one, "output": "seen"} for one in "ab"]
    items: list[Json] = [{"type": "message", "role": "user", "content": "Look."}, *calls, *results]
    items.append({"type": "message", "role": "user", "content": "And now?"})
    body: Json = {"model": "gpt", "instructions": "Be kind.", "input": items, "store": False, "tools": [dict(TOOL)]}
    seal = sealed(blocks_of("responses", body)[:2], "")
    items.insert(1, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": seal})
    return body


BODIES: dict[Form, Callable[[], Json]] = {"chat": chat, "messages": messages, "responses": responses}
WRONG: list[tuple[Form, str, Change, str]] = [
    ("chat", "a call without its result", lambda body: body["messages"].pop(4), "followed by their results"),
    ("chat", "results out of order", lambda body: body["messages"].insert(3, body["messages"].pop(4)), "in order"),
    ("chat", "a result without its call", lambda body: body["messages"].pop(2), "must follow its call"),
    ("chat", "an empty answer", lambda body: body["messages"][2].update(tool_calls=[]), "empty assistant"),
    ("chat", "an empty message", lambda body: body["messages"][1].update(content=" "), "empty user"),
    ("chat", "a late system note", lambda body: body["messages"][5].update(role="system"), "must be the first"),
    ("chat", "no reasoning", lambda body: body["messages"][2].pop("reasoning_content"), "must be passed back"),
    ("chat", "a changed prefix", lambda body: body["messages"][1].update(content="Look!"), "was changed"),
    ("chat", "another model's", lambda body: body.update(model="deepseek-v5"), "was changed"),
    (
        "chat",
        "arguments that are no JSON",
        lambda body: body["messages"][2]["tool_calls"][0]["function"].update(arguments="{"),
        "not a JSON object",
    ),
    (
        "chat",
        "one id twice",
        lambda body: body["messages"][2]["tool_calls"].__setitem__(1, chat_call("a")),
        "not unique",
    ),
    ("messages", "a call without its result", lambda body: body["messages"][2]["content"].pop(1), "by their results"),
    (
        "messages",
        "results out of order",
        lambda body: body["messages"][2]["content"].insert(0, body["messages"][2]["content"].pop(1)),
        "in order",
    ),
    (
        "messages",
        "text before a result",
        lambda body: body["messages"][2]["content"].insert(0, body["messages"][2]["content"].pop(2)),
        "first in a turn",
    ),
    ("messages", "a result without its call", lambda body: body["messages"][1]["content"].pop(2), "by their results"),
    ("messages", "an empty answer", lambda body: body["messages"][1].update(content=[]), "must not be empty"),
    ("messages", "a blank text", lambda body: body["messages"][0]["content"][0].update(text="\n"), "must not be empty"),
    ("messages", "a system note", lambda body: body["messages"][2].update(role="system"), "no role system"),
    ("messages", "a changed prefix", lambda body: body["system"][0].update(text="Be."), "was changed"),
    ("messages", "a changed thought", lambda body: body["messages"][1]["content"][0].update(thinking="h"), "changed"),
    ("messages", "another model's", lambda body: body.update(model="claude-2"), "was changed"),
    (
        "messages",
        "no thinking before a call",
        lambda body: body["messages"][1]["content"].pop(0),
        "begin with thinking",
    ),
    (
        "messages",
        "thinking at the end",
        lambda body: body["messages"][1]["content"].append(body["messages"][1]["content"].pop(0)),
        "can't be thinking",
    ),
    (
        "messages",
        "an answer begun by us",
        lambda body: body["messages"].append({"role": "assistant", "content": [{"type": "text", "text": "So"}]}),
        "last must be the user",
    ),
    (
        "messages",
        "a toolset twice",
        lambda body: body["tools"].extend([{"type": "computer_toolset_20260801"}] * 2),
        "declared once",
    ),
    (
        "messages",
        "a member there is not",
        lambda body: body["tools"].append({"type": "computer_toolset_20260801", "configs": {"fly": {}}}),
        "no such member",
    ),
    (
        "messages",
        "a toolset with a size",
        lambda body: body["tools"].append({"type": "computer_toolset_20260801", "display_width_px": 1}),
        "no other field",
    ),
    (
        "messages",
        "a member of no toolset",
        lambda body: body["messages"][1]["content"][-1].update(name="zoom", toolset_name="computer"),
        "no member of a toolset",
    ),
    ("responses", "a call without its result", lambda body: body["input"].pop(5), "by their results"),
    ("responses", "results out of order", lambda body: body["input"].insert(4, body["input"].pop(5)), "in order"),
    ("responses", "a result without its call", lambda body: body["input"].pop(3), "by their results"),
    ("responses", "an empty message", lambda body: body["input"][0].update(content=""), "empty message"),
    ("responses", "a system note", lambda body: body["input"][6].update(role="system"), "role system"),
    ("responses", "a changed prefix", lambda body: body["input"][0].update(content="Look!"), "was changed"),
    ("responses", "another model's", lambda body: body.update(model="gpt-2"), "was changed"),
    (
        "responses",
        "reasoning alone",
        lambda body: body.update(input=body["input"][:2] + body["input"][6:]) or body["input"].pop(),
        "following item",
    ),
    ("responses", "reasoning by reference", lambda body: body["input"][1].pop("encrypted_content"), "not stored"),
    ("responses", "what is to be stored", lambda body: body.update(store=True), "store must be false"),
]


@pytest.mark.parametrize("form", list(BODIES))
def test_what_is_whole_is_taken(form: Form) -> None:
    assert refusal_of(form, BODIES[form]()) is None


@pytest.mark.parametrize(
    ("form", "change", "said"), [(w[0], w[2], w[3]) for w in WRONG], ids=[f"{w[0]}: {w[1]}" for w in WRONG]
)
def test_what_a_provider_refuses_is_refused(form: Form, change: Change, said: str) -> None:
    body = BODIES[form]()
    change(body)
    assert said in (refusal_of(form, body) or "")


@pytest.mark.parametrize("form", list(BODIES))
@pytest.mark.parametrize("name", ["l" * 65, "böse", "a b", ""])
def test_names_of_tools_have_at_most_64_plain_characters(form: Form, name: str) -> None:
    offered, called = BODIES[form](), json.loads(json.dumps(BODIES[form]()).replace('"look"', json.dumps(name)))
    tool = offered["tools"][0]
    tool.get("function", tool)["name"] = name
    assert "does not match" in (refusal_of(form, offered) or "")
    called["input"] = [item for item in called.get("input", []) if item["type"] != "reasoning"]
    assert "does not match" in (refusal_of(form, {**called, "tools": []}) or "")


@pytest.mark.parametrize("form", list(BODIES))
async def test_a_refusal_has_the_providers_form_and_uses_up_no_answer(form: Form) -> None:
    async with ModelServer() as server, httpx.AsyncClient(base_url=server.url, verify=NO_TLS) as client:
        server.answer(Answer(texts=("Here.",)))
        body = BODIES[form]()
        refused = await client.post(PATHS[form], json={**body, "tools": body["tools"] * 2})
        error = refused.json()
        assert (refused.status_code, error["error"]["type"]) == (400, "invalid_request_error")
        assert ("type" in error) == (form == "messages")
        assert server.refusals == [error["error"]["message"]] == ["tools: names must be unique"]
        assert "Here." in (await client.post(PATHS[form], json=body)).text
