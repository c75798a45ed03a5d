"""The grant of a request's token, carried through the protocol's package to the code that lists and calls tools."""

from __future__ import annotations

from typing import cast

from starlette.types import Scope

from tool_api.access import Grant

_KEY = "tool_api.grant"


def with_grant(scope: Scope, grant: Grant) -> Scope:
    """The same request with its grant attached."""
    return {**scope, _KEY: grant}


def grant_of_request(scope: Scope) -> Grant:
    """The grant that `with_grant` attached."""
    return cast("Grant", scope[_KEY])
