"""The limits of a deployment, as its settings have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

from backend_api.identity.application.limits import Limits, Quotas
from service_kit.named_numbers import Number, read_numbers

_MOST = {"opened_ports": (1, 100)}


def _setting_name(field: str) -> str:
    return field.replace("_", "-")


def _rates() -> dict[str, Number]:
    parts = ((field.partition("_per_"), default) for field, default in asdict(Limits()).items() if "_per_" in field)
    return {_setting_name(name): Number(default=default, per=per) for (name, _, per), default in parts}


def _quotas() -> dict[str, Number]:
    known: dict[str, Number] = {}
    for field, default in asdict(Quotas()).items():
        least, most = _MOST.get(field, (0, 10**9))
        known[_setting_name(field)] = Number(default=default, least=least, most=most)
    return known


RATES: Mapping[str, Number] = _rates()
QUOTAS: Mapping[str, Number] = _quotas()


def _reader(known: Mapping[str, Number]) -> Callable[[object], object]:
    return lambda value: read_numbers(value, known) if isinstance(value, str) else value


Rates = Annotated[dict[str, int], NoDecode, BeforeValidator(_reader(RATES))]
Amounts = Annotated[dict[str, int], NoDecode, BeforeValidator(_reader(QUOTAS))]


def quotas_of(amounts: Mapping[str, int]) -> Quotas:
    """Those of the setting."""
    return Quotas(**{field.name: amounts[_setting_name(field.name)] for field in fields(Quotas)})


def limits_of(rates: Mapping[str, int], quotas: Quotas) -> Limits:
    """Those of both settings."""
    often = {f"{name.replace('-', '_')}_per_{RATES[name].per}": value for name, value in rates.items()}
    return Limits(**often, sessions_in_all=quotas.sessions, waiting_messages=quotas.waiting_messages)
