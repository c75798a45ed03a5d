"""A port is small, or says why it is not."""

from __future__ import annotations

import inspect

import pytest

from sandbox_manager.domain import ports, workspace

MOST = 7
PORTS = [
    one
    for module in (ports, workspace)
    for _, one in inspect.getmembers(module, inspect.isclass)
    if one.__module__ == module.__name__ and getattr(one, "_is_protocol", False)
]


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.__name__)
def test_a_port_has_few_members_or_says_why(port: type) -> None:
    members = {name for name in dir(port) if not name.startswith("_")}

    assert len(members) <= MOST or "more than seven methods, as" in (port.__doc__ or "")
