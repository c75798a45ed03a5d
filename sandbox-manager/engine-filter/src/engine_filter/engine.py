"""Queries of the filter itself to the engine, before it lets a call through."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, cast

from engine_filter.containers import own_volume
from engine_filter.policy import SAME_AS_LABEL, Policy
from engine_filter.refusals import AnsweredError, Refused
from engine_filter.strict_json import Json
from engine_filter.volumes_and_networks import is_plain
from engine_filter.wire import Exchange, Order

ANSWER_S = 60.0


class Engine:
    """Queries to the engine; every answer is current, and nothing is cached."""

    def __init__(self, socket: str, policy: Policy, prefix: str) -> None:
        self._socket, self._policy, self._prefix = socket, policy, prefix

    async def own_container(self, ref: str) -> Json:
        found = await self._inspect(f"/containers/{ref}/json")
        self._require_own(dig(found, "Config", "Labels"), f"the container {ref}")
        return found

    async def endpoint_client(self, ref: str) -> Json:
        found = await self._inspect(f"/containers/{ref}/json")
        if not self._policy.is_endpoint_client(dig(found, "Config", "Labels")):
            raise Refused(f"the container {ref} is no gateway of this stack")
        return found

    async def own_network(self, ref: str) -> Json:
        found = await self._inspect(f"/networks/{ref}")
        self._require_own(found.get("Labels"), f"the network {ref}")
        return found

    async def network_named(self, name: str) -> Json:
        """A network of the stack by its whole name; the engine would accept part of an id, too."""
        found = await self.own_network(name)
        if found.get("Name") != name:
            raise Refused(f"there is no network named {name}", 404)
        return found

    async def own_volume(self, name: str) -> Json:
        """A volume of the stack that is to be mounted, checked with its target: a folder of the engine's, or that of
        another volume of the stack."""
        found = await self.volume(name)
        if not is_plain(found):
            original = str(dig(found, "Labels", SAME_AS_LABEL))
            await self.hold_mountpoint(str(dig(found, "Options", "device")), original)
        return found

    async def hold_mountpoint(self, device: str, original: str) -> None:
        """Raises `Refused` unless the folder is that of the plain volume, which is the stack's own."""
        found = await self.volume(original)
        if not is_plain(found) or found.get("Mountpoint") != device:
            raise Refused(f"{device} is not the folder of {original}")

    async def volume(self, name: str) -> Json:
        if not re.fullmatch(own_volume(self._policy), name, re.ASCII):
            raise Refused(f"{name} is no volume of this stack")
        found = await self._inspect(f"/volumes/{name}")
        self._require_own(found.get("Labels"), f"the volume {name}")
        return found

    async def _inspect(self, target: str) -> Json:
        found = await answer_of(self._socket, Order("GET", self._prefix + target))
        if not isinstance(found, dict):
            raise Refused("the engine's answer is no object", 502)
        return cast("Json", found)

    def _require_own(self, labels: Any, what: str) -> None:
        if not self._policy.is_own(labels):
            raise Refused(f"{what} is not of this stack")


async def answer_of(socket: str, order: Order) -> Any:
    """The value of the answer. Raises `AnsweredError` if the engine refuses, `Refused` if it does not answer."""
    try:
        async with asyncio.timeout(ANSWER_S):
            exchange = await Exchange.begin(socket, order)
            try:
                body = await exchange.whole()
            finally:
                await exchange.close()
    except TimeoutError as error:
        raise Refused("the engine is too slow to answer", 504) from error
    if exchange.status >= 400:
        raise AnsweredError(exchange.status, body)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused("the engine's answer is no JSON", 502) from error


def dig(found: Any, *path: str) -> Any:
    """The value at a path; None if a part of it is missing."""
    for name in path:
        found = cast("Json", found).get(name) if isinstance(found, dict) else None
    return found
