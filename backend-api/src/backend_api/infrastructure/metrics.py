"""What Prometheus reads of this process: our measures, and what the client library knows of memory, files and CPU."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest

from backend_api.application.measures import INSTRUMENTS
from contracts.observation.exposition import exposition


class Metrics:
    """Made once a process."""

    def __init__(self) -> None:
        self._process = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._process)

    def text(self) -> bytes:
        return exposition(INSTRUMENTS.all) + generate_latest(self._process)
