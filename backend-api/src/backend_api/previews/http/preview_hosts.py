"""Hosts of opened ports: `p-<id>` directly below the deployment's domain, and no other names."""

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
    """The label before the domain, if the host is of an opened port or has the form of one; None for every other host.

    A request with several hosts has no label: the edge refuses it.
    """
    hosts = Headers(scope=scope).getlist("host")
    name = host_name(hosts[0]) if len(hosts) == 1 else None
    parent = f".{domain.partition(':')[0]}"
    if not domain or name is None or not name.endswith(parent):
        return None
    label = name.removesuffix(parent)
    return label if label.startswith(_PREFIX) and "." not in label else None


def port_of(label: str) -> PortId | None:
    """The port id; None if the label contains none."""
    return port_id_from(label.removeprefix(_PREFIX))


def preview_address(connection: HTTPConnection, options: WebOptions, domain: str, port_id: str, token: str) -> str:
    """The address of the port, with the scheme and port of this request unless the settings name them."""
    public = urlsplit(options.public_url)
    scheme = public.scheme or connection.url.scheme
    name, _, said = domain.partition(":")
    port = int(said) if said else public.port if public.netloc else connection.url.port
    shown = "" if port in (None, _DEFAULT_PORTS.get(scheme)) else f":{port}"
    return f"{scheme}://{_PREFIX}{port_id}.{name}{shown}/?{TOKEN_PARAMETER}={token}"
