"""Hosts of opened ports: `p-<id>` below the deployment's domain, and nothing else there."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import Scope

from backend_api.kit.http.hosts import host_name
from backend_api.kit.http.ports import WebOptions
from backend_api.previews.domain.entity import PortId, port_id_from

TOKEN_PARAMETER = "preview_token"
_PREFIX = "p-"
_DEFAULT_PORTS = {"http": 80, "https": 443}


def preview_label(scope: Scope, domain: str) -> str | None:
    """What stands before the domain, where that is, or should be, an opened port's; None of every other host.

    Of several hosts none counts: such a request is the edge's to refuse.
    """
    hosts = Headers(scope=scope).getlist("host")
    name = host_name(hosts[0]) if len(hosts) == 1 else None
    parent = f".{domain.partition(':')[0]}"
    if not domain or name is None or not name.endswith(parent):
        return None
    label = name.removesuffix(parent)
    return label if label.startswith(_PREFIX) and "." not in label else None


def port_of(label: str) -> PortId | None:
    """None of one that is no id."""
    return port_id_from(label.removeprefix(_PREFIX))


def preview_address(connection: HTTPConnection, options: WebOptions, domain: str, port_id: str, token: str) -> str:
    """Where the port opens: by the scheme and the port that this server is reached by, unless the settings say them."""
    public = urlsplit(options.public_url)
    scheme = public.scheme or connection.url.scheme
    name, _, said = domain.partition(":")
    port = int(said) if said else public.port if public.netloc else connection.url.port
    shown = "" if port in (None, _DEFAULT_PORTS.get(scheme)) else f":{port}"
    return f"{scheme}://{_PREFIX}{port_id}.{name}{shown}/?{TOKEN_PARAMETER}={token}"
