"""The address this server was reached by, where it is known to be its own and not only said to be."""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers
from starlette.types import Scope

from backend_api.kit.http.hosts import KnownHosts, host_name
from backend_api.kit.http.ports import WebOptions


def own_origin(scope: Scope, options: WebOptions) -> str:
    """The origin of a request, or nothing where its Host may be anybody's.

    The edge lets every address through as a Host, for no page can point one at us; what we tell others to go to must be
    a name that the settings have, this machine, or the very address the connection came to.
    """
    host = Headers(scope=scope).get("host", "")
    name = host_name(host)
    named = KnownHosts.of(options.allowed_hosts, (options.public_url,), is_local=True)
    server = scope.get("server") or ("", None)
    is_own = name is not None and (name in named or _same_address(name, str(server[0])))
    return f"{scope['scheme']}://{host}" if is_own else ""


def _same_address(name: str, reached: str) -> bool:
    try:
        return ipaddress.ip_address(name) == ipaddress.ip_address(reached)
    except ValueError:
        return False
