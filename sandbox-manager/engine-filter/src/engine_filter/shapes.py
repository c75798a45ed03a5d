"""Rules for the parts of a body. A rule takes a value and its place, and returns what is forwarded for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

from engine_filter.refusals import Refused
from engine_filter.strict_json import Json

Rule = Callable[[Any, str], Any]

MAX_TEXTS = 512


def nothing(value: Any) -> bool:
    """Whether the value means the same as its absence."""
    if isinstance(value, dict):
        return all(nothing(one) for one in cast("Json", value).values())
    if isinstance(value, list):
        return all(nothing(one) for one in cast("list[Any]", value))
    return not value


def record(value: Any, rules: Mapping[str, Rule], where: str) -> Json:
    """The fields that have a rule; any other must be empty and is left out."""
    if not isinstance(value, dict):
        raise Refused(f"{where} is no object", 400)
    kept: Json = {}
    for name, one in cast("Json", value).items():
        at = f"{where}.{name}" if where else name
        if name in rules:
            if one is not None:
                kept[name] = rules[name](one, at)
        elif not nothing(one):
            raise Refused(f"{at} is not allowed")
    return kept


def shaped(rules: Mapping[str, Rule]) -> Rule:
    return lambda value, where: record(value, rules, where)


def one_of(*allowed: object) -> Rule:
    def rule(value: Any, where: str) -> Any:
        for one in allowed:
            if type(one) is type(value) and one == value:
                return value
        raise Refused(f"{where} has a value that is not allowed")

    return rule


def boolean(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise Refused(f"{where} is neither true nor false", 400)
    return value


def integer(low: int, high: int) -> Rule:
    def rule(value: Any, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Refused(f"{where} must be a whole number from {low} to {high}")
        return value

    return rule


def text(pattern: str, longest: int = 256) -> Rule:
    compiled = re.compile(pattern, re.ASCII | re.DOTALL)

    def rule(value: Any, where: str) -> str:
        if not isinstance(value, str) or len(value) > longest or not compiled.fullmatch(value):
            raise Refused(f"{where} has a value that is not allowed")
        return value

    return rule


def texts(each: Rule, most: int = MAX_TEXTS) -> Rule:
    def rule(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list) or len(cast("list[Any]", value)) > most:
            raise Refused(f"{where} must be a list of at most {most}")
        return [each(one, f"{where}[{number}]") for number, one in enumerate(cast("list[Any]", value))]

    return rule


def table(names: Rule, values: Rule, most: int = 32) -> Rule:
    """An object whose names are data."""

    def rule(value: Any, where: str) -> Json:
        if not isinstance(value, dict) or len(cast("Json", value)) > most:
            raise Refused(f"{where} must be an object of at most {most} names")
        return {
            names(name, f"a name in {where}"): values(one, f"{where}.{name}")
            for name, one in cast("Json", value).items()
        }

    return rule


def need(kept: Json, names: Collection[str], where: str) -> None:
    for name in names:
        if name not in kept:
            raise Refused(f"{where}.{name} must be set")
