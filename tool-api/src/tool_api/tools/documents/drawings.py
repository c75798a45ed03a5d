"""Parts of a document that libraries draw: formulas by KaTeX, diagrams by Mermaid. Both come with the tool API
(`tool-api/drawing/install.sh`) and are read from there; nothing is fetched."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

LIBRARIES = Path(__file__).with_name("dist")
MAX_DRAWINGS = 500
MAX_SOURCE_CHARACTERS = 50_000
_FONT = re.compile(r"url\(fonts/([\w-]+\.woff2)\) format\(\"woff2\"\)(?:,url\([^)]*\) format\(\"\w+\"\))*")

Kind = Literal["formula", "displayed", "diagram"]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula or diagram that is to be drawn, as it was written."""

    kind: Kind
    source: str

    @property
    def is_diagram(self) -> bool:
        return self.kind == "diagram"


@dataclass(frozen=True, slots=True)
class Drawn:
    """The result of a drawing: HTML of a formula or SVG of a diagram; empty, with the reason, if it failed."""

    made: str = ""
    fault: str = ""


@dataclass(slots=True)
class Drawings:
    """The drawings of a document; `left_out` names those that remain as they were written."""

    wanted: Sequence[Drawing]
    drawn: list[Drawn] = field(default_factory=list[Drawn])
    left_out: list[str] = field(default_factory=list[str])

    @property
    def has_formulas(self) -> bool:
        return any(drawn.made and not one.is_diagram for one, drawn in zip(self.wanted, self.drawn, strict=False))

    def shown(self, number: int) -> str:
        """HTML of one drawing for the page."""
        wanted = self.wanted[number]
        drawn = self.drawn[number] if number < len(self.drawn) else Drawn(fault=f"there are over {MAX_DRAWINGS}")
        source = html.escape(wanted.source)
        if not drawn.made:
            what = "A diagram" if wanted.is_diagram else "A formula"
            self.left_out.append(f"{what}, {wanted.source.strip()[:80]!r}: {drawn.fault}")
            if not wanted.is_diagram:
                return f"<code>{source}</code>"
            return f'<p class="left-out">{html.escape(drawn.fault)}</p><pre><code>{source}</code></pre>'
        if not wanted.is_diagram:
            return drawn.made
        data = base64.b64encode(drawn.made.encode()).decode()
        return f'<p class="diagram"><img alt="{source}" src="data:image/svg+xml;base64,{data}"></p>'


def with_drawings(content: str, mark: str, drawings: Drawings) -> str:
    """The content with its marks replaced by the drawings."""
    place = re.compile(rf"<!--{re.escape(mark)}:(\d+)-->")
    return place.sub(lambda found: drawings.shown(int(found[1])), content)


def formula_style() -> str:
    """The style of formulas, with its fonts in it."""

    def inlined(found: re.Match[str]) -> str:
        font = base64.b64encode((LIBRARIES / "fonts" / found[1]).read_bytes()).decode()
        return f'url(data:font/woff2;base64,{font}) format("woff2")'

    return _FONT.sub(inlined, (LIBRARIES / "katex.min.css").read_text())
