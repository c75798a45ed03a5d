"""All of a document's text, as a model would be given it, and Office documents of parts that tests write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from support.documents import zipped
from tool_api.documents.parts import Asked, Document, read_part

RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


Parts = Mapping[str, str | bytes | None]
"""Parts of an archive by their names, None for one that it is not to have."""


def text_of(document: Document) -> str:
    return read_part(document, Asked(characters=1_000_000))


def lines_of(document: Document) -> list[str]:
    return text_of(document).splitlines()


def relations(**targets: tuple[str, str]) -> str:
    """The list of what a part names: by identifier a kind and a target."""
    made = "".join(
        f'<Relationship Id="{identifier}" Type="{DOCUMENT}/{kind}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if '://' in target else ''}/>"
        for identifier, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{RELATIONS}">{made}</Relationships>'


def changed(archive: bytes, parts: Parts) -> bytes:
    """An archive with some parts as they are here, and without those that are None."""
    kept: dict[str, str | bytes] = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        kept = {name: opened.read(name) for name in opened.namelist() if name not in parts}
    return zipped({**kept, **{name: content for name, content in parts.items() if content is not None}})


def part(archive: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return opened.read(name).decode()


def chart(kind: str = "bar3DChart", title: str = "Rents") -> str:
    """A chart of any kind, with the numbers that are kept with it."""
    names = '<c:pt idx="0"><c:v>Q1</c:v></c:pt><c:pt idx="1"><c:v>Q2</c:v></c:pt>'
    values = '<c:pt idx="0"><c:v>1</c:v></c:pt><c:pt idx="1"><c:v>2.5</c:v></c:pt>'
    return (
        f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAWING}"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>{title}'
        f"</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:{kind}><c:ser><c:tx><c:strRef><c:strCache>"
        '<c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>'
        f"<c:cat><c:strRef><c:strCache>{names}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache>{values}</c:numCache></c:numRef></c:val></c:ser></c:{kind}></c:plotArea>"
        "</c:chart></c:chartSpace>"
    )
