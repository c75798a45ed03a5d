"""Tables out of the HTML that kernels show."""

from __future__ import annotations

import pytest

from contracts.tools import CodeTable
from tool_api.tools.code.tables import MAX_CELL, MAX_COLUMNS, MAX_ROWS, table_of

FRAME = """<div><style scoped>.dataframe { color: red }</style>
<table border="1" class="dataframe"><thead>
<tr style="text-align: right;"><th></th><th>name</th><th>n &amp; m</th></tr>
</thead><tbody>
<tr><th>0</th><td>Ada</td><td>1</td></tr>
<tr><th>1</th><td>&lt;b&gt;Bob</td><td>2</td></tr>
</tbody></table><p>2 rows × 2 columns</p></div>"""


def test_a_data_frame_is_its_cells() -> None:
    assert table_of(FRAME) == CodeTable(
        columns=["", "name", "n & m"],
        rows=[["0", "Ada", "1"], ["1", "<b>Bob", "2"]],
        caption="2 rows × 2 columns",
    )


def test_headings_of_two_rows_are_one_and_spans_are_kept_in_place() -> None:
    html = (
        "<table><thead><tr><th></th><th colspan=2>x</th></tr><tr><th>i</th><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><th>0</th><td>1</td></tr></tbody></table>"
    )
    assert table_of(html) == CodeTable(columns=["i", "x a", "b"], rows=[["0", "1", ""]])


def test_a_table_without_a_heading_has_its_first_row_as_one() -> None:
    assert table_of("<table><tr><td>a<tr><td>b</table>") == CodeTable(columns=["a"], rows=[["b"]])


@pytest.mark.parametrize("html", ["", "<p>no", "<table>", "<table></table>", "<table" + " " * 600_000])
def test_what_is_no_table_is_none(html: str) -> None:
    assert table_of(html) is None


@pytest.mark.parametrize(
    "html",
    [
        "<table>" + "<tr><td>x</td></tr>" * 5_000,
        "<table><tr>" + "<td>x" * 50_000,
        "<table><tr><td colspan=999>x<td colspan=-1>y<td colspan=999999999999>z",
        "<table><tr><td>" + "x" * 400_000,
        "<table>" + "<thead>" * 50_000 + "<tr><td>x",
    ],
)
def test_a_table_of_any_size_is_cut(html: str) -> None:
    table = table_of(html)
    assert table is not None
    assert len(table.columns) <= MAX_COLUMNS
    assert len(table.rows) <= MAX_ROWS
    assert {len(row) for row in table.rows} <= {len(table.columns)}
    assert all(len(cell) <= MAX_CELL for row in [table.columns, *table.rows] for cell in row)
