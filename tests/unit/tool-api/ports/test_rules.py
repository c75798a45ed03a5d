"""Which ports may be opened."""

from __future__ import annotations

import pytest

from tool_api.ports.rules import PortRules, ports_of

OWN = 41234


@pytest.mark.parametrize("port", [1024, 3000, 65535])
def test_a_port_of_a_program_may_be_opened(port: int) -> None:
    assert PortRules(own_ports=lambda: frozenset({OWN})).allow(port)


@pytest.mark.parametrize("port", [-1, 0, 80, 1023, 65536, 7000, 9222, OWN])
def test_ports_of_the_system_and_of_the_sandboxs_own_services_may_not(port: int) -> None:
    assert not PortRules(own_ports=lambda: frozenset({OWN})).allow(port)


def test_a_port_that_a_service_took_later_is_refused_from_then_on() -> None:
    own: set[int] = set()
    rules = PortRules(own_ports=lambda: frozenset(own))
    assert rules.allow(4000)

    own.add(4000)

    assert not rules.allow(4000)


def test_ports_are_read_from_addresses() -> None:
    assert ports_of("ws://127.0.0.1:9333/devtools/browser/x", None, "ws://[::1]/") == {9333}
