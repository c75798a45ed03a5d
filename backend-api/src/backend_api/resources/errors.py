"""What can go wrong with resources and tasks of a conversation."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, InvalidError, NotFoundError, PreconditionError


class ResourceNotFoundError(NotFoundError):
    """Removed, of another conversation, or none."""

    code = "resource_not_found"


class ResourceInvalidError(InvalidError):
    """No title, link or text that a resource may have."""

    code = "resource_invalid"


class TooManyResourcesError(ConflictError):
    """The conversation keeps as many as one may."""

    code = "too_many_resources"


class ResourceChangedError(PreconditionError):
    """The resource is not as it was read."""

    code = "resource_changed"


class TaskNotFoundError(NotFoundError):
    """Deleted, or none of this conversation."""

    code = "task_not_found"


class TaskRefusedError(ConflictError):
    """A change that the tasks can't have."""

    code = "task_refused"
