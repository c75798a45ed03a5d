"""How every service answers what goes wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from service_kit import failures
from service_kit.failures import DomainError
from service_kit.problems import STATUS, install_problems, status_of

FAMILIES = [kind for kind in vars(failures).values() if isinstance(kind, type) and issubclass(kind, DomainError)]


class Named(BaseModel):
    name: str


async def answer_of(raised: Callable[[], Exception], **options: Any) -> httpx.Response:
    app = FastAPI()
    install_problems(app, **options)

    @app.get("/")
    async def fail() -> None:
        raise raised()

    return await ask(app, "GET", "/")


async def ask(app: FastAPI, method: str, path: str, **request: Any) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        return await client.request(method, path, **request)


async def test_a_detail_with_a_name_that_is_no_text_is_answered_all_the_same() -> None:
    name = os.fsdecode(b"caf\xe9")
    answer = await answer_of(lambda: failures.TooLargeError(f"Too large: {name}."))
    assert answer.status_code == 413
    assert answer.json()["detail"] == "Too large: caf\\udce9."


async def test_every_detail_ends_as_a_sentence_does() -> None:
    unauthenticated = await answer_of(lambda: HTTPException(401))
    refused = await answer_of(lambda: failures.ForbiddenError("Not allowed"))
    said = await answer_of(lambda: failures.ForbiddenError("Really not?"))
    app = FastAPI()
    install_problems(app)
    missing = await ask(app, "GET", "/nowhere")
    details = [answer.json()["detail"] for answer in (unauthenticated, refused, said, missing)]
    assert details == ["Unauthorized.", "Not allowed.", "Really not?", "Not Found."]


async def test_what_is_too_large_is_told_how_large_it_may_be() -> None:
    answer = await answer_of(lambda: failures.TooLargeError("At most 7 bytes.", limit_bytes=7))
    assert (answer.status_code, answer.json()["limit_bytes"]) == (413, 7)


def test_every_family_has_a_status_and_a_code_of_its_own() -> None:
    families = [kind for kind in FAMILIES if kind is not DomainError]
    assert set(families) == set(STATUS)
    assert len({kind.code for kind in families}) == len(families)


def test_a_class_below_a_family_has_its_status_and_one_outside_has_none() -> None:
    below = type("PageNotFoundError", (failures.NotFoundError,), {"code": "page_not_found"})
    outside = type("StrayError", (DomainError,), {"code": "stray"})
    assert (status_of(below), status_of(outside)) == (404, None)


async def test_an_invalid_field_is_named() -> None:
    answer = await answer_of(lambda: failures.InvalidError("Too long.", field="body.title"))
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["errors"] == [{"field": "body.title", "message": "Too long."}]
    answer = await answer_of(lambda: failures.InvalidError("Bad.", field="body.cron", fault="cron_hour"))
    assert answer.json()["code"] == "invalid"
    assert answer.json()["errors"] == [{"field": "body.cron", "message": "Bad.", "code": "cron_hour"}]


@pytest.mark.parametrize(
    ("error", "header", "value"),
    [
        (failures.LimitError("Slow down.", retry_after_s=7), "retry-after", "7"),
        (failures.UnavailableError("Gone."), "retry-after", "5"),
        (failures.UnauthenticatedError("Who?"), "www-authenticate", "Bearer"),
    ],
)
async def test_the_answer_says_what_to_do_next(error: DomainError, header: str, value: str) -> None:
    assert (await answer_of(lambda: error)).headers[header] == value


async def test_a_service_adds_headers_of_its_own() -> None:
    answer = await answer_of(
        lambda: failures.ConflictError("Busy."), service_headers=lambda error: {"X-Code": error.code}
    )
    assert (answer.status_code, answer.headers["x-code"]) == (409, "conflict")


async def test_what_the_framework_refuses_is_a_problem_too() -> None:
    app = FastAPI()
    install_problems(app)

    @app.post("/names")
    async def name(body: Named) -> None:
        raise AssertionError(f"unasked: {body}")

    missing = await ask(app, "GET", "/nowhere")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    wrong = await ask(app, "GET", "/names")
    assert (wrong.status_code, wrong.json()["code"], wrong.headers["allow"]) == (405, "method_not_allowed", "POST")
    invalid = await ask(app, "POST", "/names", json={"name": 1})
    assert (invalid.status_code, invalid.json()["detail"]) == (
        422,
        "Not valid: body.name: Input should be a valid string.",
    )
