"""The gateway as it comes, but for how long it waits for clients and how many tries may wait: `python -m
support.hurried_gateway`. What a test has to sit out, or to fill, is less than in earnest."""

from __future__ import annotations

import sys
from functools import partial

from backend_api.identity.application import delayed_attempts
from service_kit.listening import http

HEAD_S = 3.0
BODY_WINDOW_S = 5.0
LINGER_S = 1.5
WAITING_MOST = 40


def main() -> int:
    for name, value in (("HEAD_S", HEAD_S), ("BODY_WINDOW_S", BODY_WINDOW_S), ("LINGER_S", LINGER_S)):
        assert getattr(http, name) > value
        setattr(http, name, value)
    assert delayed_attempts.WAITING_MOST > WAITING_MOST
    assert "backend_api.identity.application.guesses" not in sys.modules
    # Before whoever makes them has taken the name.
    setattr(delayed_attempts, "DelayedAttempts", partial(delayed_attempts.DelayedAttempts, most=WAITING_MOST))  # noqa: B010
    from backend_api.main.__main__ import main as in_earnest

    return in_earnest()


if __name__ == "__main__":
    sys.exit(main())
