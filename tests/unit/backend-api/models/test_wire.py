"""What is sent to a provider is what its own client, which only tests have, would send: each is asked for the same."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any, NamedTuple

import anthropic
import openai
import pytest

from backend_api.agent.model import ModelRequest, ModelRequestError, ModelUnavailableError, UserTurn
from backend_api.models.anthropic.messages import AnthropicModel
from backend_api.models.openai.chat import OpenAiChatModel
from backend_api.models.openai.responses import OpenAiResponsesModel
from backend_api.models.wire.bounds import Timeouts
from backend_api.models.wire.endpoint import is_as_trusted
from support.model_server import Answer, ModelServer

REQUEST = ModelRequest(model="m", system="s", turns=[UserTurn(text="hi")], tools=[], max_output_tokens=99)
ENVIRONMENT = {
    "OPENAI_ORG_ID": "org-1",
    "OPENAI_PROJECT_ID": "proj-1",
    "OPENAI_CUSTOM_HEADERS": "X-Gateway: one\n no header \nX-Other:two: three ",
    "ANTHROPIC_AUTH_TOKEN": "unread",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Gateway: one\nAuthorization: Bearer other",
}


class Case(NamedTuple):
    model: type[OpenAiChatModel | OpenAiResponsesModel | AnthropicModel]
    sdk: Callable[..., Any]
    create: Callable[[Any], Callable[..., Any]]
    base: Callable[[ModelServer], str]


CASES = {
    "chat": Case(
        OpenAiChatModel, openai.AsyncOpenAI, lambda sdk: sdk.chat.completions.create, lambda of: of.openai_url
    ),
    "responses": Case(
        OpenAiResponsesModel, openai.AsyncOpenAI, lambda sdk: sdk.responses.create, lambda of: of.openai_url
    ),
    "messages": Case(AnthropicModel, anthropic.AsyncAnthropic, lambda sdk: sdk.messages.create, lambda of: of.url),
}


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


async def asked(model: Any) -> None:
    try:
        assert [part async for part in model.stream(REQUEST)]
    finally:
        await model.aclose()


@pytest.mark.parametrize("path", ["", "/", "/a%2Fb/"])
@pytest.mark.parametrize("is_users", [False, True])
async def test_a_call_is_what_the_sdk_itself_would_send(
    case: Case, server: ModelServer, path: str, *, is_users: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = case.base(server) + path
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    await asked(case.model(key="k", base_url=base, is_users=is_users))
    if is_users:
        for name in ENVIRONMENT:
            monkeypatch.delenv(name)
    async with case.sdk(api_key="k", base_url=base, max_retries=0) as sdk:
        await (await case.create(sdk)(**server.requests[0])).close()
    ours, theirs = (_without_notes(headers) for headers in server.headers)
    assert (server.paths[0], server.requests[0], ours) == (server.paths[1], server.requests[1], theirs)
    assert ("x-gateway" in ours) is not is_users


def _without_notes(headers: dict[str, str]) -> dict[str, str]:
    """Less what a client says of itself and of how it reads, and the length of JSON that is spaced otherwise."""
    notes = {"user-agent", "accept-encoding", "connection", "content-length"}
    return {name: value for name, value in headers.items() if name not in notes and not name.startswith("x-stainless")}


async def test_where_no_address_is_set_the_sdks_own_is_asked(case: Case) -> None:
    sdk, model = case.sdk(api_key="k"), case.model(key="k")
    assert model.endpoint.url.startswith(str(sdk.base_url).rstrip("/") + "/")
    await sdk.close()


@pytest.mark.parametrize("key", ["a\nb", "a\rX-More: b", "a\0b"])
async def test_a_key_that_would_be_more_than_a_header_is_told_and_not_sent(
    case: Case, server: ModelServer, key: str
) -> None:
    with pytest.raises(ModelRequestError, match="can't be sent"):
        await asked(case.model(key=key, base_url=case.base(server)))
    assert server.headers == []


@pytest.mark.parametrize("address", ["127.0.0.1:1/v1", "htp://127.0.0.1/v1", "http://127.0.0.1:99999/v1"])
async def test_an_address_that_is_none_is_told_as_such(case: Case, address: str) -> None:
    with pytest.raises(ModelRequestError, match=r"its address.*can't be sent"):
        await asked(case.model(key="k", base_url=address))


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "unknown://127.0.0.1:1"])
async def test_a_proxy_of_another_kind_is_told_as_such(case: Case, proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(ModelRequestError, match=r"proxy of the environment.*can't be sent"):
        await asked(case.model(key="k", base_url="http://model.invalid"))


async def test_a_redirect_to_another_origin_takes_nothing_of_the_environment_along(
    case: Case, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    own = "User-Agent: inner\nAccept: inner/json\nAnthropic-Version: inner\nAnthropic-Beta: computer-use-2025-01-24"
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"{ENVIRONMENT[name]}\n{own}")
    async with ModelServer() as other:
        path = _path(case)
        here, there = (Answer(status=308, headers={"Location": to}) for to in (path + "?again", other.url + path))
        server.answer(here, there)
        await asked(case.model(key="k", base_url=case.base(server)))
    assert server.paths == [path, f"{path}?again"]
    assert server.headers[0] == server.headers[1]
    kept = other.headers[0].keys() - {"host", "content-length", "accept-encoding"}
    assert kept == {"accept", "content-type", "user-agent"} | (
        {"anthropic-version"} if case.model is AnthropicModel else set[str]()
    )
    assert not [name for name, value in other.headers[0].items() if "inner" in value]


async def test_a_call_with_a_users_key_is_redirected_nowhere(case: Case, server: ModelServer) -> None:
    async with ModelServer() as other:
        server.answer(Answer(status=307, headers={"Location": other.url + _path(case)}))
        with pytest.raises(ModelRequestError, match="another address"):
            await asked(case.model(key="k", base_url=case.base(server), is_users=True))
        assert (len(server.requests), other.requests) == (1, [])


def _path(case: Case) -> str:
    return "/v1/messages" if case.model is AnthropicModel else f"/v1{case.model.PATH}"


async def test_a_server_that_begins_no_answer_is_late_and_not_away(case: Case, server: ModelServer) -> None:
    server.answer(Answer(hang=True))
    with pytest.raises(ModelUnavailableError, match="did not answer in time") as raised:
        await asked(case.model(key="k", base_url=case.base(server), timeouts=Timeouts(head_s=0.2)))
    assert raised.value.may_retry


@pytest.mark.parametrize(
    ("url", "is_trusted"),
    [
        ("http://a.test/other", True),
        ("https://a.test/", True),
        ("http://b.test/", False),
        ("http://a.test:81/", False),
        ("http://me@a.test/", False),
        ("ftp://a.test/", False),
    ],
)
def test_the_key_goes_on_to_the_same_server_alone(url: str, *, is_trusted: bool) -> None:
    assert is_as_trusted(url, "http://a.test/v1") is is_trusted
    assert not is_as_trusted("http://a.test/v1", "https://a.test/v1"), "what was secret is sent in the open"


ASKING = """
import asyncio, sys
from backend_api.agent.model import ModelRequest, UserTurn
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings

TURNS = [UserTurn(text="hi")]

async def main(url):
    settings = LlmSettings(openai_key="k", openai_base_url=url + "/v1", anthropic_key="k", anthropic_base_url=url)
    async with Catalogue(settings) as catalogue:
        for model in catalogue.models():
            request = ModelRequest(model=model.id, system="", turns=TURNS, tools=[], max_output_tokens=9)
            async for _ in catalogue.choose(model.id).chat.stream(request):
                pass

asyncio.run(main(sys.argv[1]))
print({"openai", "anthropic", "httpx2"} & sys.modules.keys())
"""


async def test_a_process_that_asks_models_has_no_sdk_in_memory(server: ModelServer) -> None:
    """Nor the client of HTTP that comes with them, unless something else brings it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ASKING, server.url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        assert await process.communicate() == (b"set()\n", b"")
    assert sorted(server.paths) == ["/v1/chat/completions", "/v1/messages"]
