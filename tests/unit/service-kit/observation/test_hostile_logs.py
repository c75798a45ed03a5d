"""A log line is one line of what can be seen, whatever a client put into it."""

from __future__ import annotations

import json
import logging

import pytest

from service_kit.observation.logs import JsonLines, log_json_lines

HOSTILE = [
    "\r\nfake: line",
    "\x1b[2J\x1b]0;title\x07",
    "\x9b31m",
    "\x7f\x00",
    "\u202egpj.exe",
    "\u2028",
    "\u2066\u200b",
    "\ud800",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_terminal_obeys_is_written_as_its_number(text: str) -> None:
    record = logging.LogRecord("a", logging.INFO, "f", 1, "request %s", (text,), None)
    record.path = text
    line = JsonLines().format(record)
    assert line.isprintable()
    line.encode()
    assert json.loads(line)["path"] == text
    assert json.loads(line)["message"] == f"request {text}"


def test_what_people_write_stays_readable() -> None:
    record = logging.LogRecord("a", logging.INFO, "f", 1, "größer 名 😀 é", (), None)
    assert "größer 名 😀 é" in JsonLines().format(record)


def test_the_server_does_not_tell_the_queries_of_sockets() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    before = logging.getLogger("uvicorn.error").level
    try:
        log_json_lines("INFO")
        assert not logging.getLogger("uvicorn.error").isEnabledFor(logging.INFO)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.getLogger("uvicorn.error").setLevel(before)
