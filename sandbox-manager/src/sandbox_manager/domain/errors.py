"""Errors of the manager, in the families every service shares. A concrete error knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Iterable

from service_kit.failures import (
    ConflictError,
    DomainError,
    ForbiddenError,
    InvalidError,
    LimitError,
    NotFoundError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UpstreamError,
)

__all__ = [
    "ConflictError",
    "DomainError",
    "ElsewhereError",
    "EngineUnavailableError",
    "ForbiddenError",
    "ImageMissingError",
    "ImageNotAllowedError",
    "InvalidError",
    "LimitError",
    "MarkLostError",
    "NotFoundError",
    "RegistryUnavailableError",
    "SandboxBusyError",
    "SandboxNotFoundError",
    "SandboxNotReadyError",
    "SandboxOverError",
    "SizeNotAllowedError",
    "StartFailedError",
    "TooLargeError",
    "TotalLimitError",
    "UnauthenticatedError",
    "UnavailableError",
    "UpstreamError",
    "UserQueueLimitError",
    "WorkspaceExistsError",
]


class SandboxNotFoundError(NotFoundError):
    """No sandbox has this id."""

    code = "sandbox_not_found"

    def __init__(self) -> None:
        super().__init__("There is no sandbox with this id.")


class MarkLostError(NotFoundError):
    """Changes after this mark are no longer known; begin anew."""

    code = "mark_lost"


class SandboxNotReadyError(ConflictError):
    """A token was requested for a sandbox whose endpoint does not answer yet."""

    code = "sandbox_not_ready"


class SandboxOverError(ConflictError):
    """A sandbox that is gone or failed can't be renewed."""

    code = "sandbox_over"


class WorkspaceExistsError(ConflictError):
    """A session that has a workspace can't take over another."""

    code = "workspace_exists"

    def __init__(self) -> None:
        super().__init__("The session already has a workspace.")


class UserQueueLimitError(LimitError):
    """The user has too many waiting sandboxes."""

    code = "sandbox_limit_user_queue"


class TotalLimitError(LimitError):
    """The queue for sandboxes is full."""

    code = "sandbox_limit_total"


class EngineUnavailableError(UnavailableError):
    """The engine that runs sandboxes is missing, full or too slow."""

    code = "engine_unavailable"


class ImageNotAllowedError(InvalidError):
    """The deployment has no image of this name."""

    code = "sandbox_image_not_allowed"

    @classmethod
    def of(cls, name: str, allowed: Iterable[str]) -> ImageNotAllowedError:
        """The error with the list of allowed names."""
        reason = f"This server has no image '{name}' (SANDBOX_IMAGES). {_choices(allowed)}"
        return cls(reason, field="body.image")


class SizeNotAllowedError(InvalidError):
    """The deployment has no size of this name."""

    code = "sandbox_size_not_allowed"

    @classmethod
    def of(cls, name: str, allowed: Iterable[str]) -> SizeNotAllowedError:
        """The error with the list of allowed names."""
        reason = f"This server has no size '{name}' (SANDBOX_SIZES). {_choices(allowed)}"
        return cls(reason, field="body.size")


def _choices(allowed: Iterable[str]) -> str:
    names = ", ".join(sorted(allowed))
    return f"Choose one of: {names}, or the default." if names else "Only the default is available."


class ImageMissingError(UnavailableError):
    """No sandbox can be made from this image here; the detail gives the reason and the remedy."""

    code = "sandbox_image_missing"


class RegistryUnavailableError(UnavailableError):
    """The database of the manager does not answer."""

    code = "registry_unavailable"


class SandboxBusyError(UnavailableError):
    """Another manager starts, pauses, resumes or removes this sandbox right now."""

    code = "sandbox_busy"

    def __init__(self) -> None:
        super().__init__("The sandbox is being worked on; try again in a moment.")


class ElsewhereError(UnavailableError):
    """The sandbox is at another engine; managers there serve it, and this one has done nothing."""

    code = "elsewhere"

    def __init__(self) -> None:
        super().__init__("The files of this computer are at another engine, whose managers did not answer; try again.")


class StartFailedError(UpstreamError):
    """A sandbox did not come up. `retryable` is whether trying again may help."""

    code = "start_failed"

    def __init__(self, detail: str, *, retryable: bool) -> None:
        super().__init__(detail)
        self.retryable = retryable
