"""Which ports may be opened."""

from __future__ import annotations

import pytest

from tool_api.ports.rules import PortRules

OWN = 9222


@pytest.mark.parametrize("port", [1024, 3000, 65535])
def test_a_port_of_a_program_may_be_opened(port: int) -> None:
    assert PortRules(own_ports=lambda: frozenset({OWN})).allow(port)


@pytest.mark.parametrize("port", [-1, 0, 80, 1023, 65536, OWN])
def test_ports_of_the_system_and_of_the_sandboxs_own_services_may_not(port: int) -> None:
    assert not PortRules(own_ports=lambda: frozenset({OWN})).allow(port)


def test_a_listed_low_port_may_be_opened_unless_it_is_an_own_one() -> None:
    rules = PortRules(own_ports=lambda: frozenset({81}), low_ports=frozenset({80, 81}))

    assert rules.allow(80)
    assert not rules.allow(81)


def test_a_port_that_a_service_took_later_is_refused_from_then_on() -> None:
    own: set[int] = set()
    rules = PortRules(own_ports=lambda: frozenset(own))
    assert rules.allow(4000)

    own.add(4000)

    assert not rules.allow(4000)
