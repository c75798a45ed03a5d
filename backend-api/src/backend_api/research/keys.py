"""Keys of sources: the calling user's, else the deployment's; and tests of whether a source accepts a key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from backend_api.kit.errors import InvalidError, UnavailableError
from backend_api.kit.ids import UserId
from backend_api.research.ports import Ask, Keys, Query, Source, SourceFaultError
from backend_api.settings.application.open_settings import OpenSettings
from backend_api.settings.domain.table import OPENALEX_API_KEY, RESEARCH_CONTACT, SEMANTIC_SCHOLAR_API_KEY, Setting

KeyedSource = Literal["openalex", "semantic_scholar"]
KEY_SETTINGS: dict[KeyedSource, Setting] = {
    "openalex": OPENALEX_API_KEY,
    "semantic_scholar": SEMANTIC_SCHOLAR_API_KEY,
}
Outcome = Literal["ok", "wrong_key", "limit", "unreachable"]
_OUTCOMES: dict[str, Outcome] = {"refused": "wrong_key", "throttled": "limit"}
TRIED = Query(text="attention", limit=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserKeys:
    """`owner` returns the calling user; empty: none. If settings can't be read, the deployment's keys are used."""

    deployment: Keys
    open_settings: OpenSettings
    owner: Callable[[], str]

    async def __call__(self) -> Keys:
        user_id = self.owner()
        if not user_id:
            return self.deployment
        try:
            own = await self.open_settings(UserId(user_id))
        except UnavailableError:
            return self.deployment
        return Keys(
            contact=str(own.value(RESEARCH_CONTACT) or "") or self.deployment.contact,
            openalex=own.secret(OPENALEX_API_KEY) or self.deployment.openalex,
            semantic_scholar=own.secret(SEMANTIC_SCHOLAR_API_KEY) or self.deployment.semantic_scholar,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTrial:
    """`detail` is the source's answer, without the key; empty if it accepted the key."""

    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrySourceKey:
    """Makes one request to a source with a key of the user. Nothing is stored, and keys of the deployment are not
    tested."""

    sources: dict[KeyedSource, Source]
    ask_with: Callable[[Source, Keys], Ask]
    open_settings: OpenSettings
    contact: str = ""

    async def __call__(self, user_id: UserId, name: KeyedSource, key: str | None) -> KeyTrial:
        """Test `key`, or else the user's saved key. Raises `InvalidError` and `StoreUnavailableError`."""
        setting, source = KEY_SETTINGS[name], self.sources[name]
        tried = (await self.open_settings(user_id)).secret(setting) if key is None else _checked(setting, key)
        if not tried:
            raise InvalidError("You have no saved key to test: enter one.", field="body.key")
        keys = replace(Keys(contact=self.contact), **{name: tried})
        try:
            await source.search(self.ask_with(source, keys), TRIED)
        except SourceFaultError as error:
            return KeyTrial(outcome=_OUTCOMES.get(error.kind, "unreachable"), detail=f"{source.label} {error.reason}.")
        return KeyTrial(outcome="ok")


def _checked(setting: Setting, key: str) -> str:
    try:
        return str(setting.check(key))
    except InvalidError as error:
        raise InvalidError(error.detail, field="body.key", fault=error.fault) from error
