"""Errors of memories."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, InvalidError, NotFoundError, PreconditionError, TooLargeError


class MemoryDisabledError(NotFoundError):
    """This deployment keeps no memories."""

    code = "memory_disabled"

    def __init__(self) -> None:
        super().__init__("This server keeps no memories (ENABLE_MEMORY).")


class MemoryNotFoundError(NotFoundError):
    """There is no such file."""

    code = "memory_not_found"


class MemoryExistsError(ConflictError):
    """The name is taken. `present` is the present text."""

    code = "memory_exists"

    def __init__(self, detail: str, present: str | None = None) -> None:
        super().__init__(detail)
        self.present = present


class MemoryChangedError(PreconditionError):
    """The file has changed since it was read. `present` is the present text."""

    code = "memory_changed"

    def __init__(self, detail: str, present: str | None = None) -> None:
        super().__init__(detail)
        self.present = present


class MemoryBusyError(ConflictError):
    """Other changes to this user's memories were first each time."""

    code = "memory_busy"


class MemoryInvalidError(InvalidError):
    """A name or a text that is not allowed in memories."""

    code = "memory_invalid"


class MemoryTooLargeError(TooLargeError):
    """The file, or all of the user's together, would exceed the limit."""

    code = "memory_too_large"
