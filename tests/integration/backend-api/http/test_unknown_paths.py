"""What is for programs and not there is missing, as a problem; the page answers for people alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend_api.kit.http.ports import WebOptions
from support.gateway import run_gateway
from support.servers import Server


@pytest.mark.parametrize("has_page", [True, False])
async def test_an_unknown_path_for_programs_is_a_problem(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, tmp_path: Path, has_page: bool
) -> None:
    (tmp_path / "index.html").write_text("the page")
    options = WebOptions(frontend=tmp_path if has_page else None)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        for path in ("/api", "/api/", "/api/none", "/api/sessions/x/none", "/v1", "/v1/models", "/mcp", "//mcp/x"):
            for method in ("GET", "POST", "PUT", "DELETE"):
                answer = await gateway.client.request(method, f"{gateway.url}{path}")
                named = (method, path, answer.status_code)
                assert answer.status_code == 404, named
                assert answer.headers["content-type"] == "application/problem+json", named
                assert answer.json()["code"] == "not_found"
        wrong = await gateway.client.delete("/api/auth/me")
        assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
        if has_page:
            for path in ("/", "/s/one", "/apis", "/mcpx"):
                assert (await gateway.client.get(path)).text == "the page"


async def test_nobody_registers_where_everybody_is_the_local_user(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    options = WebOptions(is_local=True)
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as gateway:
        body = {"username": "anna", "password": "a-long-password"}
        refused = await gateway.client.post("/api/auth/register", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "registration_closed")
        status = (await gateway.client.get("/api/auth/status")).json()
        assert (status["mode"], status["registration_open"]) == ("local", False)
        assert status["user"] == (await gateway.client.get("/api/auth/me")).json()
