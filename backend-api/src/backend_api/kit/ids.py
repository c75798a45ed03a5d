"""Ids that all contexts use."""

from __future__ import annotations

from typing import NewType

UserId = NewType("UserId", str)
SessionId = NewType("SessionId", str)
