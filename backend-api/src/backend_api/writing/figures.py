"""Figures of a text: files from the workspaces of its conversations, within bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from backend_api.writing.citations import Finding, figures_in
from backend_api.writing.domain import Project
from backend_api.writing.errors import ExportInvalidError
from backend_api.writing.ports import UnusableFigure

MAX_FIGURES = 60
ReadFigure = Callable[[str, int], Awaitable[bytes | None]]
"""Reads a file of the workspace by its path, of at most so many bytes; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds in bytes, of one figure and of all together."""

    one: int
    all: int


EXPORT = Bounds(one=12 * 1024**2, all=48 * 1024**2)
PREVIEW = Bounds(one=2 * 1024**2, all=8 * 1024**2)
_DETAILS: Mapping[UnusableFigure, str] = {
    "missing": "The figure {path} is not in the workspace, or too large. Create it, or remove it from the text.",
    "no_picture": "{path} is not a picture. Figures must be PNG, JPEG, GIF, WebP or SVG.",
    "too_large": "The figure {path} is too large.",
    "linked": "The figure {path} links to another picture, which is not loaded: a PDF says so in its place. Embed that "
    "picture in it.",
    "damaged": "The figure {path} can't be read: a PDF says so in its place. Create it again.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures found, by their paths, and the reasons for those that are missing."""

    found: Mapping[str, bytes]
    unusable: Mapping[str, UnusableFigure]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectFigures:
    """`ending_of` returns an empty text for a file that is no picture."""

    ending_of: Callable[[bytes], str]

    async def __call__(self, project: Project, read: ReadFigure, bounds: Bounds) -> Figures:
        """Collect the figures of a project. Raises `ExportInvalidError` for too many."""
        paths = list(dict.fromkeys(one.path for one in figures_in(project)))
        if len(paths) > MAX_FIGURES:
            raise ExportInvalidError(f"The text has {len(paths)} figures; at most {MAX_FIGURES} are allowed.")
        found, unusable, left = dict[str, bytes](), dict[str, UnusableFigure](), bounds.all
        for path in paths:
            content = await read(path, min(EXPORT.one, left) if bounds is EXPORT else EXPORT.one)
            if content is None:
                unusable[path] = "missing"
            elif not self.ending_of(content):
                unusable[path] = "no_picture"
            elif len(content) > min(bounds.one, left):
                unusable[path] = "too_large"
            else:
                found[path], left = content, left - len(content)
        return Figures(found=found, unusable=unusable)


def figure_findings(project: Project, figures: Figures) -> Iterable[Finding]:
    """A problem at each place of a figure that can't be shown, and a warning where that is so in a PDF alone."""
    for one in figures_in(project):
        if reason := figures.unusable.get(one.path):
            yield Finding(
                code="figure_unusable" if reason in ("linked", "damaged") else "figure_missing",
                severity="warning" if reason in ("linked", "damaged") else "error",
                detail=_DETAILS[reason].format(path=one.path[:200]),
                section_id=one.section_id,
                at=one.at,
            )
