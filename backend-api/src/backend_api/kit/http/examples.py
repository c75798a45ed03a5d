"""An example of the JSON body of a request, for the documentation of the API; it stands beside the route."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_example(body: Mapping[str, Any]) -> dict[str, Any]:
    """The `openapi_extra` of a route that takes such a body."""
    return {"requestBody": {"content": {"application/json": {"example": body}}}}
