from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from respx import MockRouter

from backend_api.agent.capability import tools_of
from backend_api.agent.tool import Done, ToolCall, ToolSpec
from backend_api.agent.tools.local import LocalTools
from backend_api.agent.tools.think import THINK
from backend_api.agent.tools.utc_now import utc_now
from backend_api.computers.tools import SignedLink, generate_download_url
from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.api_client import ApiClient
from backend_api.runs.capabilities import capabilities
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import FileMissingError, SandboxLostError, SandboxUnavailableError
from backend_api.sandboxes.tool_api.sandbox_tools import outcome_of
from backend_api.sandboxes.tools import SandboxToolSource, manifest_tools
from backend_api.settings.application.open_settings import bound_to
from backend_api.settings.domain.table import TAVILY_API_KEY
from backend_api.web.search.duckduckgo import DuckDuckGoSearch
from backend_api.web.search.provider import Hit, SearchUnavailableError
from backend_api.web.search.tavily import TavilySearch
from backend_api.web.search.user_search import UserSearch
from backend_api.web.tools.web_search import web_search
from contracts.tools import BrowserDisplay, ToolResult
from support.memory.sandboxes import MemorySandboxes
from support.memory.store import MemoryStore
from support.memory.user_settings import MemorySettingsStore
from support.scripted import ANY, call_tool
from support.user_settings import settings_parts

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)

PAGE = """
<div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Ad</a></div>
<div class="result"><h2><a rel="nofollow" class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3D1&amp;rut=z">Otters &amp; <b>rivers</b></a></h2>
<a class="result__snippet" href="//duckduckgo.com/l/">They <b>swim</b> well.</a></div>
"""


async def call(source: Any, name: str, **arguments: Any) -> Done:
    return await call_tool(source, name, arguments)


async def test_thinking_and_the_clock_need_no_computer() -> None:
    box = LocalTools([THINK, utc_now(lambda: NOON)])
    assert (await call(box, "think", thought="hm")).success
    assert (await call(box, "utc_now")).output == "2026-03-05T12:00:00Z (Thursday)"
    specs = [tool.spec for tool in await box.tools(ANY)]
    assert all(spec.read_only and spec.parameters["type"] == "object" for spec in specs)
    assert not any(spec.needs_sandbox for spec in specs)


async def test_arguments_that_do_not_fit_are_named() -> None:
    outcome = await call(LocalTools([THINK]), "think", idea="x")
    assert not outcome.success
    assert "thought" in outcome.output
    assert "idea" in outcome.output


async def test_a_link_is_made_and_its_fault_is_a_result() -> None:
    async def sign(session_id: str, user_id: str, path: str, *, expires_s: int) -> SignedLink:
        if path == "none":
            raise FileMissingError("There is no file none.")
        return SignedLink(url=f"/api/files/{session_id}-{user_id}-{expires_s}", expires_at=NOON)

    box = LocalTools([generate_download_url(sign)])
    (tool,) = await box.tools(ANY)
    assert tool.spec.needs_sandbox
    assert not tool.spec.read_only, "plan mode and agents that only read must not give a file away"
    assert "/api/files/s-u-60" in (await call(box, "generate_download_url", path="a", expires_s=60)).output
    missing = await call(box, "generate_download_url", path="none")
    assert (missing.success, missing.output) == (False, "There is no file none.")


async def test_duckduckgo_results_are_read_from_its_page(respx_mock: MockRouter, http: ApiClient) -> None:
    respx_mock.route().respond(text=PAGE)
    hits = await DuckDuckGoSearch(http).search("otters", limit=5)
    assert hits == [Hit(title="Otters & rivers", url="https://example.com/a?b=1", snippet="They swim well.")]


async def test_tavily_results_are_read(respx_mock: MockRouter, http: ApiClient) -> None:
    body = {"results": [{"title": "T", "url": "https://t", "content": "c"}, {"title": "U", "url": "https://u"}]}
    respx_mock.route().respond(json=body)
    assert await TavilySearch(http, "key").search("q", limit=1) == [Hit(title="T", url="https://t", snippet="c")]


@pytest.mark.parametrize(
    "answer",
    [httpx.ConnectError("no"), httpx.Response(429), httpx.Response(500), httpx.Response(401), httpx.Response(202)],
)
async def test_a_search_that_cannot_be_made_is_a_clear_result(
    respx_mock: MockRouter, http: ApiClient, answer: Any
) -> None:
    respx_mock.route().mock(side_effect=answer)
    for provider in (TavilySearch(http, "key"), DuckDuckGoSearch(http)):
        outcome = await call(LocalTools([web_search(provider)]), "web_search", query="q")
        assert not outcome.success
        assert "can't be searched" in outcome.output


async def test_search_results_are_shown_and_told() -> None:
    class Found:
        name = "found"

        async def search(self, query: str, *, limit: int) -> list[Hit]:
            return [Hit(title="T", url="https://t", snippet="s")][:limit]

    outcome = await call(LocalTools([web_search(Found())]), "web_search", query="q")
    assert "https://t" in outcome.output
    assert outcome.display is not None
    assert outcome.display["results"][0]["title"] == "T"
    assert SearchUnavailableError.retryable


async def test_a_users_own_key_searches_for_that_user_from_the_next_search_on(
    respx_mock: MockRouter, http: ApiClient
) -> None:
    store = MemorySettingsStore(MemoryStore())
    parts = settings_parts(store)
    of_all = respx_mock.post(host="shared.example", headers={"authorization": "Bearer tvly-shared"})
    of_user = respx_mock.post(host="api.tavily.com", headers={"authorization": "Bearer tvly-own"})
    for route in (of_all, of_user):
        route.respond(json={"results": []})

    async def key_of(user: str, key: str | None) -> None:
        sealed = key and parts.box.seal(key, bound_to=bound_to(UserId(user), TAVILY_API_KEY.name))
        await store.change(UserId(user), TAVILY_API_KEY.name, sealed)

    shared = TavilySearch(http, "tvly-shared", address="https://shared.example")
    box = LocalTools([web_search(shared, UserSearch(parts.open_settings, http))])
    await key_of("another", "tvly-another")
    for key, asked in ((None, (1, 0)), ("tvly-own", (1, 1)), (None, (2, 1))):
        await key_of("u", key)
        assert (await call(box, "web_search", query="q")).success
        assert (of_all.call_count, of_user.call_count) == asked


async def test_the_first_source_counts_for_a_name_in_two() -> None:
    table = capabilities(LocalTools([THINK]), LocalTools([replace(THINK), utc_now(lambda: NOON)]))
    found = await tools_of(table, ANY)
    assert [tool.spec.name for tool in found] == ["think", "utc_now"]
    assert found[0] is THINK


def test_the_manifest_offers_shell_files_and_browser() -> None:
    names = {tool.name for tool in manifest_tools()}
    assert {"shell_exec", "file_write", "file_list", "browser_navigate", "browser_view"} <= names


def test_a_screenshot_goes_to_the_body_and_never_into_the_view() -> None:
    picture = b"\x89PNG\r\n\x1a\nand so on"
    display = BrowserDisplay(url="u", image=base64.b64encode(picture).decode(), image_media_type="image/png")
    outcome = outcome_of(ToolResult(success=True, output="seen", display=display))
    assert (outcome.body, outcome.body_media_type) == (picture, "image/png")
    assert outcome.display is not None
    assert outcome.display["image"] is None
    broken = outcome_of(ToolResult(success=True, output="", display=BrowserDisplay(url="u", image="not base64!")))
    assert broken.body is None
    disguised = BrowserDisplay(url="u", image="PGh0bWw+", image_media_type="image/png")
    outcome = outcome_of(ToolResult(success=True, output="", display=disguised))
    assert (outcome.body, outcome.body_media_type) == (None, "text/plain")


def test_a_sandbox_that_says_it_changed_thousands_of_files_is_believed_a_few() -> None:
    paths = ["x" * 5_000, *(f"{number}" for number in range(999))]
    changed = outcome_of(ToolResult(success=True, output="", changed_paths=paths)).changed_paths
    assert changed == paths[1:101]


class Script:
    """`SandboxTools` that raises or answers in turn."""

    def __init__(self, *steps: Exception | Done) -> None:
        self.steps = list(steps)

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


TOOL = ToolSpec(name="t", description="", parameters={}, phrase="")
OK = Done(success=True, output="ok")


async def test_a_closed_endpoint_is_tried_again_for_a_while_and_a_lost_call_is_told() -> None:
    sandboxes = MemorySandboxes()
    gone = SandboxUnavailableError("gone")
    assert await call(SandboxToolSource([TOOL], sandboxes, Script(gone, gone, OK)), "t") == OK
    with pytest.raises(SandboxUnavailableError):
        await call(SandboxToolSource([TOOL], sandboxes, Script(gone), rebuilt_within_s=0), "t")
    lost = await call(SandboxToolSource([TOOL], sandboxes, Script(SandboxLostError("It broke."), OK)), "t")
    assert not lost.success
    assert lost.output.startswith("It broke. What was called may have happened, ")
    sandboxes.fault = "The engine is full."
    with pytest.raises(SandboxUnavailableError, match="full"):
        await call(SandboxToolSource([TOOL], sandboxes, Script()), "t")


async def test_the_model_is_told_once_that_its_computer_is_another_one() -> None:
    sandboxes = MemorySandboxes()
    box = SandboxToolSource([TOOL], sandboxes, Script(OK, OK, OK))
    first = await call(box, "t")
    sandboxes.living["s"] = replace(sandboxes.living["s"], generation=2)

    rebuilt, again = await call(box, "t"), await call(box, "t")

    assert (first, again) == (OK, OK)
    assert "The computer was restarted" in rebuilt.output
    assert rebuilt.output.endswith("ok")


async def test_the_model_is_told_of_another_computer_also_where_the_first_call_was_lost_with_the_one_before() -> None:
    sandboxes = MemorySandboxes()
    box = SandboxToolSource([TOOL], sandboxes, Script(SandboxLostError("broke."), OK, OK))
    assert not (await call(box, "t")).success
    sandboxes.living["s"] = replace(sandboxes.living["s"], generation=2)

    rebuilt, again = await call(box, "t"), await call(box, "t")

    assert "The computer was restarted" in rebuilt.output
    assert again == OK


async def test_the_tools_of_a_sandbox_are_the_same_ones_for_every_agent() -> None:
    box = SandboxToolSource([TOOL], MemorySandboxes(), Script())
    (first,), (second,) = await box.tools(ANY), await box.tools(replace(ANY, kind="general"))
    assert first is second


async def test_a_sub_agent_has_a_shell_of_its_own_unless_it_names_one() -> None:
    sent: list[dict[str, Any]] = []

    class Told(Script):
        async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
            sent.append(call.arguments)
            return OK

    box = SandboxToolSource(manifest_tools(), MemorySandboxes(), Told())
    for name, arguments, agent in [
        ("shell_exec", {"command": "a"}, None),
        ("shell_exec", {"command": "a"}, "one"),
        ("shell_view", {}, "one"),
        ("shell_exec", {"command": "a"}, "two"),
        ("shell_exec", {"command": "a", "shell": "main"}, "one"),
        ("file_read", {"path": "a"}, "one"),
    ]:
        await call_tool(box, name, arguments, agent_id=agent)
    of_main, of_one, viewed, of_two, named, read = [one.get("shell") for one in sent]
    assert (of_main, viewed, named, read) == (None, of_one, "main", None)
    assert len({of_one, of_two, "main"}) == 3
    assert str(of_one).startswith("agent-")


async def test_a_call_that_runs_for_long_counts_as_activity_all_the_while() -> None:
    sandboxes = MemorySandboxes()

    class Long(Script):
        async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
            async with asyncio.timeout(30):
                while sandboxes.activity.get("s", 0) < 3:
                    await asyncio.sleep(0)
            return OK

    assert await call(SandboxToolSource([TOOL], sandboxes, Long(), keep_alive_s=0.01), "t") == OK
