"""What is kept of a terminal's output."""

from __future__ import annotations

from tool_api.terminals.backlog import Backlog


def test_all_is_kept_while_it_is_short():
    backlog = Backlog(100)
    backlog.append(b"one\ntwo\n")
    assert (backlog.start, backlog.end, backlog.read(4, 10)) == (0, 8, b"two\n")


def test_what_is_dropped_ends_at_a_line():
    backlog = Backlog(100)
    for number in range(1000):
        backlog.append(b"line %d\n" % number)
    kept = backlog.read(backlog.start, 10_000)
    assert kept.startswith(b"line ")
    assert kept.endswith(b"line 999\n")
    assert len(kept) <= 200


def test_a_flood_is_bounded():
    backlog = Backlog(1000)
    for _ in range(1000):
        backlog.append(b"y\n" * 500)
    assert backlog.end - backlog.start <= 2000
    assert backlog.end == 1_000_000


def test_modes_that_were_switched_on_before_are_switched_on_again():
    backlog = Backlog(100)
    backlog.append(b"\x1b[?1049h\x1b[?1h\x1b[?25l\x1b[?7h" + b"text\n" * 100)
    assert backlog.modes() == "\x1b[?1h\x1b[?1049h\x1b[?25l"
    backlog.append(b"\x1b[?1049;1l\x1b[?25h" + b"text\n" * 100)
    assert backlog.modes() == ""
