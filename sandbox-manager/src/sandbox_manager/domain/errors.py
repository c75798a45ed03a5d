"""The tree of errors the domain raises.

DomainError
├── NotFoundError          no such sandbox
├── ConflictError          the present state does not allow it
├── InvalidError           the input is wrong; says which field
├── UnauthenticatedError   no service token, or a wrong one
├── LimitError             too many sandboxes; says when to come back
├── StartFailedError       a sandbox did not come up; the reason is for a person
└── UnavailableError       the engine or the registry does not answer; may be retried
"""

from __future__ import annotations

from typing import ClassVar


class DomainError(Exception):
    """Base of all. `code` is stable and part of the wire contract; `detail` tells a person what to do."""

    code: ClassVar[str] = "error"
    retryable: bool = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class NotFoundError(DomainError):
    """What was asked for does not exist."""

    code = "not_found"


class ConflictError(DomainError):
    """The present state does not allow it."""

    code = "conflict"


class InvalidError(DomainError):
    """The input is wrong. `field` is the dotted path of the field."""

    code = "invalid"

    def __init__(self, detail: str, *, field: str) -> None:
        super().__init__(detail)
        self.field = field


class UnauthenticatedError(DomainError):
    """No service token, or one that does not hold."""

    code = "unauthenticated"


class LimitError(DomainError):
    """Too many. `retry_after_s` says when to come back."""

    code = "limit"
    retryable = True

    def __init__(self, detail: str, *, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class UnavailableError(DomainError):
    """A part we depend on does not answer."""

    code = "unavailable"
    retryable = True


class SandboxNotFoundError(NotFoundError):
    """No sandbox has this id."""

    code = "sandbox_not_found"

    def __init__(self) -> None:
        super().__init__("There is no sandbox with this id.")


class MarkLostError(NotFoundError):
    """What happened after a mark is no longer known; begin anew."""

    code = "mark_lost"


class SandboxNotReadyError(ConflictError):
    """A door token was asked for a sandbox whose door is not open."""

    code = "sandbox_not_ready"


class SandboxOverError(ConflictError):
    """A sandbox that is gone or failed can't be renewed."""

    code = "sandbox_over"


class WorkspaceExistsError(ConflictError):
    """A session that has a workspace can't take over another."""

    code = "workspace_exists"

    def __init__(self) -> None:
        super().__init__("The session already has a workspace.")


class UserLimitError(LimitError):
    """The user has as many sandboxes as allowed."""

    code = "sandbox_limit_user"


class UserTotalLimitError(LimitError):
    """The user has as many sandboxes, paused ones among them, as allowed."""

    code = "sandbox_limit_user_total"


class TotalLimitError(LimitError):
    """More wait for a sandbox already than the queue holds."""

    code = "sandbox_limit_total"


class EngineUnavailableError(UnavailableError):
    """The engine that runs sandboxes is missing, full or too slow."""

    code = "engine_unavailable"


class RegistryUnavailableError(UnavailableError):
    """The database of the manager does not answer."""

    code = "registry_unavailable"


class SandboxBusyError(UnavailableError):
    """Another manager starts, pauses, resumes or removes this sandbox right now."""

    code = "sandbox_busy"

    def __init__(self) -> None:
        super().__init__("The sandbox is being worked on; try again in a moment.")


class ElsewhereError(UnavailableError):
    """It is another engine's; managers there answer for it, and this one has done nothing."""

    code = "elsewhere"

    def __init__(self) -> None:
        super().__init__("The files of this computer are at another engine, whose managers did not answer; try again.")


class StartFailedError(DomainError):
    """A sandbox did not come up. `retryable` says whether trying again may help."""

    code = "start_failed"

    def __init__(self, detail: str, *, retryable: bool) -> None:
        super().__init__(detail)
        self.retryable = retryable
