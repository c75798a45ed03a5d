"""A project with all that a paper may have in it, as one is exported."""

from __future__ import annotations

import html
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, cast

import pypdfium2

from backend_api.writing.citations import csl_item, section_markdown
from backend_api.writing.domain import Section, SectionId
from backend_api.writing.ports import Format, Rendering
from backend_api.writing.styles import Style
from support.research.known_papers import KNOWN
from support.writing import paper

TITLE = "Deep nets and what came of them: 深度学习综述"
CITED = (0, 1, 2, 3, 5, 12, 27)
SECTIONS = (
    (
        1,
        "Introduction",
        """
Nets of many layers are old [@k3], and have been *trained* with **residuals** since 2016 [see @k1, pp. 770-772; @k2].
As @k12 has it for another field, structure tells of function.[^note] Attention needs no recurrence [@k0].

> A citation stands for a paper that exists.

[^note]: A note with *emphasis*, a formula $a^2+b^2=c^2$ and a citation [@k5].
""",
    ),
    (
        1,
        "方法",
        """
深度学习的方法见 [@k27]：我们最小化交叉熵损失。骨骼、直角与“引号”应按简体字形排版。

$$L(\\theta) = -\\frac{1}{N}\\sum_{i=1}^{N} \\sum_{c} y_{ic} \\log p_\\theta(c \\mid x_i)$$

其中 $p_\\theta$ 是模型给出的概率，$N$ 是样本数。

1. 准备数据
2. 训练模型
    - 学习率 $\\eta = 10^{-3}$
    - 批量 64
3. 评估
""",
    ),
    (
        2,
        "What was measured",
        """
| Model     | Layers | Error (%) | Note                                              |
|-----------|-------:|----------:|:--------------------------------------------------|
| plain     |     18 |      27.9 | without shortcuts                                 |
| residual  |     34 |      25.0 | with shortcuts, and with a note that is very long |
| 残差网络  |    152 |      19.4 | 更深                                              |

: Errors on the validation set.

![Loss over time, as it fell in three runs](plots/loss.png){width=60%}

```python
def loss(y: Tensor, p: Tensor) -> Tensor:
    # the mean over all samples
    return -(y * p.log()).sum(dim=1).mean()
```

Inline `code` and a [link](https://example.org/a_b?c=d&e=f) are text as well.
""",
    ),
    (1, "What follows", "All of it together: [@k1; @k2; @k3], and [-@k5]. Names of any script are kept."),
)


def png(width: int, height: int) -> bytes:
    """A picture of a falling line."""
    rows = bytearray()
    for y in range(height):
        rows += b"\x00"
        for x in range(width):
            curve = height * (1 - 1 / (1 + 6 * x / width))
            is_axis = x < 3 or y > height - 4
            rows += b"\x2f\x5d\x46" if abs(y - curve) < 2.5 or is_axis else b"\xf5\xf3\xee"
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(rows))),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


def references(numbers: tuple[int, ...] = CITED) -> list[Mapping[str, object]]:
    """Known papers as items of CSL, with the keys k0, k1 and so on."""
    kinds = {"proceedings-article": "paper-conference"}
    return [
        csl_item(
            f"k{number}",
            paper(
                *(one.title, *one.authors),
                **{name: getattr(one, name) for name in ("year", "doi", "venue", "volume", "issue", "pages")},
                arxiv_id=one.arxiv,
                publisher=one.publisher,
                kind=kinds.get(one.kind, "article-journal") if one.doi else "",
            ),
        )
        for number, one in enumerate(KNOWN)
        if number in numbers
    ]


def sample(form: Format, style: Style, **more: Any) -> Rendering:
    """All of it in a style."""
    sections = [
        section_markdown(Section(id=SectionId(f"s{number}"), title=title, level=level, text=text.strip()))
        for number, (level, title, text) in enumerate(SECTIONS, 1)
    ]
    options: dict[str, Any] = {
        "title": TITLE,
        "authors": ["Anna Weber", "王小明"],
        "language": "zh" if style.name == "gb-t-7714" else "en",
        "sections": sections,
        "references": references(),
        "figures": {"plots/loss.png": png(480, 280)},
        **more,
    }
    return Rendering(format=form, csl=style.file.read_text(), biblatex=style.biblatex, **options)


def html_text(markup: str) -> str:
    """A line for each paragraph, reference and note."""
    bare = re.sub(r'<a[^>]*class="footnote-back".*?</a>', "", markup)
    bare = re.sub(r"<annotation.*?</annotation>", "", bare)
    bare = re.sub(r"\s+", " ", bare)
    bare = re.sub(r"</(?:p|li|h\d|div|tr|pre|figcaption|caption)>", "\n", bare)
    bare = re.sub(r"</(?:td|th)>", " | ", bare)
    return _lines(html.unescape(re.sub(r"<[^>]+>", "", bare)).split("\n"))


def docx_text(content: bytes) -> str:
    """A line for each paragraph, notes last."""
    packed = zipfile.ZipFile(io.BytesIO(content))
    parts = [packed.read(f"word/{name}.xml").decode() for name in ("document", "footnotes")]
    lines = list[str]()
    for paragraph in re.findall(r"<w:p[ >].*?</w:p>", "".join(parts), re.DOTALL):
        found = re.findall(r"<(?:w|m):t(?: [^>]*)?>([^<]*)</|<(w:tab|w:footnoteReference)\b", paragraph)
        lines.append("".join(text or {"w:tab": " "}.get(tag, "[note]") for text, tag in found))
    return _lines(map(html.unescape, lines))


def pdf_text(content: bytes) -> str:
    """A line for each line of a page."""
    document = pypdfium2.PdfDocument(content)
    pages = [str(cast("Any", page.get_textpage()).get_text_bounded()) for page in document]
    return _lines("\n".join(pages).replace("\r", "").split("\n"))


def _lines(lines: Any) -> str:
    bare = (" ".join(line.replace("\ufffe", "-").split()) for line in lines)
    return "\n".join(filter(None, bare)) + "\n"
