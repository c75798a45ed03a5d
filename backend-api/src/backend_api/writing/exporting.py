"""Documents of a project. Nothing is exported as if it held while citations do not, unless the person says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from backend_api.kit.ids import UserId
from backend_api.writing.checking import CheckCitations
from backend_api.writing.citations import Finding, all_cited, csl_item, figures_in, section_markdown, worst
from backend_api.writing.domain import Project
from backend_api.writing.errors import CitationsFailedError, ExportInvalidError
from backend_api.writing.ports import Format, Records, Renderer, Rendering
from backend_api.writing.styles import style_of

MAX_FIGURES = 60
MAX_FIGURE_BYTES = 12 * 1024**2
MAX_FIGURES_BYTES = 48 * 1024**2
ReadFigure = Callable[[str, int], Awaitable[bytes | None]]
"""A file of the workspace by its path, of at most so many bytes; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Raises `StoreUnavailableError`, `ExportFailedError`, `ExportInvalidError`."""

    records: Records
    check: CheckCitations
    renderer: Renderer

    async def __call__(
        self, user_id: UserId, project: Project, wanted: Format, read_figure: ReadFigure, *, anyway: bool = False
    ) -> bytes:
        """A file. Raises `CitationsFailedError` where citations fail and it is not to be made `anyway`."""
        findings = (await self.check(user_id, project)).findings
        failed = worst(findings)
        if failed and not anyway:
            keys = ", ".join(dict.fromkeys(f"@{one.key[:60]}" for one in failed[:10]))
            raise CitationsFailedError(
                f"{len(failed)} of the citations do not hold ({keys}). Mend them, or export them marked as such.",
                failed,
            )
        figures = await self._figures(project, read_figure, anyway=anyway)
        return await self.renderer.render(await self._rendering(user_id, project, wanted, figures, failed))

    async def preview(self, user_id: UserId, project: Project) -> bytes:
        """HTML without a page around it. Sources are not asked, and figures left out."""
        findings = (await self.check(user_id, project, asks_sources=False)).findings
        rendering = await self._rendering(user_id, project, "html", {}, worst(findings), is_preview=True)
        return await self.renderer.render(rendering)

    async def _rendering(
        self,
        user_id: UserId,
        project: Project,
        wanted: Format,
        figures: Mapping[str, bytes],
        failed: Sequence[Finding],
        *,
        is_preview: bool = False,
    ) -> Rendering:
        known = await self.records.of(user_id, [one.record_id for one in project.references])
        cited = {one.key for one in all_cited(project)}
        style = style_of(project.settings.style)
        return Rendering(
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
            figures=figures,
            marked={one.key: one.code for one in failed if one.key},
            is_numbered=project.settings.kind != "notes",
            is_preview=is_preview,
        )

    async def _figures(self, project: Project, read: ReadFigure, *, anyway: bool) -> Mapping[str, bytes]:
        found, missing, left = dict[str, bytes](), list[str](), MAX_FIGURES_BYTES
        paths = figures_in(project)
        if len(paths) > MAX_FIGURES:
            raise ExportInvalidError(f"The text has {len(paths)} figures, and {MAX_FIGURES} are the most.")
        for path in paths:
            content = await read(path, min(MAX_FIGURE_BYTES, left))
            if content is None:
                missing.append(path)
            else:
                found[path], left = content, left - len(content)
        if missing and not anyway:
            raise ExportInvalidError(
                f"These figures are not in the workspace, or too large: {', '.join(missing[:10])}. Make them, "
                "or export it without them."
            )
        return found
