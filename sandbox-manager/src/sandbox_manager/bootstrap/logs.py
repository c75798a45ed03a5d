"""JSON lines on standard error."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from contracts.observation.context import work_fields
from contracts.observation.spans import current_trace_id

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "color_message", "taskName"}


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, ids of request, session, run and trace, and the fields given as
    `extra`."""

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
        line |= {name: value for name, value in record.__dict__.items() if name not in _OWN}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def set_up_logs(level: str) -> None:
    """The root logger writes JSON lines; chatty libraries only their warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("pymongo", "opentelemetry", "urllib3", "docker", "asyncio", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.WARNING)
