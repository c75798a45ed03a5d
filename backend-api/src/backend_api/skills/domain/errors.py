"""Errors of skills."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError


class SkillNotFoundError(NotFoundError):
    """The user has no skill of this name."""

    code = "skill_not_found"


class SkillUnreadableError(ConflictError):
    """The stored skill does not satisfy the present rules."""

    code = "skill_unreadable"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"The stored skill {name} can no longer be used: {reason} The person can upload or install it "
            "again, or delete it, on the page Skills of the settings."
        )


class SkillRefusedError(InvalidError):
    """The input is not a skill; the detail gives the reason."""

    code = "skill_refused"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="body")


class SkillLimitError(ConflictError):
    """The user has reached the limit of skills."""

    code = "skill_limit"


class SkillTakenError(ConflictError):
    """There is another skill of this name, which only the person may replace."""

    code = "skill_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The skill {name} already exists and is not from this address. The person can replace or delete it on "
            "the page Skills of the settings."
        )


class SkillNotOwnError(ForbiddenError):
    """The skill is one of the server's, which nobody can delete."""

    code = "skill_not_own"
