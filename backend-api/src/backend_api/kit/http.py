"""How the routes of a module get to its ports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi.requests import HTTPConnection


def port(name: str) -> Callable[[HTTPConnection], Any]:
    """A dependency that is the port of this name, of the gateway that answers."""

    def of_gateway(connection: HTTPConnection) -> Any:
        return connection.app.state.use_cases.ports[name]

    return of_gateway
