"""How often somebody may try, and how much they may have; 0 is without limit."""

from __future__ import annotations

from dataclasses import dataclass

SESSIONS = 10_000
WAITING_MESSAGES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Per address: log-ins (per name too), refreshes with unknown tokens, registrations. Per log-in: other refreshes.
    Per user: the rest."""

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
    sessions_in_all: int = SESSIONS
    waiting_messages: int = WAITING_MESSAGES
    """Of one session, until the agent has read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """How much there may be of one user, or of one of their sessions or runs."""

    sessions: int = SESSIONS
    schedules: int = 100
    runs: int = 20
    """At work at once."""
    waiting_messages: int = WAITING_MESSAGES
    """Of one session, until the agent has read them."""
    model_calls_mb: int = 500
    """Kept of the calls of models in all conversations together."""
    opened_ports: int = 8
    """Of one session; not without limit."""
    streams: int = 50
    """Streams of events and sockets that are open at one gateway."""
    paper_calls: int = 100
    """Calls to sources of papers, of one run."""
