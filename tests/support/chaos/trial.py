"""One trial: people give tasks, readers follow, something breaks meanwhile, and all of it is judged at the end."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import pymongo

from support.api_client import register
from support.chaos.person import Gateways, Person
from support.chaos.reader import Reader
from support.chaos.sandboxes import sandboxes_of
from support.chaos.verdict import Evidence, Verdict
from support.fleet import Fleet
from support.tls import NO_TLS

READERS = 3
WORK_S = 1500.0
"""Within which all tasks must be done, on a machine many times slower than any seen."""
SWEEP_S = 60.0
SETTLE_S = 180.0
"""Within which every run must be in an end state once nothing breaks any more."""


@dataclass(slots=True, kw_only=True)
class Trial:
    """`begin`, and `until_done` everybody is served; then `verdict`."""

    fleet: Fleet
    chance: random.Random
    users: int = 2
    sessions: int = 12
    tasks: int = 200
    people: list[Person] = field(default_factory=list[Person])
    readers: list[Reader] = field(default_factory=list[Reader])
    statuses: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0
    _tokens: list[str] = field(default_factory=list[str])
    _http: httpx.AsyncClient = field(
        default_factory=lambda: httpx.AsyncClient(trust_env=False, timeout=15.0, verify=NO_TLS)
    )
    _beside: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    _work: asyncio.Task[None] | None = None

    @property
    def share_done(self) -> float:
        """How much of the work has been accepted so far."""
        return (sum(len(person.sent) for person in self.people) - len(self.people)) / self.tasks

    async def prepare(self) -> None:
        """Accounts, sessions and readers."""
        for number in range(self.users):
            client = await register(self.chance.choice(self.fleet.urls), f"person{number}")
            self._tokens.append(str(client.token))
            await client.http.aclose()
        names = [f"t{number}" for number in range(1, self.tasks + 1)]
        for number in range(self.sessions):
            gateways = self._gateways(self._tokens[number % self.users])
            session = (await gateways.call("POST", "/sessions", json={})).json()["id"]
            readers = [
                Reader(session_id=session, urls=self.fleet.urls, token=gateways.token, chance=self._chance())
                for _ in range(READERS)
            ]
            self.readers += readers
            own = names[number :: self.sessions]
            person = Person(session_id=session, gateways=gateways, readers=readers, chance=self._chance(), tasks=own)
            self.people.append(person)
        for reader in self.readers:
            self.beside(reader.run())
        # Each has a computer before anything breaks; from then on it may lose it.
        async with asyncio.TaskGroup() as group:
            for number, person in enumerate(self.people):
                group.create_task(person.say_first(f"t{self.tasks + number + 1}"))

    def beside(self, what: Coroutine[Any, Any, None]) -> None:
        """Goes on beside the trial until it is closed."""
        self._beside.append(asyncio.create_task(what))

    def begin(self) -> None:
        """Every task is given and its run seen to its end."""
        self._work = asyncio.create_task(self._run_all())

    async def until_share(self, share: float) -> None:
        """Wait until a share of the work is done. Raises at once what ended the work before."""
        assert self._work is not None
        async with asyncio.timeout(WORK_S):
            while self.share_done < share:
                await asyncio.wait({self._work}, timeout=0.05)
                if self._work.done():
                    self._work.result()
                    assert self.share_done >= share, f"the work ended at {self.share_done:.0%}"

    async def until_done(self) -> None:
        """Wait until the work is."""
        assert self._work is not None
        async with asyncio.timeout(WORK_S):
            await self._work

    async def _run_all(self) -> None:
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for person in self.people:
                group.create_task(person.run())
        self.seconds = time.monotonic() - began

    async def verdict(self) -> Verdict:
        """Wait until all is at rest, then judge. Sessions are deleted at the end."""
        verdict = Verdict()
        with pymongo.MongoClient[dict[str, Any]](self.fleet.mongo_uri) as client:
            database = client["agent"]
            await self._settled(database)
            for person in self.people:
                readers = [reader for reader in self.readers if reader.session_id == person.session_id]
                verdict.judge(await self._evidence(database, person, readers))
        return verdict

    async def leave(self) -> None:
        """Delete every session, with its computer and files."""
        for person in self.people:
            answer = await person.gateways.call("DELETE", f"/sessions/{person.session_id}")
            assert answer.status_code in (204, 404), answer.text
        # What a cut deletion left the managers' sweep removes.
        sandboxes = sandboxes_of(self.fleet)
        async with asyncio.timeout(SWEEP_S):
            while await asyncio.to_thread(sandboxes.workspaces):
                await asyncio.sleep(0.2)
        for gateways in {id(person.gateways): person.gateways for person in self.people}.values():
            self.statuses += gateways.statuses

    async def aclose(self) -> None:
        """Nothing of it goes on; a second call does nothing."""
        tasks = [*self._beside, *([self._work] if self._work else [])]
        self._beside, self._work = [], None
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._http.aclose()

    def sandbox_ids(self) -> set[str]:
        """All sandboxes there ever were."""
        with pymongo.MongoClient[dict[str, Any]](self.fleet.mongo_uri) as client:
            return {str(one["_id"]) for one in client["agent_sandboxes"]["sandboxes"].find({}, {"_id": 1})}

    def generations(self) -> dict[str, int]:
        """How often each session's sandbox has been made."""
        with pymongo.MongoClient[dict[str, Any]](self.fleet.mongo_uri) as client:
            ours = {"$in": [person.session_id for person in self.people]}
            found = client["agent_sandboxes"]["sandboxes"].find({"session_id": ours})
            newest: dict[str, int] = {}
            for one in found:
                newest[one["session_id"]] = max(newest.get(one["session_id"], 0), one["generation"])
            return newest

    def open_records(self) -> list[str]:
        """Records of sandboxes and runs that should have ended."""
        with pymongo.MongoClient[dict[str, Any]](self.fleet.mongo_uri) as client:
            sandboxes = client["agent_sandboxes"]["sandboxes"].find({"occupied": True})
            runs = client["agent"]["runs"].find({"status": {"$in": ["queued", "running"]}})
            return [f"sandbox {one['_id']} {one['status']}" for one in sandboxes] + [
                f"run {one['_id']}" for one in runs
            ]

    async def _settled(self, database: Any) -> None:
        deadline = time.monotonic() + SETTLE_S
        while busy := await asyncio.to_thread(
            lambda: list(database["sessions"].find({"active_run_id": {"$ne": None}}, {"status": 1, "active_run_id": 1}))
        ):
            assert time.monotonic() < deadline, f"runs without an end {SETTLE_S:g} s after the storm: {busy}"
            await asyncio.sleep(0.2)

    async def _evidence(self, database: Any, person: Person, readers: Sequence[Reader]) -> Evidence:
        key = {"session_id": person.session_id}
        stored = list(database["events"].find(key).sort("seq", 1))
        async with asyncio.timeout(60):
            for reader in readers:
                await reader.until_last(len(stored))
        session = database["sessions"].find_one({"_id": person.session_id})
        pages = [await self._pages(person, url) for url in self.fleet.urls]
        return Evidence(
            person=person,
            readers=readers,
            pages=pages,
            stored=stored,
            runs=list(database["runs"].find(key)),
            session=session or {},
            ledger=await asyncio.to_thread(sandboxes_of(self.fleet).ledger, person.session_id),
        )

    async def _pages(self, person: Person, url: str) -> list[dict[str, Any]]:
        only = Gateways([url], person.gateways.token, self.chance, self._http)
        items: list[dict[str, Any]] = []
        while True:
            after = items[-1]["seq"] if items else 0
            path = f"/sessions/{person.session_id}/events"
            page = (await only.call("GET", path, params={"format": "json", "after": after})).json()
            items += page["items"]
            if not page["has_more"]:
                return items

    def _gateways(self, token: str) -> Gateways:
        return Gateways(self.fleet.urls, token, self._chance(), self._http)

    def _chance(self) -> random.Random:
        return random.Random(self.chance.getrandbits(64))
