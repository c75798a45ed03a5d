"""What a terminal shows at the end of what was written to it."""

from __future__ import annotations

import random
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_kit.terminal.grid import COLUMNS, ROWS
from service_kit.terminal.screen import TerminalScreen, screen_text

CSI = "\x1b["
LIMIT = 1_000_000
SMALL = 60_000


def fed(text: str, size: int) -> TerminalScreen:
    screen = TerminalScreen(LIMIT)
    for at in range(0, len(text), size):
        screen.feed(text[at : at + size])
    return screen


SHOWN = [
    pytest.param("  1 %\r 50 %\r100 %\nnext", "100 %\nnext", id="a line written over"),
    pytest.param("downloading\rok", "okwnloading", id="a shorter text over a longer one"),
    pytest.param(f"downloading\r{CSI}Kok", "ok", id="erased to its end"),
    pytest.param("abc\b\bX", "aXc", id="backspace"),
    pytest.param("N\bNA\bAM\bM", "NAM", id="bold by overstriking"),
    pytest.param("a\r\nb\r\r\n", "a\nb\n", id="carriage returns before line breaks"),
    pytest.param("100 %\r", "100 %", id="a carriage return at the end"),
    pytest.param("done   \r", "done   ", id="spaces nobody wrote over anything with"),
    pytest.param(f"bar one\rfoo{CSI}Cx", "foo xne", id="partly over"),
    pytest.param(f"12345\r{' ' * 5}\r", "", id="cleared by spaces"),
    pytest.param(f"one\ntwo\n{CSI}2A{CSI}2Kone: done\n{CSI}2Ktwo: done\n", "one: done\ntwo: done\n", id="two lines"),
    pytest.param(f"a\nb\n{CSI}1Fc", "a\nc", id="line before"),
    pytest.param(f"a\nb\n{CSI}2A{CSI}Ex", "a\nx", id="line after"),
    pytest.param(f"a\nb\nc{CSI}3;2HX{CSI}1;1HY", "Y\nb\ncX", id="by row and column"),
    pytest.param(f"abc{CSI}2GX", "aXc", id="by column"),
    pytest.param(f"one\ntwo\nthree\n{CSI}2A{CSI}Jend", "one\nend", id="erased below"),
    pytest.param(f"one\ntwo{CSI}1Jx", "\n   x", id="erased above"),
    pytest.param(f"one\ntwo\n{CSI}H{CSI}2Jnow", "now", id="cleared"),
    pytest.param(f"{CSI}1;31mred{CSI}0m {CSI}38;5;9mtoo{CSI}m", "red too", id="colours"),
    pytest.param("\x1b]0;a title\x07text", "text", id="title"),
    pytest.param("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", id="link"),
    pytest.param("a\x1b]0;never ended\nb", "a\nb", id="a title without an end"),
    pytest.param("a\x1bPq#0;2;0\x1b\\b", "ab", id="picture"),
    pytest.param("\x1b(B\x1b)0text\x1b=\x1b>", "text", id="character sets and keypads"),
    pytest.param(f"a{CSI}?25l{CSI}6n{CSI}?2004hb{CSI}?25h", "ab", id="modes and questions"),
    pytest.param("ding\x07dong", "dingdong", id="bell"),
    pytest.param(f"a{CSI}shidden{CSI}u{CSI}Kb", "ab", id="saved cursor"),
    pytest.param("a\x1b7hidden\x1b8X", "aXidden", id="saved cursor of old"),
    pytest.param(f"abcd\r{CSI}2P{CSI}1@{CSI}1C{CSI}1X", "  d", id="characters moved"),
    pytest.param(f"a\nb\nc{CSI}2A\r{CSI}Lnew", "new\na\nb\nc", id="line inserted"),
    pytest.param(f"a\nb\nc{CSI}2A\r{CSI}M", "b\nc", id="line deleted"),
    pytest.param(f"-{CSI}4b|", "-----|", id="repeated"),
    pytest.param("你好\rX", "X 好", id="half of a wide character"),
    pytest.param("进度 1%\r进度 100%", "进度 100%", id="wide characters over the same"),
    pytest.param(f"你好{CSI}2DX", "你X", id="a wide character back"),
    pytest.param("e\u0301a\b\bo", "oa", id="a combining mark"),
    pytest.param("a\tb\rXY", "XY      b", id="a part of a tab"),
    pytest.param("name\tsize\r\nx\t1\r\n", "name\tsize\nx\t1\n", id="tabs"),
    pytest.param("\rname\tsize", "name\tsize", id="tabs in a line written anew"),
    pytest.param(f"before {CSI}?1049h{CSI}2J{CSI}Heditor{CSI}?1049lafter", "before after", id="left full screen"),
    pytest.param(f"before\n{CSI}?1049h{CSI}2J{CSI}2;3Hpage", "before\n\n  page", id="full screen at the end"),
    pytest.param(f"a{CSI}5Bx", "a" + "\n" * 5 + " x", id="down below what is written"),
    pytest.param(f"a{CSI}999999999Bx", "a" + "\n" * (ROWS - 1) + " x", id="down without end"),
    pytest.param(f"a{CSI}{'9' * 300}Ab", "ab", id="up without end"),
    pytest.param("a\ufffd\x00b\rc", "c\ufffd\x00b", id="what is no text"),
]


@pytest.mark.parametrize(("written", "shown"), SHOWN)
def test_what_was_drawn_is_shown_as_it_ended(written: str, shown: str) -> None:
    for size in (1, 2, 3, 1000):
        screen = fed(written, size)
        assert screen.text() == shown
        assert screen.raw == written


def test_two_thousand_redraws_of_a_bar_are_one_line() -> None:
    bars = "".join(
        f"\rprogress {done}\n{CSI}1A{CSI}2K\r{CSI}32m[{'#' * (done // 50):40}] {done}{CSI}0m" for done in range(2001)
    )
    screen = fed(f"start\n{bars}\nend\n", 1000)
    assert screen.text() == f"start\n[{'#' * 40}] 2000\nend\n"
    assert screen.raw == f"start\n{bars}\nend\n"


def test_layers_more_than_a_screen_has_rows_are_drawn_in_their_places() -> None:
    count = ROWS + 20
    layers = "".join(f"layer {number}: waiting\n" for number in range(count))
    for number in range(count):
        layers += f"{CSI}{count - number}A{CSI}2K\rlayer {number}: done{CSI}{count - number}B\r"
    assert screen_text(layers) == "".join(f"layer {number}: done\n" for number in range(count))


def test_nested_bars_end_as_they_were_left() -> None:
    text = ""
    for outer in range(3):
        text += f"\router {outer}/2\n"
        for inner in range(5):
            text += f"\r  inner {inner}/4"
        text += f"\r{CSI}K{CSI}A"
    assert screen_text(f"{text}\n\n") == "outer 2/2\n\n"


def test_a_bar_in_a_row_that_is_not_scrolled_stays_below() -> None:
    lines = "".join(f"unpacking {number}\n" for number in range(100))
    bar = f"\x1b7{CSI}{ROWS};1H{CSI}KProgress: 99 %\x1b8"
    text = f"{CSI}1;{ROWS - 1}r{CSI}1;1H{lines}{bar}"
    assert screen_text(text) == lines + "\nProgress: 99 %"


@given(
    st.text(alphabet=st.characters(exclude_characters="\x07\x08\r\x1b", exclude_categories=["Cs"])), st.integers(1, 9)
)
def test_plain_text_stays_as_it_is(text: str, size: int) -> None:
    screen = fed(text, size)
    assert screen.text() == text
    assert screen.raw is None


@pytest.mark.parametrize("start", ["", f"{CSI}31mred{CSI}0m\r\n", "1 %\r2 %\n"])
def test_long_lines_are_neither_cut_nor_wrapped(start: str) -> None:
    text = "word " * 20_000 + "\n" + "x" * 50_000
    assert fed(start + text, 4096).text() == screen_text(start) + text


@given(st.text(alphabet="ab你\u0301\t\n\r\b\x1b[]0123456789;?ABCDGHJKLMPSTXhlr@78", max_size=200), st.integers(1, 5))
def test_whatever_is_written_is_shown_alike_however_it_is_cut(text: str, size: int) -> None:
    assert fed(text, size).text() == fed(text, max(1, len(text))).text()


@pytest.mark.parametrize(
    "text",
    [
        "a plain line of a log\n" * 1_000_000,
        pytest.param("x" * 30_000_000, marks=pytest.mark.thorough),
        "\r" + "x" * 10_000_000,
        pytest.param(f"a\nb{CSI}A\r" + "x" * 10_000_000, marks=pytest.mark.thorough),
        f"{CSI}999999999B{CSI}999999999Cx" * 20_000,
        pytest.param(f"{CSI}9999L{CSI}9999Sx" * 1_000, marks=pytest.mark.thorough),
        "\x1b]" + "x" * 10_000_000,
        pytest.param(f"{CSI}{'1' * 1_000_000}m", marks=pytest.mark.thorough),
        pytest.param("x" * 50_000 + "\bX" * 100_000, marks=pytest.mark.thorough),
        pytest.param("a\r" + "\u0301" * 1_000_000, marks=pytest.mark.thorough),
    ],
    ids=["lines", "line", "drawn line", "line above", "moves", "scrolls", "string", "number", "backspaces", "marks"],
)
def test_memory_and_time_are_bounded_whatever_is_written(text: str) -> None:
    screen, started = TerminalScreen(LIMIT), time.process_time()
    tracemalloc.start()
    try:
        for at in range(0, len(text), 65_536):
            screen.feed(text[at : at + 65_536])
        shown = screen.text()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(shown) <= LIMIT + 100
    assert most < 30_000_000
    assert time.process_time() - started < 30


@pytest.mark.parametrize(
    "text",
    [
        "中" * 20_000 + f"{CSI}C" * 60_000,
        pytest.param(("中" * 1_900 + "\n") * 2 + f"{CSI}A{CSI}B" * 30_000, marks=pytest.mark.thorough),
        pytest.param("x" * 4_000 + f"\b{CSI}1Kx" * 20_000, marks=pytest.mark.thorough),
        f"中\r{CSI}999b" * 10_000,
        pytest.param(f"{CSI}?1049h中" + f"{CSI}999b" * 10_000, marks=pytest.mark.thorough),
        pytest.param(f"{CSI}40S" * 20_000, marks=pytest.mark.thorough),
        "\x1b" + "\r" * 1_000_000 + "x",
        pytest.param(f"{CSI}?1049h" + "中" * 1_000_000, marks=pytest.mark.thorough),
    ],
    ids=["moves", "up and down", "erased", "repeated", "repeated on a screen", "scrolled", "returns", "wrapped"],
)
def test_no_sequence_takes_the_longer_the_more_was_written_before_it(text: str) -> None:
    started = time.process_time()
    screen_text(text)
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "text",
    [
        ("a" * 10_000 + f"{CSI}C") * 1_000 + "\rx",
        pytest.param(f"{CSI}99999Gx\n" * 1_500, marks=pytest.mark.thorough),
        pytest.param(f"{CSI}99999;99999Hx\n" * 1_500, marks=pytest.mark.thorough),
        "\n" * 999 + "x" * 4_000 + f"{CSI}Ax" * 1_000,
        pytest.param("\n" * 999 + f"{CSI}A\rx\r{f'{CSI}160@' * 25}" * 999, marks=pytest.mark.thorough),
        pytest.param(
            "\n" * 999 + f"{CSI}A\r{'中' * 1_900}" * 90 + f"{CSI}999B" + f"{CSI}A\r{'中' * 1_900}" * 90,
            marks=pytest.mark.thorough,
        ),
        f"\r{('中' + chr(0x301) * 31) * 100}\n" * 200,
        pytest.param(("\t" * 500 + "\n") * 500 + f"{CSI}A{CSI}1@" * 999, marks=pytest.mark.thorough),
    ],
    ids=["growing", "far", "far and low", "columns above", "inserted", "upwards", "marks", "tabs"],
)
def test_no_sequence_takes_more_memory_than_a_screen(text: str) -> None:
    screen = TerminalScreen(SMALL)
    tracemalloc.start()
    try:
        for at in range(0, len(text), 16_384):
            screen.feed(text[at : at + 16_384])
        shown = screen.text()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(shown) <= SMALL + 100
    assert most < 20_000_000


def test_what_is_written_over_beyond_the_end_of_a_line_is_kept() -> None:
    text = "x" * 50_000
    assert screen_text(f"1 %\r{text}") == text
    assert screen_text(f"1 %\nnext{CSI}A\r{text}") == f"{text}\nnext"


def test_of_a_long_line_its_end_can_be_written_over() -> None:
    assert screen_text("x" * 50_000 + "\b\bY") == "x" * 49_998 + "Yx"


def test_a_column_is_one_of_the_screen_or_of_the_line() -> None:
    assert screen_text(f"{CSI}99999Gx") == " " * (COLUMNS - 1) + "x"
    assert screen_text("a" * 300 + f"\r{CSI}299Gx") == "a" * 298 + "xa"


def test_lines_that_were_not_looked_at_yet_are_told_also_where_they_are_many() -> None:
    text = "".join(f"line {number}\n" for number in range(1_500))
    assert screen_text(f"{CSI}32mok{CSI}0m\n{text}") == f"ok\n{text}"
    screen = TerminalScreen(LIMIT)
    screen.feed(text)
    screen.feed("\r")
    assert (screen.text(), screen.raw) == (text, text + "\r")


def test_many_carriage_returns_are_one() -> None:
    screen = TerminalScreen(LIMIT)
    screen.feed("a" + "\r" * 5_000)
    screen.feed("b\nc" + "\r" * 5_000)
    screen.feed("\nd")
    assert screen.text() == "b\nc\nd"


@pytest.mark.parametrize("size", [1, 3, 5_000, 20_000])
def test_a_string_longer_than_what_is_held_ends_where_it_ends(size: int) -> None:
    assert fed(f"a\x1b]{'x' * 9_998}\x1b\\b\x1b]\rtitle\x07c\n", size).text() == "abc\n"


def _nested_bars(chance: random.Random) -> tuple[str, str]:
    """As tqdm draws them: the inner one below the outer, and cleared at its end."""
    drawn, name = "", chance.choice(["进度", "épochs", "train"])
    for outer in range(chance.randint(1, 4)):
        drawn += f"\r{name} {outer}|{'█' * outer}▏"
        inner = (f"\n\r  batch {step}|{'#' * step}{CSI}A" for step in range(chance.randint(1, 9)))
        drawn += "".join(inner) + f"\n\r{CSI}K{CSI}A"
    return drawn + f"\r{CSI}2K{name} done\n", f"{name} done\n"


def _spinner(chance: random.Random) -> tuple[str, str]:
    """As npm draws it."""
    count = chance.randint(1, 9)
    drawn = "".join(f"{chance.choice('⠋⠙⠹⠸')} loading {'包' * step}{CSI}1G{CSI}0K" for step in range(count))
    return drawn + f"\nadded {count} packages\r\n", f"\nadded {count} packages\n"


def _layers(chance: random.Random) -> tuple[str, str]:
    """As docker pull draws them."""
    count = chance.randint(1, 60)
    drawn = "".join(f"{layer:012x}: Waiting\n" for layer in range(count))
    for step in range(chance.randint(0, 60)):
        row = chance.randint(1, count)
        drawn += f"{CSI}{row}A{CSI}2K\r{count - row:012x}: Downloading [{'=' * (step % 30)}>]{CSI}{row}B\r"
    for row in chance.sample(range(1, count + 1), count):
        drawn += f"{CSI}{row}A{CSI}2K\r{count - row:012x}: Pull complete{CSI}{row}B\r"
    return drawn, "".join(f"{layer:012x}: Pull complete\n" for layer in range(count))


def _coloured_names(chance: random.Random) -> tuple[str, str]:
    """As ls writes them."""
    names = [chance.choice(["src", "进度.txt", "naïve", "a b", "e\u0301"]) for _ in range(chance.randint(1, 40))]
    drawn = "  ".join(f"{CSI}0m{CSI}01;34m{name}{CSI}0m" for name in names)
    return drawn + "\r\n", "  ".join(names) + "\n"


def _log(chance: random.Random) -> tuple[str, str]:
    lines = "".join(f"{number}\t{' word' * chance.randint(0, 60)}\n" for number in range(chance.choice([3, 30, 1_200])))
    return lines, lines


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(one, marks=pytest.mark.thorough) for one in range(5, 20))])
def test_what_programs_usually_write_is_shown_as_it_was_left(seed: int) -> None:
    chance = random.Random(seed)
    made = [chance.choice([_nested_bars, _spinner, _layers, _coloured_names, _log])(chance) for _ in range(6)]
    written, shown = "".join(one for one, _ in made), "".join(one for _, one in made)
    assert screen_text(written) == shown
    assert fed(written, chance.randint(1, 300)).text() == shown


def test_what_is_too_long_keeps_its_beginning_and_its_end() -> None:
    lines = "".join(f"{CSI}32mline {number}{CSI}0m\n" for number in range(200_000))
    shown = fed(lines, 65_536).text()
    assert shown.startswith("line 0\nline 1\n")
    assert shown.endswith("line 199999\n")
    assert "characters left out" in shown
