"""The calls that pass: each one's method, path, query and judge, in one literal table."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl

from engine_filter import handling
from engine_filter.containers import REF
from engine_filter.engine import Engine
from engine_filter.handling import Ask, Plan
from engine_filter.policy import Policy
from engine_filter.refusals import Refused
from engine_filter.strict_json import Json, loads
from engine_filter.wire import Request

Handler = Callable[[Ask], Coroutine[Any, Any, Plan]]
_Kind = Literal["flag", "off", "number", "name", "filters", "condition"]

_LONGEST_TARGET = 4096
_TARGET = re.compile(r"(?:/v1\.(4[1-9]|[5-9][0-9]))?(/[a-zA-Z0-9_.:/%-]{1,512})(?:\?(.*))?", re.ASCII)
_FLAG = {"1": "1", "true": "1", "0": "0", "false": "0"}
_PATTERNS: dict[_Kind, str] = {
    "number": r"-1|[0-9]{1,6}|all",
    "name": REF,
    "filters": r".{0,2000}",
    "condition": r"not-running|next-exit|removed",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call the manager makes. A parameter that is not in `query`, or is there twice, is refused."""

    method: str
    path: str
    handler: Handler
    query: Mapping[str, _Kind] = field(default_factory=dict[str, _Kind])
    upgrades: bool = False
    has_body: bool = False


_CONTAINER = rf"/containers/(?P<ref>{REF})"
_NETWORK = rf"/networks/(?P<ref>{REF})"
_VOLUME = rf"/volumes/(?P<ref>{REF})"

CALLS: tuple[Call, ...] = (
    Call("GET", r"/_ping", handling.ping),
    Call("GET", r"/version", handling.version),
    Call("GET", r"/info", handling.info),
    Call("GET", r"/events", handling.events, {"filters": "filters"}),
    Call("GET", r"/images/(?P<ref>[a-zA-Z0-9_.:/%-]+)/json", handling.image),
    Call(
        "GET",
        r"/containers/json",
        handling.containers,
        {"all": "flag", "limit": "number", "size": "off", "trunc_cmd": "flag", "filters": "filters"},
    ),
    Call("POST", r"/containers/create", handling.create_container, {"name": "name"}, has_body=True),
    Call("GET", rf"{_CONTAINER}/json", handling.container),
    Call("POST", rf"{_CONTAINER}/(?P<verb>start|pause|unpause)", handling.act),
    Call("POST", rf"{_CONTAINER}/wait", handling.wait, {"condition": "condition"}),
    Call("DELETE", _CONTAINER, handling.remove_container, {"v": "off", "link": "off", "force": "flag"}),
    Call(
        "GET",
        rf"{_CONTAINER}/logs",
        handling.logs,
        {"stdout": "flag", "stderr": "flag", "timestamps": "flag", "follow": "flag", "tail": "number"},
    ),
    Call("GET", rf"{_CONTAINER}/stats", handling.stats, {"stream": "off", "one-shot": "flag"}),
    Call(
        "POST",
        rf"{_CONTAINER}/attach",
        handling.attach,
        {"stdin": "flag", "stdout": "flag", "stderr": "flag", "stream": "flag"},
        upgrades=True,
    ),
    Call("GET", r"/networks", handling.networks, {"filters": "filters"}),
    Call("POST", r"/networks/create", handling.create_network, has_body=True),
    Call("GET", _NETWORK, handling.network),
    Call("DELETE", _NETWORK, handling.remove_network),
    Call("POST", rf"{_NETWORK}/connect", handling.connect, has_body=True),
    Call("POST", rf"{_NETWORK}/disconnect", handling.disconnect, has_body=True),
    Call("GET", r"/volumes", handling.volumes, {"filters": "filters"}),
    Call("POST", r"/volumes/create", handling.create_volume, has_body=True),
    Call("GET", _VOLUME, handling.volume),
    Call("DELETE", _VOLUME, handling.remove_volume),
)
_COMPILED = [(re.compile(call.path, re.ASCII), call) for call in CALLS]


def plan_of(request: Request, socket: str, policy: Policy) -> Coroutine[Any, Any, Plan]:
    """The plan for a request. Both this and awaiting it raise `Refused`."""
    matched = _TARGET.fullmatch(request.target) if len(request.target) <= _LONGEST_TARGET else None
    if matched is None:
        raise Refused("the path is not that of a call", 400)
    version, path, query = matched.groups()
    for pattern, call in _COMPILED:
        found = pattern.fullmatch(path) if call.method == request.method else None
        if found is not None:
            prefix = f"/v1.{version}" if version else ""
            return call.handler(
                Ask(
                    engine=Engine(socket, policy, prefix),
                    policy=policy,
                    prefix=prefix,
                    parts=found.groupdict(),
                    query=_query(call, query),
                    body=_body(call, request),
                )
            )
    raise Refused(f"{request.method} {path} is not a call the sandbox manager needs")


def _body(call: Call, request: Request) -> Json:
    if request.upgrades != call.upgrades:
        raise Refused("only an attach, and every attach, becomes a stream", 400)
    if call.has_body:
        return loads(request.body)
    if request.body:
        raise Refused("the call has no body", 400)
    return {}


def _query(call: Call, text: str | None) -> dict[str, str]:
    try:
        pairs = parse_qsl(text or "", keep_blank_values=True, errors="strict", max_num_fields=12)
    except ValueError as error:
        raise Refused("the query can't be read", 400) from error
    kept: dict[str, str] = {}
    for name, value in pairs:
        if name not in call.query:
            raise Refused(f"the parameter {name[:80]} is not allowed here")
        if name in kept:
            raise Refused(f"the parameter {name} is there twice", 400)
        kept[name] = _value(name, call.query[name], value)
    return kept


def _value(name: str, kind: _Kind, value: str) -> str:
    if kind in ("flag", "off"):
        flag = _FLAG.get(value.lower())
        if flag is None or (kind == "off" and flag != "0"):
            raise Refused(f"the parameter {name} has a value that is not allowed")
        return flag
    if not re.fullmatch(_PATTERNS[kind], value, re.ASCII):
        raise Refused(f"the parameter {name} has a value that is not allowed")
    return value
