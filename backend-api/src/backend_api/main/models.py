"""The models that agents ask: of the deployment, and of each user."""

from __future__ import annotations

from typing import get_args

from pydantic import SecretStr

from backend_api.agent.catalogue import Role
from backend_api.agent.tool_runner import MAX_TOGETHER
from backend_api.main.settings import Settings
from backend_api.main.user_settings import base_urls
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from backend_api.settings.user_catalogues import UserCatalogues

SPARE_ANSWERS = 100
"""Of runs that were left are some still being closed when the next ask."""


def _llm_settings(settings: Settings) -> LlmSettings:
    return LlmSettings(
        provider=settings.llm_provider,
        model=settings.model,
        models=settings.models,
        roles=settings.role_models,
        models_file=settings.models_file,
        vision_models=settings.vision_models,
        openai_key=_reveal(settings.openai_api_key),
        openai_base_url=settings.openai_base_url,
        openai_api=settings.openai_api,
        anthropic_key=_reveal(settings.anthropic_api_key),
        anthropic_base_url=settings.anthropic_base_url,
        context_window=settings.context_window,
        demo_delay_s=settings.demo_delay_ms / 1000,
        # None of a worker's runs has to wait for what others ask: each of its agents asks one thing at a time.
        connections=settings.max_concurrent_runs * (MAX_TOGETHER + settings.max_teammates) + SPARE_ANSWERS,
    )


def _retry_policy(settings: Settings) -> RetryPolicy:
    return RetryPolicy(
        max_retries=settings.llm_max_retries,
        base_delay_s=settings.llm_retry_base_delay,
        max_delay_s=settings.llm_retry_max_delay,
    )


def build_user_catalogues(settings: Settings, shared: Catalogue, *, is_local: bool) -> UserCatalogues:
    """The models of each user, beside those of the deployment."""
    return UserCatalogues(
        shared,
        _llm_settings(settings),
        _retry_policy(settings),
        base_urls=base_urls(settings, is_local=is_local),
        needs_prices=settings.max_run_cost is not None,
    )


def build_catalogue(settings: Settings) -> Catalogue:
    """The models of these settings. Raises `ValueError` that names a setting."""
    catalogue = Catalogue(_llm_settings(settings), _retry_policy(settings))
    if settings.max_run_cost is not None:
        _require_prices(catalogue)
    return catalogue


def _require_prices(catalogue: Catalogue) -> None:
    """Raises `ValueError` where the cost of a run could not be known."""
    roles = [catalogue.role(role) for role in get_args(Role)]
    models = [*catalogue.models(), *(chosen.info for chosen in roles if chosen is not None)]
    if unknown := sorted({model.id for model in models if model.prices is None}):
        raise ValueError(
            f"MAX_RUN_COST needs the price of every model, and that of {', '.join(unknown)} is not known. Write it "
            "into a MODELS_FILE, or leave MAX_RUN_COST empty"
        )


def _reveal(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
