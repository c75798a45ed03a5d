"""Calls that a model wrote into its text are told from what an answer quotes."""

from __future__ import annotations

import time

import pytest

from backend_api.agent.calls_in_text import has_call_in_text

TOOLS = ("look", "shell_exec")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
        'I look first.\n\n<tool_call>{"name": "look"',
        "<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
        "<tool_call>\n<function=look>\n</function>\n</tool_call>",
        '<|tool_call|>[{"name": "look"}]',
        '<|tool_call>call:look{at:"1"}<tool_call|>',
        '[TOOL_CALLS] [{"name": "look", "arguments": {}}]',
        '[TOOL_CALLS]look{"at": 1}',
        '<function=look>{"at": 1}</function>',
        '<function_call> {"name": "look"}',
        '<invoke name="look">',
        '<minimax:tool_call>\n<invoke name="look">',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0",
        '<|python_tag|>{"name": "look", "parameters": {}}',
        "<|channel|>commentary to=functions.look <|message|>{}",
        "<|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}<|call|>",
        "<|start|>assistant to=functions.look<|channel|>commentary json<|message|>{}",
        "<|tool_call_start|>[look()]<|tool_call_end|>",
        "I look.\n```tool_code\nprint(default_api.look(at=1))\n```",
        "```tool_code\nlook()\n```",
        '{"tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]}',
        'I look. <tool_call>{"name":"look","arguments":{}}</tool_call>',
        'functools[{"name": "look", "arguments": {}}]',
        '{"name": "look", "parameters": {"at": 1}}',
        '```json\n{"name": "shell_exec", "arguments": {"command": "ls"}}\n```',
        '\n``` tool_code \n\n{"name": "look", "arguments": {}}\n\n```\n',
        '[{"name": "look", "arguments": {}}, {"name": "look", "arguments": "{}"}]',
    ],
)
def test_a_call_that_is_written_as_text_is_known(text: str) -> None:
    assert has_call_in_text(text, TOOLS)
    assert not has_call_in_text(text, ()), "nothing was offered"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "So.",
        "Qwen writes `<tool_call>` around each call.",
        'As here:\n```\n<tool_call>\n{"name": "look"}\n</tool_call>\n```\nThat is all.',
        'As here:\n~~~xml\n<invoke name="look">\n~~~',
        "Templates use <tool_call>{...}</tool_call> for that.",
        '{"name": "Ada", "arguments": {}}',
        '{"name": "look", "age": 3}',
        '{"look": 1',
        "```",
        "```\n```",
        '```python\n{"name": "look", "arguments": {}}\n```',
        "```tool_code\nprint(1)\n```",
        '{"tool_calls": []}',
        '{"tool_calls": [{"function": {"name": "other", "arguments": "{}"}}]}',
        'Qwen writes `<tool_call>{"name": "look", "arguments": {}}</tool_call>` for that.',
        'As here:\n```\nI look. <tool_call>{"name": "look"}\n```\nThat is all.',
        'Others write <tool_call>{"name": "other"}</tool_call>.',
        "[1, 2]",
        "[]",
        "{" * 50_000,
        "<tool_call> is a tag.\n<function> is another.",
    ],
)
def test_what_an_answer_says_of_calls_is_none(text: str) -> None:
    assert not has_call_in_text(text, TOOLS)


def test_a_long_text_takes_no_long_look() -> None:
    began = time.process_time()
    for text in (
        "`" * 90_000,
        "```\n" * 20_000,
        "\n" * 90_000,
        "<tool_call>" * 9_000,
        " " * 90_000,
        "<tool_call>" + " " * 90_000,
    ):
        has_call_in_text(text, TOOLS)
    assert time.process_time() - began < 2


def test_a_fence_that_is_not_closed_takes_no_long_look() -> None:
    began = time.process_time()
    for text in ("```" + "\n" * 90_000 + "x", "```" + " \n" * 45_000 + "```x", "```json" + "\n```" * 20_000 + "x"):
        assert not has_call_in_text(text, TOOLS)
    assert time.process_time() - began < 5
