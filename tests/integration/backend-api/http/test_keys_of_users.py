"""Keys of users over gateways of their own processes: used at once, by whom they belong to, and said nowhere."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from pymongo import MongoClient

from support.background import in_background
from support.gateway_process import GatewayProcess, run_gateway_process
from support.model_server import Answer, Call, ModelServer
from support.servers import Server, free_port
from support.stage import until
from support.tls import NO_TLS

ANNAS, BERTS = "sk-anna-0a1b2c3d4e5f6g7h8i9j", "sk-bert-9z8y7x6w5v4u3t2s1r0q"
FIRST, SECOND = "o9Zk3vXq81LmN0pRtYw7uBcD5eFgH2iJ4", "n7Qw2eRt5yUi8oP1aSd4fGh6jKl9zXc3V"
SIGNING = "j5Hs8dKf2gLq7wEr4tYu1iOp9aZx3cVb6"
LOCAL = {"AUTH_MODE": "local", "HOST": "127.0.0.1", "RATE_LIMITS": "key-tests=0"}
Json = dict[str, Any]


@pytest.fixture(scope="module")
def serving() -> Iterator[ModelServer]:
    with in_background(ModelServer(Answer(texts=("of a provider",)))) as (server, _):
        yield server


@pytest.fixture
def provider(serving: ModelServer) -> ModelServer:
    """It has been asked nothing."""
    for kept in (serving.script, serving.requests, serving.headers):
        kept.clear()
    return serving


@pytest.fixture(scope="module")
def begin(
    tmp_path_factory: pytest.TempPathFactory, mongo_server: Server, redis_server: Server, serving: ModelServer
) -> Iterator[Any]:
    """Starts a gateway with this SECRETS_KEY, or answers the one that was started so before, as that takes longer than
    most tests: each has people of its own. All have the demo model alone, and one address for keys of users."""
    begun: dict[str, GatewayProcess] = {}
    with ExitStack() as stack:

        def start(name: str, secrets_key: str = FIRST, **more: str) -> GatewayProcess:
            if name in begun:
                return begun[name]
            settings = {
                "JWT_SECRET_KEY": SIGNING,
                "SECRETS_KEY": secrets_key,
                "OPENAI_BASE_URL": serving.openai_url,
                "DEMO_DELAY_MS": "0",
                "LLM_MAX_RETRIES": "0",
                "LOG_LEVEL": "DEBUG",
                **more,
            }
            folder = tmp_path_factory.mktemp(name)
            running = run_gateway_process(folder, mongo_server, "keys_of_users", redis_server, **settings)
            begun[name] = stack.enter_context(running)
            return begun[name]

        yield start
    with MongoClient[dict[str, object]](mongo_server.uri) as client:
        client.drop_database("keys_of_users")


class Person:
    """Calls any gateway with one account's token, and keeps all that was answered."""

    def __init__(self, headers: dict[str, str]) -> None:
        self._headers = headers
        self.told: list[str] = []

    async def call(self, gateway: GatewayProcess, method: str, path: str, body: Json | None = None) -> httpx.Response:
        async with httpx.AsyncClient(
            base_url=f"{gateway.url}/api", timeout=30, headers=self._headers, verify=NO_TLS
        ) as client:
            answer = await client.request(method, path, json=body)
        self.told.append(answer.text)
        return answer

    async def put(self, gateway: GatewayProcess, name: str, value: Any, expect: int = 200) -> Json:
        answer = await self.call(gateway, "PUT", f"/settings/{name}", {"value": value})
        assert answer.status_code == expect, answer.text
        return answer.json()

    async def setting(self, gateway: GatewayProcess, name: str) -> Json:
        return (await self.call(gateway, "GET", f"/settings/{name}")).json()

    async def models(self, gateway: GatewayProcess) -> list[str]:
        return [model["id"] for model in (await self.call(gateway, "GET", "/models")).json()]

    async def session(self, gateway: GatewayProcess, **body: Any) -> str:
        answer = await self.call(gateway, "POST", "/sessions", body)
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def ask(self, gateway: GatewayProcess, session_id: str) -> Json:
        """The result of the run."""
        answer = await self.call(gateway, "POST", f"/sessions/{session_id}/runs", {"text": "hello"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def events(self, gateway: GatewayProcess, session_id: str) -> list[Json]:
        answer = await self.call(gateway, "GET", f"/sessions/{session_id}/events?format=json&limit=500")
        return answer.json()["items"]


@asynccontextmanager
async def people(gateway: GatewayProcess, *names: str) -> AsyncGenerator[list[Person]]:
    found: list[Person] = []
    async with httpx.AsyncClient(base_url=f"{gateway.url}/api", timeout=30, verify=NO_TLS) as client:
        for name in names:
            account = {"username": f"{name}-{secrets.token_hex(4)}", "password": f"{name}-password"}
            made = await client.post("/auth/register", json=account)
            assert made.status_code == 201, made.text
            found.append(Person({"Authorization": f"Bearer {made.json()['access_token']}"}))
    yield found


def said_by(result: Json) -> str:
    """The agent's last words."""
    return str(result["messages"][-1]["text"])


@pytest.mark.timeout(180)
async def test_a_key_acts_at_once_in_every_gateway_for_its_user_alone(begin: Any, provider: ModelServer) -> None:
    one, other = begin("one"), begin("other")
    async with people(one, "anna", "bert") as (anna, bert):
        begun_before = await anna.session(other, model="demo")
        assert "of a provider" not in said_by(await anna.ask(other, begun_before))
        assert await anna.models(other) == ["demo"]

        kept = await anna.put(one, "models/openai_api_key", ANNAS)
        assert (kept["value"], kept["is_set"], kept["source"], kept["ends_with"]) == (None, True, "user", ANNAS[-4:])
        assert await anna.models(other) == ["gpt-5.5"]
        assert await bert.models(other) == ["demo"]
        # What began on the demo model goes on with the default, which is said once.
        assert said_by(await anna.ask(other, begun_before)) == "of a provider"
        told = await anna.events(other, begun_before)
        assert [event["code"] for event in told if event["type"] == "notice"] == ["unknown_model"]
        fresh = await anna.session(one)
        assert said_by(await anna.ask(other, fresh)) == "of a provider"
        started = [event for event in await anna.events(one, fresh) if event["type"] == "run.started"]
        assert [event["model"] for event in started] == ["gpt-5.5"]
        assert {sent["authorization"] for sent in provider.headers} == {f"Bearer {ANNAS}"}

        of_bert = await bert.session(one)
        asked = len(provider.headers)
        await bert.ask(one, of_bert)
        assert len(provider.headers) == asked
        await bert.put(other, "models/openai_api_key", BERTS)
        await bert.ask(one, of_bert)
        await anna.ask(one, fresh)
        assert [sent["authorization"] for sent in provider.headers[asked:]] == [f"Bearer {BERTS}", f"Bearer {ANNAS}"]

        back = (await anna.call(other, "DELETE", "/settings/models/openai_api_key")).json()
        assert (back["is_set"], back["source"]) == (False, "deployment")
        assert await anna.models(one) == ["demo"]
        asked = len(provider.headers)
        assert "of a provider" not in said_by(await anna.ask(one, fresh))
        assert len(provider.headers) == asked


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_what_a_user_set_holds_in_the_users_runs_below_what_the_session_chose(
    begin: Any, provider: ModelServer
) -> None:
    one = begin("one")
    async with people(one, "anna") as (anna,):
        await anna.put(one, "models/openai_api_key", ANNAS)
        await anna.put(one, "models/openai_models", ["gpt-5.5", "gpt-5.4-mini"])
        refused = await anna.put(one, "models/default_model", "nonesuch", 422)
        assert refused["errors"][0]["field"] == "body.value"
        await anna.put(one, "models/default_model", "gpt-5.4-mini")
        await anna.ask(one, await anna.session(one))
        await anna.ask(one, await anna.session(one, model="gpt-5.5"))
        assert [sent["model"] for sent in provider.requests] == ["gpt-5.4-mini", "gpt-5.5"]


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_a_model_for_a_single_task_is_a_users_or_the_deployments_where_that_is_asked_for_the_user(
    begin: Any,
) -> None:
    name = "models/title_model"
    one = begin(
        "house", LLM_PROVIDER="openai", OPENAI_API_KEY=BERTS, MODEL="house", MODELS="small", TITLE_MODEL="small"
    )
    async with people(one, "anna") as (anna,):

        async def told() -> tuple[Any, ...]:
            setting = await anna.setting(one, name)
            return tuple(setting[field] for field in ("value", "default", "source", "problem"))

        assert await told() == ("small", "small", "deployment", None)
        for refused in ("demo", "nonesuch"):
            answer = await anna.put(one, name, refused, 422)
            assert answer["errors"][0]["field"] == "body.value"
        await anna.put(one, name, "house")
        assert await told() == ("house", "small", "user", None)
        # With a key of one's own the deployment's model for titles is not asked, nor is one that left with its key.
        await anna.put(one, "models/openai_api_key", ANNAS)
        await anna.put(one, "models/openai_models", ["gpt-5.5"])
        assert await told() == ("house", None, "user", "not_available")
        await anna.call(one, "DELETE", f"/settings/{name}")
        assert await told() == (None, None, "deployment", None)
        assert (await anna.setting(one, "models/default_model"))["default"] is None
        assert (await anna.setting(one, "models/openai_api_key"))["default"] is None


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_a_tool_that_a_user_denies_is_not_run_in_the_users_runs_but_where_a_session_says_otherwise(
    begin: Any, provider: ModelServer
) -> None:
    one = begin("one")
    async with people(one, "anna", "bert") as (anna, bert):
        for person, key in ((anna, ANNAS), (bert, BERTS)):
            await person.put(one, "models/openai_api_key", key)
        refused = await anna.put(one, "approvals/denied_tools", ["nonesuch"], 422)
        assert refused["errors"][0]["field"] == "body.value"
        await anna.put(one, "approvals/denied_tools", ["utc_*"])

        async def looks(person: Person, session_id: str) -> bool:
            """Whether the call of a tool was run."""
            provider.answer(Answer(texts=("I look.",), calls=(Call(name="utc_now"),)))
            await person.ask(one, session_id)
            events = await person.events(one, session_id)
            (ended,) = (event for event in events if event["type"] == "tool.finished")
            assert ended["success"] != ("switched utc_now off" in ended["preview"])
            return ended["success"]

        assert not await looks(anna, await anna.session(one))
        assert await looks(anna, await anna.session(one, options={"denied_tools": ["think"]}))
        assert await looks(bert, await bert.session(one))
        await anna.call(one, "DELETE", "/settings/approvals/denied_tools")
        assert await looks(anna, await anna.session(one))


@pytest.mark.timeout(180)
async def test_a_saved_key_goes_to_no_address_but_the_one_it_was_saved_for(begin: Any, provider: ModelServer) -> None:
    one, anna = begin("local", **LOCAL), Person({})
    async with ModelServer(Answer(texts=("of another",))) as other:
        session_id = await anna.session(one)
        address, key = "models/openai_base_url", "models/openai_api_key"
        await anna.put(one, address, other.openai_url)
        assert said_by(await anna.ask(one, session_id)) == "of another"
        await anna.put(one, key, ANNAS)
        await anna.put(one, address, f"{other.openai_url}/")
        assert (await anna.setting(one, key))["is_set"]
        assert said_by(await anna.ask(one, session_id)) == "of another"

        test = {"provider": "openai", "base_url": provider.openai_url}
        refused = await anna.call(one, "POST", "/settings/models/test", test)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "body.key")
        for changed, sees in ((provider.openai_url, "of a provider"), (None, ""), (other.openai_url, "of another")):
            await anna.put(one, address, changed)
            assert (await anna.setting(one, key))["is_set"] is False
            assert sees in said_by(await anna.ask(one, session_id))
            await anna.put(one, key, ANNAS)
        assert f"Bearer {ANNAS}" not in [sent["authorization"] for sent in provider.headers]
        assert [sent["authorization"] for sent in other.headers].count(f"Bearer {ANNAS}") == 1
        tried = await anna.call(one, "POST", "/settings/models/test", {**test, "key": BERTS})
        assert tried.json()["outcome"] == "ok"
        assert provider.headers[-1]["authorization"] == f"Bearer {BERTS}"
        for changed in (address, key):
            await anna.call(one, "DELETE", f"/settings/{changed}")


@pytest.mark.timeout(180)
async def test_a_test_of_a_key_says_what_is_wrong_with_it(begin: Any, provider: ModelServer) -> None:
    one, anna = begin("local", **LOCAL), Person({})

    async def tried(**body: Any) -> tuple[str, str]:
        answer = await anna.call(one, "POST", "/settings/models/test", {"provider": "openai", "key": ANNAS, **body})
        assert answer.status_code == 200, answer.text
        return answer.json()["outcome"], answer.json()["detail"]

    for status, outcome in ((401, "wrong_key"), (404, "no_such_model"), (429, "limit"), (400, "refused")):
        provider.answer(Answer(status=status, message="It says why."))
        found, detail = await tried()
        assert (found, "It says why." in detail) == (outcome, True)
    provider.answer(Answer(cut_after=0))
    assert (await tried())[0] == "unreachable"
    found, detail = await tried(base_url=f"http://127.0.0.1:{free_port()}/v1")
    assert (found, bool(detail)) == ("unreachable", True)
    assert await tried() == ("ok", "")
    assert (await anna.setting(one, "models/openai_api_key"))["is_set"] is False


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_the_models_that_a_key_opens_are_listed_newest_first(begin: Any, provider: ModelServer) -> None:
    one, anna = begin("local", **LOCAL), Person({})

    async def listed(expect: int = 200, **body: Any) -> Json:
        answer = await anna.call(one, "POST", "/settings/models/available", {"provider": "openai", **body})
        assert answer.status_code == expect, answer.text
        return answer.json()

    provider.listed = [
        {"id": "old-chat", "created": 1},
        {"id": "text-embedding-3-small", "created": 9},
        {"id": "models/gpt-5.5-mini", "created": 5},
        {"id": "fresh-chat", "created": 7},
        {"id": "no-tools", "created": 8, "supported_parameters": ["temperature"]},
        {"id": "x" * 300, "created": 8},
    ]
    names = ["fresh-chat", "gpt-5.5-mini", "old-chat"]
    assert await listed(key=ANNAS) == {"outcome": "ok", "models": names, "best": "gpt-5.5-mini", "detail": ""}
    assert (provider.paths[-1], provider.headers[-1]["authorization"]) == ("/v1/models", f"Bearer {ANNAS}")
    assert (await anna.setting(one, "models/openai_api_key"))["is_set"] is False

    for status, outcome in ((401, "wrong_key"), (429, "limit"), (404, "no_such_model"), (302, "refused")):
        provider.answer(Answer(status=status, message=f"It says why, to {ANNAS}."))
        refused = await listed(key=ANNAS)
        assert (refused["outcome"], refused["models"], bool(refused["detail"])) == (outcome, [], True)
        assert ANNAS not in refused["detail"]
    for raw in (b"<html>", b'{"data": [{"name": "of another form"}]}', b"[" * 100_000):
        provider.answer(Answer(status=200, raw=raw))
        assert (await listed(key=ANNAS))["outcome"] == "unreachable"
    provider.listed = []
    assert (await listed(key=ANNAS))["outcome"] == "no_such_model"
    assert (await listed(422))["errors"][0]["field"] == "body.key"
    assert (await listed(422, key=ANNAS, base_url="no address"))["errors"][0]["field"] == "body.base_url"


@pytest.mark.timeout(180)
async def test_a_key_is_said_nowhere_also_where_its_provider_says_it(begin: Any, provider: ModelServer) -> None:
    one = begin("one")
    async with people(one, "anna") as (anna,):
        await anna.put(one, "models/openai_api_key", ANNAS)
        session_id = await anna.session(one)
        provider.answer(
            Answer(status=401, message=f"Incorrect API key provided: {ANNAS}. Yours ends with {ANNAS[-8:]}."),
            Answer(fault={"type": "authentication_error", "message": f"{ANNAS[:12]}*** is wrong"}),
            Answer(status=401, message=f"Bad key {ANNAS}"),
        )
        for _ in range(2):
            result = await anna.ask(one, session_id)
            assert (result["status"], result["reason"].count("…") > 0) == ("failed", True)
            assert "Check your own key in the settings." in result["reason"]
        tried = await anna.call(one, "POST", "/settings/models/test", {"provider": "openai"})
        assert tried.json()["outcome"] == "wrong_key"
        await anna.put(one, "models/openai_api_key", f"{ANNAS} {ANNAS}", 422)
        await anna.events(one, session_id)
        await anna.call(one, "GET", "/settings")
        await anna.call(one, "GET", f"/sessions/{session_id}/state")
        async with httpx.AsyncClient(verify=NO_TLS) as client:
            metrics = (await client.get(f"{one.url}/metrics")).text
    secret = ANNAS[len("sk-anna-") : -4]
    parts = {secret[start : start + 6] for start in range(len(secret) - 5)}
    for text in (*anna.told, one.logged(), metrics):
        assert not [part for part in parts if part in text]


@pytest.mark.timeout(240)
@pytest.mark.thorough
async def test_a_wrong_secrets_key_is_said_and_loses_nothing_and_a_rotation_keeps_all(
    begin: Any, provider: ModelServer
) -> None:
    async with people(first := begin("one"), "anna") as (anna,):
        await anna.put(first, "models/openai_api_key", ANNAS)
        session_id = await anna.session(first)
        wiki = {"url": "https://wiki.example.org/mcp", "headers": {"Authorization": "Bearer of-anna"}}
        assert (await anna.call(first, "PUT", "/mcp/wiki", wiki)).status_code == 200

        async def wiki_at(gateway: GatewayProcess) -> str:
            (server,) = (await anna.call(gateway, "GET", "/mcp")).json()
            return server["status"]

        wrong = begin("wrong", SECOND)
        kept = await anna.setting(wrong, "models/openai_api_key")
        assert (kept["is_set"], kept["source"], kept["problem"]) == (True, "user", "unreadable")
        # Keys are looked through beside what is answered.
        await until(lambda: "SECRETS_KEY does not decrypt all keys" in wrong.logged())
        await until(lambda: "SECRETS_KEY does not decrypt the values of all MCP servers" in wrong.logged())
        assert await wiki_at(wrong) == "failed"
        assert "of a provider" not in said_by(await anna.ask(wrong, session_id))
        told = await anna.events(wrong, session_id)
        assert [event["code"] for event in told if event["type"] == "notice"] == ["secret_unreadable"]
        off = begin("off", "")
        assert (await anna.setting(off, "models/openai_api_key"))["problem"] == "unreadable"
        assert (await anna.put(off, "search/tavily_api_key", "tvly-0123456789", 403))["code"] == "secrets_off"

        rotated = begin("rotated", f"{SECOND}, {FIRST}")
        assert (await anna.setting(rotated, "models/openai_api_key"))["problem"] is None
        assert said_by(await anna.ask(rotated, session_id)) == "of a provider"
        for sealed in ("secrets", "MCP servers"):
            await until(
                lambda sealed=sealed: f"{sealed} were re-encrypted with the first SECRETS_KEY" in rotated.logged()
            )
        assert "SECRETS_KEY does not decrypt" not in rotated.logged()

        # All are under the new one by now, so the former may go.
        assert (await anna.setting(wrong, "models/openai_api_key"))["problem"] is None
        assert await wiki_at(wrong) == "unknown"
        assert said_by(await anna.ask(wrong, session_id)) == "of a provider"
        assert provider.headers[-1]["authorization"] == f"Bearer {ANNAS}"
