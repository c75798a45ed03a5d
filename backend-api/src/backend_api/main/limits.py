"""How often users may try, by the settings."""

from __future__ import annotations

from backend_api.identity.application.limits import Limits
from backend_api.main.settings import Settings


def limits_of(settings: Settings) -> Limits:
    """What the deployment allows each user."""
    return Limits(
        login_per_minute=settings.rate_limit_login_per_minute,
        register_per_hour=settings.rate_limit_register_per_hour,
        password_changes_per_hour=settings.rate_limit_password_changes_per_hour,
        messages_per_minute=settings.rate_limit_messages_per_minute,
        refresh_per_minute=settings.rate_limit_refresh_per_minute,
        sessions_per_minute=settings.rate_limit_sessions_per_minute,
        uploads_per_minute=settings.rate_limit_uploads_per_minute,
        tickets_per_minute=settings.rate_limit_tickets_per_minute,
        settings_per_minute=settings.rate_limit_settings_per_minute,
        key_tests_per_minute=settings.rate_limit_key_tests_per_minute,
        sessions_in_all=settings.max_sessions_per_user,
        waiting_messages=settings.max_waiting_messages,
    )
