"""Opened ports, by the settings."""

from __future__ import annotations

from backend_api.main.settings import Settings
from backend_api.previews.application.open_port import PreviewPolicy


def preview_policy(settings: Settings) -> PreviewPolicy:
    """What the settings say of opened ports."""
    return PreviewPolicy(
        domain=settings.ports_domain,
        most=settings.max_opened_ports_per_session,
        address_ttl_s=settings.preview_address_ttl_s,
        cookie_ttl_s=settings.preview_cookie_ttl_s,
    )
