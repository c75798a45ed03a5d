"""The form of identifiers: plain names without separators and dots, which no program takes for an option."""

from __future__ import annotations

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
"""The pattern of ids of sessions and users."""

SNAPSHOT_ID = r"^[A-Za-z0-9_-]{1,64}$"

SANDBOX_ID = r"^[0-9a-f]{16}$"
