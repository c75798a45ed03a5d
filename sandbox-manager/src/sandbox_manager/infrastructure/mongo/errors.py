"""Driver errors as the domain names them."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from pymongo.errors import PyMongoError

from sandbox_manager.domain.errors import RegistryUnavailableError


@contextlib.contextmanager
def registry_errors() -> Generator[None]:
    try:
        yield
    except PyMongoError as error:
        raise RegistryUnavailableError("The manager's database does not answer; try again later.") from error
