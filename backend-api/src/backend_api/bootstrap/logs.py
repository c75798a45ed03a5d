"""Logs as JSON lines on stderr, with the ids of request, session, run and trace where there are any."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from contracts.observation.context import work_fields
from contracts.observation.spans import current_trace_id

_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message", "taskName"}
_TALKATIVE = (
    "httpx",
    "httpcore",
    "httpx2",
    "httpcore2",
    "pymongo",
    "urllib3",
    "opentelemetry",
    "uvicorn.access",
    "openai",
    "anthropic",
    "saq",
)


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, event, and the record's extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= work_fields()
        if (trace_id := current_trace_id()) is not None:
            line["trace_id"] = trace_id
        line |= {key: value for key, value in record.__dict__.items() if key not in _STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_logs(level: str) -> None:
    """The root logger, and libraries that talk too much."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
