"""Thinking that a server leaves in the text, between tags."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pytest

from backend_api.agent.events import Usage
from backend_api.agent.model import (
    FinishPart,
    Part,
    TextPart,
    ThinkingPart,
    ThoughtSoFarPart,
    ToolCallPart,
    ToolRequest,
    UsagePart,
)
from backend_api.models.wire.think_tags import ThinkTags

STOP = FinishPart("stop")
CALL = ToolCallPart(ToolRequest(call_id="c", name="look", arguments={}))


def told(parts: Sequence[Part]) -> tuple[str, str]:
    """What is thought and what is said, by who reads these parts."""
    thought, said = "", ""
    for part in parts:
        match part:
            case ThinkingPart():
                thought += part.text
            case TextPart():
                said += part.text
            case ThoughtSoFarPart():
                thought, said = thought + said, ""
            case _:
                pass
    return thought, said


def read(pieces: Sequence[str], *more: Part) -> list[Part]:
    tags = ThinkTags()
    found = [part for piece in pieces for part in tags.parts([TextPart(piece)])]
    return [*found, *tags.parts([*more, STOP], is_end=True)]


def splits(text: str) -> Iterator[list[str]]:
    """In pieces: whole, letter by letter, and cut in two at each place."""
    yield [text]
    yield list(text)
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("<think>Hm.</think>So.", "Hm.", "So."),
        ("\n<think>\nHm.\n</think>\n\nSo.", "\nHm.\n", "So."),
        ("<THINK>Hm.</Think>So.", "Hm.", "So."),
        ("<thinking>Hm.</thinking> So.", "Hm.", "So."),
        ("<thought>Hm.</thought>So.", "Hm.", "So."),
        ("<mm:think>Hm.</mm:think>So.", "Hm.", "So."),
        ("[THINK]Hm.[/THINK]So.", "Hm.", "So."),
        ("◁think▷Hm.◁/think▷So.", "Hm.", "So."),
        ("<think >Hm.</think>So.", "Hm.", "So."),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>So.",
            "Hm.",
            "So.",
        ),
        (
            "<|start|>assistant<|channel|>analysis<|message|>H<|end|>"
            "<|start|>assistant<|channel|>analysis<|message|>m.<|end|><|start|>assistant<|channel|>final<|message|>So.",
            "Hm.",
            "So.",
        ),
        ("<|channel|>final<|message|>So.", "", "So."),
        ("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>So.", "Hm.", "So."),
        ("<think></think>So.", "", "So."),
        ("<think>a < b, <b> and </thin</think>So.", "a < b, <b> and </thin", "So."),
        ("<think>One.</think>\n<think>Two.</think>So.", "One.Two.", "So."),
        ("<think>Cut in the mid", "Cut in the mid", ""),
        ("Hm.\n</think>\n\nSo.", "Hm.\n", "So."),
        ("Hm.</think>So.", "Hm.", "So."),
        ('I decide.\n</think>{"a": 1}', "I decide.\n", '{"a": 1}'),
        ("I call it now.\n</think>", "I call it now.\n", ""),
        ("<think>\u0130stanbul</think>Merhaba", "\u0130stanbul", "Merhaba"),
        ("<THINKING>\u0130\u0130</ThinkinG>So.", "\u0130\u0130", "So."),
    ],
)
def test_thinking_between_tags_is_no_text(text: str, thought: str, said: str) -> None:
    for pieces in splits(text):
        parts = read(pieces)
        assert told(parts) == (thought, said), pieces
        assert parts[-1] == STOP


@pytest.mark.parametrize(
    "text",
    [
        "So.",
        "\n\n",
        "a < b",
        "So.<|end|>",
        "So.<|END_THINKING|>",
        "A model writes <|channel|>analysis<|message|>Hm.<|end|> first.",
        "<|channel|>commentary to=functions.look <|message|>{}",
        "a <",
        "</",
        "<thinker>So.</thinker>",
        "<th\u0131nk>So.</th\u0131nk>",
        "<thought\u017f>So.</thought\u017f>",
        "<thin\u212a>So.",
        " " * 2_000 + "So.",
        "Models write <think>Hm.</think> before they answer.",
        "Write `</think>` at the end.",
        "It ends with </think> and a blank line.",
        'The mark is "</think>", as said.',
        "Look:\n```\n<think>\nHm.\n</think>\n```\nThat is all.",
        "Look:\n```\nHm.\n</think>\n```\nThat is all.",
        "标签「</think>」表示思考结束。",
        "<p>One</p> [a](b) [x]",
    ],
)
def test_a_tag_that_is_written_about_stays_in_the_text(text: str) -> None:
    for pieces in splits(text):
        parts = read(pieces)
        assert told(parts) == ("", text), pieces
        assert not any(isinstance(part, ThoughtSoFarPart) for part in parts)


def test_a_closing_tag_of_what_was_told_as_thinking_is_left_out() -> None:
    tags = ThinkTags()
    parts = [*tags.parts([ThinkingPart("Hm.")]), *tags.parts([TextPart("</think>\n\nSo.")])]
    assert told(parts) == ("Hm.", "So.")
    assert told([*tags.parts([TextPart(" a</think>b")]), *tags.parts([STOP], is_end=True)]) == ("", " a</think>b")


def test_what_may_be_a_tag_comes_before_a_call_and_after_a_usage() -> None:
    tags, usage = ThinkTags(), UsagePart(Usage(input=1))
    assert tags.parts([TextPart("I look </")]) == [TextPart("I look ")]
    assert tags.parts([usage]) == [usage]
    assert tags.parts([CALL, STOP]) == [TextPart("</"), CALL, STOP]


def test_thinking_whose_opening_tag_is_in_the_prompt_may_end_in_a_call() -> None:
    assert told(read(["I look.\n", "</think>"], CALL)) == ("I look.\n", "")


def test_text_without_a_mark_is_the_same_part() -> None:
    tags = ThinkTags()
    assert tags.parts([TextPart("So")]) == [TextPart("So")]
    parts = [TextPart(" it is.")]
    assert tags.parts(parts) is parts


def test_any_number_of_tags_may_come_at_once() -> None:
    began = time.process_time()
    for text, thought in (
        ("<think></think>" * 50_000, ""),
        ("<think>a</think>" * 50_000, "a" * 50_000),
        ("<think>x</think>" + "</think>" * 50_000, "x"),
    ):
        assert told(read([text + "So."])) == (thought, "So.")
    assert time.process_time() - began < 20


def test_white_space_without_an_end_is_not_held() -> None:
    began = time.process_time()
    assert told(read([" "] * 200_000)) == ("", " " * 200_000)
    assert told(read(["<think>x</think>", *[" "] * 200_000, "So."])) == ("x", "So.")
    assert time.process_time() - began < 20
