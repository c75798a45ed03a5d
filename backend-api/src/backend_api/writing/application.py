"""The module's port: projects, their citations and their documents, if this deployment has them."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.research.bibliography import citation_key
from backend_api.research.errors import RecordNotFoundError
from backend_api.writing.checking import CheckCitations
from backend_api.writing.domain import Author, Project, ProjectId, Reference, SectionId
from backend_api.writing.errors import WritingDisabledError, WritingInvalidError
from backend_api.writing.exporting import Export
from backend_api.writing.ports import Records
from backend_api.writing.projects import Projects, reference_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """The use cases of projects."""

    projects: Projects
    records: Records
    check: CheckCitations
    export: Export
    is_enabled: bool = True

    def enabled(self) -> Writing:
        """Return itself. Raises `WritingDisabledError` if writing is off."""
        if not self.is_enabled:
            raise WritingDisabledError
        return self

    async def cite(
        self,
        user_id: UserId,
        project_id: ProjectId,
        record_id: str,
        author: Author,
        section_id: SectionId | None = None,
        after: str = "",
    ) -> tuple[Project, Reference]:
        """Add a record of the corpus to the bibliography; with `after`, insert its citation behind that text of a
        section.

        Raises `RecordNotFoundError`, `WritingInvalidError`, and as `Projects.add_reference` and `Projects.write`.
        """
        project = await self.projects.get(user_id, project_id)
        section = project.section(section_id) if section_id is not None else None
        if after and (section is None or section.text.count(after) != 1):
            raise WritingInvalidError("The text to cite after must occur exactly once in the section.", field="after")
        record = (await self.records.of(user_id, [record_id])).get(record_id)
        if record is None:
            raise RecordNotFoundError(f"The corpus has no record {record_id[:80]}. Keep the paper first (corpus_add).")
        key = reference_key(record.paper, citation_key)
        project, reference = await self.projects.add_reference(user_id, project_id, record_id, key, author)
        if section is not None and after:
            text = section.text.replace(after, f"{after} [@{reference.key}]", 1)
            project = await self.projects.write(user_id, project_id, section.id, text, section.etag, author)
        return project, reference
