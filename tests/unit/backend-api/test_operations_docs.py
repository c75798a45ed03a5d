"""docs/operations.md names every metric there is, with its type and labels, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from prometheus_client import Counter, Gauge, Histogram

from backend_api.kit import measures as backend
from sandbox_manager.application import measures as manager
from service_kit.observation.instruments import Labelled
from tool_api import measures as tool_api

PAGE = Path(__file__).parents[3] / "docs" / "operations.md"
ROW = re.compile(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([a-z_, ]*?) ?\| .+ \|$", re.MULTILINE)


def instruments(module: ModuleType) -> list[Counter | Gauge | Histogram]:
    """All that a service counts."""
    plain = [one.instrument if isinstance(one, Labelled) else one for one in vars(module).values()]
    return [one for one in plain if isinstance(one, Counter | Gauge | Histogram)]


def row(instrument: Counter | Gauge | Histogram) -> tuple[str, str, str]:
    """Name, kind and labels as whoever scrapes sees them."""
    (family,) = instrument.describe()
    name = f"{family.name}_total" if family.type == "counter" else family.name
    # Nothing else tells the labels before a first count.
    return name, family.type, ", ".join(instrument._labelnames)


def test_the_page_and_the_code_name_the_same_metrics() -> None:
    written = {(name, kind, labels) for name, kind, labels in ROW.findall(PAGE.read_text())}
    counted = {row(one) for service in (backend, manager, tool_api) for one in instruments(service)}
    assert written == counted


def test_names_follow_the_conventions_of_prometheus() -> None:
    for service, prefix in ((backend, "agent_"), (manager, "sandbox_"), (tool_api, "tool_api_")):
        for one in instruments(service):
            name, kind, _ = row(one)
            assert name.startswith(prefix)
            assert kind != "histogram" or name.endswith("_seconds")
