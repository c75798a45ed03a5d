"""What can go wrong with settings of users."""

from __future__ import annotations

from backend_api.kit.errors import ConflictError, ForbiddenError, NotFoundError


class SettingNotFoundError(NotFoundError):
    """There is no setting of this name."""

    code = "setting_not_found"


class SecretsOffError(ForbiddenError):
    """The deployment keeps no secrets of users."""

    code = "secrets_off"


class SecretUnreadableError(ConflictError):
    """A secret that was sealed under another key, for somebody else, or changed since. It is no error of a request:
    whoever opens secrets says which can't be read."""

    code = "secret_unreadable"
