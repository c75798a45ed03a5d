"""The one HTTP client for addresses that a model, a user or a page names."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpcore
import httpx

from backend_api.kit.tls import trusted_certificates
from backend_api.kit.untrusted.bodies import ENCODINGS, whole_body
from backend_api.kit.untrusted.errors import FetchFailedError
from backend_api.kit.untrusted.guarded_network import AddressGuard, GuardedNetwork
from backend_api.kit.untrusted.resolver import Resolve, SystemResolver, owner_of_lookups
from backend_api.kit.untrusted.rules import FetchRules
from backend_api.kit.untrusted.shares import Shares
from backend_api.kit.untrusted.transport import PoolTransport
from service_kit.amounts import duration_text

MOST_REDIRECTS = 5
CONNECT_S = 5.0
AT_ONCE = 100
AT_ONCE_OF_OWNER = 20
USER_AGENT = "Mozilla/5.0 (compatible; Deskmate/1.0)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """Bounds of one fetch, redirects included; `body_bytes` holds before and after decompression."""

    body_bytes: int
    whole_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The answer at `url`, to which redirects led, whatever its status. `media_type` is in lower case, empty if the
    server sends none; names of `headers` are in lower case."""

    url: str
    status: int
    media_type: str
    charset: str
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class GuardedClient:
    """Connects only to what `FetchRules` allow, checked for each redirect, and limits each owner's fetches at once
    (`lookups_of`). It keeps neither connections nor cookies."""

    def __init__(self, http: httpx.AsyncClient, rules: FetchRules) -> None:
        self._http = http
        self._rules = rules
        self._shares = Shares(AT_ONCE_OF_OWNER)

    async def get(
        self, url: str, limits: FetchLimits, *, accept: str = "*/*", headers: Mapping[str, str] | None = None
    ) -> Fetched:
        """Fetch a URL. `headers`, such as a key, are sent to the host of the URL only, and to no other that it
        redirects to. Raises `AddressRefusedError`, `FetchTooLargeError`, `FetchFailedError`. Cancelling closes the
        connection."""
        try:
            async with asyncio.timeout(limits.whole_s), self._shares.of(owner_of_lookups()):
                return await self._follow_redirects(url, limits, {"Accept": accept}, headers or {})
        except (TimeoutError, httpx.TimeoutException) as error:
            raise FetchFailedError(
                f"The response did not arrive in full within {duration_text(limits.whole_s)}."
            ) from error
        except httpx.ConnectError as error:
            raise FetchFailedError("The server can't be reached.") from error
        except httpx.HTTPError as error:
            raise FetchFailedError("The server did not answer with valid HTTP.") from error

    async def _follow_redirects(
        self, url: str, limits: FetchLimits, usual: Mapping[str, str], own: Mapping[str, str]
    ) -> Fetched:
        asked = first = self._rules.checked(url)
        for _ in range(MOST_REDIRECTS + 1):
            is_first = (asked.scheme, asked.host, asked.port) == (first.scheme, first.host, first.port)
            request = self._http.build_request("GET", asked, headers={**usual, **(own if is_first else {})})
            response = await self._http.send(request, stream=True)
            try:
                if not response.has_redirect_location:
                    return _fetched(asked, response, await whole_body(response, limits.body_bytes))
                asked = self._rules.checked(_join_url(asked, response.headers["location"]))
            finally:
                await response.aclose()
        raise FetchFailedError(f"It redirects more than {MOST_REDIRECTS} times.")


def _join_url(asked: httpx.URL, location: str) -> str:
    try:
        return str(asked.join(location))
    except (ValueError, httpx.InvalidURL) as error:
        raise FetchFailedError("It redirects to an invalid URL.") from error


def _fetched(asked: httpx.URL, response: httpx.Response, content: bytes) -> Fetched:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Fetched(
        url=str(asked),
        status=response.status_code,
        media_type=media_type,
        charset=response.charset_encoding or "",
        content=content,
        headers={name.lower(): value for name, value in response.headers.items()},
    )


@asynccontextmanager
async def guarded_client(
    rules: FetchRules,
    *,
    proxy: str = "",
    resolve: Resolve | None = None,
    network: httpcore.AsyncNetworkBackend | None = None,
    certificates: ssl.SSLContext | None = None,
) -> AsyncGenerator[GuardedClient]:
    """See `guarded_transport`."""
    async with (
        guarded_transport(rules, proxy=proxy, resolve=resolve, network=network, certificates=certificates) as transport,
        httpx.AsyncClient(
            transport=transport,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": ENCODINGS},
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            follow_redirects=False,
            trust_env=False,
        ) as http,
    ):
        yield GuardedClient(http, rules)


@asynccontextmanager
async def guarded_transport(
    rules: FetchRules,
    *,
    proxy: str = "",
    resolve: Resolve | None = None,
    network: httpcore.AsyncNetworkBackend | None = None,
    certificates: ssl.SSLContext | None = None,
    at_once: int = AT_ONCE,
) -> AsyncGenerator[PoolTransport]:
    """A transport that connects only to addresses that the rules allow; its user checks URLs. A `proxy` resolves the
    names itself, and has to refuse private addresses."""
    system = SystemResolver()
    pool = httpcore.AsyncConnectionPool(
        ssl_context=certificates or trusted_certificates(),
        max_connections=at_once,
        max_keepalive_connections=0,
        network_backend=network if proxy else GuardedNetwork(AddressGuard(rules, resolve or system), network),
        proxy=_proxy(proxy) if proxy else None,
    )
    try:
        yield PoolTransport(pool)
    finally:
        # Its connections end with it, even if nobody gave it to a client.
        await pool.aclose()
        system.close()


def _proxy(address: str) -> httpcore.Proxy:
    named = httpx.Proxy(address)
    return httpcore.Proxy(str(named.url), auth=named.raw_auth)
