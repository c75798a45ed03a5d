"""Errors of a conversation's resources and tasks."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, InvalidError, NotFoundError, PreconditionError


class ResourceNotFoundError(NotFoundError):
    """The resource was removed, belongs to another conversation, or never existed."""

    code = "resource_not_found"


class ResourceInvalidError(InvalidError):
    """The title, link or text is not valid."""

    code = "resource_invalid"


class TooManyResourcesError(ConflictError):
    """The conversation has reached the limit of resources."""

    code = "too_many_resources"


class ResourceChangedError(PreconditionError):
    """The resource was changed since it was read."""

    code = "resource_changed"


class TaskNotFoundError(NotFoundError):
    """The task was deleted, or is none of this conversation."""

    code = "task_not_found"


class TaskRefusedError(ConflictError):
    """The tasks do not allow this change."""

    code = "task_refused"
