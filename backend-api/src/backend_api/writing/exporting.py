"""Documents of a project. Nothing is exported while citations are not valid, unless the person requests it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend_api.kit.ids import UserId
from backend_api.writing.checking import Check, CheckCitations
from backend_api.writing.citations import Finding, all_cited, csl_item, section_markdown, worst
from backend_api.writing.domain import Project
from backend_api.writing.errors import CitationsFailedError, ExportInvalidError
from backend_api.writing.figures import EXPORT, PREVIEW, CollectFigures, Figures, ReadFigure, figure_findings
from backend_api.writing.ports import Format, Records, Renderer, Rendering
from backend_api.writing.styles import style_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Raises `StoreUnavailableError`, `ExportFailedError`, `ExportInvalidError`."""

    records: Records
    check: CheckCitations
    figures: CollectFigures
    renderer: Renderer

    async def __call__(
        self, user_id: UserId, project: Project, wanted: Format, read_figure: ReadFigure, *, anyway: bool = False
    ) -> bytes:
        """The document's file. Raises `CitationsFailedError` if citations are not valid and it is not to be made
        `anyway`."""
        findings = (await self.check(user_id, project)).findings
        failed = worst(findings)
        if failed and not anyway:
            keys = ", ".join(dict.fromkeys(f"@{one.key[:60]}" for one in failed[:10]))
            raise CitationsFailedError(
                f"{len(failed)} of the citations are invalid ({keys}). Fix them, or export them marked as invalid.",
                failed,
            )
        figures = await self.figures(project, read_figure, EXPORT)
        if figures.unusable and not anyway:
            raise ExportInvalidError(
                f"These figures are missing from the workspace, too large or not pictures: "
                f"{', '.join(list(figures.unusable)[:10])}. Create them, or export without them."
            )
        return await self.renderer.render(await self._rendering(user_id, project, wanted, figures, failed))

    async def all_problems(self, user_id: UserId, project: Project, read_figure: ReadFigure) -> Check:
        """All problems of citations and of figures. Raises `ExportInvalidError` and `ExportFailedError`."""
        check = await self.check(user_id, project)
        figures = await self.figures(project, read_figure, EXPORT)
        unusable = await self.renderer.unusable(user_id, figures.found)
        figures = replace(figures, unusable={**figures.unusable, **unusable})
        return replace(check, findings=[*check.findings, *figure_findings(project, figures)])

    async def preview(self, user_id: UserId, project: Project, read_figure: ReadFigure) -> bytes:
        """A fragment of HTML with small figures in it. Sources are not queried."""
        findings = (await self.check(user_id, project, asks_sources=False)).findings
        figures = await self.figures(project, read_figure, PREVIEW)
        rendering = await self._rendering(user_id, project, "html", figures, worst(findings), is_preview=True)
        return await self.renderer.render(rendering)

    async def _rendering(
        self,
        user_id: UserId,
        project: Project,
        wanted: Format,
        figures: Figures,
        failed: Sequence[Finding],
        *,
        is_preview: bool = False,
    ) -> Rendering:
        known = await self.records.of(user_id, [one.record_id for one in project.references])
        cited = {one.key for one in all_cited(project)}
        style = style_of(project.settings.style)
        return Rendering(
            owner=user_id,
            format=wanted,
            title=project.settings.title,
            authors=project.settings.authors,
            language=project.settings.language,
            sections=[section_markdown(one) for one in project.sections] or [""],
            references=[
                csl_item(one.key, known[one.record_id].paper)
                for one in project.references
                if one.record_id in known and one.key in cited
            ],
            csl=style.file.read_text(encoding="utf-8"),
            biblatex=style.biblatex,
            figures=figures.found,
            unusable=figures.unusable,
            marked={one.key: one.code for one in failed if one.key},
            is_numbered=project.settings.kind != "notes",
            is_preview=is_preview,
        )
