"""Rate limits and quotas; 0 means no limit."""

from __future__ import annotations

from dataclasses import dataclass

SESSIONS = 10_000
WAITING_MESSAGES = 50


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
    sessions_in_all: int = SESSIONS
    waiting_messages: int = WAITING_MESSAGES
    """The most waiting messages of one session, which the agent has not read yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """The most of each thing a user, or one of their sessions or runs, may have."""

    sessions: int = SESSIONS
    schedules: int = 100
    runs: int = 20
    """Runs at work at once."""
    waiting_messages: int = WAITING_MESSAGES
    """Messages of one session that the agent has not read yet."""
    model_calls_mb: int = 500
    """Stored model calls of all conversations together, in megabytes."""
    folder_files_mb: int = 1_000
    """Files of all folders together, in megabytes."""
    opened_ports: int = 8
    """Opened ports of one session; 0 is refused."""
    streams: int = 50
    """Streams of events and sockets that are open at one gateway."""
