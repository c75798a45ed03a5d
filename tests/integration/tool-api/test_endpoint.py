"""Who passes the endpoint, over the real one."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.endpoint import RunningEndpoint, running_endpoint
from support.stack import wait_until

CALL = {"call_id": "never", "arguments": {"command": "touch reached"}}


def ask(endpoint: RunningEndpoint, method: str, path: str, token: str | None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
    with httpx.Client(transport=endpoint.transport(), base_url="http://endpoint", headers=headers) as client:
        return client.request(method, path, json=CALL if method == "POST" else None)


def assert_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert (body["status"], body["code"]) == (status, code)
    assert body["request_id"] == answer.headers["x-request-id"]
    return body


@pytest.mark.thorough
def test_a_remembered_token_ends_when_it_expires(endpoint: RunningEndpoint) -> None:
    expires = int(time.time()) + 2
    token = endpoint.keys.token(exp=expires)
    assert ask(endpoint, "GET", "/tools", token).status_code == 200
    while time.time() <= expires:
        time.sleep(0.02)
    assert_problem(ask(endpoint, "GET", "/tools", token), 401, "unauthenticated")


def test_health_is_open(endpoint: RunningEndpoint) -> None:
    body = ask(endpoint, "GET", "/healthz", None).json()
    assert body["ready"] is True
    assert body["has_desktop"] is False
    assert body["services"] == {"xvnc": "off", "window_manager": "off", "browser": "off"}


def test_an_unknown_route_method_and_tool_are_problems(endpoint: RunningEndpoint) -> None:
    token = endpoint.keys.token()
    assert_problem(ask(endpoint, "GET", "/nowhere", token), 404, "not_found")
    assert_problem(ask(endpoint, "DELETE", "/tools", token), 405, "method_not_allowed")
    assert_problem(ask(endpoint, "POST", "/tools/no_such_tool", token), 404, "not_found")


def test_invalid_arguments_are_named(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:
        call = {"call_id": "c", "arguments": {"cmd": "x", "timeout_s": "soon"}, "more": 1}
        body = assert_problem(client.post("/tools/shell_exec", json=call), 422, "invalid")
        assert [fault["field"] for fault in body["errors"]] == ["body.more"]
        del call["more"]
        body = assert_problem(client.post("/tools/shell_exec", json=call), 422, "invalid")
    fields = {fault["field"] for fault in body["errors"]}
    assert fields == {"body.arguments.cmd", "body.arguments.command", "body.arguments.timeout_s"}


def test_a_body_that_is_no_json_is_a_problem(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:
        assert_problem(client.post("/tools/shell_exec", content=b"{"), 422, "invalid")


def test_a_huge_body_is_refused_before_it_is_read(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:
        assert_problem(client.post("/tools/shell_exec", content=b" " * (17 * 1024 * 1024)), 413, "too_large")
        assert_problem(client.post("/tools/shell_exec", content=iter([b"{}"])), 411, "length_required")


def test_every_log_line_is_json_with_the_request_id(endpoint: RunningEndpoint) -> None:
    log = endpoint.socket.parent / "log"

    def is_logged() -> bool:
        """The line is written after the answer. The last one may still be in the making."""
        lines = [json.loads(line) for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return any(line.get("request_id") == "find-me" and line["path"] == "/files" for line in lines)

    with endpoint.client() as client:
        client.get("/files", headers={"X-Request-ID": "find-me"})
    assert wait_until(is_logged, timeout_s=10)
    assert "eyJ" not in log.read_text()


def test_one_call_id_runs_once_at_a_time(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client, endpoint.client() as other:
        body = {"call_id": "twice", "arguments": {"command": "echo on; read never"}}
        with client.stream("POST", "/tools/shell_exec", json=body) as answer:
            lines = answer.iter_lines()
            assert json.loads(next(lines))["text"] == "on\n"
            assert_problem(other.post("/tools/shell_exec", json=body), 409, "conflict")
            assert other.post("/calls/twice/cancel").status_code == 204


def test_the_tools_are_listed_with_their_schemas(endpoint: RunningEndpoint) -> None:
    with endpoint.client() as client:
        tools = {tool["name"]: tool for tool in client.get("/tools").json()}
    assert {"shell_exec", "file_edit", "browser_view"} <= tools.keys()
    assert tools["shell_exec"]["parameters"]["additionalProperties"] is False
    assert tools["shell_exec"]["parameters"]["required"] == ["command"]


@pytest.fixture
def unclaimed(tmp_path: Path) -> Generator[RunningEndpoint]:
    with running_endpoint(tmp_path, SANDBOX_GENERATION="0") as endpoint:
        yield endpoint


def claim(generation: int = 3, **others: Any) -> dict[str, Any]:
    scopes = ["exec", "files", "claim"]
    return {"gen": generation, "scopes": scopes, "end": int(time.time()) + 3600} | others


def test_an_endpoint_nobody_claimed_answers_nothing_but_health_and_can_still_be_claimed(
    unclaimed: RunningEndpoint,
) -> None:
    no_claims: list[dict[str, Any]] = [
        {"gen": 3},
        {"gen": 0},
        claim(generation=0),
        claim(end=None),
        claim(end="tomorrow"),
        claim(sub="another"),
        claim(exp=int(time.time()) - 10),
        claim(aud="others"),
    ]
    for claims in no_claims:
        assert_problem(ask(unclaimed, "GET", "/files", unclaimed.keys.token(**claims)), 401, "unauthenticated")
    assert ask(unclaimed, "GET", "/healthz", None).status_code == 200
    assert ask(unclaimed, "GET", "/files", unclaimed.keys.token(**claim())).status_code == 200


def test_a_claimed_endpoint_knows_its_generation_alone_and_is_never_claimed_again(unclaimed: RunningEndpoint) -> None:
    assert ask(unclaimed, "GET", "/files", unclaimed.keys.token(**claim(3))).status_code == 200

    again = ask(unclaimed, "GET", "/files", unclaimed.keys.token(**claim(4)))
    other = ask(unclaimed, "GET", "/files", unclaimed.keys.token(gen=4))
    usual = ask(unclaimed, "GET", "/files", unclaimed.keys.token(gen=3))
    repeated = ask(unclaimed, "GET", "/files", unclaimed.keys.token(**claim(3)))

    assert_problem(again, 409, "claimed")
    assert_problem(other, 401, "unauthenticated")
    assert (usual.status_code, repeated.status_code) == (200, 200)


@pytest.mark.thorough
def test_a_claimed_sandbox_ends_soon_after_its_time_though_nobody_ends_it(unclaimed: RunningEndpoint) -> None:
    over = unclaimed.keys.token(**claim(end=int(time.time()) - 60))

    assert ask(unclaimed, "GET", "/files", over).status_code == 200

    assert wait_until(lambda: unclaimed.process.poll() is not None, 15)


def keep(endpoint: RunningEndpoint, **claims: Any) -> dict[str, Any]:
    """What a manager hears from a sandbox it watches over."""
    answer = ask(endpoint, "POST", "/keep-alive", endpoint.keys.token(**({"gen": 0, "scopes": ["keep"]} | claims)))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_sandbox_rests_until_it_is_claimed_and_tells_its_managers(unclaimed: RunningEndpoint) -> None:
    assert keep(unclaimed)["resting"] is True
    assert keep(unclaimed)["resting"] is True

    assert keep(unclaimed, **claim(scopes=["keep", "claim"]))["resting"] is False
    assert keep(unclaimed, gen=3)["resting"] is False


@pytest.mark.thorough
def test_one_nobody_claimed_ends_itself_where_no_manager_is(tmp_path: Path) -> None:
    with running_endpoint(tmp_path, SANDBOX_GENERATION="0", SANDBOX_ORPHAN_S="5") as endpoint:
        assert wait_until(lambda: endpoint.process.poll() is not None, 60)
        assert endpoint.process.returncode == 0
