"""What an error says beside its text."""

from __future__ import annotations

import httpx
from fastapi import FastAPI

from sandbox_manager.bootstrap.app import service_headers
from sandbox_manager.domain.errors import ElsewhereError
from service_kit.problems import install_problems


async def test_who_asked_a_manager_of_another_engine_does_not_come_out_there_again() -> None:
    app = FastAPI()
    install_problems(app, service_headers=service_headers)

    @app.get("/")
    async def refuse() -> None:
        raise ElsewhereError

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://manager") as client:
        answer = await client.get("/")
    assert (answer.status_code, answer.json()["code"], answer.headers["connection"]) == (503, "elsewhere", "close")
