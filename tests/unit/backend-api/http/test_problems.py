"""Every error the gateway can raise has a status and a code of its own."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import backend_api
from backend_api.kit.errors import DomainError
from service_kit.problems import status_of


def every_error(cls: type[DomainError] = DomainError) -> Iterator[type[DomainError]]:
    for child in cls.__subclasses__():
        yield child
        yield from every_error(child)


def load_everything() -> None:
    for module in pkgutil.walk_packages(backend_api.__path__, "backend_api."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def test_every_domain_error_has_a_status_and_a_code_of_its_own() -> None:
    load_everything()
    errors = {error for error in every_error() if error.__module__.startswith("backend_api.")}
    assert len(errors) > 20
    assert [error for error in errors if status_of(error) is None] == []
    assert [error for error in errors if error.code == "error"] == []


def test_a_code_is_a_stable_word() -> None:
    load_everything()
    codes = {error.code for error in every_error()}
    assert [code for code in codes if not code.replace("_", "").isalpha() or not code.islower()] == []
