"""Settings of the caller, by category."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import Field

from backend_api.agent.catalogue import ProviderName
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.examples import with_example
from backend_api.kit.http.ports import port
from backend_api.kit.http.schemas import AnswerBody, RequestBody
from backend_api.settings.application.change_setting import ChangeSetting
from backend_api.settings.application.read_settings import ReadSettings
from backend_api.settings.application.try_key import Trial, TryKey
from backend_api.settings.application.try_search_key import TrySearchKey, no_trials
from backend_api.settings.domain.table import KeyedSearch, setting_named
from backend_api.settings.ports import SearchKeyTrials, SearchOutcome

router = APIRouter(prefix="/api/settings", tags=["settings"])
Name = Annotated[str, Path(max_length=100)]


class SettingBody(AnswerBody):
    category: str
    key: str
    value: Any = Field(description="null where it is not set, and always for a secret.")
    default: Any = Field(description="What holds where the caller sets nothing; always null for a secret.")
    source: Literal["deployment", "user"]
    is_secret: bool
    is_set: bool = Field(description="By whom it says `source`. What the deployment has of keys is not told.")
    ends_with: str | None = Field(description="The last four characters of a key of the caller's own.")
    may_set: bool = Field(description="false: this server keeps no keys of its users, or asks nobody with this one.")
    problem: Literal["unreadable", "not_allowed", "not_available", "not_asked"] | None = Field(
        description="Why it does not act: the key can't be read with the server's present SECRETS_KEY, the address is "
        "not allowed here any more, the model is not on offer, or this server asks nobody with this key."
    )


class ChangeSettingBody(RequestBody):
    value: Any = Field(description="As the setting has it: text, number, true or false, or a list of names.")


class TrialBody(RequestBody):
    """A field that is left out is taken from the caller's settings. With another `base_url` than the saved one a saved
    key is not used: give `key`."""

    provider: ProviderName = Field(description="openai: every compatible server, too.")
    key: str | None = Field(default=None, max_length=1000)
    base_url: str | None = Field(default=None, max_length=1000, description="Empty: none, whatever is saved.")
    model: str | None = Field(default=None, max_length=1000)


class TrialResultBody(AnswerBody):
    outcome: Literal["ok", "wrong_key", "no_such_model", "limit", "refused", "unreachable"]
    model: str
    detail: str


class ModelListingBody(RequestBody):
    """The fields of a trial: one that is left out is taken from the caller's settings."""

    provider: ProviderName = Field(description="openai: every compatible server, too.")
    key: str | None = Field(default=None, max_length=1000)
    base_url: str | None = Field(default=None, max_length=1000, description="Empty: none, whatever is saved.")


class ListedModelsBody(AnswerBody):
    outcome: Literal["ok", "wrong_key", "no_such_model", "limit", "refused", "unreachable"]
    models: list[str] = Field(description="Newest first, without those that hold no conversation with tools.")
    best: str | None = Field(description="The one to begin with.")
    detail: str = Field(description="What is wrong; empty where nothing is.")


class SearchTrialBody(RequestBody):
    provider: KeyedSearch
    key: str | None = Field(default=None, max_length=1000, description="Left out: the one the caller has saved.")


class SearchTrialResultBody(AnswerBody):
    outcome: SearchOutcome
    detail: str


@router.get("")
async def list_settings(
    caller: CurrentCaller, read_settings: Annotated[ReadSettings, port("read_settings")]
) -> list[SettingBody]:
    """List all settings with the values that apply to the caller."""
    return [SettingBody.model_validate(one) for one in await read_settings(caller.user.id)]


@router.post("/models/test", openapi_extra=with_example({"provider": "openai", "key": "sk-...", "model": "gpt-5"}))
async def try_key(
    body: TrialBody, caller: CurrentCaller, try_key: Annotated[TryKey, port("try_key")]
) -> TrialResultBody:
    """Test a key with one small call to its provider. Nothing is stored, and only a key of the caller's own is
    tested."""
    trial = Trial(provider=body.provider, key=body.key, base_url=body.base_url, model=body.model)
    return TrialResultBody.model_validate(await try_key(caller.user.id, trial))


@router.post("/models/available", openapi_extra=with_example({"provider": "openai", "key": "sk-..."}))
async def list_provider_models(
    body: ModelListingBody, caller: CurrentCaller, try_key: Annotated[TryKey, port("try_key")]
) -> ListedModelsBody:
    """List the models of a provider that a key gives access to. Nothing is stored, and only a key of the caller's own
    is used."""
    trial = Trial(provider=body.provider, key=body.key, base_url=body.base_url)
    return ListedModelsBody.model_validate(await try_key.list_models(caller.user.id, trial))


@router.post("/search/test", openapi_extra=with_example({"provider": "tavily", "key": "tvly-..."}))
async def try_search_key(
    body: SearchTrialBody,
    caller: CurrentCaller,
    try_search_key: Annotated[TrySearchKey, port("try_search_key")],
    trials: Annotated[SearchKeyTrials, port("search_trials", no_trials)],
) -> SearchTrialResultBody:
    """Test a key with one small search. Nothing is stored, and only a key of the caller's own is tested."""
    found = await try_search_key(caller.user.id, body.provider, body.key, trials)
    return SearchTrialResultBody.model_validate(found)


@router.get("/{category}/{key}")
async def get_setting(
    category: Name, key: Name, caller: CurrentCaller, read_settings: Annotated[ReadSettings, port("read_settings")]
) -> SettingBody:
    """Return one setting."""
    setting = setting_named(category, key)
    return SettingBody.model_validate(await read_settings.one(caller.user.id, setting))


@router.put("/{category}/{key}", openapi_extra=with_example({"value": "gpt-5"}))
async def set_setting(
    category: Name,
    key: Name,
    body: ChangeSettingBody,
    caller: CurrentCaller,
    change_setting: Annotated[ChangeSetting, port("change_setting")],
    read_settings: Annotated[ReadSettings, port("read_settings")],
) -> SettingBody:
    """Set a setting; it applies from the next run on. null has the effect of DELETE. Another `openai_base_url` than
    before, or none, removes the caller's `openai_api_key`, which was given for the former one: set it again."""
    setting = setting_named(category, key)
    own = await change_setting(caller.user.id, setting, body.value)
    return SettingBody.model_validate((await read_settings.shown(own, [setting]))[0])


@router.delete("/{category}/{key}")
async def take_setting_back(
    category: Name,
    key: Name,
    caller: CurrentCaller,
    change_setting: Annotated[ChangeSetting, port("change_setting")],
    read_settings: Annotated[ReadSettings, port("read_settings")],
) -> SettingBody:
    """Unset a setting; the answer is the value that applies now."""
    setting = setting_named(category, key)
    own = await change_setting(caller.user.id, setting, None)
    return SettingBody.model_validate((await read_settings.shown(own, [setting]))[0])
