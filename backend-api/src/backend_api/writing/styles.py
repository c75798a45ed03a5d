"""Citation styles, by the names that projects use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backend_api.writing.errors import WritingInvalidError

FOLDER = Path(__file__).parent / "csl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """`biblatex` is the nearest style of that package, for the export as LaTeX."""

    name: str
    label: str
    biblatex: str

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.csl"


STYLES: tuple[Style, ...] = (
    Style(name="apa", label="APA, 7th edition", biblatex="apa"),
    Style(name="ieee", label="IEEE", biblatex="ieee"),
    Style(name="acm", label="ACM", biblatex="numeric"),
    Style(name="chicago-author-date", label="Chicago, author and date", biblatex="authoryear"),
    Style(name="chicago-notes", label="Chicago, notes and bibliography", biblatex="verbose-note"),
    Style(name="mla", label="MLA", biblatex="mla"),
    Style(name="nature", label="Nature", biblatex="nature"),
    Style(name="gb-t-7714", label="GB/T 7714—2015", biblatex="gb7714-2015"),
)
_BY_NAME = {style.name: style for style in STYLES}


def style_of(name: str) -> Style:
    """The style of this name. Raises `WritingInvalidError`."""
    style = _BY_NAME.get(name)
    if style is None:
        raise WritingInvalidError(
            f"There is no style {name[:60]!r}. There are: {', '.join(_BY_NAME)}.", field="style", fault="style_unknown"
        )
    return style
