"""One request to a search provider, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend_api.kit.untrusted.api_client import ApiClient, Method, NoAnswerError
from backend_api.web.search.provider import SearchUnavailableError
from service_kit.bounded_http import Answer

DEADLINE_S = 15.0
"""For a whole answer, redirects included."""
MAX_BYTES = 512 * 1024
"""A page of results has about 30 KB."""


async def ask(
    http: ApiClient, method: Method, address: str, provider: str, *, headers: Mapping[str, str], **sent: Any
) -> Answer:
    """The whole answer, whatever its status; see `ApiClient.ask`. Raises `SearchUnavailableError`."""
    try:
        return await http.ask(method, address, headers=headers, **sent)
    except NoAnswerError as error:
        raise SearchUnavailableError(f"{provider} {error}.") from error
