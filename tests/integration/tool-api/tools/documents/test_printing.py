"""PDFs as the browser of the sandbox prints them."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pypdfium2
import pytest
from pypdf import PdfReader

from contracts.tools import ToolResult
from support.desktops import desktop_settings
from support.documents import context
from tool_api.desktop import drawer
from tool_api.desktop.printer import HeadlessPrinter
from tool_api.desktop.settings import DesktopSettings
from tool_api.documents.programs import DocumentPrograms
from tool_api.tools.documents.controller import DocumentController
from tool_api.tools.documents.types import SaveToPdf
from tool_api.workspace import Workspace

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC"
)
REPORT = """\
# 季度报告 Report

比较 **rents** of 龙车长门马鸟, see [the source](https://a.example/).

![chart](chart.png)

| 城市 | Rent |
|---|---:|
| 北京 | 12 |

```python
print("你好")
```

<div style="page-break-after: always"></div>

## 結論 😀

The end.
"""


@pytest.fixture
def settings() -> Iterator[DesktopSettings]:
    with desktop_settings() as settings:
        yield settings


def printing(settings: DesktopSettings, folder: Path, text: str) -> Any:
    async def any_room(_: int) -> None:
        return

    controller = DocumentController(
        workspace=Workspace(folder), programs=DocumentPrograms(), printer=HeadlessPrinter(settings), room=any_room
    )
    return controller.save_to_pdf(context(90), SaveToPdf(text=text, file_name="a.pdf"))


async def test_a_report_is_printed_with_chinese_that_can_be_searched(settings: DesktopSettings, tmp_path: Path) -> None:
    (tmp_path / "chart.png").write_bytes(PNG)
    saved: ToolResult = await printing(settings, tmp_path, REPORT)
    assert saved.output.startswith("Saved a.pdf, 2 pages, ")
    data = (tmp_path / "a.pdf").read_bytes()
    reader = PdfReader(io.BytesIO(data))
    # As it is written: some readers put the common characters in by themselves.
    first, second = (page.extract_text() for page in reader.pages)
    for part in ("季度报告 Report", "比较 rents of 龙车长门马鸟", "北京", "12", "print(", "你好", "1 / 2"):
        assert part in first
    assert "結論" in second
    assert "2 / 2" in second
    assert reader.metadata is not None
    assert reader.metadata.title == "季度报告 Report"
    assert len(reader.pages[0].images) == 1
    assert [getattr(item, "title", "") for item in reader.outline if not isinstance(item, list)] == ["季度报告 Report"]
    assert (round(reader.pages[0].mediabox.width), round(reader.pages[0].mediabox.height)) == (595, 842)


async def test_a_hostile_text_runs_nothing_fetches_nothing_and_reads_no_file(
    settings: DesktopSettings, tmp_path: Path
) -> None:
    reached: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    # Where the user that prints may read it.
    secret = settings.home / "secret.txt"
    secret.write_text("the secret")
    secret.chmod(0o644)
    (tmp_path / "a.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{url}/g"/><script>fetch("{url}/h")</script></svg>'
    )
    places = "".join(
        f'<iframe src="{place}"></iframe><object data="{place}"></object><embed src="{place}"><img src={place}>'
        f'<link rel=stylesheet href="{place}"><video src="{place}"></video>'
        f'<meta http-equiv=refresh content="0;{place}"><style>@import "{place}"; '
        f"@font-face {{ font-family: x; src: url({place}) }} body {{ background: url({place}) }}</style>"
        for place in (f"{url}/a", f"file://{secret}")
    )
    script = f'<script>document.write("written"); fetch("{url}/b")</script><img src=x onerror="document.write(1)">'
    async with server:
        saved: ToolResult = await printing(settings, tmp_path, f"# so\n\n{places}\n{script}\n\n![a](a.svg)\n\nthe end")
    assert saved.success, saved.output
    text = pypdfium2.PdfDocument((tmp_path / "a.pdf").read_bytes())[0].get_textpage().get_text_range()
    assert "the end" in text
    assert "the secret" not in text
    assert "written" not in text
    assert reached == []


@pytest.mark.thorough
async def test_what_prints_ends_with_whoever_waits_and_with_all_it_left(
    settings: DesktopSettings, tmp_path: Path
) -> None:
    before = set(psutil.Process().children())
    waiting = asyncio.create_task(printing(settings, tmp_path, "# so"))
    async with asyncio.timeout(20):
        while not (started := _browsers(before)):
            await asyncio.sleep(0.01)
    profile = next(part for part in started[0].cmdline() if part.startswith("--user-data-dir=")).partition("=")[2]
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in started)
    assert not Path(profile).exists()
    killed = asyncio.create_task(printing(settings, tmp_path, "# so"))
    async with asyncio.timeout(20):
        while not (started := _browsers(before)):
            await asyncio.sleep(0.01)
    os.killpg(started[0].pid, signal.SIGKILL)
    result: ToolResult = await asyncio.wait_for(killed, 10)
    assert not result.success
    assert "could not print" in result.output
    assert not (tmp_path / "a.pdf").exists()


def _browsers(before: set[psutil.Process]) -> list[psutil.Process]:
    return [process for process in psutil.Process().children() if process not in before and _prints(process)]


def _prints(process: psutil.Process) -> bool:
    try:
        return "--headless" in process.cmdline()
    except psutil.Error:
        return False


async def test_without_a_browser_it_is_said(tmp_path: Path) -> None:
    settings = DesktopSettings(run_dir=tmp_path, home=tmp_path, search_path=str(tmp_path))
    saved: ToolResult = await printing(settings, tmp_path, "# so")
    assert (saved.success, "no browser" in saved.output) == (False, True)


FORMULAS = """\
# 能量

质能方程 $E=mc^2$ 与 \\(a_1+b\\)。**开源：**代码 costs $5 and $10.

$$
\\int_0^1 x^2\\,dx = \\frac{1}{3}
$$

| 量 | 式 |
|---|---|
| 面积 | $\\pi r^2$ |

- 列表 $x\\le y$

坏的 $\\nonsense{x}$ 的。

```mermaid
graph LR
  A[开始 begin] --> B{判断}
  B -->|是 yes| C[结束]
```

```mermaid
graph LR
  this is --> no [[diagram
```
"""


@pytest.mark.thorough
async def test_formulas_and_diagrams_are_drawn_and_one_that_can_not_be_is_told(
    settings: DesktopSettings, tmp_path: Path
) -> None:
    saved: ToolResult = await printing(settings, tmp_path, FORMULAS)
    assert saved.success, saved.output
    reader = PdfReader(io.BytesIO((tmp_path / "a.pdf").read_bytes()))
    text = "\n".join(page.extract_text() for page in reader.pages)
    squeezed = "".join(text.split())
    for part in ("E=mc2", "∫", "πr2", "x≤y", "开源：代码", "costs$5and$10", "开始begin", "判断", "是yes"):
        assert part in squeezed, (part, text)
    for part in ("$E", "**", "$$", "\\frac", "A[", "katex"):
        assert part not in squeezed, (part, text)
    assert r"\nonsense{x}" in squeezed
    assert "no[[diagram" in squeezed
    assert "A formula, '\\\\nonsense{x}'" in saved.output
    assert "A diagram, 'graph LR" in saved.output


async def test_what_is_drawn_runs_and_fetches_nothing_of_the_text(settings: DesktopSettings, tmp_path: Path) -> None:
    reached: list[bytes] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    text = f"""\
$\\href{{{url}/a}}{{x}}$ $\\includegraphics{{{url}/b.png}}$ $\\text{{<img src="{url}/c">}}$

```mermaid
%%{{init: {{"securityLevel": "loose", "themeCSS": "@import '{url}/d'; * {{ background: url({url}/e) }}"}}}}%%
graph LR
  A["<img src='{url}/f' onerror='document.title=1'><script>fetch('{url}/g')</script>"] --> B
  click A href "{url}/h"
  style B fill:url({url}/i)
```

the end
"""
    async with server:
        saved: ToolResult = await printing(settings, tmp_path, text)
    assert saved.success, saved.output
    assert reached == []
    assert "the end" in pypdfium2.PdfDocument((tmp_path / "a.pdf").read_bytes())[0].get_textpage().get_text_range()


@pytest.mark.thorough
async def test_a_diagram_that_never_ends_leaves_the_rest_to_be_printed(
    settings: DesktopSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawer, "_ALL_S", 4.0)
    monkeypatch.setattr(drawer, "_DRAW", "() => { for (;;) {} }")
    saved: ToolResult = await printing(settings, tmp_path, "# so\n\n```mermaid\ngraph LR\n```\n\nthe end")
    assert saved.success, saved.output
    assert "took too long" in saved.output
    text = pypdfium2.PdfDocument((tmp_path / "a.pdf").read_bytes())[0].get_textpage().get_text_range()
    assert "graph LR" in text
    assert "the end" in text
