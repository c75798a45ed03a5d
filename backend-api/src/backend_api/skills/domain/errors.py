"""What can go wrong with skills."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError


class SkillNotFoundError(NotFoundError):
    """The user has no skill of this name."""

    code = "skill_not_found"


class SkillUnreadableError(ConflictError):
    """What is stored of a skill is none by what skills may be now."""

    code = "skill_unreadable"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"What is stored of the skill {name} can't be used any more: {reason} The person can upload or install it "
            "anew, or delete it, on the page Skills of the settings."
        )


class SkillRefusedError(InvalidError):
    """What was given is no skill; the detail says why."""

    code = "skill_refused"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field="body")


class SkillLimitError(ConflictError):
    """The user has as many skills as one may have."""

    code = "skill_limit"


class SkillTakenError(ConflictError):
    """There is another skill of this name, which only the person may put another one in the place of."""

    code = "skill_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is a skill {name} already, which is not from this address. The person can put another one in its "
            "place, or delete it, on the page Skills of the settings."
        )


class SkillNotOwnError(ForbiddenError):
    """It is one of the server's, which nobody can delete."""

    code = "skill_not_own"
