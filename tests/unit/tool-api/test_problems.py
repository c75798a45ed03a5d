"""Every error of the door has a status."""

from __future__ import annotations

from tool_api.errors import PathForbiddenError, ToolApiError
from tool_api.problems import status_of


def families(kind: type[ToolApiError]) -> list[type[ToolApiError]]:
    return [kind, *(deeper for below in kind.__subclasses__() for deeper in families(below))]


def test_every_error_has_a_status() -> None:
    assert all(400 <= status_of(kind("x")) < 500 for kind in families(ToolApiError) if kind is not ToolApiError)


def test_a_path_outside_is_forbidden() -> None:
    assert status_of(PathForbiddenError("x")) == 403
    assert PathForbiddenError.code == "path_forbidden"
