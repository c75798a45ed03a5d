"""What the token of a request allows, on its way through the protocol's package to whoever lists and calls."""

from __future__ import annotations

from typing import cast

from starlette.types import Scope

from tool_api.access import Grant

_KEY = "tool_api.grant"


def with_grant(scope: Scope, grant: Grant) -> Scope:
    """The same request, of which the grant is known."""
    return {**scope, _KEY: grant}


def grant_of_request(scope: Scope) -> Grant:
    """What was put there by `with_grant`."""
    return cast("Grant", scope[_KEY])
