"""The origin this server was reached at, if it is known to be its own and not only claimed by the request."""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers
from starlette.types import Scope

from backend_api.kit.http.hosts import KnownHosts, host_name
from backend_api.kit.http.ports import WebOptions


def server_origin(scope: Scope, options: WebOptions) -> str:
    """The origin of a request, or empty if its Host may be anybody's.

    The edge accepts every IP address as a Host, since no page can point one at us. An address we send others to must be
    a name from the settings, this machine, or the very address the connection came to.
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
