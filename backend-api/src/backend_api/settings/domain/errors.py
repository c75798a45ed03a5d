"""Errors of users' settings."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, ForbiddenError, NotFoundError


class SettingNotFoundError(NotFoundError):
    """There is no setting of this name."""

    code = "setting_not_found"


class SecretsOffError(ForbiddenError):
    """The deployment stores no secrets of users."""

    code = "secrets_off"


class SecretUnreadableError(ConflictError):
    """A secret that was sealed under another key or for another user, or was altered since. It is no error of a
    request: the caller that opens secrets reports which can't be read."""

    code = "secret_unreadable"
