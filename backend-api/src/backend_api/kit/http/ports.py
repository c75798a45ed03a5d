"""How routes get their dependencies: ports by name, and the options of the edge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

Probe = Callable[[], Awaitable[None]]
"""Returns if the dependency responds, raises if it does not."""

Metrics = Callable[[], Awaitable[bytes]]
"""The metrics of this process in Prometheus' text format."""


async def no_metrics() -> bytes:
    """An empty exposition, for a process without a registry."""
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """Settings of the edge."""

    is_local: bool = False
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    user_content_origin: str = ""
    public_url: str = ""
    metrics_token: str = ""
    follows_traces: bool = False
    max_body_bytes: int = 2 * 1024 * 1024
    max_upload_bytes: int = 10 * 1024 * 1024
    max_files: int = 50
    max_skill_bytes: int = 8 * 1024 * 1024
    max_bibliography_bytes: int = 48 * 1024 * 1024
    frontend: Path | None = None
    heartbeat_s: float = 15.0
    run_wait_s: float = 3600.0


def ports_of(app: Any) -> Mapping[str, Any]:
    """The ports of the gateway by name; none if the app only has routes."""
    return cast("Mapping[str, Any]", getattr(app.state, "ports", {}))


_REQUIRED = object()


def port(name: str, default: Any = _REQUIRED) -> Any:
    """A route's dependency on a port: `sessions: Annotated[SessionRepository, port("sessions")]` is the port of this
    name, or the default if the gateway has none."""

    # A coroutine, as the framework calls plain functions in a thread.
    async def of_gateway(connection: HTTPConnection) -> Any:
        ports = ports_of(connection.app)
        return ports[name] if default is _REQUIRED else ports.get(name, default)

    return Depends(of_gateway)


async def _options(connection: HTTPConnection) -> WebOptions:
    return cast("WebOptions", connection.app.state.options)


Options = Annotated[WebOptions, Depends(_options)]
