"""What a model saves stands in the workspace, whole, or not at all with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from contracts.tools import DocumentDisplay, ToolResult
from support.documents import context
from tool_api.documents.programs import DocumentPrograms
from tool_api.errors import DiskFullError
from tool_api.tools.documents.controller import DocumentController, NotMadeError
from tool_api.tools.documents.drawings import Drawing, Drawings, Drawn
from tool_api.tools.documents.types import SaveToMarkdown, SaveToPdf
from tool_api.workspace import Workspace


@dataclass
class FakePrinter:
    """Its PDF is the page, and what it draws is what `draws` says."""

    fault: str = ""
    pages: list[str] = field(default_factory=list[str])
    draws: Callable[[Drawing], Drawn] = lambda wanted: Drawn(made=f"<b>{wanted.kind}</b>")

    async def print_page(self, make_page: Callable[[], str], drawings: Drawings, within_s: float) -> bytes:
        assert 1 <= within_s < 60
        if self.fault:
            raise NotMadeError(self.fault)
        drawings.drawn = [self.draws(one) for one in drawings.wanted]
        page = make_page()
        self.pages.append(page)
        return page.encode()


@pytest.fixture
def printer() -> FakePrinter:
    return FakePrinter()


async def any_room(_: int) -> None:
    return


def controller(folder: Path, printer: FakePrinter, room: Any = any_room) -> DocumentController:
    return DocumentController(workspace=Workspace(folder), programs=DocumentPrograms(), printer=printer, room=room)


async def pdf(folder: Path, printer: FakePrinter, **arguments: Any) -> ToolResult:
    return await controller(folder, printer).save_to_pdf(context(), SaveToPdf(**arguments))


async def markdown(folder: Path, **arguments: Any) -> ToolResult:
    return await controller(folder, FakePrinter()).save_to_markdown(context(), SaveToMarkdown(**arguments))


async def test_a_text_is_saved_as_it_is_under_its_name(tmp_path: Path) -> None:
    text = "# 报告\n\n| a |\n"
    saved = await markdown(tmp_path, text=text, file_name="reports/q3")
    assert (tmp_path / "reports" / "q3.md").read_text() == text
    assert saved.changed_paths == ["reports/q3.md"]
    assert saved.display == DocumentDisplay(path="reports/q3.md", title="报告")
    assert (await markdown(tmp_path, text="b", file_name="q.MARKDOWN")).changed_paths == ["q.MARKDOWN"]


async def test_a_pdf_is_printed_of_a_text_or_of_a_file(tmp_path: Path, printer: FakePrinter) -> None:
    saved = await pdf(tmp_path, printer, text="# 比 `a`\n\n- [x] done\n- [ ] open", file_name="a")
    assert saved.display == DocumentDisplay(path="a.pdf", title="比 a")
    assert "☑" in printer.pages[0]
    assert "☐ open" in printer.pages[0]
    (tmp_path / "in.md").write_text("so")
    assert (await pdf(tmp_path, printer, source="in.md", file_name="out/b.PDF")).changed_paths == ["out/b.PDF"]
    assert "<p>so</p>" in printer.pages[1]
    assert "<title>b</title>" in printer.pages[1]


async def test_pictures_are_in_the_page_and_those_left_out_are_told(tmp_path: Path, printer: FakePrinter) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "sub" / "in.md").write_text("![chart](c.png) <img src='c.png'> ![web](https://a.example/x.png)")
    saved = await pdf(tmp_path, printer, source="sub/in.md", file_name="a.pdf")
    assert printer.pages[0].count('src="data:image/png;base64,') == 2
    assert "a.example" not in printer.pages[0]
    assert saved.output.endswith(
        "Left out of it:\n- https://a.example/x.png: only pictures of the workspace are printed, by their paths"
    )


async def test_links_lead_to_the_web_alone(tmp_path: Path, printer: FakePrinter) -> None:
    text = "[a](https://a.example) [b](file:///etc/passwd) [c](javascript:x) [d](mailto:a@b.example)"
    await pdf(tmp_path, printer, text=text, file_name="a")
    page = printer.pages[0]
    assert page.count("href=") == 2
    assert 'href="https://a.example"' in page
    assert 'href="mailto:a@b.example"' in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"text": "a", "file_name": "../a"}, "outside"),
        ({"text": "a", "file_name": "/etc/a.pdf"}, "outside"),
        ({"text": "a", "file_name": "file/a"}, "Not a directory"),
        ({"text": "a", "file_name": "folder.pdf"}, "folder"),
        ({"source": "missing.md", "file_name": "a"}, "No such file"),
        ({"source": "../x.md", "file_name": "a"}, "outside"),
        ({"source": "binary.md", "file_name": "a"}, "binary file"),
        ({"source": "empty.md", "file_name": "a"}, "empty"),
    ],
)
async def test_what_can_not_be_saved_says_why(
    tmp_path: Path, printer: FakePrinter, arguments: dict[str, str], said: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.pdf").mkdir()
    (tmp_path / "binary.md").write_bytes(b"\x7fELF\0")
    (tmp_path / "empty.md").write_text(" \n")
    saved = await pdf(tmp_path, printer, **arguments)
    assert not saved.success
    assert said in saved.output
    assert not list(tmp_path.rglob("*.part"))


async def test_one_that_is_not_printed_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("before")
    saved = await pdf(tmp_path, FakePrinter(fault="There is no browser."), text="a", file_name="a.pdf")
    assert (saved.success, saved.output) == (False, "There is no browser.")
    assert (tmp_path / "a.pdf").read_text() == "before"


async def test_a_full_workspace_is_told(tmp_path: Path, printer: FakePrinter) -> None:
    async def no_room(_: int) -> None:
        raise DiskFullError("The workspace is full.")

    made = controller(tmp_path, printer, no_room)
    for saved in (
        await made.save_to_markdown(context(), SaveToMarkdown(text="a", file_name="a")),
        await made.save_to_pdf(context(), SaveToPdf(text="a", file_name="a")),
    ):
        assert (saved.success, saved.output) == (False, "The workspace is full.")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [{}, {"text": "a", "source": "b"}])
def test_a_pdf_is_of_one_text(arguments: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="either text or source"):
        SaveToPdf(file_name="a", **arguments)


async def test_formulas_and_diagrams_stand_where_they_were_written(tmp_path: Path, printer: FakePrinter) -> None:
    text = "so $x<1$ and `$y$`\n\n$$\nz\n$$\n\n```mermaid\ngraph LR\n```\n\ncosts $5 and $10"
    saved = await pdf(tmp_path, printer, text=text, file_name="a.pdf")
    (page,) = printer.pages
    assert "so <b>formula</b> and <code>$y$</code>" in page
    assert "<p><b>displayed</b></p>" in page
    assert '<p class="diagram"><img alt="graph LR\n" src="data:image/svg+xml;base64,' in page
    assert "costs $5 and $10" in page
    assert "@font-face" in page
    assert "Left out" not in saved.output


async def test_what_can_not_be_drawn_stands_there_as_it_was_written_with_the_reason(
    tmp_path: Path, printer: FakePrinter
) -> None:
    printer.draws = lambda wanted: Drawn(fault=f"bad <{wanted.kind}>")
    text = "so $\\no<$\n\n```mermaid\n<graph>\n```\n"
    saved = await pdf(tmp_path, printer, text=text, file_name="a.pdf")
    (page,) = printer.pages
    assert "so <code>\\no&lt;</code>" in page
    assert '<p class="left-out">bad &lt;diagram&gt;</p><pre><code>&lt;graph&gt;\n</code></pre>' in page
    assert "- A formula, '\\\\no<': bad <formula>" in saved.output
    assert "- A diagram, '<graph>': bad <diagram>" in saved.output
    assert "@font-face" not in page


async def test_a_text_can_not_put_a_drawing_where_it_likes(tmp_path: Path, printer: FakePrinter) -> None:
    await pdf(tmp_path, printer, text="so <!--0:0--> $x$ <!--mark:0-->", file_name="a.pdf")
    assert printer.pages[0].count("<b>formula</b>") == 1


@pytest.mark.parametrize(
    "address",
    [
        *("a%20b.png", "/workspace/a%20b.png", "sandbox:/workspace/a%20b.png", "file:///workspace/a%20b.png"),
        *("attachment://a%20b.png", "workspace/a%20b.png", "<sandbox:a b.png>", "computer:///workspace/a%20b.png#x"),
    ],
)
async def test_a_picture_is_found_however_its_path_is_written(
    tmp_path: Path, printer: FakePrinter, address: str
) -> None:
    (tmp_path / "a b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    saved = await pdf(tmp_path, printer, text=f"![a]({address})", file_name="a.pdf")
    assert "Left out" not in saved.output
    assert "data:image/png" in printer.pages[0]


async def test_a_file_of_the_machine_is_no_picture(tmp_path: Path, printer: FakePrinter) -> None:
    saved = await pdf(tmp_path, printer, text="![a](file:///etc/a.png) ![b](sandbox:/../b.png)", file_name="a.pdf")
    assert "file:///etc/a.png: only pictures of the workspace" in saved.output
    assert "sandbox:/../b.png: it is outside of the workspace" in saved.output
