"""docs/operations.md names every metric there is, with its type and labels, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from backend_api.application import measures as backend
from sandbox_manager.application import measures as manager
from service_kit.observation.instruments import Counter, Histogram, Instrument
from tool_api import measures as tool_api

PAGE = Path(__file__).parents[3] / "docs" / "operations.md"
ROW = re.compile(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([a-z_, ]*?) ?\| .+ \|$", re.MULTILINE)


def kind_of(instrument: Instrument) -> str:
    if isinstance(instrument, Histogram):
        return "histogram"
    return "counter" if isinstance(instrument, Counter) else "gauge"


def test_the_page_and_the_code_name_the_same_metrics() -> None:
    written = {(name, kind, labels) for name, kind, labels in ROW.findall(PAGE.read_text())}
    counted = {
        (one.name, kind_of(one), ", ".join(one.labels))
        for service in (backend, manager, tool_api)
        for one in service.INSTRUMENTS.all
    }
    assert written == counted


def test_names_follow_the_conventions_of_prometheus() -> None:
    for service, prefix in ((backend, "agent_"), (manager, "sandbox_"), (tool_api, "tool_api_")):
        for one in service.INSTRUMENTS.all:
            assert one.name.startswith(prefix)
            assert one.name.endswith("_total") == isinstance(one, Counter)
            assert not isinstance(one, Histogram) or one.name.endswith("_seconds")
