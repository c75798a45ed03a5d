"""Writing projects, which the agent's tools and the person share. Nobody overwrites a text that they have not read."""

from __future__ import annotations

import difflib
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backend_api.kit.ids import UserId
from backend_api.research.domain import Paper
from backend_api.writing.domain import (
    MAX_INSTRUCTION_CHARACTERS,
    MAX_PROJECTS,
    OUTLINE,
    PROJECT,
    Author,
    Heading,
    Project,
    ProjectId,
    Reference,
    Revision,
    Section,
    SectionId,
    Settings,
    Suggestion,
    checked_text,
    part_etag,
)
from backend_api.writing.errors import (
    ProjectBusyError,
    ProjectNotFoundError,
    RevisionNotFoundError,
    SuggestionNotFoundError,
    TextChangedError,
    WritingInvalidError,
    WritingTooLargeError,
)
from backend_api.writing.ports import ProjectPage, ProjectStore, RevisionPage

MAX_ATTEMPTS = 20
MAX_COMPARED_LINES = 2_000
CHANGED = "This was changed since it was read, so nothing was stored. The current text is below."
UNREAD = "There is text here that was not read yet, so nothing was stored. The current text is below."
Change = Callable[[Project], Project]


@dataclass(frozen=True, slots=True, kw_only=True)
class Projects:
    """Use cases of projects. All raise `StoreUnavailableError`; those that name a project, `ProjectNotFoundError`;
    those that change one, `ProjectBusyError`; and those that take an `etag`, `TextChangedError` if the part was changed
    since it was read."""

    store: ProjectStore
    now: Callable[[], datetime]
    most: int = MAX_PROJECTS

    async def create(self, user_id: UserId, settings: Settings, author: Author) -> Project:
        """Create a project. Raises `WritingInvalidError`, `WritingTooLargeError`."""
        checked = settings.checked()
        if await self.store.count(user_id) >= self.most:
            raise WritingTooLargeError(f"You have {self.most:,} projects, which is the maximum. Delete some first.")
        at = self.now()
        project = Project(
            id=ProjectId(f"prj_{uuid.uuid4().hex[:20]}"),
            user_id=user_id,
            settings=checked,
            created_at=at,
            updated_at=at,
        ).linked_to(author.session_id)
        await self.store.insert(project, [self._revision(project, PROJECT, "created", author)])
        return project

    async def get(self, user_id: UserId, project_id: ProjectId) -> Project:
        project = await self.store.get(user_id, project_id)
        if project is None:
            raise ProjectNotFoundError(f"There is no project {project_id[:40]}.")
        return project

    async def page(
        self, user_id: UserId, *, session_id: str = "", limit: int, cursor: str | None = None
    ) -> ProjectPage:
        """A page of projects. Raises `InvalidError` for an invalid cursor."""
        return await self.store.page(user_id, session_id=session_id, limit=limit, cursor=cursor)

    async def delete(self, user_id: UserId, project_id: ProjectId) -> None:
        if not await self.store.delete(user_id, project_id):
            raise ProjectNotFoundError(f"There is no project {project_id[:40]}.")

    async def set_settings(
        self, user_id: UserId, project_id: ProjectId, change: Callable[[Settings], Settings], etag: str, author: Author
    ) -> Project:
        """Change the settings. Raises `WritingInvalidError`."""
        return await self._change(
            user_id, project_id, PROJECT, etag, author, lambda one: one.with_settings(change(one.settings)), "settings"
        )

    async def set_outline(
        self,
        user_id: UserId,
        project_id: ProjectId,
        headings: Sequence[Heading],
        etag: str,
        author: Author,
        *,
        drop: bool = False,
    ) -> Project:
        """Set the outline. Raises as `Project.with_outline`."""
        return await self._change(
            user_id, project_id, OUTLINE, etag, author, lambda one: one.with_outline(headings, drop=drop), "outline"
        )

    async def write(
        self,
        user_id: UserId,
        project_id: ProjectId,
        section_id: SectionId,
        text: str,
        etag: str,
        author: Author,
        *,
        of_suggestion: str = "",
    ) -> Project:
        """Write the text of a section. If it takes some changes of its suggestion, that one stays one to this text, for
        the other changes. Raises as `Project.with_text`."""

        def written(project: Project) -> Project:
            before = project.section(section_id).version

            def rebased(section: Section) -> Section:
                made = section.suggestion
                if made is None or made.id != of_suggestion or made.base != before:
                    return section
                return replace(section, suggestion=replace(made, base=section.version))

            return project.with_text(section_id, text).with_section(section_id, rebased)

        return await self._change(user_id, project_id, section_id, etag, author, written, "written")

    async def suggest(
        self,
        user_id: UserId,
        project_id: ProjectId,
        section_id: SectionId,
        text: str,
        instruction: str,
        etag: str,
        author: Author,
    ) -> Project:
        """Suggest another text, for the person to accept or reject. Raises as `Project.with_text`."""
        checked = checked_text(text, "text")
        asked = checked_text(instruction, "instruction", MAX_INSTRUCTION_CHARACTERS).strip()

        def suggested(section: Section) -> Section:
            if section.text == checked:
                raise WritingInvalidError("This is the current text already.", field="text", fault="text_same")
            suggestion = Suggestion(
                id=uuid.uuid4().hex[:12],
                text=checked,
                instruction=asked,
                base=section.version,
                author=author,
                at=self.now(),
            )
            return replace(section, suggestion=suggestion)

        return await self._change(
            user_id, project_id, section_id, etag, author, lambda one: one.with_section(section_id, suggested), ""
        )

    async def accept(
        self,
        user_id: UserId,
        project_id: ProjectId,
        section_id: SectionId,
        suggestion_id: str,
        etag: str,
        author: Author,
        text: str | None = None,
    ) -> Project:
        """Replace the text by the suggestion, or by the person's version of it.

        Raises `SuggestionNotFoundError`, and as `write`.
        """

        def accepted(project: Project) -> Project:
            suggestion = _suggestion(project, section_id, suggestion_id)
            fresh = project.with_text(section_id, suggestion.text if text is None else text)
            return fresh.with_section(section_id, lambda one: replace(one, suggestion=None))

        return await self._change(user_id, project_id, section_id, etag, author, accepted, "accepted")

    async def reject(
        self, user_id: UserId, project_id: ProjectId, section_id: SectionId, suggestion_id: str, author: Author
    ) -> Project:
        """Reject a suggestion. Raises `SuggestionNotFoundError`."""

        def rejected(project: Project) -> Project:
            _suggestion(project, section_id, suggestion_id)
            return project.with_section(section_id, lambda one: replace(one, suggestion=None))

        return await self._change(user_id, project_id, section_id, None, author, rejected, "")

    async def add_reference(
        self, user_id: UserId, project_id: ProjectId, record_id: str, key: str, author: Author
    ) -> tuple[Project, Reference]:
        """Add a record to the bibliography. Raises `WritingTooLargeError`."""

        def added(project: Project) -> Project:
            return project.with_reference(record_id, key)[0]

        project = await self._change(user_id, project_id, "", None, author, added, "")
        return project, next(one for one in project.references if one.record_id == record_id)

    async def remove_reference(self, user_id: UserId, project_id: ProjectId, key: str, author: Author) -> Project:
        """Remove a record from the bibliography. Raises `ReferenceNotFoundError`."""
        return await self._change(user_id, project_id, "", None, author, lambda one: one.without_reference(key), "")

    async def revisions(
        self, user_id: UserId, project_id: ProjectId, part: str = "", *, limit: int, cursor: str | None = None
    ) -> RevisionPage:
        """A page of revisions. Raises `InvalidError` for an invalid cursor."""
        project = await self.get(user_id, project_id)
        return await self.store.revisions(project, part, limit=limit, cursor=cursor)

    async def revision(self, user_id: UserId, project_id: ProjectId, revision_id: str) -> Revision:
        """One revision. Raises `RevisionNotFoundError`."""
        found = await self.store.revision(await self.get(user_id, project_id), revision_id)
        if found is None:
            raise RevisionNotFoundError(f"There is no revision {revision_id[:40]}.")
        return found

    async def restore(
        self, user_id: UserId, project_id: ProjectId, revision_id: str, etag: str, author: Author
    ) -> Project:
        """Restore a part from a revision, as a change of its own. A deleted section comes back as the last one.

        Raises `RevisionNotFoundError`.
        """
        revision = await self.revision(user_id, project_id, revision_id)
        project = await self.get(user_id, project_id)
        last = await self.store.revision_of(project, revision.part)
        is_gone = revision.part not in (OUTLINE, PROJECT, *(one.id for one in project.sections))

        def restored(present: Project) -> Project:
            return _restored(present, revision, last.version if last else revision.version)

        return await self._change(
            user_id, project_id, revision.part, None if is_gone else etag, author, restored, "restored"
        )

    async def _change(
        self,
        user_id: UserId,
        project_id: ProjectId,
        part: str,
        etag: str | None,
        author: Author,
        change: Change,
        label: str,
    ) -> Project:
        """Change a project, with a revision if there is a `label` for it. Without an `etag` the present version is
        changed."""
        for _ in range(MAX_ATTEMPTS):
            present = await self.get(user_id, project_id)
            if etag is not None and etag != _present_etag(present, part):
                await self._refuse(present, part, etag)
            fresh = change(present)
            if fresh == present:
                return present
            fresh = replace(fresh.linked_to(author.session_id), updated_at=self.now())
            revisions = [self._revision(fresh, part, label, author)] if label else []
            if await self.store.replace(fresh, revisions):
                return replace(fresh, version=fresh.version + 1)
        raise ProjectBusyError("The project is being changed by other requests. Try again in a moment.")

    async def _refuse(self, project: Project, part: str, etag: str) -> None:
        """Raise `TextChangedError`, unless there is no text that could be overwritten."""
        text = _text_of(project, part)
        if not etag and not text:
            return
        before = await self.store.revision_of(project, part, etag) if etag else None
        raise TextChangedError(
            CHANGED if etag else UNREAD,
            present=text,
            etag=_present_etag(project, part),
            difference=difference(before.text, text) if before else "",
        )

    def _revision(self, project: Project, part: str, label: str, author: Author) -> Revision:
        section = next((one for one in project.sections if one.id == part), None)
        return Revision(
            id=f"rev_{uuid.uuid4().hex[:20]}",
            project_id=project.id,
            user_id=project.user_id,
            part=part,
            version=_version_of(project, part),
            title=section.title if section else project.settings.title,
            text=_text_of(project, part),
            change=label,
            author=author,
            at=self.now(),
        )


def difference(before: str, after: str) -> str:
    """A unified diff; empty if the texts are too long to compare."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_COMPARED_LINES:
        return ""
    return "\n".join(difflib.unified_diff(old, new, "as it was read", "as it is now", lineterm="", n=2))


def reference_key(paper: Paper, make: Callable[[Paper], str]) -> str:
    """A key of characters that pandoc accepts."""
    return "".join(one for one in make(paper) if one.isascii() and (one.isalnum() or one in "-_")) or "ref"


def _suggestion(project: Project, section_id: SectionId, suggestion_id: str) -> Suggestion:
    found = project.section(section_id).suggestion
    if found is None or found.id != suggestion_id:
        raise SuggestionNotFoundError("This suggestion no longer exists: it was decided or replaced.")
    return found


def _restored(project: Project, revision: Revision, last_version: int) -> Project:
    if revision.part == PROJECT:
        told: dict[str, Any] = json.loads(revision.text)
        told["authors"] = tuple(told["authors"])
        return project.with_settings(Settings(**told))
    if revision.part == OUTLINE:
        lines: list[dict[str, Any]] = [json.loads(line) for line in revision.text.splitlines()]
        known = {one.id for one in project.sections}
        for line in lines:
            line["id"] = line["id"] if line["id"] in known else None
        headings = [Heading(**line) for line in lines]
        named = {one.id for one in headings}
        kept = [
            Heading(id=one.id, title=one.title, level=one.level, brief=one.brief)
            for one in project.sections
            if one.id not in named and (one.text or one.suggestion)
        ]
        return project.with_outline([*headings, *kept])
    section_id = SectionId(revision.part)
    if any(one.id == section_id for one in project.sections):
        return project.with_text(section_id, revision.text)
    back = Section(id=section_id, title=revision.title, text=revision.text, version=last_version + 1)
    return replace(project, sections=(*project.sections, back), outline_version=project.outline_version + 1).checked()


def _text_of(project: Project, part: str) -> str:
    if part == OUTLINE:
        return project.written_outline()
    return project.settings.written() if part == PROJECT else project.section(SectionId(part)).text


def _version_of(project: Project, part: str) -> int:
    if part == OUTLINE:
        return project.outline_version
    return project.settings_version if part == PROJECT else project.section(SectionId(part)).version


def _present_etag(project: Project, part: str) -> str:
    return part_etag(project.id, part, _version_of(project, part))
