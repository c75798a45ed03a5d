"""What can go wrong with what the agent remembers of a user."""

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
    """The name is taken. `present` is the text that is there."""

    code = "memory_exists"

    def __init__(self, detail: str, present: str | None = None) -> None:
        super().__init__(detail)
        self.present = present


class MemoryChangedError(PreconditionError):
    """The file is not as it was read. `present` is the text that is there."""

    code = "memory_changed"

    def __init__(self, detail: str, present: str | None = None) -> None:
        super().__init__(detail)
        self.present = present


class MemoryBusyError(ConflictError):
    """Others changed the memories of this user each time."""

    code = "memory_busy"


class MemoryInvalidError(InvalidError):
    """A name or a text that no memory can have."""

    code = "memory_invalid"


class MemoryTooLargeError(TooLargeError):
    """Over what a file, or a user, may have."""

    code = "memory_too_large"
