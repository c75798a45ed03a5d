from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from respx import MockRouter

from backend_api.agent.events import SandboxUpdated
from backend_api.conversations.application.session_sandbox import SessionSandbox
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.choices import USUAL, SandboxConfiguration
from backend_api.sandboxes.domain.entity import Scope
from backend_api.sandboxes.domain.errors import (
    SandboxLimitError,
    SandboxNotAllowedError,
    SandboxQueuedError,
    SandboxUnavailableError,
)
from backend_api.sandboxes.manager.client import SandboxManagerClient
from backend_api.sandboxes.manager.rest import manager_http
from contracts.errors import Problem
from contracts.sandboxes import EndpointToken, SandboxList
from contracts.sandboxes import Sandbox as WireSandbox
from contracts.sandboxes import SandboxStatus as WireStatus
from service_kit.bounded_http import BoundedHttp
from service_kit.problems import domain_problem
from support.answering import AnsweringTransport
from support.stage import USER, Stage, until

NOW = datetime.now(UTC)


def sandbox(status: WireStatus = WireStatus.READY, **fields: Any) -> WireSandbox:
    values: dict[str, Any] = {
        "id": "b1",
        "session_id": "s",
        "user_id": "u",
        "generation": 1,
        "runtime": "fake",
        "status": status,
        "created_at": NOW,
        "expires_at": NOW + timedelta(hours=1),
        "idle_expires_at": NOW + timedelta(hours=1),
        **fields,
    }
    return WireSandbox(**values)


class Manager:
    """The manager's REST answers; `statuses` are given one a look."""

    def __init__(self, *statuses: WireStatus) -> None:
        self.statuses = list(statuses)
        self.calls: list[str] = []
        self.bodies: list[bytes] = []
        self.token_expires = timedelta(seconds=300)
        self.refuse_tokens = False
        self.problem: Problem | None = None
        self.retryable = False
        self.queue_reason: Any = "user_limit"
        self.generation = 1
        self.now = 0.0

    def client(self, **fields: Any) -> SandboxManagerClient:
        http = manager_http("http://manager", "token", AnsweringTransport(self.answer))
        return SandboxManagerClient(http, clock=lambda: self.now, **fields)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(f"{request.method} {request.url.path}")
        self.bodies.append(request.content)
        if self.problem is not None:
            return httpx.Response(self.problem.status, content=self.problem.model_dump_json())
        if request.url.path.endswith("/tokens"):
            if self.refuse_tokens:
                return httpx.Response(409, json={})
            scopes = json.loads(request.content)["scopes"]
            token = EndpointToken(
                token=f"{'+'.join(scopes)} {len(self.calls)}",
                expires_at=datetime.now(UTC) + self.token_expires,
                endpoint="http://endpoint",
                sandbox_id="b1",
                generation=1,
            )
            return httpx.Response(201, content=token.model_dump_json())
        if request.method == "GET" and request.url.path == "/sandboxes":
            found = [sandbox(self.statuses[0])] if self.statuses else []
            return httpx.Response(200, content=SandboxList(items=found).model_dump_json())
        if request.method == "DELETE":
            return httpx.Response(204)
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        place = 2 if status is WireStatus.QUEUED else None
        fields = {"generation": self.generation, "retryable": self.retryable, "queue_position": place}
        told = sandbox(status, reason="No memory.", **fields)
        told.queue_reason = self.queue_reason if place else None
        return httpx.Response(200, content=told.model_dump_json())


QUEUED, STARTING, READY, FAILED = WireStatus.QUEUED, WireStatus.STARTING, WireStatus.READY, WireStatus.FAILED


async def test_a_starting_computer_is_waited_for_and_then_believed() -> None:
    manager = Manager(STARTING, STARTING, READY)
    client = manager.client()
    first, second = await asyncio.gather(client.ensure("s", "u"), client.ensure("s", "u"))
    assert first == second
    assert manager.calls == ["POST /sandboxes", "GET /sandboxes/b1", "GET /sandboxes/b1"]
    manager.now = 21.0
    await client.ensure("s", "u")
    assert manager.calls[3:] == ["POST /sandboxes"]


async def test_a_computer_is_asked_for_as_its_session_has_it_and_as_ever_where_nothing_is_chosen() -> None:
    made_of = {"s": SandboxConfiguration(size="large"), "plain": USUAL}
    manager = Manager(READY)

    async def configuration_of(session_id: str) -> SandboxConfiguration:
        return made_of[session_id]

    client = manager.client(configuration_of=configuration_of)
    await client.ensure("s", "u")
    await client.ensure("plain", "u")
    assert [json.loads(body) for body in manager.bodies] == [
        {"session_id": "s", "user_id": "u", "size": "large"},
        {"session_id": "plain", "user_id": "u"},
    ]


@pytest.mark.parametrize(
    ("status", "code"),
    [(422, "sandbox_image_not_allowed"), (422, "sandbox_size_not_allowed"), (503, "sandbox_image_missing")],
)
async def test_a_computer_that_is_not_allowed_any_more_is_told_with_what_to_do(status: int, code: str) -> None:
    manager = Manager(READY)
    manager.problem = Problem(title="No", status=status, detail="This server has no image 'py'.", code=code)
    with pytest.raises(SandboxNotAllowedError, match=r"no image 'py'\. Under Settings, Computers, choose another"):
        await manager.client().ensure("s", "u")
    assert manager.calls == ["POST /sandboxes"]


async def test_a_computer_that_stands_in_line_is_waited_for_step_by_step() -> None:
    manager = Manager(WireStatus.QUEUED, WireStatus.QUEUED, STARTING, READY)
    assert (await manager.client().ensure("s", "u")).id == "b1"
    assert manager.calls.count("GET /sandboxes/b1") == 3
    manager.statuses = [WireStatus.QUEUED]
    told = await manager.client().status("s")
    assert (told.status, told.queue_position, told.queue_reason) == ("starting", 2, "user_limit")


async def test_keeping_a_computer_is_told_at_once_and_needs_one() -> None:
    manager = Manager(READY)
    client = manager.client()
    assert [(await client.renew("s")).status for _ in range(2)] == ["ready", "ready"]
    assert manager.calls.count("POST /sandboxes/b1/renew") == 2
    manager.statuses = []
    with pytest.raises(SandboxUnavailableError):
        await client.renew("s")


async def test_a_failed_start_gives_the_managers_reason() -> None:
    with pytest.raises(SandboxUnavailableError, match="No memory"):
        await Manager(STARTING, FAILED).client().ensure("s", "u")


async def test_a_problem_of_the_manager_gives_its_detail() -> None:
    manager = Manager(READY)
    manager.problem = Problem(title="Full", status=503, detail="All places are taken.", code="full")
    with pytest.raises(SandboxUnavailableError, match="All places"):
        await manager.client().ensure("s", "u")


async def test_an_answer_that_is_none_of_the_managers_says_what_to_look_at(
    respx_mock: MockRouter, http: BoundedHttp
) -> None:
    """Such as the page a proxy before the manager answers with."""
    respx_mock.route().respond(html="<!doctype html><title>Welcome</title>")
    client = SandboxManagerClient(http)
    known = await Manager(READY).client().ensure("s", "u")
    for call in (client.ensure("s", "u"), client.status("s"), client.renew("s"), client.token(known, list(Scope))):
        with pytest.raises(SandboxUnavailableError, match="SANDBOX_MANAGER_URL"):
            await call


async def test_an_unreachable_manager_is_unavailable(respx_mock: MockRouter, http: BoundedHttp) -> None:
    respx_mock.route().mock(side_effect=httpx.ConnectError)
    with pytest.raises(SandboxUnavailableError, match="can't be reached"):
        await SandboxManagerClient(http, reach_for_s=0.0).ensure("s", "u")


@pytest.mark.respx(assert_all_called=False)  # It is looked at only where it takes long.
async def test_a_manager_that_is_away_for_a_moment_is_waited_for(respx_mock: MockRouter, http: BoundedHttp) -> None:
    busy = Problem(title="Busy", status=503, detail="Its database is away.", code="registry_unavailable")
    respx_mock.get("http://manager/sandboxes").respond(json={"items": []})
    respx_mock.post("http://manager/sandboxes").mock(
        side_effect=[
            httpx.ReadError("killed in mid-call"),
            httpx.ConnectError("refused"),
            httpx.Response(503, content=busy.model_dump_json()),
            httpx.Response(200, content=sandbox().model_dump_json()),
        ]
    )
    assert (await SandboxManagerClient(http).ensure("s", "u")).id == "b1"


async def test_a_start_that_failed_for_a_passing_reason_is_begun_once_more() -> None:
    manager = Manager(STARTING, FAILED, STARTING, READY)
    manager.retryable = True
    assert (await manager.client().ensure("s", "u")).id == "b1"
    assert manager.calls.count("POST /sandboxes") == 2


async def test_tokens_are_kept_until_shortly_before_their_end() -> None:
    manager = Manager(READY)
    client = manager.client()
    sandbox = await client.ensure("s", "u")
    first = await client.token(sandbox, (Scope.EXEC, Scope.FILES))
    assert await client.token(sandbox, (Scope.FILES, Scope.EXEC)) == first
    assert (await client.token(sandbox, (Scope.VNC_VIEW,))).token.startswith("vnc:view")
    manager.token_expires = timedelta(seconds=20)
    client.forget(sandbox)
    sandbox = await client.ensure("s", "u")
    short = await client.token(sandbox, (Scope.EXEC,))
    assert await client.token(sandbox, (Scope.EXEC,)) != short


async def test_a_computer_whose_tokens_are_refused_is_asked_for_anew() -> None:
    manager = Manager(READY)
    client = manager.client()
    sandbox = await client.ensure("s", "u")
    manager.refuse_tokens = True
    with pytest.raises(SandboxUnavailableError):
        await client.token(sandbox, (Scope.EXEC,))
    await client.ensure("s", "u")
    assert manager.calls.count("POST /sandboxes") == 2


async def test_a_computer_that_runs_is_found_without_being_started_and_one_that_is_paused_is_woken_by_a_token() -> None:
    for status in (STARTING, FAILED, WireStatus.QUEUED, WireStatus.GONE):
        assert await Manager(status).client().running("s") is None
    assert await Manager().client().running("s") is None
    ready = Manager(READY)
    client = ready.client()
    found = await client.running("s")
    assert found == await client.running("s")
    assert ready.calls == ["GET /sandboxes"]

    paused = Manager(READY)
    client = paused.client()
    sandbox = await client.ensure("s", "u")
    await client.token(sandbox, (Scope.PORTS,))
    paused.statuses, paused.now = [WireStatus.PAUSED], 60.0
    assert (await client.running("s")) == sandbox
    await client.token(sandbox, (Scope.PORTS,))
    assert paused.calls.count("POST /sandboxes/b1/tokens") == 2
    assert paused.calls.count("POST /sandboxes") == 1


async def test_activity_is_told_at_most_every_twenty_seconds() -> None:
    manager = Manager(READY)
    client = manager.client()
    await client.ensure("s", "u")
    for now in (0.0, 5.0, 19.0, 21.0):
        manager.now = now
        await client.keep_alive("s")
    assert manager.calls.count("POST /sandboxes/b1/renew") == 2


async def test_what_is_there_is_used_though_its_use_can_not_be_told() -> None:
    manager, stage = Manager(READY), Stage()
    client = manager.client()
    own = SessionSandbox(stage.sessions, client)
    session_id = await stage.open_session()
    await client.keep_alive(session_id)
    manager.now = 15.0
    there = await own(session_id, USER)
    manager.now = 25.0
    manager.problem = Problem(title="Unavailable", status=503, detail="It restarts.", code="unavailable")
    assert await own(session_id, USER) == there
    assert manager.calls.count("POST /sandboxes/b1/renew") == 2


async def test_status_and_delete_know_sessions_without_a_computer() -> None:
    manager = Manager()
    assert (await manager.client().status("s")).status == "none"
    await manager.client().delete("s", "u")
    assert manager.calls[-1] == "DELETE /workspaces/s"


def telling(stage: Stage, manager: Manager, released: asyncio.Event) -> SandboxManagerClient:
    """A client that tells of starts in the stage's sessions, which are waited for until `released`."""

    async def answer(request: httpx.Request) -> httpx.Response:
        if "wait_ms" in request.url.params:
            await released.wait()
        return manager.answer(request)

    async def announce(session_id: SessionId, event: SandboxUpdated) -> None:
        await stage.stream.append(session_id, await stage.log.append(session_id, [event]))

    http = manager_http("http://manager", "token", AnsweringTransport(answer))
    return SandboxManagerClient(http, announce=announce, clock=lambda: manager.now)


async def test_the_place_in_the_line_is_told() -> None:
    stage, manager, release = Stage(), Manager(WireStatus.QUEUED), asyncio.Event()
    session = await stage.open_session()
    client = telling(stage, manager, release)
    asking = asyncio.create_task(client.ensure(session, "u"))
    await until(lambda: bool(stage.payloads(session, SandboxUpdated)))
    manager.statuses = [READY]
    release.set()
    await asking
    events = stage.payloads(session, SandboxUpdated)
    told = [(event.status, event.queue_position, event.queue_reason) for event in events]
    assert told == [("starting", 2, "user_limit"), ("ready", None, None)]


async def test_starting_ready_and_failed_are_told_once() -> None:
    stage, manager, release = Stage(), Manager(STARTING, READY), asyncio.Event()
    session = await stage.open_session()
    client = telling(stage, manager, release)
    asking = asyncio.gather(client.ensure(session, "u"), client.ensure(session, "u"))
    await until(lambda: bool(stage.payloads(session, SandboxUpdated)))
    release.set()
    await asking
    manager.now = 21.0
    await client.ensure(session, "u")
    manager.now, manager.statuses = 42.0, [FAILED]
    with pytest.raises(SandboxUnavailableError):
        await client.ensure(session, "u")
    told = [(event.status, event.reason) for event in stage.payloads(session, SandboxUpdated)]
    assert told == [("starting", None), ("ready", None), ("failed", "No memory.")]
    assert len(stage.stream.published) == 3


async def test_a_start_that_is_over_when_its_place_was_looked_up_is_no_start_any_more() -> None:
    stage, manager = Stage(), Manager(STARTING, READY)
    session = await stage.open_session()
    looking, looked, released = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def answer(request: httpx.Request) -> httpx.Response:
        if "wait_ms" in request.url.params:
            await released.wait()
        elif request.method == "GET":
            looking.set()
            await looked.wait()
        return manager.answer(request)

    async def announce(session_id: SessionId, event: SandboxUpdated) -> None:
        await stage.stream.append(session_id, await stage.log.append(session_id, [event]))

    http = manager_http("http://manager", "token", AnsweringTransport(answer))
    client = SandboxManagerClient(http, announce=announce, clock=lambda: manager.now)
    first = asyncio.create_task(client.ensure(session, "u"))
    await asyncio.wait_for(looking.wait(), 5)
    released.set()
    await client.ensure(session, "u")  # waits for the first one's start and announces that it is ready
    looked.set()
    await first
    assert [event.status for event in stage.payloads(session, SandboxUpdated)] == ["ready"]


async def test_a_start_that_is_cancelled_leaves_the_line_before_the_next_one_stands_in_it() -> None:
    stage, manager, release = Stage(), Manager(WireStatus.QUEUED), asyncio.Event()
    session = await stage.open_session()
    client = telling(stage, manager, release)
    first = asyncio.create_task(client.ensure(session, "u"))
    await until(lambda: "POST /sandboxes" in manager.calls)
    first.cancel()
    second = asyncio.create_task(client.ensure(session, "u"))
    await asyncio.wait({first})
    release.set()
    manager.statuses = [WireStatus.QUEUED, READY]
    await second
    left = manager.calls.index("DELETE /sandboxes/b1")
    assert [call for call in manager.calls[left:] if call.startswith("POST")] == ["POST /sandboxes"]
    assert manager.calls.count("POST /sandboxes") == 2


async def test_a_start_that_is_cancelled_while_it_is_asked_for_leaves_the_line_all_the_same() -> None:
    manager, asked, answered = Manager(WireStatus.QUEUED), asyncio.Event(), asyncio.Event()

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            asked.set()
            await answered.wait()
        return manager.answer(request)

    http = manager_http("http://manager", "token", AnsweringTransport(answer))
    asking = asyncio.create_task(SandboxManagerClient(http).ensure("s", "u"))
    await asyncio.wait_for(asked.wait(), 5)
    asking.cancel()
    await asyncio.wait({asking})
    answered.set()
    await until(lambda: "DELETE /sandboxes/b1" in manager.calls)
    assert manager.calls.index("POST /sandboxes") < manager.calls.index("DELETE /sandboxes/b1")


async def test_one_that_was_given_up_before_it_was_ready_is_none(respx_mock: MockRouter, http: BoundedHttp) -> None:
    given_up = sandbox(WireStatus.GONE, was_never_there=True, reason="The computer was deleted.")
    respx_mock.get("http://manager/sandboxes").respond(content=SandboxList(items=[given_up]).model_dump_json())
    told = await SandboxManagerClient(http).status("s")
    assert (told.status, told.reason, told.expires_at) == ("none", None, None)


async def test_the_same_place_in_line_is_told_anew_where_it_was_given_up_in_between() -> None:
    stage, manager = Stage(), Manager(QUEUED)
    session = await stage.open_session()
    client = telling(stage, manager, asyncio.Event())
    told = lambda: [event.queue_position for event in stage.payloads(session, SandboxUpdated)]  # noqa: E731
    for generation in (1, 2):
        manager.generation = generation
        asking = asyncio.create_task(client.ensure(session, "u"))
        await until(lambda generation=generation: told() == [2] * generation)
        asking.cancel()
        await asyncio.wait({asking})


@pytest.mark.parametrize(("header", "seconds"), [({"retry-after": "7"}, 7), ({"retry-after": "soon"}, 60), ({}, 60)])
async def test_a_limit_of_the_manager_is_told_as_one_with_its_time(
    respx_mock: MockRouter, http: BoundedHttp, header: dict[str, str], seconds: int
) -> None:
    refused = Problem(title="t", status=429, detail="You have 3 computers.", code="quota")
    respx_mock.route().respond(429, headers=header, content=refused.model_dump_json())
    with pytest.raises(SandboxLimitError) as raised:
        await SandboxManagerClient(http).ensure("s", "u")
    assert raised.value.detail == "You have 3 computers."
    assert raised.value.retry_after_s == seconds
    told = domain_problem(raised.value)
    assert (told.status_code, told.headers["retry-after"]) == (429, str(seconds))


async def test_a_manager_that_hangs_holds_up_no_page_that_opens() -> None:
    async def hang(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with aclosing(manager_http("http://manager", "token", AnsweringTransport(hang))) as http:
        client = SandboxManagerClient(http, look_s=0.05)
        with pytest.raises(SandboxUnavailableError, match="can't be reached"):
            async with asyncio.timeout(10):
                await client.status("s")


@pytest.mark.parametrize("reason", ["user_limit", "capacity"])
async def test_who_can_wait_only_shortly_is_told_that_it_stands_in_line_and_keeps_its_place(reason: str) -> None:
    stage, manager = Stage(), Manager(QUEUED)
    session = await stage.open_session()
    manager.queue_reason = reason
    client = telling(stage, manager, asyncio.Event())
    with pytest.raises(SandboxQueuedError) as raised:
        await client.ensure(session, "u", queue_s=0.0)
    assert ("your computers" in raised.value.detail) is (reason == "user_limit")
    told = domain_problem(raised.value)
    assert (told.status_code, told.headers["retry-after"]) == (503, "5")
    assert not [call for call in manager.calls if call.startswith("DELETE")]
    assert "failed" not in [event.status for event in stage.payloads(session, SandboxUpdated)]


async def test_a_place_in_line_is_told_once_to_who_asks_for_it_again_and_again() -> None:
    stage, manager = Stage(), Manager(QUEUED)
    session = await stage.open_session()
    client = telling(stage, manager, asyncio.Event())
    told = lambda: [event.queue_position for event in stage.payloads(session, SandboxUpdated)]  # noqa: E731
    for _ in range(3):
        asking = asyncio.create_task(client.ensure(session, "u", queue_s=1.0))
        looks = manager.calls.count("GET /sandboxes")
        await until(lambda looks=looks: manager.calls.count("GET /sandboxes") > looks)
        asking.cancel()
        await asyncio.wait({asking})
    assert told() == [2]
    manager.now = 60.0
    asking = asyncio.create_task(client.ensure(session, "u", queue_s=1.0))
    await until(lambda: told() == [2, 2])
    asking.cancel()
    await asyncio.wait({asking})


async def test_a_short_wait_counts_the_time_in_line_and_no_start() -> None:
    manager = Manager(QUEUED, STARTING, STARTING, READY)
    client = manager.client()
    asking = client.ensure("s", "u", queue_s=5.0)
    manager.now = 4.0
    assert (await asking).id == "b1"


async def test_who_can_wait_only_shortly_does_not_wait_for_a_run_of_the_same_session_that_stands_in_line() -> None:
    stage, manager, released = Stage(), Manager(QUEUED), asyncio.Event()
    session = await stage.open_session()
    client = telling(stage, manager, released)
    run = asyncio.create_task(client.ensure(session, "u"))
    await until(lambda: "POST /sandboxes" in manager.calls)
    with pytest.raises(SandboxQueuedError):
        await client.ensure(session, "u", queue_s=0.01)
    assert not run.done()
    manager.statuses = [READY]
    released.set()
    assert (await run).id == "b1"
    assert not [call for call in manager.calls if call.startswith("DELETE")]


async def test_one_of_two_who_wait_for_the_same_computer_stops_and_the_other_stands_in_line_again() -> None:
    manager = Manager(QUEUED, WireStatus.GONE, QUEUED, READY)
    manager.retryable = True
    assert (await manager.client().ensure("s", "u")).id == "b1"
    assert manager.calls.count("POST /sandboxes") == 2


async def test_who_waited_in_line_in_vain_does_not_stand_in_it_again() -> None:
    manager = Manager(QUEUED, FAILED)
    manager.retryable = True
    with pytest.raises(SandboxUnavailableError, match="No memory"):
        await manager.client().ensure("s", "u")
    assert manager.calls.count("POST /sandboxes") == 1
