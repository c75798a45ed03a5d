"""A report with a chart, as Markdown, PDF, Word document and slides, each opened again as whoever is given it does."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from pptx.enum.text import PP_ALIGN

from support.api_client import ApiClient
from support.model_server import Answer
from support.opened import deck, html_of_word, pdf_pages, pdf_text
from support.scripted_stack import Scripted, call, calls, results, succeeded

pytestmark = pytest.mark.asyncio(loop_scope="session")
CHART = """
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(6, 3))
axes.bar(["北京", "上海", "深圳"], [12, 13, 9], color="#d62728")
axes.set_title("各城市租金 Rents by city")
axes.set_ylabel("元/平方米")
figure.savefig("chart.png", dpi=120)
"""
REPORT = """\
# 季度租金报告 Quarterly rents

北京、上海和深圳的**租金**比上季度上涨了 4%。The table has the numbers.

![各城市租金 Rents by city](chart.png)

## 数据 Data

| 城市 City | 租金 Rent | 变化 Change |
|---|---:|---:|
| 北京 Beijing | 12 | +4% |
| 上海 Shanghai | 13 | +5% |
| 深圳 Shenzhen | 9 | -1% |

## 方法 Method

- 数据来自公开网站
- 用 `mean()` 求平均

```python
def mean(rents: list[float]) -> float:
    return sum(rents) / len(rents)  # 平均值
```

> 租金是每月每平方米的价格。
"""
SLIDES = """\
# 季度租金报告

Quarterly rents

# 租金上涨了 4%

- 北京和上海上涨
- 深圳下降 1%

![各城市租金](chart.png)

Note: 先说结论

# 上海最贵

| 城市 City | 租金 Rent | 变化 Change |
|---|---:|---:|
| 北京 Beijing | 12 | +4% |
| 上海 Shanghai | 13 | +5% |

# 平均值这样计算

```python
def mean(rents: list[float]) -> float:
    return sum(rents) / len(rents)  # 平均值
```
"""
LEFT, RIGHT = PP_ALIGN.LEFT, PP_ALIGN.RIGHT
PATIENCE_S = 240
RED = (214, 39, 40)
"""Of the chart's bars, and of nothing else."""


@pytest.mark.timeout(PATIENCE_S + 60)
async def test_a_report_with_a_chart_is_made_in_each_form_and_is_whole_in_it(
    scripted: Scripted, api: ApiClient
) -> None:
    session = await api.new_session(title="named")
    scripted.answer(
        calls(
            call("code_run", code=CHART),
            call("save_to_markdown", text=REPORT, file_name="report.md"),
            call("file_write", path="slides.md", content=SLIDES),
            call("read_skill", skill="documents"),
            call("read_skill", skill="slides"),
        ),
        calls(
            call("save_to_pdf", source="report.md", file_name="report.pdf"),
            call(
                "shell_exec",
                command="python3 /skills/documents/scripts/md_to_docx.py report.md report.docx --title 季度租金报告",
            ),
            call("shell_exec", command="python3 /skills/slides/scripts/make_pptx.py slides.md report.pptx"),
        ),
        Answer(texts=("Done.",)),
    )
    events = await api.ask(session, "write the report", timeout_s=PATIENCE_S)
    said = await results(api, session, events)
    assert all(succeeded(events)), said
    printed, written, shown = said[5:]
    assert printed.startswith("Saved report.pdf, 1 page, ")
    assert "Left out" not in printed
    assert written == "Wrote report.docx.\n"
    assert shown == "Wrote report.pptx: 4 slides\n"

    async def file(path: str) -> bytes:
        answer = await api.http.get(f"/sessions/{session}/files/download", params={"path": path})
        assert answer.status_code == 200
        return answer.content

    chart = await file("chart.png")
    assert (await file("report.md")).decode() == REPORT
    check_pdf(await file("report.pdf"))
    check_docx(await file("report.docx"), chart)
    check_pptx(await file("report.pptx"), chart)


def check_pdf(data: bytes) -> None:
    """Its text can be searched, each Chinese letter has a shape of its own, and the chart is on the page."""
    text = pdf_text(data)
    for part in (
        "季度租金报告 Quarterly rents",
        "上海 Shanghai",
        "def mean(rents: list[float])",
        "租金是每月每平方米的价格",
    ):
        assert part in text
    pages = pdf_pages(data)
    shapes = {sign: list(drawn(pages, sign)) for sign in "租季海京深"}
    assert all(shapes.values()), "not all of it is on a page"
    assert len({found[0] for found in shapes.values()}) == len(shapes), (
        "different letters are drawn alike, as boxes are"
    )
    pictures: list[Any] = [page.render(scale=2).to_pil().convert("RGB") for page in pages]
    assert max(share_of(RED, picture) for picture in pictures) > 0.02


def drawn(pages: list[Any], sign: str) -> Iterator[bytes]:
    """How a letter looks where it stands, as 16 by 16 points."""
    for page in pages:
        text = page.get_textpage()
        at = text.search(sign).get_next()
        if at is None:
            continue
        left, bottom, right, top = text.get_charbox(at[0], loose=False)
        width, height = page.get_size()
        cut: Any = page.render(scale=6, crop=(left, bottom, width - right, height - top)).to_pil().convert("L")
        assert cut.getextrema()[0] < 128, f"{sign} is not drawn"
        yield bytes(255 * (grey > 128) for grey in cut.resize((16, 16)).tobytes())


def share_of(colour: tuple[int, int, int], picture: Any) -> float:
    """The part of a picture that has this colour, nearly."""
    counted: list[tuple[int, tuple[int, int, int]]] = picture.getcolors(picture.width * picture.height)
    near = sum(
        count
        for count, found in counted
        if all(abs(one - wanted) < 12 for one, wanted in zip(found, colour, strict=True))
    )
    return near / (picture.width * picture.height)


def check_docx(data: bytes, chart: bytes) -> None:
    """Headings, the rows of the table, the code in a style of its own, and the chart itself."""
    html = html_of_word(data, "p[style-name='Code'] => pre:fresh")
    assert "<h1>季度租金报告 Quarterly rents</h1>" in html
    assert html.count("<tr>") == 4
    assert "<td><p>上海 Shanghai</p></td><td><p>13</p></td><td><p>+5%</p></td>" in html
    assert "<pre>def mean(rents: list[float]) -&gt; float:</pre><pre>    return sum" in html
    assert '<img alt="各城市租金 Rents by city"' in html
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert packed.read("word/media/image1.png") == chart
        # Numbers stand at the right, as the text says, in the head as well.
        assert packed.read("word/document.xml").decode().count('<w:jc w:val="right"/>') == 8


def check_pptx(data: bytes, chart: bytes) -> None:
    """Titles and points are placeholders, tables are tables, code has letters of one width, all is on the page."""
    opened = deck(data)
    slides: list[Any] = list(opened.slides)
    assert [slide.shapes.title.text for slide in slides] == [
        "季度租金报告",
        "租金上涨了 4%",
        "上海最贵",
        "平均值这样计算",
    ]
    picture = next(shape for shape in slides[1].shapes if hasattr(shape, "image"))
    assert picture.image.blob == chart
    assert abs(picture.width / picture.height - 2) < 0.02
    assert slides[1].placeholders[1].text == "北京和上海上涨\n深圳下降 1%"
    assert slides[1].notes_slide.notes_text_frame.text == "先说结论"
    table = next(shape.table for shape in slides[2].shapes if shape.has_table)
    assert [cell.text for cell in table.rows[2].cells] == ["上海 Shanghai", "13", "+5%"]
    assert [cell.text_frame.paragraphs[0].alignment for cell in table.rows[2].cells] == [LEFT, RIGHT, RIGHT]
    code = next(shape for shape in slides[3].shapes if shape.name.startswith("Code"))
    assert code.text_frame.text.splitlines()[1] == "    return sum(rents) / len(rents)  # 平均值"
    assert {run.font.name for line in code.text_frame.paragraphs for run in line.runs} == {"Consolas"}
    for slide in slides:
        for shape in slide.shapes:
            assert shape.left >= 0
            assert shape.top >= 0
            assert shape.left + shape.width <= opened.slide_width
            assert shape.top + shape.height <= opened.slide_height
