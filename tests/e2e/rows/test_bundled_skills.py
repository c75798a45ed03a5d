"""The skills of the product, each followed as its text says in a real sandbox that has but Python and a shell."""

from __future__ import annotations

import pytest

from support.api_client import ApiClient
from support.model_server import Answer
from support.scripted_stack import Scripted, call, calls, in_any_form, results

pytestmark = pytest.mark.asyncio(loop_scope="session")
REPORT = """\
# Rents

They **rose** by 4 %, see [the table](https://example.com/t).

- one
  - two

1. first
2. second

| City | Rent |
| --- | --- |
| 北京 | 12 \\| 13 |
"""
SALES = "Month,Sold,Share %,Code\n2026-01-01,10,0.25,007\n2026-02-01,=B2*2,0.5,008\n"
DECK = "# Rents\n\nA talk\n\n# Rents rose by 4 %\n\n- more people\n  - fewer flats\nNote: wait here\n"
PAGE = '<!DOCTYPE html><html><body><h1>A</h1><h3>B</h3><img src="no.png"><button></button></body></html>'
GOOD = (
    '<!DOCTYPE html><html lang="en"><head><title>A</title><meta name="viewport" content="width=device-width">'
    '</head><body><h1 id="top">A</h1><a href="#top">up</a></body></html>'
)


async def ran(scripted: Scripted, api: ApiClient, skill: str, command: str, **files: str) -> str:
    """What the command prints where the skill was read and these files are there."""
    session = await api.new_session(title="named")
    written = [call("file_write", path=path.replace("_", "."), content=text) for path, text in files.items()]
    scripted.answer(
        calls(call("read_skill", skill=skill), *written, call("shell_exec", command=f"set -o pipefail; {command}")),
        Answer(texts=("Done.",)),
    )
    read, *_, last = await results(api, session, await api.ask(session, "do it"))
    assert f"/skills/{skill}" in read
    return last


@in_any_form
async def test_documents_are_written_and_read_back(scripted: Scripted, api: ApiClient) -> None:
    said = await ran(
        scripted,
        api,
        "documents",
        "python3 /skills/documents/scripts/md_to_docx.py in.md out.docx --title Rents && "
        "python3 /skills/documents/scripts/docx_to_md.py out.docx",
        in_md=REPORT,
    )
    for part in (
        "Wrote out.docx.",
        "# Rents",
        "They **rose** by 4 %, see the table.",
        "  - two",
        "| 北京 | 12 \\| 13 |",
    ):
        assert part in said


@in_any_form
async def test_spreadsheets_are_made_with_formulas_and_read_back(scripted: Scripted, api: ApiClient) -> None:
    said = await ran(
        scripted,
        api,
        "spreadsheets",
        "python3 /skills/spreadsheets/scripts/make_xlsx.py out.xlsx sales.csv && "
        "python3 /skills/spreadsheets/scripts/read_xlsx.py out.xlsx --formulas && "
        "! python3 /skills/spreadsheets/scripts/read_xlsx.py sales.csv",
        sales_csv=SALES,
    )
    for part in ("## sales: 3 rows, 4 columns", "2026-01-01,10,0.25,007", "=B2*2", "can't be read as a workbook"):
        assert part in said


@in_any_form
async def test_slides_are_made_and_read_back(scripted: Scripted, api: ApiClient) -> None:
    said = await ran(
        scripted,
        api,
        "slides",
        "python3 /skills/slides/scripts/make_pptx.py deck.md out.pptx && "
        "python3 /skills/slides/scripts/make_pptx.py --read out.pptx",
        deck_md=DECK,
    )
    for part in ("Wrote out.pptx: 2 slides", "Rents rose by 4 %", "fewer flats"):
        assert part in said
    assert "wait here" not in said


@in_any_form
async def test_what_is_wrong_with_a_page_is_named_and_a_good_one_passes(scripted: Scripted, api: ApiClient) -> None:
    check = "python3 /skills/web-page/scripts/check_page.py"
    said = await ran(
        scripted, api, "web-page", f"! {check} index.html; {check} good.html", index_html=PAGE, good_html=GOOD
    )
    for part in ("h3 comes after h1", "without alt", "a button without a name", "there is no no.png", "has no lang"):
        assert part in said
    assert "1 pages, 0 faults" in said


@in_any_form
async def test_a_table_is_described_with_what_looks_wrong(scripted: Scripted, api: ApiClient) -> None:
    rows = "name,cost\n" + "".join(f"a{at},{at}\n" for at in range(20)) + "b,9999\nb,9999\nc,\n"
    said = await ran(
        scripted, api, "data-analysis", "python3 /skills/data-analysis/scripts/profile.py rows.csv", rows_csv=rows
    )
    for part in ("23 rows, 2 columns", "1 rows are there more than once", "1 missing of 23", "far outside the rest"):
        assert part in said


@in_any_form
async def test_a_change_is_told_with_lines_that_deserve_a_look(scripted: Scripted, api: ApiClient) -> None:
    commit = "git -c user.email=a@example.com -c user.name=a commit -qam"
    said = await ran(
        scripted,
        api,
        "code-review",
        f"git init -q . && git add a.py && {commit} one && printf 'eval(x)\\n# TODO\\n' >> a.py && "
        "bash /skills/code-review/scripts/changes.sh",
        a_py="x = 1\n",
    )
    for part in ("# Since", "a.py:2: runs what it is given?", "a.py:3: forgotten", "# Tests touched\nnone"):
        assert part in said


@in_any_form
async def test_a_pdf_is_told_what_it_is(scripted: Scripted, api: ApiClient) -> None:
    pdf = "%PDF-1.4\n1 0 obj <</Type /Page /Title (A b)>> endobj\n%%EOF\n"
    said = await ran(scripted, api, "pdf", "python3 /skills/pdf/scripts/pdf_info.py a.pdf", a_pdf=pdf)
    for part in ("PDF 1.4", "pages: 1", "title: A b", "encrypted: no"):
        assert part in said


@in_any_form
async def test_research_opens_what_it_cites_and_keeps_its_sources(scripted: Scripted, api: ApiClient) -> None:
    page = "<title>Rents 2026</title><p>Rents rose by 4 % in 2025.</p>"
    scripted.pages.answers["/rents"] = f"200 OK\r\nContent-Type: text/html\r\n\r\n{page}".encode()
    url = scripted.pages.url("/rents")
    session = await api.new_session(title="named")
    scripted.answer(
        calls(call("read_skill", skill="web-research")),
        calls(call("web_fetch", url=url), call("shell_exec", command="ls /skills/web-research")),
        calls(call("file_write", path="sources.md", content=f"- {url}: Rents rose by 4 % in 2025.\n")),
        Answer(texts=(f"By 4 % in 2025 ([the office]({url})).",)),
    )
    read, fetched, listed, _ = await results(api, session, await api.ask(session, "how did rents change?"))
    for part in ("A search result is a hint, never a source.", "`web_fetch`", "`sources.md`"):
        assert part in read
    assert "Rents rose by 4 % in 2025." in fetched
    assert "SKILL.md" in listed
    kept = await api.json("GET", f"/sessions/{session}/files/content", params={"path": "sources.md"})
    assert url in kept["content"]
