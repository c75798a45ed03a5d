"""A part of a document: what was asked for, within its bound, and where to read on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tool_api.documents.parts import LONGEST_LINE, Asked, RefusedDocumentError, read_part


class Pages:
    unit = "page"
    about = ""

    def __init__(self, *pages: list[str]) -> None:
        self._pages = pages
        self.count = len(pages)
        self.read: list[int] = []

    def mark(self, number: int) -> str:
        return f"--- {number} ---" if self.count > 1 else ""

    def lines(self, number: int) -> Iterator[str]:
        self.read.append(number)
        yield from self._pages[number - 1]


THREE = (["a1", "a2"], ["b1", "b2", "b3"], ["c1"])


def test_every_page_stands_below_its_mark() -> None:
    assert read_part(Pages(*THREE), Asked()).split("\n") == (
        ["--- 1 ---", "a1", "a2", "--- 2 ---", "b1", "b2", "b3", "--- 3 ---", "c1"]
    )


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (Asked(start_page=3), "--- 3 ---\nc1"),
        (Asked(start_page=1, end_page=1), "--- 1 ---\na1\na2"),
        (Asked(start_page=3, end_page=9), "--- 3 ---\nc1"),
        (Asked(start_page=2, start_line=2, end_line=2), "--- 2 ---\nb2"),
        (Asked(start_page=2, start_line=3), "--- 2 ---\nb3\n--- 3 ---\nc1"),
        (Asked(start_page=1, end_page=2, start_line=2, end_line=1), "--- 1 ---\na2\n--- 2 ---\nb1"),
    ],
)
def test_pages_and_lines_of_them_are_asked_for(asked: Asked, text: str) -> None:
    assert read_part(Pages(*THREE), asked) == text


@pytest.mark.parametrize("asked", [Asked(start_page=4), Asked(start_page=2, start_line=4), Asked(start_line=9)])
def test_what_is_not_there_is_said(asked: Asked) -> None:
    with pytest.raises(RefusedDocumentError, match=r"3 pages|fewer than"):
        read_part(Pages(*THREE), asked)


def test_reading_on_by_what_is_said_gives_all_of_it_once() -> None:
    pages = Pages(*([f"{page}.{line} " + "x" * 40 for line in range(7)] for page in range(5)))
    lines: list[str] = []
    place = {"start_page": 1, "start_line": 1}
    for _ in range(100):
        part = read_part(pages, Asked(**place, characters=150)).split("\n")
        assert len("\n".join(part)) < 250
        lines += [line for line in part if line[0].isdigit()]
        if not part[-1].startswith("[cut"):
            break
        named = part[-1].removeprefix("[cut; read on with ").removesuffix("]").split(", ")
        place = {
            "start_page": 1,
            "start_line": 1,
            **{name: int(value) for name, value in (n.split("=") for n in named)},
        }
    assert [line.split()[0] for line in lines] == [f"{page}.{line}" for page in range(5) for line in range(7)]


def test_pages_after_the_bound_are_not_taken_apart() -> None:
    pages = Pages(*(["x" * 90] for _ in range(50)))
    read_part(pages, Asked(characters=300))
    assert len(pages.read) < 5


def test_a_line_longer_than_the_bound_is_several() -> None:
    part = read_part(Pages(["x" * (3 * LONGEST_LINE)]), Asked(characters=LONGEST_LINE + 10))
    assert part == "x" * LONGEST_LINE + "\n[cut; read on with start_line=2]"
