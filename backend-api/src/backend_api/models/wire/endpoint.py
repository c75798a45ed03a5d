"""One address of a provider, called over pooled connections with the provider's key."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from backend_api.agent.model import ModelUnavailableError
from backend_api.kit.tls import certificates_of_machine
from backend_api.models.wire.bounds import MOST_REDIRECTS, TIMEOUTS, Timeouts
from backend_api.models.wire.faults import in_sentence

CONNECTIONS = 500
KEPT_S = 300.0
"""Keep-alive, in seconds."""
BETA_HEADER = "anthropic-beta"
_COMMON_HEADERS = {"accept": "application/json", "content-type": "application/json", "user-agent": "Deskmate/1.0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderApi:
    """The provider's name in messages, and the setting that has its key."""

    name: str
    key_setting: str


class Connections:
    """Limits how many answers of one provider stream at once; others wait in order, `within_s` seconds at most."""

    def __init__(self, most: int, within_s: float) -> None:
        self._free = asyncio.Semaphore(most)
        self._within_s = within_s

    @asynccontextmanager
    async def one(self, provider: str) -> AsyncGenerator[None]:
        """Takes one slot. Raises `ModelUnavailableError` if none became free."""
        try:
            async with asyncio.timeout(self._within_s):
                await self._free.acquire()
        except TimeoutError as error:
            who = in_sentence(provider)
            busy = f"Too many requests to {who} are running at once. Try again in a moment."
            raise ModelUnavailableError(busy, may_retry=True) from error
        try:
            yield
        finally:
            self._free.release()


class _Connector(aiohttp.TCPConnector):
    """Closes a pooled connection on which the server has sent anything since its last answer: the next call would take
    that for its answer, and the call after it the answer of another caller."""

    def __init__(self, certificates: ssl.SSLContext) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] -- one of its keywords is typed in part
            limit=0, keepalive_timeout=KEPT_S, ssl=certificates
        )
        self._kept: WeakSet[object] = WeakSet()

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or protocol not in self._kept:
                break
            if not protocol.should_close:
                return connection
            connection.close()
        if protocol is not None:
            self._kept.add(protocol)
        return connection


class Endpoint:
    """An address for one kind of call. Header names are in lower case, and empty headers are left out. A redirect to
    another origin gets only the headers of the API, no key and nothing from the environment."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        api_headers: Mapping[str, str] | None = None,
        provider: ProviderApi,
        timeouts: Timeouts = TIMEOUTS,
        connections: int = CONNECTIONS,
        follows_redirects: bool,
    ) -> None:
        self.provider = provider
        self.connections = Connections(connections, timeouts.connect_s)
        self.url = url
        self._public_headers = _COMMON_HEADERS | dict(api_headers or {})
        self.headers = self._public_headers | {name: value for name, value in headers.items() if value}
        self.timeouts = timeouts
        self._follows_redirects = follows_redirects
        self._proxies = getproxies()
        # Loading takes a while, and this may run in a thread; the session is created later, in the event loop.
        self._certificates = certificates_of_machine()
        self._session: aiohttp.ClientSession | None = None
        self._answers: WeakSet[aiohttp.ClientResponse] = WeakSet()
        self._is_closed = False

    async def aclose(self) -> None:
        """Closes its connections. Answers in progress are cut, and no more calls are made."""
        self._is_closed = True
        # Closed one by one: readers don't notice if only the connection is closed.
        for answer in list(self._answers):
            answer.close()
        if self._session is not None:
            await self._session.close()

    async def post(self, content: bytes, betas: str = "") -> aiohttp.ClientResponse:
        """The response, of any status, with its body still to be read; the caller closes it. `betas` are names of the
        provider's beta features that the call needs. Raises `aiohttp.ClientError`, `OSError`, and `ValueError` (some of
        the first are that too) for values that can't be sent in a request."""
        url, headers = self.url, _with_betas(self.headers, betas)
        location = ""
        for _ in range(MOST_REDIRECTS + 1):
            try:
                asked, url = url, urljoin(url, location)
                if not is_as_trusted(url, asked):
                    headers = _with_betas(self._public_headers, betas)
                response = await self._send("POST", url, headers, content)
            except (aiohttp.NonHttpUrlClientError, ValueError) as error:
                if not location:
                    raise
                raise aiohttp.ClientError("redirected to an invalid URL") from error
            location = response.headers.get("location", "")
            # Redirects that drop the body, such as 302, never lead to a model.
            if response.status not in (307, 308) or not location or not self._follows_redirects:
                return response
            response.close()
        raise aiohttp.ClientError("too many redirects")

    async def get(self) -> aiohttp.ClientResponse:
        """The response to a GET, like that of `post`; a redirect is not followed."""
        return await self._send("GET", self.url, self.headers, None)

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> aiohttp.ClientResponse:
        if self._is_closed:
            raise aiohttp.ClientConnectionError("closed")
        if self._session is None:
            jar = aiohttp.DummyCookieJar()
            connector = _Connector(self._certificates)
            # The rest is timed in `provider_stream.py` and `bounds.py`: aiohttp would make a timer for each packet.
            timeout = aiohttp.ClientTimeout(connect=self.timeouts.connect_s)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=jar, timeout=timeout)
        response = await self._session.request(
            method, url, data=content, headers=headers, allow_redirects=False, proxy=self._proxy_to(url)
        )
        self._answers.add(response)
        codings = ",".join(response.headers.getall("content-encoding", ())).lower().split(",")
        if len([coding for coding in codings if coding.strip() not in ("", "identity")]) > 1:
            # Each layer may expand a thousandfold: a few bytes could block the process for hours.
            response.close()
            raise aiohttp.ClientError("compressed more than once")
        return response

    def _proxy_to(self, url: str) -> str | None:
        """The proxy in the environment for this address, if any. Raises `ValueError` for a proxy of another kind than
        HTTP."""
        if not self._proxies:
            return None
        to = urlsplit(url)
        proxy = self._proxies.get(to.scheme) or self._proxies.get("all")
        if not proxy or proxy_bypass(to.hostname or "") or proxy_bypass(to.netloc):
            return None
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        if urlsplit(proxy).scheme not in ("http", "https"):
            raise ValueError("a proxy that does not use HTTP")
        return proxy


def _with_betas(headers: dict[str, str], betas: str) -> dict[str, str]:
    if not betas:
        return headers
    return headers | {BETA_HEADER: ",".join(filter(None, (headers.get(BETA_HEADER), betas)))}


def is_as_trusted(url: str, asked: str) -> bool:
    """Whether `url` is on the same server as the one called, and no less secure."""
    there, here = urlsplit(url), urlsplit(asked)
    return there.netloc == here.netloc and there.scheme in (here.scheme, "https")


def custom_headers(variable: str) -> dict[str, str]:
    """The headers in this environment variable, one `Name: value` on each line."""
    lines = [line.partition(":") for line in os.environ.get(variable, "").split("\n")]
    return {name.strip().lower(): value.strip() for name, colon, value in lines if colon and name.strip()}
