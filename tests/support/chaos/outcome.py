"""A trial from its beginning to its end, and what has come of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import psutil

from support.chaos.sandboxes import sandboxes_of
from support.chaos.settings import crashes, say
from support.chaos.trial import Trial
from support.chaos.verdict import Verdict
from support.fleet import Fleet

_ENDED = {0, -15}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was found once all was over."""

    verdict: Verdict
    generations: dict[str, int]
    left: list[str]
    statuses: dict[str, int]
    crashes: list[str]

    def holds(self) -> None:
        """Nothing was lost, doubled or left, and nobody ended otherwise than asked to."""
        assert self.verdict.wrong == []
        assert self.left == []
        assert set(self.statuses.values()) <= _ENDED, self.statuses
        assert self.crashes == []


async def tried(trial: Trial, go_through: Callable[[], Awaitable[None]]) -> Outcome:
    """People come, go through something, are judged and leave; then all is ended, also where it failed."""
    fleet = trial.fleet
    try:
        await trial.prepare()
        await go_through()
        verdict = await trial.verdict()
        _report(trial, verdict)
        generations = trial.generations()
        await trial.leave()
        ids = trial.sandbox_ids()
        await trial.aclose()
        statuses = await fleet.stop()
        left = [*trial.open_records(), *_services_left(fleet), *sandboxes_of(fleet).left(ids)]
    finally:
        await trial.aclose()
        await fleet.stop()
        sandboxes_of(fleet).end_what_is_left()
    return Outcome(verdict=verdict, generations=generations, left=left, statuses=statuses, crashes=crashes(fleet))


def _report(trial: Trial, verdict: Verdict) -> None:
    say(f"{trial.seconds:.0f} s; answered {verdict.answered} of {verdict.messages} messages")
    say(f"runs {dict(verdict.endings)}, attempts {verdict.attempts}; reasons {dict(verdict.reasons)}")
    say(
        f"calls {dict(verdict.calls)}; {len(trial.readers)} readers, "
        f"{sum(reader.connections for reader in trial.readers)} connections"
    )
    for fault in verdict.wrong[:40]:
        say(f"WRONG {fault}")


def _environ(process: psutil.Process) -> dict[str, str]:
    """Empty where it may not be read."""
    return process.info["environ"] or {}


def _services_left(fleet: Fleet) -> list[str]:
    found = [f"service {member.name}" for member in fleet.services if member.is_alive]
    found += [
        f"process {process.pid} {process.name()}"
        for process in psutil.process_iter(["environ"])
        if _environ(process).get("TMPDIR") == str(fleet.temporary)
        and process.pid not in {fleet["mongod"].pid, fleet["redis"].pid}
    ]
    return found + [f"temporary {one.name}" for one in fleet.temporary.iterdir()]
