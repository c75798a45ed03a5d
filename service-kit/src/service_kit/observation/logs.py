"""Logs of every service: JSON lines on standard error, with the ids of request, session, run and trace, if any."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime

from service_kit.observation.context import work_fields
from service_kit.observation.spans import current_trace_id

_TALKATIVE = (
    "aiohttp",
    "asyncio",
    "docker",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "opentelemetry",
    "pymongo",
    "saq",
    "urllib3",
    "uvicorn.access",
    # Tells the query of every socket, and a ticket stands there.
    "uvicorn.error",
)
_REPEATING = ("mcp.client", "mcp.shared")
"""Loggers that quote what a server sent, even a secret that it was given."""
# JSON leaves characters unescaped that terminals obey or that deceive the eye: DEL, C1 controls, text directions,
# other line ends, unpaired surrogates.
_ODD = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message", "taskName"}


class JsonLines(logging.Formatter):
    """A formatter of one JSON object a line: time, level, logger, constant message, ids, and the record's extra
    fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= work_fields()
        if (trace_id := current_trace_id()) is not None:
            line["trace_id"] = trace_id
        line |= {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _ODD.sub(_escaped, _ENCODER.encode(line))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def log_json_lines(level: str) -> None:
    """Set up the root logger from this level on; libraries that log too much only from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in _REPEATING:
        logging.getLogger(name).setLevel(logging.CRITICAL)
