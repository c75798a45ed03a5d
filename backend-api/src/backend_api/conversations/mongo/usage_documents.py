"""The usage of runs in documents: on the run once it has ended, until then on its session, and in a record of its own
once that is deleted."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pymongo import UpdateOne

from backend_api.agent.events import StoredPayload, Usage, UsageUpdated
from backend_api.agent.usage import costs_of
from backend_api.conversations.domain.entity import Run
from backend_api.kit.mongo.database import Database, Document

SUMMED = ("input", "cached", "output", "thinking", "cache_write")
_BATCH = 100
_ASKED_A_MODEL = r'"by_model": ?\{"'
NOTHING_USED: Document = {"using": "$$REMOVE"}
"""The change of a session whose run ended, which has the usage now."""


def usage_fields(usage: Usage) -> Document:
    """The usage fields of a run that called a model; none if it did not."""
    if not usage.by_model:
        return {}
    costs = costs_of(usage)
    models = [
        {"model": model, **{name: counts.get(name, 0) for name in SUMMED}, **costs[model]}
        for model, counts in usage.by_model.items()
    ]
    counts = {name: getattr(usage, name) for name in SUMMED}
    return {"used": {**counts, "cost": usage.cost, "known_cost": usage.known_cost, "models": models}}


def usage_of(used: Document) -> Usage:
    """The usage that `usage_fields` wrote."""
    models: list[Document] = used["models"]
    return Usage(
        **{name: used[name] for name in SUMMED},
        cost=used["cost"],
        known_cost=used["known_cost"],
        by_model={model["model"]: {name: model[name] for name in SUMMED} for model in models},
        costs={model["model"]: {name: model[name] for name in ("cost", "known_cost")} for model in models},
    )


async def add_used(database: Database, among: Document) -> None:
    """Adds sums of usage to these runs if they have it only as JSON, as earlier versions wrote it."""
    # A run that called no model has no sums in any case.
    wanted: Document = {"usage": {"$regex": _ASKED_A_MODEL}, "used": {"$exists": False}}
    batch: list[UpdateOne] = []
    async for run in database["runs"].find(among | wanted, {"usage": 1}, batch_size=_BATCH):
        # A later change came from this version, which writes the sums itself.
        as_read = {"_id": run["_id"], "usage": run["usage"]}
        batch.append(UpdateOne(as_read, {"$set": usage_fields(Usage(**json.loads(run["usage"])))}))
        if len(batch) == _BATCH:
            await database["runs"].bulk_write(batch, ordered=False)
            batch = []
    if batch:
        await database["runs"].bulk_write(batch, ordered=False)


def using_of(run: Run, payloads: Sequence[StoredPayload]) -> Document:
    """The usage field of the session of an active run, if these events report usage."""
    reported = next((payload.usage for payload in reversed(payloads) if isinstance(payload, UsageUpdated)), None)
    if reported is None or not (used := usage_fields(reported)):
        return {}
    return {"using": {"$literal": {"run_id": run.id, "created_at": run.created_at, **used}}}
