"""Prometheus metrics of this process: our measures, and the client library's of memory, files and CPU."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest

from sandbox_manager.application import measures
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import SandboxRecords

_log = logging.getLogger(__name__)

_LOOK_S = 1.0


class ProcessMetrics:
    """The metrics, made once a process. Registry figures are looked up on each request, for a moment at most."""

    def __init__(self, registry: SandboxRecords) -> None:
        self._registry = registry
        self._process = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._process)

    async def text(self) -> bytes:
        await self._count_sandboxes()
        return generate_latest(measures.REGISTRY) + generate_latest(self._process)

    async def _count_sandboxes(self) -> None:
        """Count the sandboxes; there are no counts while the registry does not answer."""
        measures.SANDBOXES.clear()
        try:
            async with asyncio.timeout(_LOOK_S):
                occupied = await self._registry.find(occupied=True)
        except (TimeoutError, DomainError):
            _log.warning("sandboxes can't be counted")
            return
        for (runtime, status), number in Counter((one.runtime, one.shown.value) for one in occupied).items():
            measures.SANDBOXES.labels(runtime, status).set(number)
