"""What stands between the lines of --- of a `SKILL.md`."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend_api.skills.domain.errors import SkillRefusedError
from backend_api.skills.library.archives import skill_of
from backend_api.skills.library.front_matter import parse_main


def refused(text: str) -> str:
    with pytest.raises(SkillRefusedError) as error:
        skill_of({"SKILL.md": text.encode()})
    return error.value.detail


def test_fields_of_others_are_left_alone_and_a_description_is_one_line() -> None:
    head = "name: a-b\nlicense: MIT\nmetadata: {x: [1]}\ndescription: >\n  One\n  two."
    text = f"\ufeff---\n{head}\n---\nDo.\n---\n".replace("\n", "\r\n")
    assert parse_main(text.encode()) == ("a-b", "One two.", "Do.\n---")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Do.", "must begin with a line of ---"),
        ("---\nname: a\n", "must begin with a line of ---"),
        ("---\n- a\n---\nDo.", "must begin with a line of ---"),
        ("---\nname: [a\ndescription: b\n---\nDo.", "not valid YAML in line"),
        ("---\nname: !!python/object/apply:os.system [id]\ndescription: b\n---\nDo.", "not valid YAML in line 2"),
        ("---\na: &a [x, x]\nb: [*a, *a]\nname: a\ndescription: b\n---\nDo.", "uses an alias"),
        (f"---\nname: {'[' * 16_000}\n---\nDo.", "nested deeper than 20 levels"),
        (f"---\nname: {'- ' * 8_000}\n---\nDo.", "not valid YAML"),
        (f"---\n{'? ' * 8_000}\n---\nDo.", "nested deeper than 20 levels"),
        ('---\nx: !!float ""\nname: a\ndescription: b\n---\nDo.', "not valid YAML"),
        ("---\nx: !!bool perhaps\nname: a\ndescription: b\n---\nDo.", "not valid YAML"),
        ("---\nx: !!timestamp soon\nname: a\ndescription: b\n---\nDo.", "not valid YAML"),
        (f"---\nx: {'1:' * 400}1.5\nname: a\ndescription: b\n---\nDo.", "not valid YAML"),
        (f"---\nname: a\ndescription: b\nx: {'y' * 20_000}\n---\nDo.", "larger than 16 KB"),
        ("---\nname: a\n---\nDo.", "no description"),
        ("---\nname: 12\ndescription: b\n---\nDo.", "no name"),
        ("---\nname: ../a\ndescription: b\n---\nDo.", "small letters"),
        ("---\nname: A\ndescription: b\n---\nDo.", "small letters"),
        (f"---\nname: {'a' * 65}\ndescription: b\n---\nDo.", "small letters"),
        ("---\nname: a--b\ndescription: b\n---\nDo.", "small letters"),
        (f"---\nname: a\ndescription: {'b' * 1025}\n---\nDo.", "one line of at most 1024"),
        ("---\nname: a\ndescription: b\u202ec\n---\nDo.", "U+202E"),
        ("---\nname: a\ndescription: b\n---\nDo\U000e0041.", "U+E0041"),
        ("---\nname: a\ndescription: b\n---\n \n", "has no text"),
        (f"---\nname: a\ndescription: b\n---\n{'x' * 50_001}", "more than 50000"),
        (f"---\nname: a\ndescription: b\n---\n{'x' * 300_000}", "larger than 256 KB"),
    ],
)
def test_what_is_wrong_is_named(text: str, reason: str) -> None:
    assert reason in refused(text)


def test_signs_of_other_scripts_and_emoji_are_taken() -> None:
    text = "\u26a0\ufe0f \u4e2d\u6587 \u0645 \u00e9 \U0001f600"
    assert parse_main(f"---\nname: a\ndescription: {text}\n---\n{text}".encode()) == ("a", text, text)
    skill_of({"SKILL.md": f"---\nname: a\ndescription: {text}\n---\n{text}".encode()})


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(SkillRefusedError, match="not UTF-8 text"):
        parse_main(b"---\nname: \xff\n---\n")


@given(st.text(max_size=300))
def test_whatever_stands_there_is_read_or_refused(head: str) -> None:
    with suppress(SkillRefusedError):
        name, description, _ = parse_main(f"---\n{head}\n---\nDo.".encode("utf-8", "replace"))
        assert name
        assert "\n" not in description
