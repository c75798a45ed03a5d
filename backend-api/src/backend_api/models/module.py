"""The models of the deployment, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.catalogue import Role
from backend_api.agent.model import CONTEXT_WINDOW
from backend_api.agent.team import MAX_TEAMMATES
from backend_api.agent.tool_runner import MAX_TOGETHER
from backend_api.kit.http_address import check_http_address
from backend_api.kit.settings import Names, checked_key
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from backend_api.module import Module, Parts, Planned

SPARE_ANSWERS = 100
"""Extra connections: some answers of abandoned runs are still being closed when the next run starts."""
_RETRY = RetryPolicy()


class ModelSettings(BaseSettings):
    """Settings from the environment. The limits of concurrent runs and teammates determine how many connections may be
    open."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    llm_provider: str = "auto"
    openai_api_key: SecretStr | None = None
    openai_base_url: str = ""
    openai_api: Literal["", "chat", "responses"] = ""
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str = ""
    model: str = ""
    models: Names = ()
    fallback_model: str = ""
    subagent_model: str = ""
    teammate_model: str = ""
    compact_model: str = ""
    title_model: str = ""
    models_file: Path | None = None
    vision_models: Names = ()
    context_window: int = Field(default=CONTEXT_WINDOW, ge=1)
    demo_delay_ms: int = Field(default=20, ge=0)
    llm_max_retries: int = Field(default=_RETRY.max_retries, ge=0)
    llm_retry_base_delay: float = Field(default=_RETRY.base_delay_s, ge=0)
    llm_retry_max_delay: float = Field(default=_RETRY.max_delay_s, ge=0)
    max_run_cost: float | None = Field(default=None, gt=0)
    max_concurrent_runs: int = Field(default=50, ge=1)
    max_teammates: int = Field(default=MAX_TEAMMATES, ge=1, le=20)

    @field_validator("openai_api_key", "anthropic_api_key")
    @classmethod
    def _key(cls, value: SecretStr | None) -> SecretStr | None:
        return checked_key(value)

    @field_validator("openai_base_url", "anthropic_base_url")
    @classmethod
    def _base_url(cls, value: str) -> str:
        url = value.strip()
        if url:
            check_http_address(url)
        if "?" in url:
            raise ValueError("paths such as /chat/completions are added at its end, so it can't contain ?")
        return url

    @property
    def roles(self) -> dict[Role, str]:
        """The model set for each role, empty for none."""
        return {
            "subagent": self.subagent_model,
            "teammate": self.teammate_model,
            "compact": self.compact_model,
            "title": self.title_model,
            "fallback": self.fallback_model,
        }

    @property
    def llm(self) -> LlmSettings:
        """The settings in the form the catalogue takes."""
        return LlmSettings(
            provider=self.llm_provider,
            model=self.model,
            models=self.models,
            roles=self.roles,
            models_file=self.models_file,
            vision_models=self.vision_models,
            openai_key=_reveal(self.openai_api_key),
            openai_base_url=self.openai_base_url,
            openai_api=self.openai_api,
            anthropic_key=_reveal(self.anthropic_api_key),
            anthropic_base_url=self.anthropic_base_url,
            context_window=self.context_window,
            demo_delay_s=self.demo_delay_ms / 1000,
            # Enough that no run waits for another's calls: each agent makes one call at a time.
            connections=self.max_concurrent_runs * (MAX_TOGETHER + self.max_teammates) + SPARE_ANSWERS,
        )

    @property
    def retry(self) -> RetryPolicy:
        """The policy by which failed calls are repeated."""
        return RetryPolicy(
            max_retries=self.llm_max_retries,
            base_delay_s=self.llm_retry_base_delay,
            max_delay_s=self.llm_retry_max_delay,
        )


def plan_models(settings: ModelSettings) -> Planned:
    """Builds the deployment's `catalogue`, its `models`, and the parts for users' catalogues. Raises `ValueError` that
    names a setting."""
    catalogue = Catalogue(settings.llm, settings.retry)
    if settings.max_run_cost is not None:
        _require_prices(catalogue)
    return Planned(
        ports={
            "catalogue": catalogue,
            "models": catalogue.models(),
            "llm_settings": settings.llm,
            "retry_policy": settings.retry,
            "max_run_cost": settings.max_run_cost,
            "max_concurrent_runs": settings.max_concurrent_runs,
            "max_teammates": settings.max_teammates,
        }
    )


def _require_prices(catalogue: Catalogue) -> None:
    """Raises `ValueError` if the cost of a run could not be determined."""
    roles = [catalogue.role(role) for role in get_args(Role)]
    models = [*catalogue.models(), *(chosen.info for chosen in roles if chosen is not None)]
    if unknown := sorted({model.id for model in models if model.prices is None}):
        raise ValueError(
            f"MAX_RUN_COST needs the price of every model, and that of {', '.join(unknown)} is not known. Write it "
            "into a MODELS_FILE, or leave MAX_RUN_COST empty"
        )


def _reveal(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""


@asynccontextmanager
async def open_models(catalogue: Catalogue) -> AsyncGenerator[Parts]:
    """Closes the connections to providers at the end."""
    async with catalogue:
        yield Parts()


MODELS = Module(
    name="models",
    description="The models that agents ask.",
    settings=ModelSettings,
    plan=plan_models,
    open=open_models,
)
