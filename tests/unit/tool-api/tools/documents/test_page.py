"""The page that is printed."""

from __future__ import annotations

import pytest

from tool_api.tools.documents.page import page_of, with_pictures

MARK = "0123"


def test_pictures_come_into_the_place_of_their_marks() -> None:
    content = f'<p><img src="{MARK}:0" alt="a"> <img width=9 src="{MARK}:1" alt="b &quot;c"></p>'
    assert with_pictures(content, MARK, ["data:x", ""]) == (
        '<p><img src="data:x" alt="a"> <span class="left-out">b &quot;c</span></p>'
    )


def test_a_mark_that_somebody_guessed_is_none() -> None:
    content = f'<img src="{MARK}:7"><img src="9999:0" alt="x">'
    assert with_pictures(content, MARK, ["data:x"]) == '<span class="left-out">picture</span><img src="9999:0" alt="x">'


@pytest.mark.timeout(10)
def test_tags_that_never_end_take_no_time() -> None:
    content = ("<img" + "x" * 30) * 60_000
    assert with_pictures(content, MARK, ["data:x"]) == content
    marked = f'{content}><IMG alt="a" src="{MARK}:0">'
    assert with_pictures(marked, MARK, ["data:x"]) == f'{content}><IMG alt="a" src="data:x">'


@pytest.mark.parametrize(
    ("text", "language"), [("plain", "en"), ("比较", "zh-CN"), ("漢字とかな", "ja"), ("한국어", "ko")]
)
def test_the_language_of_the_text_chooses_its_fonts(text: str, language: str) -> None:
    assert f'<html lang="{language}">' in page_of(title="t", content="", text=text, landscape=False)


def test_a_title_is_text_and_pages_may_lie_on_their_side() -> None:
    page = page_of(title="</title><script>", content="", text="", landscape=True)
    assert "&lt;/title&gt;&lt;script&gt;" in page
    assert "A4 landscape" in page
