"""Rate limits and quotas; 0 means no limit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Counted per address: log-ins (per name too), refreshes with unknown tokens, registrations. Counted per log-in:
    other refreshes. Counted per user: the rest."""

    login_per_minute: int = 10
    register_per_hour: int = 20
    password_changes_per_hour: int = 10
    messages_per_minute: int = 60
    refresh_per_minute: int = 60
    sessions_per_minute: int = 120
    uploads_per_minute: int = 60
    tickets_per_minute: int = 60
    settings_per_minute: int = 60
    key_tests_per_minute: int = 10
    sessions_in_all: int = 10_000
    waiting_messages: int = 50
    """The most waiting messages of one session, which the agent has not read yet."""
