"""How long a sandbox waits for its parts, and how long a manager waits for it."""

from __future__ import annotations

from sandbox_manager.bootstrap.settings import LifecycleSettings
from tool_api.bootstrap import serve

_BEFORE_S = 15.0
"""Until the tool API runs on a busy machine: namespaces, network, imports."""


def test_a_desktop_that_is_slow_to_come_up_does_not_cost_the_sandbox() -> None:
    given_up_after_s = LifecycleSettings().tuning["start-s"]

    assert given_up_after_s > serve.DESKTOP_WAIT_S + _BEFORE_S
