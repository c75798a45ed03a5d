"""A conversation as pages, for whoever exports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend_api.writing.ports import Renderer, Rendering


@dataclass(frozen=True, slots=True)
class PrintTalk:
    """A PDF with text that can be selected. Raises `ExportInvalidError` and `ExportFailedError`."""

    renderer: Renderer

    async def __call__(self, *, owner: str, title: str, language: str, words: str, sections: Sequence[str]) -> bytes:
        """Each section is Markdown by itself: what is left open in one ends with it."""
        return await self.renderer.render(
            Rendering(
                owner=owner,
                format="pdf",
                title=title,
                authors=[],
                language=language,
                words=words,
                sections=sections,
                references=[],
                csl="",
                biblatex="",
                is_numbered=False,
                is_talk=True,
            )
        )
