"""What the engine says to a pause, and what is made of it."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine

FORKING = "Cannot pause container x: OCI runtime pause failed: unable to freeze: unknown"


@contextmanager
def engine_that_says(answers: Sequence[str | None], monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
    """One answer to each pause: why not, or None. What was asked is told."""
    left, asked = list(answers), list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200, {"ApiVersion": "1.41"})

        def do_POST(self) -> None:
            asked.append(self.path)
            reason = left.pop(0)
            self._answer(204 if reason is None else 500, None if reason is None else {"message": reason})

        def _answer(self, status: int, body: object) -> None:
            content = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
    try:
        yield asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_container_that_forks_is_paused_at_the_next_try(monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_that_says([FORKING, FORKING, None], monkeypatch) as asked:
        Engine().pause("x")
    assert len(asked) == 3


def test_one_that_is_paused_already_is_left_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_that_says(["Container x is already paused"], monkeypatch) as asked:
        Engine().pause("x")
    assert len(asked) == 1


@pytest.mark.parametrize(("answers", "tries"), [([FORKING] * 3, 3), (["cgroups are broken"], 1)])
def test_what_does_not_pass_is_told(answers: list[str], tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_that_says(answers, monkeypatch) as asked, pytest.raises(EngineUnavailableError):
        Engine().pause("x")
    assert len(asked) == tries
