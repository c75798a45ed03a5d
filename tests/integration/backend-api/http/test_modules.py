"""A module that is taken out of the list is missing, and nothing else is."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from fastapi.routing import APIRoute

from backend_api.agent.capability import Setup
from backend_api.agent.subagent_kinds import BUILT_IN, MAIN
from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import describe_app
from backend_api.main.modules import MODULES, OPTIONAL
from backend_api.module import Module
from support.gateway import run_gateway
from support.servers import Server


def routes_of(module: Module) -> list[APIRoute]:
    return [route for router in module.routes for route in router.routes if isinstance(route, APIRoute)]


def operations(paths: dict[str, dict[str, Any]]) -> dict[tuple[str, str], Any]:
    return {(path, method): one for path, methods in paths.items() for method, one in methods.items()}


@cache
def of_all_modules() -> dict[tuple[str, str], Any]:
    document = describe_app(WebOptions()).openapi()
    return operations(json.loads(json.dumps(document["paths"])))


IN_THE_GATE = ("previews", "schedules", "skills", "web")
"""Of each kind one: its own host, rows of its own, something that agents are given, tools alone."""


@pytest.mark.parametrize(
    "module",
    [pytest.param(one, marks=() if one.name in IN_THE_GATE else pytest.mark.thorough, id=one.name) for one in OPTIONAL],
)
async def test_its_routes_answer_404_and_all_others_go_on(
    module: Module, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    left = [one for one in MODULES if one is not module]
    own_tools, others = ({tool.spec.name for one in group for tool in one.tools} for group in ([module], left))
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, modules=left, preview_domain="localhost"
    ) as gateway:
        anna = await gateway.user("anna")
        session_id = await gateway.session(anna)
        kept = {route.path for one in left for route in routes_of(one)}
        for route in routes_of(module):
            for method in route.methods or ():
                answer = await gateway.client.request(method, route.path.replace("{path:path}", "x"), headers=anna)
                # Where others have the path, it is this method of it that is missing.
                assert answer.status_code == (405 if route.path in kept else 404), (method, route.path)
        paths = {route.path for route in routes_of(module)}
        for path in ("/api/tools", "/api/settings", "/api/sessions/{session_id}/state"):
            answer = await gateway.client.get(path.format(session_id=session_id), headers=anna)
            assert answer.status_code == (404 if path in paths else 200), path
        stopped = await gateway.client.post(f"/api/sessions/{session_id}/stop", headers=anna)
        assert stopped.status_code == 204
        parts = gateway.ports.modules
        agents = [Setup(now=lambda: datetime.now(UTC), kind=kind) for kind in (MAIN, *(one.name for one in BUILT_IN))]
        offered = {tool.spec.name for source in parts.tools for setup in agents for tool in await source.tools(setup)}
        assert offered == others - own_tools
        rest = (await gateway.client.get("/openapi.json")).json()["paths"]
    own = {(route.path_format, method.lower()) for route in routes_of(module) for method in route.methods or ()}
    assert own or own_tools
    assert operations(rest) == {name: one for name, one in of_all_modules().items() if name not in own}
