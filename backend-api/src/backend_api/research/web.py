"""Sources and papers over HTTP, through the gateway's guarded client only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from pydantic import TypeAdapter

from backend_api.kit.untrusted.errors import AddressRefusedError, FetchFailedError, FetchTooLargeError
from backend_api.kit.untrusted.guarded_client import Fetched, FetchLimits
from backend_api.research.ports import File, Keys, Rate, Source, SourceFaultError, Throttle
from service_kit.bounded_json import MalformedJsonError, read_json

LIMITS = FetchLimits(body_bytes=8 * 1024**2, whole_s=15.0)
FILE_LIMITS = FetchLimits(body_bytes=50 * 1024**2, whole_s=60.0)
MOST_VALUES = 500_000
_JSON = TypeAdapter[Any](Any)
_PAGE_BEGINS = (b"<!doctype html", b"<html")
_GZIP = b"\x1f\x8b"


class Fetcher(Protocol):
    """The guarded client."""

    async def get(
        self, url: str, limits: FetchLimits, *, accept: str = "*/*", headers: Mapping[str, str] | None = None
    ) -> Fetched: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """`urls` are other addresses of sources by name, such as those of a mirror."""

    fetcher: Fetcher
    throttle: Throttle
    keys: Callable[[], Awaitable[Keys]]
    urls: Mapping[str, str] = field(default_factory=dict[str, str])

    def ask(self, source: Source) -> SourceOverHttp:
        return SourceOverHttp(self, source, self.keys)

    def ask_with(self, source: Source, keys: Keys) -> SourceOverHttp:
        """A client that uses only these keys."""

        async def given() -> Keys:
            return keys

        return SourceOverHttp(self, source, given)

    def address_of(self, source: Source) -> str:
        return self.urls.get(source.name, source.url).rstrip("/")

    async def fetch(
        self, url: str, rate: Rate, limits: FetchLimits, accept: str, headers: Mapping[str, str] | None = None
    ) -> Fetched:
        """Fetch an address, whatever the status. Raises `SourceFaultError`."""
        host = urlsplit(url).netloc.lower()
        try:
            async with self.throttle.turn(host, rate):
                fetched = await self.fetcher.get(url, limits, accept=accept, headers=headers)
        except (AddressRefusedError, FetchFailedError, FetchTooLargeError) as error:
            raise SourceFaultError(f"can't be reached: {error.detail.rstrip('.')}") from error
        await self.throttle.learn(host, fetched.status, fetched.headers)
        return fetched


class SourceOverHttp:
    """`Ask` of one source."""

    def __init__(self, web: Web, source: Source, keys: Callable[[], Awaitable[Keys]]) -> None:
        self._web = web
        self._source = source
        self._keys = keys

    async def json(self, path: str, params: Mapping[str, str | int | None]) -> Any:
        """See the port."""
        fetched = await self._get(path, params, "application/json")
        if fetched is None:
            return None
        if fetched.content[:200].lstrip().lower().startswith(_PAGE_BEGINS):
            raise SourceFaultError("sent a web page instead of data")
        try:
            return read_json(_JSON, fetched.content, most_values=MOST_VALUES)
        except MalformedJsonError as error:
            raise SourceFaultError("sent a response that is incomplete or corrupt") from error

    async def text(self, path: str, params: Mapping[str, str | int | None]) -> str | None:
        """See the port."""
        fetched = await self._get(path, params, "application/atom+xml,application/xml")
        if fetched is None:
            return None
        if fetched.media_type == "text/html" or fetched.content[:200].lstrip().lower().startswith(_PAGE_BEGINS):
            raise SourceFaultError("sent a web page instead of data")
        return fetched.content.decode("utf-8", "replace")

    async def _get(self, path: str, params: Mapping[str, str | int | None], accept: str) -> Fetched | None:
        web, source = self._web, self._source
        given = {name: value for name, value in params.items() if value is not None}
        keys = await self._keys()
        query = urlencode({**given, **source.params(keys)})
        url = f"{web.address_of(source)}{path}{f'?{query}' if query else ''}"
        fetched = await web.fetch(url, source.rate, LIMITS, accept, source.headers(keys))
        return None if fetched.status in (404, 410) else _checked(fetched)


class PaperFiles:
    """`Files`."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def get(self, url: str, rate: Rate) -> File:
        """See the port."""
        fetched = _checked(
            await self._web.fetch(url, rate, FILE_LIMITS, "application/pdf,application/gzip;q=0.9,*/*;q=0.1")
        )
        return File(url=fetched.url, kind=_kind_of(fetched), content=fetched.content)


def _kind_of(fetched: Fetched) -> str:
    if b"%PDF-" in fetched.content[:1024]:
        return "pdf"
    is_source = fetched.content.startswith(_GZIP) or fetched.media_type in ("application/x-tex", "text/x-tex")
    return "source" if is_source else "other"


def _checked(fetched: Fetched) -> Fetched:
    status = fetched.status
    if status == 429:
        raise SourceFaultError("is rate limiting requests (429)", "throttled")
    if status in (401, 403):
        raise SourceFaultError(f"refused the request ({status}): it needs a key, or a different one", "refused")
    if status >= 400:
        raise SourceFaultError(f"responded with an error ({status})")
    if status >= 300:
        raise SourceFaultError(f"redirects to another address ({status})")
    return fetched
