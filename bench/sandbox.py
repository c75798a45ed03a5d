"""A session's real computer for the benchmarks: through the manager of a running stack."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass

import httpx

from contracts.sandboxes import EndpointToken, Scope
from setting import Stack
from support.sandboxes import client_at


@dataclass(frozen=True, slots=True)
class Manager:
    """REST of the stack's sandbox manager."""

    http: httpx.Client

    @classmethod
    def of(cls, stack: Stack) -> Manager:
        ports = json.loads((stack.data_dir / "ports.json").read_text())
        token = json.loads((stack.data_dir / "secrets.json").read_text())["manager_token"]
        headers = {"Authorization": f"Bearer {token}"}
        return cls(httpx.Client(base_url=f"http://127.0.0.1:{ports['manager']}", headers=headers, timeout=90))

    def create(self, session_id: str) -> str:
        """Create a sandbox and wait until it is ready; answers its id."""
        made = self.http.post("/sandboxes", json={"session_id": session_id, "user_id": "bench"}).raise_for_status()
        sandbox = made.json()["id"]
        ready = self.http.get(f"/sandboxes/{sandbox}", params={"wait_ms": 60_000}).raise_for_status().json()
        assert ready["status"] == "ready", ready
        return sandbox

    def ask(self, session_id: str) -> str:
        """Create a sandbox that comes from the pool, ready with the answer unless the machine is loaded."""
        body = {"session_id": session_id, "user_id": "bench"}
        sandbox = self.http.post("/sandboxes", json=body).raise_for_status().json()
        while sandbox["status"] == "starting":
            path, wait = f"/sandboxes/{sandbox['id']}", {"wait_ms": 5_000}
            sandbox = self.http.get(path, params=wait).raise_for_status().json()
        assert sandbox["status"] == "ready", sandbox
        return sandbox["id"]

    def phases(self) -> dict[str, float]:
        """Mean milliseconds of each phase of a start, by the manager's own metrics since it began."""
        text = self.http.get("/metrics").raise_for_status().text
        name = "sandbox_create_phase_seconds"
        sums, counts = (
            {phase: float(value) for phase, value in re.findall(rf'{name}_{kind}{{.*phase="(\w+)".*}} (\S+)', text)}
            for kind in ("sum", "count")
        )
        return {phase: 1000 * total / counts[phase] for phase, total in sums.items() if counts[phase]}

    def await_warm(self, count: int, within_s: float) -> None:
        """Wait until so many are in the pool."""
        until = time.monotonic() + within_s
        while self.http.get("/stats").raise_for_status().json()["by_status"].get("warm", 0) < count:
            assert time.monotonic() < until, "the pool was not filled in time"
            time.sleep(0.1)

    def memory(self, sandbox: str) -> int:
        """Bytes a sandbox takes up now."""
        return self.http.get(f"/sandboxes/{sandbox}/stats").raise_for_status().json()["memory_bytes"]

    def delete(self, sandbox: str) -> None:
        self.http.delete(f"/sandboxes/{sandbox}", params={"keep_workspace": "false"}).raise_for_status()

    def token(self, sandbox: str, *scopes: Scope) -> EndpointToken:
        body = {"scopes": [scope.value for scope in scopes]}
        answer = self.http.post(f"/sandboxes/{sandbox}/tokens", json=body).raise_for_status()
        return EndpointToken.model_validate(answer.json())


def endpoint(token: EndpointToken) -> httpx.AsyncClient:
    """A client of the sandbox's endpoint."""
    return client_at(token.endpoint, {"Authorization": f"Bearer {token.token}"})
