"""The tool API's OpenAPI document against a real endpoint."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool

from support.endpoint import endpoint_environment, running_endpoint
from support.fuzzing import fuzz
from tool_api.bootstrap.settings import Settings
from tool_api.bootstrap.wiring import open_services
from tool_api.http.app import create_app

pytestmark = pytest.mark.thorough


class _Connection(HTTPConnection):
    path: ClassVar[str]

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


class _Adapter(HTTPAdapter):
    """Every request to one unix socket."""

    def __init__(self, path: Path) -> None:
        connection = type("Connection", (_Connection,), {"path": str(path)})
        self._pool = HTTPConnectionPool("door")
        self._pool.ConnectionCls = connection
        super().__init__()

    def get_connection_with_tls_context(self, *_: Any, **__: Any) -> HTTPConnectionPool:
        return self._pool

    def close(self) -> None:
        self._pool.close()
        super().close()


async def _document(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name, value in environment.items():
        if name.startswith(("SANDBOX_", "WORKSPACE")):
            monkeypatch.setenv(name, value)
    async with open_services(Settings()) as services:  # pyright: ignore[reportCallIssue]
        return create_app(services).openapi()


@pytest.mark.timeout(300)
async def test_no_call_breaks_the_endpoint_or_its_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_endpoint(tmp_path) as endpoint, requests.Session() as session:
        document = await _document(endpoint_environment(endpoint.keys, endpoint.workspace), monkeypatch)
        session.mount("http://", _Adapter(endpoint.socket))
        (endpoint.workspace / "a.txt").write_text("text")
        headers = {"Authorization": f"Bearer {endpoint.keys.token()}"}

        def opened(label: str) -> tuple[dict[str, str], dict[str, str]]:
            bearer = endpoint.keys.token(scopes=["keep"]) if "keep-alive" in label else endpoint.keys.token()
            return {"name": "file_read", "call_id": "x"}, headers | {"Authorization": f"Bearer {bearer}"}

        wrong = fuzz(document, f"http://{quote('endpoint')}", opened, session=session)
        assert not wrong, "\n\n".join(wrong)
        with endpoint.client() as client:
            assert client.get("/healthz").json()["ready"] is True
