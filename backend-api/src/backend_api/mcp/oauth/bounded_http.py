"""Requests to authorization servers: each address is checked, each answer bounded, and no redirect to another server is
followed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2

from backend_api.kit.untrusted.errors import AddressRefusedError
from backend_api.kit.untrusted.rules import PORTS, FetchRules
from backend_api.mcp.client.guarded_transport import GuardedTransport, Refusals
from backend_api.mcp.client.network import Network
from backend_api.mcp.domain.sign_in import McpSignInError

CONNECT_S = 5.0
MAX_BYTES = 256 * 1024
MAX_REDIRECTS = 3
NO_HTTPS = "{} does not use https, so no secrets are sent there."
NO_ANSWER = "{} does not answer."


class BoundedHttp:
    """An HTTP client whose methods all raise `McpSignInError`."""

    def __init__(self, http: httpx2.AsyncClient, rules: FetchRules, refusals: Refusals) -> None:
        self._http = http
        self._rules = rules
        self._refusals = refusals

    def checked(self, url: str) -> str:
        """Returns the address if secrets may be sent to it. Without https that holds only if the deployment allows the
        host."""
        try:
            parsed = self._rules.checked(url)
        except AddressRefusedError as error:
            raise McpSignInError(error.detail) from error
        host, port = parsed.raw_host.decode("ascii"), parsed.port or PORTS[parsed.scheme]
        if parsed.scheme != "https" and not self._rules.allows(host, port):
            raise McpSignInError(NO_HTTPS.format(host))
        return url.strip()

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """The response with its whole body. Redirects of a GET are followed on the same server."""
        for _ in range(MAX_REDIRECTS + 1):
            self.checked(str(request.url))
            request.headers["Accept-Encoding"] = "identity"
            response = await self._send(request)
            where = response.headers.get("location") if response.is_redirect else None
            if where is None or request.method != "GET":
                return response
            try:
                there = request.url.join(where)
            except (ValueError, httpx2.InvalidURL):
                return response
            if (there.scheme, there.host, there.port) != (request.url.scheme, request.url.host, request.url.port):
                return response
            request = httpx2.Request("GET", there, headers={"Accept": "application/json"})
        raise McpSignInError(NO_ANSWER.format(request.url.host))

    async def head_of(self, request: httpx2.Request) -> httpx2.Response:
        """The response without its body, which may be endless."""
        self.checked(str(request.url))
        request.headers["Accept-Encoding"] = "identity"
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.HTTPError as error:
            raise self._fault(request) from error
        await response.aclose()
        return response

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._http.send(request, stream=True)
            try:
                if len(await response.aread()) > MAX_BYTES:
                    raise McpSignInError(f"{request.url.host} sent more than {MAX_BYTES // 1024} KB.")
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            raise self._fault(request) from error
        return response

    def _fault(self, request: httpx2.Request) -> McpSignInError:
        return McpSignInError(self._refusals.said or NO_ANSWER.format(request.url.host))


@asynccontextmanager
async def bounded_http(network: Network, owner: str) -> AsyncGenerator[BoundedHttp]:
    """A client for one sign-in or renewal. DNS look-ups count for `owner`."""
    refusals = Refusals()
    async with httpx2.AsyncClient(
        transport=GuardedTransport(network.transport, network.rules, refusals, owner),
        timeout=httpx2.Timeout(None, connect=CONNECT_S),
        follow_redirects=False,
        trust_env=False,
    ) as http:
        yield BoundedHttp(http, network.rules, refusals)
