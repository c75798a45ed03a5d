"""A writing project: an outline of sections with their texts, the papers that it cites, and the history of each."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NewType

from backend_api.kit.ids import UserId
from backend_api.kit.invisible_characters import INVISIBLE, UNTYPEABLE, is_blank
from backend_api.writing.errors import (
    ReferenceNotFoundError,
    SectionNotFoundError,
    WritingInvalidError,
    WritingTooLargeError,
)
from backend_api.writing.styles import style_of

ProjectId = NewType("ProjectId", str)
SectionId = NewType("SectionId", str)
Kind = Literal["paper", "report", "thesis_chapter", "notes"]
MAX_PROJECTS = 500
"""The most projects of a user."""
MAX_SECTIONS = 200
MAX_LEVEL = 4
MAX_TITLE_CHARACTERS = 300
MAX_BRIEF_CHARACTERS = 2_000
MAX_TEXT_CHARACTERS = 100_000
"""The longest text of a section."""
MAX_PROJECT_BYTES = 4 * 1024**2
"""The most bytes of all texts together, suggestions included."""
MAX_REFERENCES = 1_000
MAX_AUTHORS = 50
MAX_NAME_CHARACTERS = 200
MAX_SESSIONS = 200
"""The most conversations that a project is linked to: the last ones are kept."""
MAX_INSTRUCTION_CHARACTERS = 2_000
OUTLINE = "outline"
PROJECT = "project"
"""Parts that have revisions, beside the sections."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The author of a change: `person`, or `agent` in a conversation."""

    kind: Literal["person", "agent"]
    session_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """An alternative text for a section, until the person accepts or rejects it. `base` is the version of the section
    that it is based on."""

    id: str
    text: str
    instruction: str
    base: int
    author: Author
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section; `brief` describes its intended content."""

    id: SectionId
    title: str
    level: int = 1
    brief: str = ""
    text: str = ""
    version: int = 1
    suggestion: Suggestion | None = None

    @property
    def etag(self) -> str:
        """The etag of its text."""
        return section_etag(self.id, self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A line of an outline. Without an id it is a new section."""

    title: str
    level: int = 1
    brief: str = ""
    id: SectionId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A paper that may be cited: its key, and its record in the corpus."""

    key: str
    record_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a whole project."""

    title: str
    kind: Kind = "paper"
    style: str = "apa"
    language: str = "en"
    authors: tuple[str, ...] = ()

    def checked(self) -> Settings:
        """The settings with valid values. Raises `WritingInvalidError`."""
        style_of(self.style)
        if not _LANGUAGE.fullmatch(self.language):
            raise WritingInvalidError("The language is a tag such as en, de-AT or zh-Hans.", field="language")
        if len(self.authors) > MAX_AUTHORS:
            raise WritingInvalidError(f"A project has at most {MAX_AUTHORS} authors.", field="authors")
        names = tuple(checked_line(name, MAX_NAME_CHARACTERS, "authors") for name in self.authors)
        return replace(self, title=checked_line(self.title, MAX_TITLE_CHARACTERS, "title"), authors=names)

    def written(self) -> str:
        """The text of a revision."""
        return json.dumps(
            {
                "title": self.title,
                "kind": self.kind,
                "style": self.style,
                "language": self.language,
                "authors": list(self.authors),
            },
            ensure_ascii=False,
            indent=1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project. `version` counts all changes; `outline_version` and `settings_version` those of outline and settings,
    and each section has its own, so that changes of different parts do not conflict."""

    id: ProjectId
    user_id: UserId
    settings: Settings
    sections: tuple[Section, ...] = ()
    references: tuple[Reference, ...] = ()
    sessions: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime
    version: int = 1
    outline_version: int = 1
    settings_version: int = 1
    next_section: int = 1

    @property
    def etag(self) -> str:
        """The etag of its settings."""
        return _etag(self.id, PROJECT, self.settings_version)

    @property
    def outline_etag(self) -> str:
        return _etag(self.id, OUTLINE, self.outline_version)

    def section(self, section_id: SectionId) -> Section:
        """The section of this id. Raises `SectionNotFoundError`."""
        found = next((one for one in self.sections if one.id == section_id), None)
        if found is None:
            raise SectionNotFoundError(f"The project has no section {section_id[:40]}. Read its outline.")
        return found

    def reference(self, key: str) -> Reference:
        """The reference of this key. Raises `ReferenceNotFoundError`."""
        found = next((one for one in self.references if one.key == key), None)
        if found is None:
            raise ReferenceNotFoundError(f"The bibliography has no key {key[:80]}.")
        return found

    def linked_to(self, session_id: str) -> Project:
        if not session_id or session_id in self.sessions:
            return self
        return replace(self, sessions=(*self.sessions, session_id)[-MAX_SESSIONS:])

    def with_settings(self, settings: Settings) -> Project:
        """The project with these settings. Raises `WritingInvalidError`."""
        fresh = settings.checked()
        if fresh == self.settings:
            return self
        return replace(self, settings=fresh, settings_version=self.settings_version + 1)

    def with_section(self, section_id: SectionId, change: Callable[[Section], Section]) -> Project:
        """The project with one section changed. Raises `SectionNotFoundError`, and what `change` raises."""
        fresh = change(self.section(section_id))
        sections = tuple(fresh if one.id == section_id else one for one in self.sections)
        return replace(self, sections=sections).checked()

    def with_text(self, section_id: SectionId, text: str) -> Project:
        """The project with this text of a section. Raises `SectionNotFoundError`, `WritingInvalidError`,
        `WritingTooLargeError`."""
        checked = checked_text(text, "text")
        return self.with_section(
            section_id,
            lambda one: one if one.text == checked else replace(one, text=checked, version=one.version + 1),
        )

    def with_outline(self, headings: Sequence[Heading], *, drop: bool = False) -> Project:
        """The project with these sections in this order. One that is left out must be empty, unless `drop` allows its
        removal.

        Raises `SectionNotFoundError`, `WritingInvalidError`, `WritingTooLargeError`.
        """
        if len(headings) > MAX_SECTIONS:
            raise WritingTooLargeError(f"An outline has at most {MAX_SECTIONS} sections.")
        named = [one.id for one in headings if one.id is not None]
        if len(named) != len(set(named)):
            raise WritingInvalidError("The outline names a section twice.", field="outline")
        left = [one for one in self.sections if one.id not in named and (one.text or one.suggestion)]
        if left and not drop:
            listed = ", ".join(f"{one.id} ({one.title})" for one in left[:10])
            raise WritingInvalidError(
                f"The outline leaves out sections that have text: {listed}. Name them by their id, or allow dropping "
                "them (drop).",
                field="outline",
                fault="sections_left_out",
            )
        number, sections = self.next_section, list[Section]()
        for one in headings:
            known = self.section(one.id) if one.id is not None else Section(id=SectionId(f"s{number}"), title="")
            number += one.id is None
            sections.append(_headed(known, one))
        fresh = replace(self, sections=tuple(sections), next_section=number)
        same = fresh.written_outline() == self.written_outline()
        return self if same else replace(fresh, outline_version=self.outline_version + 1).checked()

    def written_outline(self) -> str:
        """The text of a revision: one line of JSON for each section."""
        return "\n".join(
            json.dumps({"id": one.id, "level": one.level, "title": one.title, "brief": one.brief}, ensure_ascii=False)
            for one in self.sections
        )

    def with_reference(self, record_id: str, key: str) -> tuple[Project, Reference]:
        """Add a record to the bibliography. An existing one keeps its key; a key that is taken gets a letter. Raises
        `WritingTooLargeError`."""
        known = next((one for one in self.references if one.record_id == record_id), None)
        if known is not None:
            return self, known
        if len(self.references) >= MAX_REFERENCES:
            raise WritingTooLargeError(f"A bibliography has at most {MAX_REFERENCES:,} papers.")
        taken = {one.key for one in self.references}
        fresh = Reference(key=next(one for one in _keys(key) if one not in taken), record_id=record_id)
        return replace(self, references=(*self.references, fresh)), fresh

    def without_reference(self, key: str) -> Project:
        """The project without this reference. Raises `ReferenceNotFoundError`."""
        gone = self.reference(key)
        return replace(self, references=tuple(one for one in self.references if one is not gone))

    def checked(self) -> Project:
        """The project, if it is within its limits. Raises `WritingTooLargeError`."""
        texts = [text for one in self.sections for text in _texts(one)]
        if sum(len(text.encode()) for text in texts) > MAX_PROJECT_BYTES:
            raise WritingTooLargeError(
                f"A project has at most {MAX_PROJECT_BYTES // 1024**2} MB of text.", limit_bytes=MAX_PROJECT_BYTES
            )
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A part after a change. `part` is the id of a section, `outline` or `project`; `title` is the section's title at
    that time."""

    id: str
    project_id: ProjectId
    user_id: UserId
    part: str
    version: int
    title: str
    text: str
    change: str
    author: Author
    at: datetime


def section_etag(section_id: SectionId, version: int) -> str:
    return _etag("section", section_id, version)


def part_etag(project_id: ProjectId, part: str, version: int) -> str:
    """The etag of any part at a version."""
    is_section = part not in (OUTLINE, PROJECT)
    return section_etag(SectionId(part), version) if is_section else _etag(project_id, part, version)


def checked_line(text: str, most: int, field: str) -> str:
    """The text, which must be one line. Raises `WritingInvalidError`."""
    bare = _SPACES.sub(" ", text).strip()
    if is_blank(bare) or len(bare) > most or INVISIBLE.search(bare.replace("\u200c", "").replace("\u200d", "")):
        raise WritingInvalidError(
            f"This must be one line of at most {most} visible characters.", field=field, fault="line_invalid"
        )
    return bare


def checked_text(text: str, field: str, most: int = MAX_TEXT_CHARACTERS) -> str:
    """The text of any language with uniform line ends. Raises `WritingInvalidError`, `WritingTooLargeError`."""
    if len(text) > most:
        raise WritingTooLargeError(f"A section has at most {most:,} characters. Divide it into several.")
    even = text.replace("\r\n", "\n").replace("\r", "\n")
    if UNTYPEABLE.search(even):
        raise WritingInvalidError("The text contains an invisible character. Remove it.", field=field)
    return even


def _headed(section: Section, heading: Heading) -> Section:
    if not 1 <= heading.level <= MAX_LEVEL:
        raise WritingInvalidError(f"A section's level must be 1 to {MAX_LEVEL}.", field="outline")
    return replace(
        section,
        title=checked_line(heading.title, MAX_TITLE_CHARACTERS, "outline"),
        level=heading.level,
        brief=checked_text(heading.brief, "outline", MAX_BRIEF_CHARACTERS).strip(),
    )


def _texts(section: Section) -> Iterable[str]:
    yield section.text
    if section.suggestion is not None:
        yield section.suggestion.text


def _keys(key: str) -> Iterable[str]:
    yield key
    for number in range(2, MAX_REFERENCES + 2):
        yield f"{key}-{number}"


def _etag(*parts: str | int) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
