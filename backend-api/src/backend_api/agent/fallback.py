"""Notices shown when the fallback model answers."""

from __future__ import annotations

from backend_api.agent.events import Notice
from backend_api.agent.model import ModelError, ModelInfo


def answer_fallback_notice(error: ModelError, other: ModelInfo) -> Notice:
    """The notice that a model failed, and which one answers for it."""
    text = f"{error.detail} {other.label} answers instead."
    return Notice(text=text, code="model_fallback", params={"model": other.label})


def summary_fallback_notice(error: ModelError, other: ModelInfo) -> Notice:
    """The same for a summary of the conversation."""
    text = f"{error.detail} {other.label} sums up the conversation instead."
    return Notice(text=text, code="summary_fallback", params={"model": other.label})
