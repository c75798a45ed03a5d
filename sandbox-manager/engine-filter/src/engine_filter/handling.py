"""The handling of each call: the engine's state checked first, the order forwarded, and the part of the answer
shown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode

from engine_filter.containers import REF, judge_container
from engine_filter.engine import Engine, dig
from engine_filter.policy import ENDPOINT_LABEL, SAME_AS_LABEL, STACK_LABEL, Policy
from engine_filter.refusals import Refused
from engine_filter.shapes import boolean, need, record, text, texts
from engine_filter.strict_json import Json, dumps, loads
from engine_filter.volumes_and_networks import judge_network, judge_volume
from engine_filter.wire import Order

Shown = Callable[[Any], Any]

_LABEL = text(r"agent-sandbox\.[a-z-]{1,40}(=[^\0\n]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A call as it was read: every part has the form its place in the table requires."""

    engine: Engine
    policy: Policy
    prefix: str
    parts: Mapping[str, str]
    query: Mapping[str, str]
    body: Json

    def order(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Json | None = None) -> Order:
        """An order to the engine, written anew."""
        asked = f"?{urlencode(query, quote_via=quote)}" if query else ""
        return Order(method, f"{self.prefix}{path}{asked}", None if body is None else dumps(body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan for a call: an answer known already, or an order whose answer is shown in part, or as it comes."""

    known: Any = None
    order: Order | None = None
    shown: Shown | None = None
    has_end: bool = True


async def ping(ask: Ask) -> Plan:
    return Plan(order=ask.order("GET", "/_ping"))


async def version(ask: Ask) -> Plan:
    return Plan(order=ask.order("GET", "/version"), shown=_pick("Version", "ApiVersion", "MinAPIVersion", "Os", "Arch"))


async def info(ask: Ask) -> Plan:
    return Plan(order=ask.order("GET", "/info"), shown=_pick("ID"))


async def image(ask: Ask) -> Plan:
    allowed = {quote(image, safe="/:"): image for image in ask.policy.images}
    wanted = ask.parts["ref"]
    if wanted not in allowed:
        raise Refused(f"only the images {', '.join(sorted(allowed.values()))} may be looked at")
    return Plan(order=ask.order("GET", f"/images/{quote(allowed[wanted], safe='/:')}/json"), shown=_pick("Id"))


async def events(ask: Ask) -> Plan:
    """The ends of the stack's containers, whatever the caller filters for."""
    forced = {"label": [_own_label(ask)], "type": ["container"], "event": ["die"]}
    return Plan(order=ask.order("GET", "/events", {"filters": dumps(forced).decode()}), has_end=False)


async def containers(ask: Ask) -> Plan:
    """The stack's containers in full; of gateways, only their identity and whether they run."""
    policy, endpoint = ask.policy, f"{ENDPOINT_LABEL}={ask.policy.stack}"
    asked = _labels(ask, also=[endpoint])
    labels = asked if endpoint in asked else [*asked, _own_label(ask)]

    def shown(found: Any) -> Any:
        own = [one for one in _items(found) if policy.is_own(one.get("Labels"))]
        gateways = [one for one in _items(found) if one not in own and policy.is_endpoint_client(one.get("Labels"))]
        return own + [_pick("Id", "Names", "State", "Status")(one) for one in gateways]

    query = {**ask.query, "filters": dumps({"label": labels}).decode()}
    return Plan(order=ask.order("GET", "/containers/json", query), shown=shown)


async def create_container(ask: Ask) -> Plan:
    name = ask.query.get("name", "")
    if not name.startswith(f"{ask.policy.stack}-"):
        raise Refused(f"the container's name must begin with {ask.policy.stack}-")
    wanted = judge_container(ask.policy, ask.body)
    looks = [ask.engine.own_volume(volume) for volume in wanted.volumes]
    if wanted.network is not None:
        looks.append(ask.engine.network_named(wanted.network))
    if wanted.joins is not None:
        looks.append(ask.engine.own_container(wanted.joins))
    found = await asyncio.gather(*looks)
    if wanted.joins is not None:
        wanted.body["HostConfig"]["NetworkMode"] = f"container:{_id(found[-1])}"
    return Plan(order=ask.order("POST", "/containers/create", {"name": name}, wanted.body))


async def container(ask: Ask) -> Plan:
    return Plan(known=await ask.engine.own_container(ask.parts["ref"]))


async def act(ask: Ask) -> Plan:
    path = await _own_container(ask)
    return Plan(order=ask.order("POST", f"{path}/{ask.parts['verb']}"))


async def wait(ask: Ask) -> Plan:
    path = await _own_container(ask)
    return Plan(order=ask.order("POST", f"{path}/wait", ask.query), has_end=False)


async def remove_container(ask: Ask) -> Plan:
    path = await _own_container(ask)
    return Plan(order=ask.order("DELETE", path, ask.query))


async def logs(ask: Ask) -> Plan:
    path = await _own_container(ask)
    return Plan(order=ask.order("GET", f"{path}/logs", ask.query), has_end=ask.query.get("follow") != "1")


async def stats(ask: Ask) -> Plan:
    path = await _own_container(ask)
    return Plan(order=ask.order("GET", f"{path}/stats", {**ask.query, "stream": "0"}))


async def attach(ask: Ask) -> Plan:
    order = ask.order("POST", f"{await _own_container(ask)}/attach", ask.query)
    return Plan(order=Order(order.method, order.target, upgrades=True))


async def networks(ask: Ask) -> Plan:
    """The stack's networks in full; of all others only the addresses they occupy."""
    asked = _labels(ask)
    query = {"filters": dumps({"label": asked}).decode()} if asked else None

    def shown(found: Any) -> Any:
        brief = _pick("Name", "Id", "Driver", "Scope", "IPAM")
        return [one if ask.policy.is_own(one.get("Labels")) else brief(one) for one in _items(found)]

    return Plan(order=ask.order("GET", "/networks", query), shown=shown)


async def create_network(ask: Ask) -> Plan:
    return Plan(order=ask.order("POST", "/networks/create", body=judge_network(ask.policy, ask.body)))


async def network(ask: Ask) -> Plan:
    return Plan(known=await ask.engine.own_network(ask.parts["ref"]))


async def remove_network(ask: Ask) -> Plan:
    return Plan(order=ask.order("DELETE", await _own_network(ask)))


async def connect(ask: Ask) -> Plan:
    """Connect a gateway, and nothing else: a sandbox has one network from its first moment on."""
    kept = record(ask.body, {"Container": text(REF)}, "")
    need(kept, ("Container",), "")
    path, client = await asyncio.gather(_own_network(ask), ask.engine.endpoint_client(kept["Container"]))
    return Plan(order=ask.order("POST", f"{path}/connect", body={"Container": _id(client)}))


async def disconnect(ask: Ask) -> Plan:
    """Disconnect anything from a network of the stack."""
    kept = record(ask.body, {"Container": text(REF), "Force": boolean}, "")
    need(kept, ("Container",), "")
    return Plan(order=ask.order("POST", f"{await _own_network(ask)}/disconnect", body=kept))


async def volumes(ask: Ask) -> Plan:
    def shown(found: Any) -> Any:
        own = [one for one in _items(dig(found, "Volumes")) if ask.policy.is_own(one.get("Labels"))]
        return {"Volumes": own, "Warnings": None}

    query = {"filters": dumps({"label": [*_labels(ask), _own_label(ask)]}).decode()}
    return Plan(order=ask.order("GET", "/volumes", query), shown=shown)


async def create_volume(ask: Ask) -> Plan:
    wanted = judge_volume(ask.policy, ask.body)
    if wanted.device is not None:
        await ask.engine.hold_mountpoint(wanted.device, str(wanted.body["Labels"].get(SAME_AS_LABEL)))
    return Plan(order=ask.order("POST", "/volumes/create", body=wanted.body))


async def volume(ask: Ask) -> Plan:
    return Plan(known=await ask.engine.volume(ask.parts["ref"]))


async def remove_volume(ask: Ask) -> Plan:
    await ask.engine.volume(ask.parts["ref"])
    return Plan(order=ask.order("DELETE", f"/volumes/{ask.parts['ref']}"))


async def _own_container(ask: Ask) -> str:
    """The path of a container of the stack by its whole id: a newcomer of the same name is not meant."""
    return f"/containers/{_id(await ask.engine.own_container(ask.parts['ref']))}"


async def _own_network(ask: Ask) -> str:
    return f"/networks/{_id(await ask.engine.own_network(ask.parts['ref']))}"


def _id(found: Json) -> str:
    identifier = str(found.get("Id"))
    if not re.fullmatch(r"[0-9a-z]{12,64}", identifier, re.ASCII):
        raise Refused("the engine named no id", 502)
    return identifier


def _own_label(ask: Ask) -> str:
    return f"{STACK_LABEL}={ask.policy.stack}"


def _labels(ask: Ask, also: list[str] | None = None) -> list[str]:
    """The labels to filter a list by; no other filter is known."""
    filters = loads(ask.query.get("filters", "{}").encode() or b"{}")
    kept = record(
        filters, {"label": texts(lambda one, at: one if one in (also or ()) else _LABEL(one, at), 8)}, "filters"
    )
    return kept.get("label", [])


def _items(found: Any) -> list[Json]:
    return [cast("Json", one) for one in cast("list[Any]", found or []) if isinstance(one, dict)]


def _pick(*names: str) -> Shown:
    return lambda found: {name: found[name] for name in names if name in found}
