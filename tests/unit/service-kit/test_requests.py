"""The outermost layer of a service behind the gateway."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from service_kit.observation.context import work_fields
from service_kit.problems import install_problems
from service_kit.requests import Answered, RequestMiddleware, RequestRules


class Service:
    """An app behind the layer, and what the layer counted."""

    def __init__(self) -> None:
        self.counted: list[Answered] = []
        self.app = FastAPI()
        rules = RequestRules(service="some-service", count=self.counted.append)
        self.app.add_middleware(RequestMiddleware, rules=rules)
        install_problems(self.app)
        self.app.get("/things/{name}")(self._thing)
        self.app.get("/broken")(self._broken)
        self.app.get("/cut", response_model=None)(self._cut)

    async def _thing(self, name: str) -> dict[str, str]:
        return work_fields() | {"name": name}

    async def _broken(self) -> None:
        raise RuntimeError("nobody foresaw it")

    async def _cut(self) -> StreamingResponse:
        async def body() -> Any:
            yield b"begun"
            raise RuntimeError("and broke off")

        return StreamingResponse(body())

    async def ask(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://service") as client:
            return await client.request(method, path, headers=named)


@pytest.fixture
def service() -> Service:
    return Service()


async def test_the_work_a_caller_names_is_this_requests_work(service: Service) -> None:
    answer = await service.ask("/things/one", X_Request_ID="caller-1", X_Session_ID="s-1", X_Run_ID="r-1")
    assert answer.headers["x-request-id"] == "caller-1"
    assert answer.json() == {"request_id": "caller-1", "session_id": "s-1", "run_id": "r-1", "name": "one"}


async def test_an_id_that_is_not_sane_is_replaced(service: Service) -> None:
    answer = await service.ask("/things/one", X_Request_ID="a b;c")
    assert answer.headers["x-request-id"] == answer.json()["request_id"]
    assert len(answer.json()["request_id"]) == 24


async def test_what_nobody_foresaw_is_answered_under_the_requests_id(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await service.ask("/broken", X_Request_ID="caller-2")
    assert (answer.status_code, answer.json()["code"], answer.json()["request_id"]) == (500, "internal", "caller-2")
    assert answer.headers["x-request-id"] == "caller-2"
    assert "nobody foresaw it" not in json.dumps(answer.json())
    assert [record.name for record in caplog.records if record.exc_info] == ["some_service.access"]
    assert [one.status for one in service.counted] == [500]


async def test_an_answer_that_has_begun_is_cut_and_not_followed_by_another(service: Service) -> None:
    with pytest.raises(RuntimeError, match="and broke off"):
        await service.ask("/cut")


async def test_requests_are_counted_by_template_and_strange_ones_together(service: Service) -> None:
    for path, method in (("/things/1", "GET"), ("/things/2", "GET"), ("/nowhere", "GET"), ("/things/3", "STRANGE")):
        await service.ask(path, method)
    assert [(one.routed_method, one.route, one.status) for one in service.counted] == [
        ("GET", "/things/{name}", 200),
        ("GET", "/things/{name}", 200),
        ("any", "unmatched", 404),
        ("any", "/things/{name}", 405),
    ]


async def test_every_request_is_one_line_of_the_log(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await service.ask("/things/1")
    lines = [record for record in caplog.records if record.name == "some_service.access"]
    assert [(line.getMessage(), vars(line)["path"], vars(line)["status"]) for line in lines] == [
        ("request", "/things/1", 200)
    ]
