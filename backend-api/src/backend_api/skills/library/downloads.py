"""Skills downloaded from addresses that a person or a model names."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import urlsplit

from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.errors import FetchFailedError
from backend_api.kit.untrusted.guarded_client import Fetched, FetchLimits
from backend_api.kit.untrusted.resolver import lookups_of
from backend_api.skills.domain.entity import MAIN, MAX_ARCHIVE_BYTES
from backend_api.skills.domain.errors import SkillRefusedError
from backend_api.skills.ports import SkillDownload

LIMITS = FetchLimits(body_bytes=MAX_ARCHIVE_BYTES, whole_s=30.0)
ACCEPT = "application/zip, text/markdown;q=0.9, */*;q=0.5"
NOTHING = "Nothing was found at this address: the server responded with status {status}."


class Fetcher(Protocol):
    """Fetches from public addresses only."""

    async def get(self, url: str, limits: FetchLimits, *, accept: str) -> Fetched:
        """Raises `AddressRefusedError`, `FetchTooLargeError`, `FetchFailedError`."""
        ...


class FetchedSkills:
    """`SkillDownloads`, by the guarded client."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def get(self, user_id: UserId, url: str) -> SkillDownload:
        with lookups_of(user_id):
            fetched = await self._fetcher.get(url, LIMITS, accept=ACCEPT)
        if fetched.status >= 500:
            raise FetchFailedError(f"The server responded with status {fetched.status}.")
        if fetched.status != 200:
            raise SkillRefusedError(NOTHING.format(status=fetched.status))
        return SkillDownload(file_name=_file_name(url, fetched), content=fetched.content)


def _file_name(url: str, fetched: Fetched) -> str:
    """The file name, which tells a single `SKILL.md` from other texts; a zip archive is recognised by its content."""
    asked, led_to = (urlsplit(address).path.rpartition("/")[2] for address in (url, fetched.url))
    return asked if asked.lower().endswith(".md") else MAIN if fetched.media_type == "text/markdown" else led_to
