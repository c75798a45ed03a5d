"""How identifiers look: plain names, with no separator and no dot, and nothing a program takes for an option."""

from __future__ import annotations

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
"""Of sessions and users."""

SNAPSHOT_ID = r"^[A-Za-z0-9_-]{1,64}$"

SANDBOX_ID = r"^[0-9a-f]{16}$"
