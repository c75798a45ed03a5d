"""A person who gives tasks in one session and insists until each is accepted, whatever breaks meanwhile."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from support.chaos.reader import Reader

INSIST_S = 120.0
_STEPS = "WWWRRSP"


@dataclass(frozen=True, slots=True)
class Sent:
    """An accepted message."""

    task: str
    client_message_id: str
    message_id: str
    run_id: str


@dataclass(slots=True)
class Gateways:
    """Calls that go to any gateway, again and again until one answers."""

    urls: Sequence[str]
    token: str
    chance: random.Random
    http: httpx.AsyncClient
    statuses: Counter[str] = field(default_factory=Counter[str])
    deadline_s: float = INSIST_S

    async def call(self, method: str, path: str, **fields: Any) -> httpx.Response:
        """The first answer that is not a passing fault. A fault that is not clear about itself fails the test."""
        deadline = time.monotonic() + self.deadline_s
        headers = {"Authorization": f"Bearer {self.token}"}
        last = ""
        while time.monotonic() < deadline:
            try:
                url = f"{self.chance.choice(self.urls)}/api{path}"
                response = await self.http.request(method, url, headers=headers, **fields)
            except httpx.HTTPError as error:
                last = type(error).__name__
                self.statuses[last] += 1
            else:
                self.statuses[str(response.status_code)] += 1
                if response.status_code < 500 and response.status_code != 429:
                    return response
                last = response.text[:300]
                assert response.status_code in (429, 503, 507), f"{method} {path}: {response.status_code} {last}"
                assert response.json()["detail"], f"{method} {path}: {response.status_code} says nothing"
            await asyncio.sleep(self.chance.uniform(0.05, 0.4))
        raise AssertionError(f"{method} {path}: no gateway took it in {self.deadline_s:g} s; last: {last}")


@dataclass(slots=True, kw_only=True)
class Person:
    """Works through tasks; each message is sent with an id of its own, now and then once more."""

    session_id: str
    gateways: Gateways
    readers: Sequence[Reader]
    chance: random.Random
    tasks: Sequence[str]
    sent: list[Sent] = field(default_factory=list[Sent])
    stops: int = 0

    async def run(self) -> None:
        rest = list(self.tasks)
        while rest:
            # Sometimes two messages at once: one run answers both, or a second one follows.
            together = [rest.pop(0) for _ in range(min(len(rest), 2 if self.chance.random() < 0.15 else 1))]
            accepted = await asyncio.gather(*(self._send(task) for task in together))
            if self.chance.random() < 0.06:
                await asyncio.sleep(self.chance.uniform(0.0, 1.0))
                await self.gateways.call("POST", f"/sessions/{self.session_id}/stop")
                self.stops += 1
            reader = self.chance.choice(self.readers)
            for run_id in {one.run_id for one in accepted}:
                async with asyncio.timeout(INSIST_S * 2):
                    await reader.until_finished(run_id)

    async def say_first(self, task: str) -> None:
        """A task that needs the computer, and its answer."""
        sent = await self._send(task, "W")
        async with asyncio.timeout(INSIST_S * 2):
            await self.readers[0].until_finished(sent.run_id)

    async def _send(self, task: str, steps: str | None = None) -> Sent:
        if steps is None:
            steps = "".join(self.chance.choices(_STEPS, k=self.chance.randint(0, 3)))
        body = {"text": f"task {task} steps={steps}", "client_message_id": f"client-{task}"}
        path = f"/sessions/{self.session_id}/messages"
        answer = await self.gateways.call("POST", path, json=body)
        assert answer.status_code == 202, f"{path}: {answer.status_code} {answer.text}"
        first = answer.json()
        if self.chance.random() < 0.2:
            again = (await self.gateways.call("POST", path, json=body)).json()
            assert again["duplicate"], f"{task} was taken twice: {again}"
            assert again["message_id"] == first["message_id"], f"{task} was taken twice: {again}"
        sent = Sent(task, body["client_message_id"], first["message_id"], first["run_id"])
        self.sent.append(sent)
        return sent
