"""Facts about models: the product's file (`models.toml`, which documents its fields), overridden by the
deployment's."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from backend_api.agent.catalogue import ProviderName
from backend_api.agent.model import Thinks
from backend_api.agent.prices import Prices

OPENAI_HOST = "api.openai.com"
"""The host of OpenAI's own API."""
ThinkingForm = Literal["adaptive", "budget"]
ComputerUse = Literal[
    "computer_toolset_20260801", "computer_20251124", "computer_20250124", "computer", "computer_use_preview"
]
"""Providers' tools by which a model uses a desktop: three of Anthropic's, two of OpenAI's."""
Price = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Tokens = Annotated[int, Field(ge=1, strict=True)]
_DAY = re.compile(r"(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest))?(?:-v\d+)?(?:@.*)?$")
_VENDORS = re.compile(r"^(?:[a-z]+\.)+")


class ModelsFileError(ValueError):
    """A file of models can't be used; the message names file, entry and field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """The facts about a model, None for each that is unknown. `context_window` and `output_limit` are in tokens."""

    context_window: int | None = None
    output_limit: int | None = None
    prices: Prices | None = None
    pictures: bool | None = None
    thinking: Thinks | None = None
    thinking_form: ThinkingForm | None = None
    computer_use: ComputerUse | None = None
    tool_search: bool | None = None

    def over(self, other: ModelFacts) -> ModelFacts:
        """These facts, completed by the other's where unknown."""
        known = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return ModelFacts(**{name: getattr(other, name) if value is None else value for name, value in known.items()})


FactsOf = Callable[[str], ModelFacts]
"""Looks up a model's facts by name, as one provider serves it."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Price(_Strict):
    input: Price
    output: Price
    cache_read: Price | None = None
    cache_write: Price | None = None

    def prices(self, above: int | None = None, long: Prices | None = None) -> Prices:
        return Prices(
            input=self.input,
            output=self.output,
            cache_read=self.input if self.cache_read is None else self.cache_read,
            cache_write=self.input if self.cache_write is None else self.cache_write,
            above=above,
            long=long,
        )


class _Prices(_Price):
    above: Tokens | None = None
    long: _Price | None = None


_FORMER = ("binds_thinking", "system_notes")
"""Fields of earlier versions that had no effect: files that were made from the product's own still have them."""


class _Entry(_Strict):
    names: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    provider: ProviderName | None = None
    context_window: Tokens | None = None
    output_limit: Tokens | None = None
    prices: _Prices | None = None
    pictures: bool | None = None
    thinking: Thinks | None = None
    thinking_form: ThinkingForm | None = None
    computer_use: ComputerUse | None = None
    tool_search: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _leave_former(cls, said: object) -> object:
        if not isinstance(said, dict):
            return said
        return {name: value for name, value in cast("dict[str, object]", said).items() if name not in _FORMER}

    def facts(self) -> ModelFacts:
        told = {entry.name: getattr(self, entry.name) for entry in fields(ModelFacts) if entry.name != "prices"}
        prices = self.prices
        long = prices.long.prices() if prices and prices.long else None
        return ModelFacts(**told, prices=prices.prices(prices.above, long) if prices else None)


class _File(_Strict):
    model: tuple[_Entry, ...] = ()


class ModelTable:
    """Facts by model name; `own` entries come first."""

    def __init__(self, own: Sequence[_Entry] = ()) -> None:
        self._own = own

    def is_known(self, name: str, provider: str, *, is_official: bool) -> bool:
        """Whether an entry names it as a model of this provider; at another address, whether any entry names it."""
        if _find(self._own, name) is not None:
            return True
        entry = _find(_product_entries(), name)
        return entry is not None and (entry.provider == provider or not is_official)

    def facts(self, name: str, provider: str, *, is_official: bool) -> ModelFacts:
        """The facts of a model as this provider serves it; `is_official` means at the provider's own address."""
        own, known = _find(self._own, name), _find(_product_entries(), name)
        facts = ModelFacts()
        if known is not None and (known.provider or provider) == provider and is_official:
            facts = known.facts()
        elif known is not None:
            # On servers compatible with Anthropic, the name decides how thinking is requested.
            is_claude = known.provider == provider == "anthropic"
            facts = ModelFacts(
                pictures=known.pictures,
                thinking=known.thinking if is_claude else None,
                thinking_form=known.thinking_form if is_claude else None,
            )
        return own.facts().over(facts) if own is not None else facts


def unknown(name: str) -> ModelFacts:
    """The facts of a model about which nothing is known."""
    del name
    return ModelFacts()


def elsewhere(name: str) -> ModelFacts:
    """The facts of an Anthropic model at another server's address."""
    return ModelTable().facts(name, "anthropic", is_official=False)


def read_models_file(path: Path | None) -> ModelTable:
    """The table with the deployment's file, if there is one. Raises `ModelsFileError`."""
    if path is None:
        return ModelTable()
    try:
        return ModelTable(_parse(path.read_text(encoding="utf-8"), f"MODELS_FILE={path}"))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelsFileError(f"MODELS_FILE={path} can't be read: {error}.") from error


@cache
def _product_entries() -> tuple[_Entry, ...]:
    name = "models.toml"
    return _parse(files("backend_api.models").joinpath(name).read_text(encoding="utf-8"), name)


def _parse(text: str, file: str) -> tuple[_Entry, ...]:
    try:
        return _File.model_validate(tomllib.loads(text)).model
    except tomllib.TOMLDecodeError as error:
        raise ModelsFileError(f"{file} is not valid TOML: {error}.") from error
    except ValidationError as error:
        raise ModelsFileError(
            f"{file}: " + "; ".join(_describe_fault(one["loc"], one["msg"]) for one in error.errors())
        ) from error


def _describe_fault(place: tuple[int | str, ...], message: str) -> str:
    """Describes the place of a fault, with entries counted from 1."""
    if len(place) < 2 or not isinstance(place[1], int):
        return f"{'.'.join(map(str, place))}: {message}"
    return f"[[model]] number {place[1] + 1}, field {'.'.join(map(str, place[2:]))}: {message}"


def _find(entries: Sequence[_Entry], name: str) -> _Entry | None:
    tagged = _VENDORS.sub("", name.lower().rpartition("/")[2])
    named = {name.lower(), tagged, _DAY.sub("", tagged.partition(":")[0])}
    fitting = (
        entry for entry in entries for pattern in entry.names if any(fnmatchcase(one, pattern.lower()) for one in named)
    )
    return next(fitting, None)
