"""Settings of users, over those of the deployment, as a module of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence, Set
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend_api.agent.options import Options
from backend_api.agent.tool import ToolSpec
from backend_api.conversations.application.session_rules import OptionRules
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.secret_file import checked_secret, keep_secret
from backend_api.kit.settings import Names
from backend_api.models.catalogue import Catalogue
from backend_api.models.providers import LlmSettings
from backend_api.models.wire.calls import RetryPolicy
from backend_api.module import Module, Parts, Planned
from backend_api.settings import ports
from backend_api.settings.application.change_setting import ChangeSetting
from backend_api.settings.application.effective_settings import OpenEffectiveSettings
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.application.read_settings import Deployment, ReadSettings
from backend_api.settings.application.reseal_secrets import ResealSecrets
from backend_api.settings.application.try_key import TryKey
from backend_api.settings.application.try_search_key import TrySearchKey
from backend_api.settings.application.user_rules import UserRules
from backend_api.settings.domain import table
from backend_api.settings.domain.base_urls import KNOWN_HOSTS, BaseUrls
from backend_api.settings.domain.table import Setting
from backend_api.settings.http import router
from backend_api.settings.mongo.documents import DOCUMENTS
from backend_api.settings.mongo.user_settings import MongoSettingsStore
from backend_api.settings.ports import SecretBox
from backend_api.settings.secret_box import AesSecretBox
from backend_api.settings.user_catalogues import UserCatalogues


class UserSettingsSettings(BaseSettings):
    """Settings read from the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    secrets_key: SecretStr | None = None
    user_base_url_hosts: Names = ()


def sealing_secrets(settings: UserSettingsSettings, data_dir: Path, *, is_local: bool) -> tuple[str, ...]:
    """The keys of `SECRETS_KEY`, of which the first one seals, or in local mode a key that is generated once and kept.
    Empty if users can't store keys. Raises `ValueError`."""
    if settings.secrets_key is None:
        return (keep_secret(data_dir, "secrets_key"),) if is_local else ()
    secrets = [part.strip() for part in settings.secrets_key.get_secret_value().split(",") if part.strip()]
    if not secrets:
        raise ValueError("SECRETS_KEY contains no secret: set random bytes, or leave it empty to store no keys.")
    return tuple(checked_secret("SECRETS_KEY", secret) for secret in secrets)


def deployment_values(llm_settings: LlmSettings, default_model: str, options: Options) -> Deployment:
    """The values that apply if a user sets nothing. Keys and addresses are left out: every user may read this."""
    values: dict[Setting, object] = {
        table.DEFAULT_MODEL: default_model,
        **{table.ROLE_MODELS[role]: name or None for role, name in llm_settings.roles.items()},
        table.ENABLE_THINKING: options.enable_thinking,
        table.THINKING_EFFORT: options.thinking_effort,
        table.MAX_TURNS: options.max_turns,
        table.ENABLE_APPROVAL: False,
        table.THEME: "system",
        table.NOTIFY_WAITING: False,
        table.NOTIFY_FINISHED: False,
        table.NOTIFY_SOUND: False,
    }
    held = {
        table.OPENAI_API_KEY: llm_settings.openai_key,
        table.OPENAI_BASE_URL: llm_settings.openai_base_url,
        table.ANTHROPIC_API_KEY: llm_settings.anthropic_key,
    }
    return Deployment(
        values={setting.name: value for setting, value in values.items()},
        held=frozenset(setting.name for setting, value in held.items() if value),
    )


def plan_settings(
    *,
    settings: UserSettingsSettings,
    data_dir: Path,
    is_local: bool,
    catalogue: Catalogue,
    llm_settings: LlmSettings,
    session_defaults: Options,
) -> Planned:
    """Plan the module. Ports: `secret_box`, which seals secrets of users; `base_urls`, to which their keys may be sent;
    and `deployment`. Raises `ValueError`."""
    sealing = sealing_secrets(settings, data_dir, is_local=is_local)
    return Planned(
        ports={
            "secret_box": AesSecretBox(sealing),
            "base_urls": BaseUrls(settings.user_base_url_hosts or KNOWN_HOSTS, is_any=is_local),
            "deployment": deployment_values(llm_settings, catalogue.default().id, session_defaults),
        },
        secrets=sealing,
    )


@asynccontextmanager
async def open_user_settings(
    *,
    secret_box: SecretBox,
    base_urls: BaseUrls,
    deployment: Deployment,
    rules: OptionRules,
    tools: Sequence[ToolSpec],
    limiter: RateLimiter,
    limits: Limits,
    catalogue: Catalogue | None = None,
    llm_settings: LlmSettings | None = None,
    retry_policy: RetryPolicy | None = None,
    max_run_cost: float | None = None,
    user_catalogues: ports.UserCatalogues | None = None,
    search_keys: Set[Setting] = frozenset(),
    held_search_keys: Set[Setting] = frozenset(),
) -> AsyncGenerator[Parts]:
    """Open the module. Ports: `open_settings`; `effective_settings`, which apply to runs; `rules_of` a user; and the
    use cases of its routes. Its task seals secrets anew after a rotation."""
    store = MongoSettingsStore()
    held = deployment.held | {setting.name for setting in held_search_keys}
    deployment = replace(deployment, held=frozenset(held))
    async with AsyncExitStack() as stack:
        if user_catalogues is None:
            assert catalogue is not None
            assert llm_settings is not None
            user_catalogues = await stack.enter_async_context(
                UserCatalogues(
                    catalogue,
                    llm_settings,
                    retry_policy or RetryPolicy(),
                    base_urls=base_urls,
                    needs_prices=max_run_cost is not None,
                )
            )
        open_settings = OpenSettings(store, secret_box)
        effective = OpenEffectiveSettings(open_settings, user_catalogues)
        reseal = ResealSecrets(store, secret_box)
        yield Parts(
            ports={
                "open_settings": open_settings,
                "effective_settings": effective,
                "rules_of": UserRules(effective, rules),
                "read_settings": ReadSettings(
                    open_settings, secret_box, user_catalogues, base_urls, deployment, search_keys
                ),
                "change_setting": ChangeSetting(
                    store=store,
                    box=secret_box,
                    open_settings=open_settings,
                    catalogues=user_catalogues,
                    base_urls=base_urls,
                    tools=tools,
                    search_keys=search_keys,
                    deployment_model=str(deployment.values.get(table.DEFAULT_MODEL.name) or ""),
                    limiter=limiter,
                    limits=limits,
                ),
                "try_key": TryKey(
                    open_settings=open_settings,
                    catalogues=user_catalogues,
                    base_urls=base_urls,
                    limiter=limiter,
                    limits=limits,
                ),
                "try_search_key": TrySearchKey(
                    open_settings=open_settings, search_keys=search_keys, limiter=limiter, limits=limits
                ),
            },
            tasks={"secrets": reseal},
        )


SETTINGS = Module(
    name="settings",
    description="What each user has set, over what the deployment has.",
    settings=UserSettingsSettings,
    documents=DOCUMENTS,
    routes=[router],
    plan=plan_settings,
    open=open_user_settings,
)
