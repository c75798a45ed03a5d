"""What a session's fields may be."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.domain.agent.model import ModelInfo
from backend_api.domain.conversation.entity import MAX_TITLE_CHARACTERS
from backend_api.domain.errors import InvalidError


def check_title(title: str | None) -> None:
    """Raises `InvalidError` for a title too long."""
    if title is not None and len(title) > MAX_TITLE_CHARACTERS:
        raise InvalidError(f"A title has at most {MAX_TITLE_CHARACTERS} characters.", field="body.title")


def check_model(model: str | None, models: Sequence[ModelInfo]) -> None:
    """Raises `InvalidError` for a model that is not on offer."""
    if model is not None and all(model != offered.id for offered in models):
        raise InvalidError("This model is not on offer: see GET /api/models.", field="body.model")


def check_preset(preset: str | None) -> None:
    """Raises `InvalidError`: none is on offer yet."""
    if preset is not None:
        raise InvalidError("This preset is not on offer: see GET /api/presets.", field="body.preset")
