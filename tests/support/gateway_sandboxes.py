"""A computer as the gateway knows it, for tests of what speaks to one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend_api.domain.sandbox.entity import Sandbox


def a_sandbox(sandbox_id: str = "sandbox-1", session_id: str = "session-1", *, has_desktop: bool = False) -> Sandbox:
    """Ready, with network, for an hour."""
    return Sandbox(
        id=sandbox_id,
        session_id=session_id,
        generation=1,
        has_desktop=has_desktop,
        has_network=True,
        expires_at=datetime.now(UTC) + timedelta(hours=1),
    )
