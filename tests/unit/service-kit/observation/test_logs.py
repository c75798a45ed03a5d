"""What a line of the log holds, in every service."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from service_kit.observation.context import working_for
from service_kit.observation.logs import JsonLines


def line_of(level: int = logging.INFO, *, exc_info: Any = None, **extra: object) -> dict[str, Any]:
    logger = logging.getLogger("suite.part")
    record = logger.makeRecord(logger.name, level, "file.py", 1, "thing %s", ("done",), exc_info, extra=extra)
    text = JsonLines().format(record)
    assert "\n" not in text
    return json.loads(text)


def test_a_line_says_when_where_how_grave_and_what() -> None:
    line = line_of(logging.WARNING)
    assert line.pop("at").endswith("+00:00")
    assert line == {"level": "warning", "logger": "suite.part", "message": "thing done"}


def test_extra_fields_stand_beside_the_message_in_their_own_script() -> None:
    assert line_of(title="工作", path=set())["title"] == "工作"
    assert line_of(path=frozenset({1}))["path"] == "frozenset({1})"


def test_a_line_names_the_work_it_belongs_to() -> None:
    with working_for(request_id="r-1", run_id="run-1"):
        line = line_of()
    assert (line["request_id"], line["run_id"], "session_id" in line) == ("r-1", "run-1", False)
    assert "request_id" not in line_of()


def test_a_failure_is_told_with_its_traceback_in_the_same_line() -> None:
    try:
        raise ValueError("broken\nin two")
    except ValueError:
        line = line_of(logging.ERROR, exc_info=sys.exc_info())
    assert "ValueError: broken\nin two" in line["exception"]
