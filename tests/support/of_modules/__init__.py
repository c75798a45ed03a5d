"""What tests of all features together know of an optional one: a file for each, which goes when its module goes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend_api.agent.capability import Capability
from backend_api.kit.ids import UserId
from support.route_rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class OfModule:
    """Each file here exports one of these as `OF_MODULE`."""

    capability: Capability
    """It is that of a user who has nothing."""
    stored: Capability
    """It loads what the database has of a user."""
    much: Sequence[Any]
    """What the capability loads of a user who has very much."""
    keep: Callable[[UserId], Awaitable[None]]
    """Stores something in the database that runs of this user read."""
    show: Callable[[Sequence[Capability]], None]
    """Checks what an agent has of the capability: it fails with a table that lacks it."""
    routes: Mapping[str, Rule]
    """Who may call its routes."""
    looking: Sequence[str] = ()
    """Those of its tools that plan mode has."""
    without_computer: Sequence[str] = ()
    """Those of its tools that need no computer."""


ALL: Sequence[OfModule] = [
    importlib.import_module(f"{__name__}.{one.name}").OF_MODULE for one in pkgutil.iter_modules(__path__)
]
