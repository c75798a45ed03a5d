"""The runs of sessions and what they wait for, as a module of the gateway. The agent is `agent_module.py`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.conversations.application.delete_session import DeleteSession
from backend_api.conversations.application.finish_deletions import FinishDeletions
from backend_api.conversations.mongo.deletions import MongoDeletions
from backend_api.conversations.ports import SessionRepository, SessionStream
from backend_api.identity.application.limits import Limits, Quotas
from backend_api.kit.mongo.database import Database
from backend_api.kit.notifier import Notifier
from backend_api.module import Module, Parts
from backend_api.runs.application.expire_waits import ExpireWaits
from backend_api.runs.mongo.run_ledger import MongoRunLedger
from backend_api.runs.mongo.run_waits import MongoWaits
from backend_api.sandboxes.ports import Sandboxes


@asynccontextmanager
async def open_runs(
    *,
    database: Database,
    notifier: Notifier,
    limits: Limits,
    quotas: Quotas,
    sessions: SessionRepository,
    stream: SessionStream,
    sandboxes: Sandboxes,
) -> AsyncGenerator[Parts]:
    """Open the runs. Ports: `ledger`, `waits`, and `delete_session`, which ends running work; its tasks end waits in
    time, and deletions that a process left unfinished."""
    ledger = MongoRunLedger(database, runs_per_user=quotas.runs, max_waiting=limits.waiting_messages)
    waits = MongoWaits(database)
    yield Parts(
        ports={
            "ledger": ledger,
            "waits": waits,
            "delete_session": DeleteSession(sessions, ledger, notifier, sandboxes),
        },
        tasks={
            "deletions": FinishDeletions(MongoDeletions(), sandboxes).delete_until_cancelled,
            "waits": ExpireWaits(waits=waits, stream=stream, notifier=notifier).expire_until_cancelled,
        },
    )


RUNS = Module(name="runs", description="The runs of sessions, and what they wait for.", open=open_runs)
