"""Heartbeats: those at the same moment, of the runs of one process, are one write and one read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from pymongo import ReturnDocument
from pymongo.asynchronous.collection import AsyncCollection

from backend_api.conversations.domain.entity import InboxMessage, Lease
from backend_api.conversations.domain.errors import LeaseLostError
from backend_api.conversations.mongo.run_documents import messages_from
from backend_api.conversations.mongo.run_queries import leased_run
from backend_api.kit.mongo.database import Document
from backend_api.kit.mongo.transactions import store_errors

_SEEN = {"worker": 1, "fence": 1, "status": 1, "inbox": 1}


class _Beat(NamedTuple):
    lease: Lease
    lease_s: float
    messages: asyncio.Future[Sequence[InboxMessage]]


class Heartbeats:
    """Each lease is renewed by a compare-and-set of its own, even if many go together."""

    def __init__(self, runs: AsyncCollection[Document]) -> None:
        # The driver: many compare-and-sets are sent as one write, every few seconds for each run.
        self._runs = runs
        self._waiting: list[_Beat] = []
        self._beating: set[asyncio.Task[None]] = set()

    async def renew(self, lease: Lease, lease_s: float) -> Sequence[InboxMessage]:
        """Implements `RunLedger.renew`."""
        beat = _Beat(lease, lease_s, asyncio.get_running_loop().create_future())
        self._waiting.append(beat)
        if len(self._waiting) == 1:
            beating = asyncio.create_task(self._renew_waiting())
            self._beating.add(beating)
            beating.add_done_callback(self._beating.discard)
        return await beat.messages

    async def _renew_waiting(self) -> None:
        beats, self._waiting = self._waiting, []
        lease_s = min(beat.lease_s for beat in beats)
        try:
            async with store_errors():
                found = await self._renew([beat.lease for beat in beats], lease_s)
        except Exception as error:  # noqa: BLE001 -- each owner is told what became of its beat
            for beat in beats:
                if not beat.messages.done():
                    beat.messages.set_exception(error)
            return
        for beat in beats:
            if not beat.messages.done():
                _resolve(beat, found.get(beat.lease.run.id))

    async def _renew(self, leases: Sequence[Lease], lease_s: float) -> dict[str, Document]:
        longer = [{"$set": {"lease_expires_at": {"$add": ["$$NOW", round(lease_s * 1000)]}}}]
        if len(leases) == 1:
            run = await self._runs.find_one_and_update(
                leased_run(leases[0]), longer, projection=_SEEN, return_document=ReturnDocument.AFTER
            )
            return {run["_id"]: run} if run else {}
        await self._runs.update_many({"$or": [leased_run(lease) for lease in leases]}, longer)
        # A lease that is valid now was valid when renewed: fences only grow.
        looked = self._runs.find({"_id": {"$in": [lease.run.id for lease in leases]}}, _SEEN)
        return {run["_id"]: run async for run in looked}


def _resolve(beat: _Beat, run: Document | None) -> None:
    if run is not None and leased_run(beat.lease).items() <= run.items():
        beat.messages.set_result(messages_from(run))
    else:
        beat.messages.set_exception(LeaseLostError("The run was taken over after an interruption, or it ended."))
