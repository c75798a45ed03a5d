"""What users set for themselves, over models that are given."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from backend_api.agent.catalogue import ChosenModel, ModelCatalogue, ProviderName, Role
from backend_api.agent.model import ChatModel, ModelInfo, UnknownModelError
from backend_api.main.user_settings import UserSettingsParts
from backend_api.settings.domain.entity import OwnSettings
from backend_api.settings.ports import ListedModels, SettingsStore
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

    def choose(self, model_id: str | None) -> ChosenModel:
        for info in self.infos:
            if model_id in (None, info.id):
                return ChosenModel(info=info, chat=self.chat)
        raise UnknownModelError(f"There is no model {model_id}.", field="model")

    def role(self, role: Role) -> ChosenModel | None:
        del role
        return None


@dataclass(frozen=True, slots=True)
class FixedCatalogues:
    """`UserCatalogues` that are the same for everybody."""

    catalogue: ModelCatalogue

    @asynccontextmanager
    async def of(self, own: OwnSettings) -> AsyncGenerator[ModelCatalogue]:
        del own
        yield self.catalogue

    @asynccontextmanager
    async def trial(self, own: OwnSettings) -> AsyncGenerator[ModelCatalogue]:
        del own
        yield self.catalogue

    async def listed(self, own: OwnSettings, provider: ProviderName) -> ListedModels:
        del own, provider
        return ListedModels(names=())

    def deployment_roles(self, own: OwnSettings) -> Mapping[str, str]:
        del own
        return {}

    async def check(self, own: OwnSettings) -> None:
        del own


def settings_parts(store: SettingsStore, *infos: ModelInfo, chat: ChatModel | None = None) -> UserSettingsParts:
    """With a key that seals."""
    return UserSettingsParts(
        store=store,
        box=AesSecretBox([SEALING]),
        catalogues=FixedCatalogues(FixedModels(infos, chat or ScriptedModel([]))),
    )
