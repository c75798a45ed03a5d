"""Names that go out in headers and come in with uploads."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_api.errors import InvalidUploadError
from tool_api.file_names import numbered, safe_name
from tool_api.files.download import disposition
from tool_api.files.listing import language_of


@given(st.text())
def test_a_header_stays_one_line_of_latin_letters(name: str) -> None:
    header = disposition(name)
    assert header.isascii()
    assert header.isprintable()


def test_a_foreign_name_survives_the_header() -> None:
    assert disposition('a"é.txt') == "attachment; filename=\"a__.txt\"; filename*=UTF-8''a%22%C3%A9.txt"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_an_uploaded_name_is_one_safe_path_part_or_refused(given_name: str) -> None:
    try:
        name = safe_name(given_name)
    except InvalidUploadError:
        return
    assert "/" not in name
    assert "\\" not in name
    assert "\0" not in name
    assert name not in ("", ".", "..")
    assert len(name.encode()) <= 255


@given(st.text(alphabet="aé你😀.", max_size=400))
def test_a_name_too_long_loses_the_end_of_its_stem_first(given_name: str) -> None:
    expected = given_name
    while len(expected.encode()) > 255:
        stem, dot, suffix = expected.rpartition(".")
        expected = f"{stem[:-1]}{dot}{suffix}" if stem else expected[:-1]
    if expected in ("", ".", ".."):
        return
    assert safe_name(given_name) == expected


@pytest.mark.parametrize("given_name", ["a" * 16_000 + ".txt", "." + "é" * 8_000, "你" * 5_000])
def test_a_very_long_name_takes_no_time(given_name: str) -> None:
    began = time.process_time()
    for _ in range(100):
        safe_name(given_name)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("given_name", ["", "..", "a/..", "\x00", "C:\\", "/"])
def test_a_name_without_a_name_is_refused(given_name: str) -> None:
    with pytest.raises(InvalidUploadError):
        safe_name(given_name)


def test_a_language_is_told_by_the_name() -> None:
    assert language_of("a.PY") == "python"
    assert language_of("Dockerfile") == "dockerfile"
    assert language_of("a.unknown") is None


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("image.png", "image (2).png"),
        ("notes", "notes (2)"),
        (".env", ".env (2)"),
        (".tar.gz", ".tar (2).gz"),
        ("a.tar.gz", "a (2).tar.gz"),
        ("图片.png", "图片 (2).png"),
        ("a (2).png", "a (2) (2).png"),
        ("x" * 251 + ".png", "x" * 247 + " (2).png"),
        ("图" * 83 + ".png", "图" * 82 + " (2).png"),
        ("a." + "x" * 253, "a." + "x" * 249 + " (2)"),
    ],
)
def test_a_number_stands_before_the_ending_and_always_fits(name: str, second: str) -> None:
    assert numbered(name, 2) == second
    assert len(second.encode()) <= 255
