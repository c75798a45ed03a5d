"""The metrics of this process for Prometheus: our own, and the client library's for memory, files and CPU."""

from __future__ import annotations

import asyncio
import logging
import math

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from pymongo.errors import PyMongoError

from backend_api.kit import measures
from backend_api.kit.mongo.database import Database

logger = logging.getLogger(__name__)

LOOK_S = 1.0


class ProcessMetrics:
    """Created once for each process. Values from the store are read at each request, with a short timeout."""

    def __init__(self, database: Database) -> None:
        self._runs = database["runs"]
        self._process = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._process)

    async def text(self) -> bytes:
        measures.QUEUE_DEPTH.set(await self._waiting())
        return generate_latest(measures.REGISTRY) + generate_latest(self._process)

    async def _waiting(self) -> float:
        """The number of waiting runs, or NaN if the store does not answer."""
        try:
            async with asyncio.timeout(LOOK_S):
                return await self._runs.count_documents({"status": "queued"})
        except (TimeoutError, PyMongoError):
            logger.warning("waiting runs can't be counted")
            return math.nan
