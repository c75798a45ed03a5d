"""The strict model server refuses what providers refuse of their computer tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support.model_rules import refusal_of

Json = dict[str, Any]
CHECKS = [{"id": "cu_sc_1", "code": "x", "message": "Well?"}]


def openai() -> Json:
    call = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c1",
        "status": "completed",
        "actions": [{"type": "click", "button": "left", "x": 1, "y": 2}],
        "pending_safety_checks": CHECKS,
    }
    answer = {
        "type": "computer_call_output",
        "call_id": "c1",
        "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="},
        "acknowledged_safety_checks": CHECKS,
    }
    asked = {"type": "message", "role": "user", "content": "Click."}
    return {"model": "m", "store": False, "tools": [{"type": "computer"}], "input": [asked, call, answer]}


def preview() -> Json:
    body = openai()
    body["tools"] = [{"type": "computer_use_preview", "display_width": 8, "display_height": 6, "environment": "linux"}]
    body["truncation"] = "auto"
    body["input"][1]["action"] = body["input"][1].pop("actions")[0]
    return body


def anthropic() -> Json:
    tool = {"type": "computer_20251124", "name": "computer", "display_width_px": 8, "display_height_px": 6}
    use = {"type": "tool_use", "id": "c1", "name": "computer", "input": {"action": "screenshot"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "Seen."}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    return {"model": "m", "tools": [tool], "messages": messages}


OPENAI: list[tuple[Callable[[], Json], Callable[[Json], Any], str]] = [
    (openai, lambda body: body["input"].pop(2), "followed by their results"),
    (openai, lambda body: body["input"].pop(1), "No tool call found"),
    (openai, lambda body: body["input"][2].pop("output"), "computer_screenshot"),
    (openai, lambda body: body["input"][2]["output"].update(image_url=""), "image_url"),
    (openai, lambda body: body["input"][2].pop("acknowledged_safety_checks"), "unacknowledged safety check"),
    (openai, lambda body: body["input"][1].update(pending_safety_checks=[]), "no safety check"),
    (openai, lambda body: body["input"][2].update(type="function_call_output", output="denied"), "by a screenshot"),
    (openai, lambda body: body.update(tools=[]), "needs a computer tool"),
    (openai, lambda body: body["tools"].append({"type": "computer"}), "one computer tool"),
    (openai, lambda body: body["tools"][0].update(display_width=1), "Unknown parameter"),
    (openai, lambda body: body["input"][1].pop("actions"), "neither action nor actions"),
    (openai, lambda body: body["input"][1].update(id="fc_1"), "begins with 'cu'"),
    (openai, lambda body: body["input"][1]["actions"][0].pop("x"), "click needs"),
    (openai, lambda body: body["input"][1]["actions"][0].update(type="fly"), "no action"),
    (preview, lambda body: body.pop("truncation"), "truncation must be auto"),
    (preview, lambda body: body["tools"][0].pop("environment"), "fields"),
    (preview, lambda body: body["input"][1].update(actions=[body["input"][1].pop("action")]), "computer_call.action"),
]
ANTHROPIC: list[tuple[Callable[[Json], Any], str, str]] = [
    (lambda _: None, "", "does not match any of the expected tags"),
    (lambda _: None, "computer-use-2025-01-24", "does not match any of the expected tags"),
    (lambda _: None, "computer-use-2025-11-24,other", "Unexpected value"),
    (lambda body: body["tools"][0].pop("display_width_px"), "computer-use-2025-11-24", "Field required"),
    (lambda body: body["tools"][0].update(name="desk"), "computer-use-2025-11-24", "is named computer"),
    (lambda body: body["tools"][0].update(configs={}), "computer-use-2025-11-24", "Extra inputs"),
    (
        lambda body: body["tools"][0].update(type="computer_20250124", enable_zoom=True),
        "computer-use-2025-01-24",
        "Extra inputs",
    ),
    (
        lambda body: body["messages"][1]["content"][0].update(input={}),
        "computer-use-2025-11-24",
        "needs an action",
    ),
]


def test_what_is_whole_is_taken() -> None:
    assert refusal_of("responses", openai()) is None
    assert refusal_of("responses", preview()) is None
    assert refusal_of("messages", anthropic(), {"anthropic-beta": "computer-use-2025-11-24"}) is None


@pytest.mark.parametrize(("whole", "change", "said"), OPENAI)
def test_what_openai_refuses_is_refused(whole: Callable[[], Json], change: Callable[[Json], Any], said: str) -> None:
    body = whole()
    change(body)
    assert said in (refusal_of("responses", body) or "")


@pytest.mark.parametrize(("change", "named", "said"), ANTHROPIC)
def test_what_anthropic_refuses_is_refused(change: Callable[[Json], Any], named: str, said: str) -> None:
    body = anthropic()
    change(body)
    assert said in (refusal_of("messages", body, {"anthropic-beta": named} if named else {}) or "")
