"""What users set for themselves, over models that are given."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from backend_api.agent.catalogue import ModelCatalogue, ProviderName, ResolvedModel, Role
from backend_api.agent.model import ChatModel, ModelInfo, UnknownModelError
from backend_api.settings.application.effective_settings import OpenEffectiveSettings
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.application.read_settings import Deployment
from backend_api.settings.domain import table
from backend_api.settings.domain.base_urls import BaseUrls
from backend_api.settings.domain.entity import UserSettings
from backend_api.settings.domain.table import Setting
from backend_api.settings.ports import ListedModels, SecretBox, SettingsStore, UserCatalogues
from backend_api.settings.secret_box import AesSecretBox
from support.scripted import ScriptedModel

SEALING = "Zk3vXq81LmN0pRtYw7uBcD5eFgH2iJ4a"


@dataclass(frozen=True, slots=True)
class FixedModels:
    """`ModelCatalogue` of these, the default first."""

    infos: Sequence[ModelInfo]
    chat: ChatModel

    def models(self) -> Sequence[ModelInfo]:
        return self.infos

    def default(self) -> ModelInfo:
        return self.infos[0]

    def choose(self, model_id: str | None) -> ResolvedModel:
        for info in self.infos:
            if model_id in (None, info.id):
                return ResolvedModel(info=info, chat=self.chat)
        raise UnknownModelError(f"There is no model {model_id}.", field="model")

    def role(self, role: Role) -> ResolvedModel | None:
        del role
        return None


@dataclass(frozen=True, slots=True)
class FixedCatalogues:
    """`UserCatalogues` that are the same for everybody."""

    catalogue: ModelCatalogue

    @asynccontextmanager
    async def of(self, own: UserSettings) -> AsyncGenerator[ModelCatalogue]:
        del own
        yield self.catalogue

    @asynccontextmanager
    async def trial(self, own: UserSettings) -> AsyncGenerator[ModelCatalogue]:
        del own
        yield self.catalogue

    async def listed(self, own: UserSettings, provider: ProviderName) -> ListedModels:
        del own, provider
        return ListedModels(names=())

    def deployment_roles(self, own: UserSettings) -> Mapping[str, str]:
        del own
        return {}

    async def check(self, own: UserSettings) -> None:
        del own


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettingsParts:
    """What all that reads or writes settings of users is made of."""

    store: SettingsStore
    box: SecretBox
    catalogues: UserCatalogues
    base_urls: BaseUrls = field(default_factory=BaseUrls)
    deployment: Deployment = field(default_factory=Deployment)
    search_keys: Set[Setting] = frozenset(table.SEARCH_KEYS.values())

    @property
    def open_settings(self) -> OpenSettings:
        return OpenSettings(self.store, self.box)

    @property
    def open_effective_settings(self) -> OpenEffectiveSettings:
        return OpenEffectiveSettings(self.open_settings, self.catalogues)


def settings_parts(store: SettingsStore, *infos: ModelInfo, chat: ChatModel | None = None) -> UserSettingsParts:
    """With a key that seals."""
    return UserSettingsParts(
        store=store,
        box=AesSecretBox([SEALING]),
        catalogues=FixedCatalogues(FixedModels(infos, chat or ScriptedModel([]))),
    )
