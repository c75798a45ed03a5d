"""How often somebody may try; 0 is without limit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Per address and per user."""

    login_per_minute: int = 10
    register_per_hour: int = 20
    messages_per_minute: int = 60
