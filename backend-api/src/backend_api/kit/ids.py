"""Ids that all contexts name."""

from __future__ import annotations

from typing import NewType

UserId = NewType("UserId", str)
SessionId = NewType("SessionId", str)
