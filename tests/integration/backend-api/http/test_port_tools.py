"""The agent's tools for ports, over a real database."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from backend_api.agent.capability import tools_of
from backend_api.agent.tool import Done, ToolCall
from backend_api.previews.application.open_port import PreviewPolicy
from backend_api.previews.tools import PortTools
from backend_api.runs.capabilities import capabilities
from support.gateway import Gateway, run_gateway
from support.scripted import ANY
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name"]


@pytest.fixture
async def gateway(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Gateway]:
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, preview_domain="apps.example.org"
    ) as gateway:
        yield gateway


def source(gateway: Gateway) -> PortTools:
    [tools] = [one for one in gateway.ports.modules.tools if isinstance(one, PortTools)]
    return tools


async def called(gateway: Gateway, session_id: str, user_id: str, name: str, **arguments: Any) -> Done:
    (tool,) = [one for one in await source(gateway).tools(ANY) if one.spec.name == name]
    done = await tool.run_call(
        ToolCall(session_id=session_id, user_id=user_id, run_id="r", call_id="c", name=name, arguments=arguments)
    )
    assert isinstance(done, Done)
    return done


async def test_the_agent_opens_a_port_tells_where_the_person_finds_it_and_closes_it(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    user_id = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    opened = await called(gateway, session_id, user_id, "expose_port", port=3000, label="Shop")
    again = await called(gateway, session_id, user_id, "expose_port", port=3000)
    listed = (await gateway.client.get(f"/api/sessions/{session_id}/ports", headers=anna)).json()["ports"]
    closed = await called(gateway, session_id, user_id, "close_port", port=3000)
    not_open = await called(gateway, session_id, user_id, "close_port", port=3000)

    assert opened.success
    assert 'under "Ports"' in opened.output
    assert "apps.example.org" not in opened.output
    assert "as it was before" in again.output
    assert [(one["port"], one["label"], one["opened_by"]) for one in listed] == [(3000, "Shop", "agent")]
    assert listed[0]["id"] not in opened.output
    assert closed.success
    assert (not_open.success, not_open.output) == (False, "The port 3000 is not open.")


async def test_what_can_not_be_opened_is_told_to_the_model(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    user_id = (await gateway.client.get("/api/auth/me", headers=anna)).json()["id"]
    refused = await called(gateway, session_id, user_id, "expose_port", port=80)
    wrong = await called(gateway, session_id, user_id, "expose_port", port="http")
    another = await called(gateway, session_id, "another", "expose_port", port=3000)

    assert not refused.success
    assert "1024 to 65535" in refused.output
    assert not wrong.success
    assert "expose_port" in wrong.output
    assert not another.success


async def test_only_the_main_agent_has_the_tools_and_not_in_plan_mode_nor_where_ports_are_off(gateway: Gateway) -> None:
    table = capabilities(source(gateway))
    on = source(gateway)
    off = replace(on, open_port=replace(on.open_port, policy=PreviewPolicy()))

    assert [tool.spec.name for tool in await tools_of(table, ANY)] == ["expose_port", "close_port"]
    assert {tool.spec.effect for tool in await source(gateway).tools(ANY)} == {"writes"}
    assert await source(gateway).tools(replace(ANY, kind="explore")) == []
    assert await off.tools(ANY) == []
