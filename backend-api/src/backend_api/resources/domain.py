"""Resources of a conversation: papers, pages, files, data and notes that agent and person keep with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from backend_api.agent.events import KeptResource, ResourceKind
from backend_api.kit.invisible_characters import has_nul, is_written_blank
from backend_api.resources.errors import ResourceInvalidError

MAX_TITLE_CHARACTERS = 200
MAX_LINK_CHARACTERS = 1_000
MAX_CONTENT_CHARACTERS = 20_000
MAX_RESOURCES = 100
"""The most resources of a conversation: each event contains all of them."""
AddedBy = Literal["agent", "person"]
_WEB = frozenset({"http", "https"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A resource to be added."""

    title: str
    kind: ResourceKind
    link: str = ""
    content: str = ""

    def checked(self) -> Draft:
        """The draft without space around title and link. Raises `ResourceInvalidError`."""
        draft = replace(self, title=self.title.strip(), link=self.link.strip())
        if (
            not draft.title
            or is_written_blank(draft.title)
            or not draft.title.isprintable()
            or len(draft.title) > MAX_TITLE_CHARACTERS
        ):
            raise ResourceInvalidError(
                f"A title is one line of up to {MAX_TITLE_CHARACTERS} characters.", field="title"
            )
        if len(draft.content) > MAX_CONTENT_CHARACTERS or has_nul(draft.content):
            raise ResourceInvalidError(
                f"A text has up to {MAX_CONTENT_CHARACTERS:,} characters. Keep a longer one as a file.", field="content"
            )
        if draft.link:
            _check_link(draft.kind, draft.link)
        elif not draft.content.strip():
            raise ResourceInvalidError("A resource has a link, a text, or both.", field="link")
        return draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The fields of a resource to change; None leaves one as it is."""

    title: str | None = None
    kind: ResourceKind | None = None
    link: str | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource of a conversation; `version` grows with each change."""

    id: str
    kind: ResourceKind
    title: str
    link: str
    content: str
    added_by: AddedBy
    added_at: datetime
    updated_at: datetime
    version: int = 1

    def changed(self, changes: Changes) -> Resource:
        """The resource changed, with its next version. Raises `ResourceInvalidError`."""
        draft = Draft(
            title=self.title if changes.title is None else changes.title,
            kind=self.kind if changes.kind is None else changes.kind,
            link=self.link if changes.link is None else changes.link,
            content=self.content if changes.content is None else changes.content,
        ).checked()
        return replace(
            self,
            title=draft.title,
            kind=draft.kind,
            link=draft.link,
            content=draft.content,
            version=self.version + 1,
        )

    def listed(self) -> KeptResource:
        """The form used in events."""
        return KeptResource(
            kind=self.kind,
            id=self.id,
            title=self.title,
            link=self.link,
            characters=len(self.content),
            added_by=self.added_by,
            updated_at=self.updated_at,
            version=self.version,
        )


def _check_link(kind: ResourceKind, link: str) -> None:
    if len(link) > MAX_LINK_CHARACTERS or not link.isprintable():
        raise ResourceInvalidError(f"A link has up to {MAX_LINK_CHARACTERS:,} characters.", field="link")
    if kind == "file":
        if ":" in link.partition("/")[0] or link.startswith("/") or ".." in link.split("/"):
            raise ResourceInvalidError(
                "The link of a file is its path in the workspace, such as results/table.csv.", field="link"
            )
        return
    if not _is_web(link):
        raise ResourceInvalidError("A link is a whole address that begins with https:// or http://.", field="link")


def _is_web(link: str) -> bool:
    try:
        parts = urlsplit(link)
        return parts.scheme in _WEB and bool(parts.hostname) and " " not in link
    except ValueError:
        return False
