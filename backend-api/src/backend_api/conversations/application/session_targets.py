"""The computer that a session is created on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from backend_api.kit.errors import InvalidError
from backend_api.kit.ids import UserId


class SessionTargets(Protocol):
    """Computers that users can choose to work on."""

    async def options(self, user_id: UserId, target_id: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options of a session on this computer, including those it needs. Raises `InvalidError` if the user has no
        such computer, or it can't be used."""
        ...


class NoTargets:
    """`SessionTargets` of a deployment that only has the usual computer."""

    async def options(self, user_id: UserId, target_id: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        del user_id, target_id, options
        raise InvalidError("This server has no computers other than the default one.", field="body.target_id")


NO_TARGETS = NoTargets()
