"""The manager in process, with a real database and a runtime in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import nullcontext

import httpx
import pytest

from backend_api.sandboxes.domain.choices import SandboxConfiguration
from backend_api.sandboxes.domain.errors import SandboxNotAllowedError
from backend_api.sandboxes.manager.choices import ManagerChoices
from backend_api.sandboxes.manager.client import SandboxManagerClient
from backend_api.sandboxes.manager.rest import manager_http
from sandbox_manager.bootstrap.app import create_app
from sandbox_manager.bootstrap.settings import Settings
from sandbox_manager.bootstrap.wiring import wire_over
from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from support.memory_manager.runtime import FakeRuntime
from support.servers import Server

TOKEN = "t" * 40


@pytest.fixture
def runtime() -> FakeRuntime:
    return FakeRuntime()


@pytest.fixture
async def client(
    mongo_server: Server, mongo_database_name: str, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[httpx.AsyncClient]:
    monkeypatch.setenv("MONGO_URI", mongo_server.uri)
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", TOKEN)
    monkeypatch.setenv("SANDBOX_MAX_PER_USER", "2")
    monkeypatch.setenv("MANAGER_MONGO_DB_NAME", mongo_database_name)
    monkeypatch.setenv("SANDBOX_POOL_SIZE", "0")
    monkeypatch.setenv("SANDBOX_IMAGES", "py=agent-sandbox:py,gone=agent-sandbox:gone")
    monkeypatch.setenv("SANDBOX_SIZES", "large=4:4096:20480")
    settings = Settings()

    app = create_app(lambda: wire_over(settings, nullcontext(runtime)))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://manager", headers=headers) as client:
            yield client


def ask(session_id: str = "s1", user_id: str = "u1") -> dict[str, str]:
    return {"session_id": session_id, "user_id": user_id}


async def test_create_wait_token_renew_list_and_delete(client: httpx.AsyncClient, runtime: FakeRuntime) -> None:
    created = await client.post("/sandboxes", json=ask())
    path = f"/sandboxes/{created.json()['id']}"
    ready = await client.get(path, params={"wait_ms": 5000})
    again = await client.post("/sandboxes", json=ask())
    token = await client.post(f"{path}/tokens", json={"scopes": ["exec", "vnc:view"]})
    renewed = await client.post(f"{path}/renew")
    listed = await client.get("/sandboxes", params={"session_id": "s1"})
    deleted = await client.delete(path)
    once_more = await client.delete(path)

    assert (created.status_code, created.json()["status"]) == (201, "starting")
    assert ready.json()["status"] == "ready"
    assert (again.status_code, again.json()["id"]) == (200, created.json()["id"])
    assert (token.status_code, token.json()["generation"]) == (201, 1)
    assert renewed.json()["idle_expires_at"] >= ready.json()["idle_expires_at"]
    assert [one["id"] for one in listed.json()["items"]] == [created.json()["id"]]
    assert (deleted.status_code, once_more.status_code) == (204, 204)
    assert runtime.things == {}


async def test_files_stay_when_a_sandbox_is_deleted_unless_their_end_is_asked_for(
    client: httpx.AsyncClient, runtime: FakeRuntime
) -> None:
    for parameters, kept in (({}, {"s1"}), ({"keep_workspace": "true"}, {"s1"}), ({"keep_workspace": "false"}, set())):
        made = (await client.post("/sandboxes", json=ask())).json()["id"]
        await client.get(f"/sandboxes/{made}", params={"wait_ms": 5000})
        assert (await client.delete(f"/sandboxes/{made}", params=parameters)).status_code == 204
        assert runtime.things == {}
        assert runtime.workspaces == kept


async def test_a_bad_body_names_each_field(client: httpx.AsyncClient) -> None:
    answer = await client.post("/sandboxes", json={"session_id": "../etc", "extra": 1})

    assert answer.status_code == 422
    assert {one["field"] for one in answer.json()["errors"]} == {"body.session_id", "body.user_id", "body.extra"}


async def test_over_the_limit_is_429_with_retry_after(client: httpx.AsyncClient) -> None:
    for number in range(22):
        last = (await client.post("/sandboxes", json=ask(f"s{number}"))).json()

    answer = await client.post("/sandboxes", json=ask("s22"))

    assert (last["status"], last["queue_position"], last["queue_reason"]) == ("queued", 20, "user_limit")

    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.json()["code"] == "sandbox_limit_user_queue"
    assert answer.json()["retryable"] is True


async def test_an_engine_that_is_away_is_503_with_what_to_do(client: httpx.AsyncClient, runtime: FakeRuntime) -> None:
    runtime.unavailable = EngineUnavailableError("Start the engine.")

    created = await client.post("/sandboxes", json=ask())
    ready = await client.get("/readyz")

    assert (created.status_code, created.json()["detail"]) == (503, "Start the engine.")
    assert (ready.status_code, ready.json()["dependencies"]) == (503, {"mongo": "ok", "runtime": "Start the engine."})


async def test_a_failed_start_tells_its_reason(client: httpx.AsyncClient, runtime: FakeRuntime) -> None:
    runtime.fail_start = StartFailedError("No room.", retryable=True)
    created = await client.post("/sandboxes", json=ask())
    path = f"/sandboxes/{created.json()['id']}"

    failed = (await client.get(path, params={"wait_ms": 5000})).json()

    assert (failed["status"], failed["reason"], failed["retryable"]) == ("failed", "No room.", True)
    assert (await client.post(f"{path}/renew")).status_code == 409
    assert (await client.post(f"{path}/tokens", json={"scopes": ["exec"]})).status_code == 409


async def test_waiting_ends_at_its_deadline(client: httpx.AsyncClient, runtime: FakeRuntime) -> None:
    runtime.hold = asyncio.Event()
    created = await client.post("/sandboxes", json=ask())

    async with asyncio.timeout(30):
        answer = await client.get(f"/sandboxes/{created.json()['id']}", params={"wait_ms": 100})

    assert answer.json()["status"] == "starting"


async def test_snapshots_are_taken_listed_restored_and_given_up(
    client: httpx.AsyncClient, runtime: FakeRuntime
) -> None:
    path, who = "/workspaces/s1/snapshots", {"user_id": "u1"}
    runtime.archives.files["s1"] = "first"
    created = await client.post("/sandboxes", json=ask())
    await client.get(f"/sandboxes/{created.json()['id']}", params={"wait_ms": 5000})
    taken = await client.post(path, params=who, json={"name": "before"})
    runtime.archives.files["s1"] = "second"

    restored = await client.post(f"{path}/{taken.json()['id']}/restore", params=who)

    assert (taken.status_code, restored.status_code) == (201, 200)
    assert runtime.archives.files["s1"] == "first"
    ended = (await client.get(f"/sandboxes/{created.json()['id']}")).json()
    assert (ended["status"], "restored" in ended["reason"]) == ("gone", True)
    assert [one["name"] for one in (await client.get(path, params=who)).json()["items"]] == ["before"]
    assert (await client.get(path, params={"user_id": "u2"})).status_code == 404
    for _ in range(2):
        assert (await client.delete(f"{path}/{taken.json()['id']}", params=who)).status_code == 204
    assert (await client.get(path, params=who)).json()["items"] == []
    assert (await client.delete("/workspaces/s1", params=who)).status_code == 204
    assert runtime.archives.files == {}


async def test_a_session_gets_the_image_and_the_size_it_asked_for_and_keeps_them(
    client: httpx.AsyncClient, runtime: FakeRuntime
) -> None:
    created = await client.post("/sandboxes", json=ask() | {"image": "py", "size": "large"})
    path = f"/sandboxes/{created.json()['id']}"
    ready = await client.get(path, params={"wait_ms": 5000})
    again = await client.post("/sandboxes", json=ask())

    made = runtime.starts[0].configuration
    assert (made.image, made.size and made.size.memory_mb, made.size and made.size.disk_mb) == (
        "agent-sandbox:py",
        4096,
        20480,
    )
    assert [(one.json()["image"], one.json()["size"]) for one in (created, ready, again)] == [("py", "large")] * 3


async def test_what_the_deployment_allows_is_listed_and_all_else_refused_with_what_to_do(
    client: httpx.AsyncClient, runtime: FakeRuntime
) -> None:
    runtime.missing = {"agent-sandbox:gone"}

    choices = (await client.get("/choices")).json()
    refused = [
        await client.post("/sandboxes", json=ask() | wanted)
        for wanted in ({"image": "other"}, {"size": "huge"}, {"image": "gone"})
    ]

    assert [(one["name"], one["available"]) for one in choices["images"]] == [("py", True), ("gone", False)]
    assert "missing" in choices["images"][1]["reason"]
    assert [(one["name"], one["size"]["cpus"], one["counts_as"]) for one in choices["sizes"]] == [("large", 4.0, 2)]
    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (422, "sandbox_image_not_allowed"),
        (422, "sandbox_size_not_allowed"),
        (503, "sandbox_image_missing"),
    ]
    assert "py" in refused[0].json()["detail"]
    assert runtime.starts == []


async def test_a_gateway_reads_what_is_allowed_and_asks_for_it_by_name(
    client: httpx.AsyncClient, runtime: FakeRuntime
) -> None:
    runtime.missing = {"agent-sandbox:gone"}

    async def configuration_of(session_id: str) -> SandboxConfiguration:
        return SandboxConfiguration(image="gone" if session_id == "s2" else "py", size="large")

    over = manager_http("http://manager", TOKEN, client._transport)  # pyright: ignore[reportPrivateUsage] -- of the same application
    choices = await ManagerChoices(over)()
    gateway = SandboxManagerClient(over, configuration_of=configuration_of)
    ready = await gateway.ensure("s1", "u1")
    with pytest.raises(SandboxNotAllowedError, match=r"agent-sandbox:gone is missing\. Under Settings"):
        await gateway.ensure("s2", "u1")

    assert [(one.name, one.available) for one in choices.images] == [("py", True), ("gone", False)]
    assert [(one.name, one.size.memory_mb, one.counts_as) for one in choices.sizes] == [("large", 4096, 2)]
    assert [one.identity.sandbox_id for one in runtime.starts] == [ready.id]
    assert runtime.starts[0].configuration.size_name == "large"
