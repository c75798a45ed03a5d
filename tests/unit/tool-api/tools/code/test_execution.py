"""What an execution showed, and what comes of it."""

from __future__ import annotations

import time

from contracts.tools import (
    MAX_CODE_PICTURES,
    MAX_OUTPUT_CHARACTERS,
    CodeDisplay,
    CodePicture,
    CodeTable,
    CodeText,
    ToolResult,
)
from tool_api.tools.code.execution import Execution, Passage
from tool_api.tools.code.kernels import Context
from tool_api.tools.code.kernelspecs import KernelSpec
from tool_api.tools.code.lines import Cleared, Shown, Written
from tool_api.tools.code.results import MAX_DISPLAYED, result_of


async def _never(_: KernelSpec, __: float) -> None:
    raise AssertionError


CONTEXT = Context("main", KernelSpec(name="python3", argv=["x"], language="python"), _never)  # pyright: ignore[reportArgumentType] - nothing is started


def written(text: str) -> Written:
    return Written(type="text", text=text)


def shown(**fields: object) -> Shown:
    return Shown.model_validate({"type": "shown", **fields})


def result(execution: Execution, note: str | None = None) -> tuple[ToolResult, CodeDisplay]:
    execution.finish(success=True)
    found = result_of(CONTEXT, execution, note)
    assert isinstance(found.display, CodeDisplay)
    return found, found.display


async def test_text_tables_and_figures_are_told_in_their_order() -> None:
    execution = Execution("...")
    execution.add(written("one\n"))
    execution.add(shown(text="a\n1", table={"columns": ["a"], "rows": [["1"]]}))
    execution.add(shown(text="<Figure>", picture="AAAA", media_type="image/png"))
    execution.add(written("two"))
    found, display = result(execution)
    assert found.output == "one\na\n1\n[figure 1] <Figure>\ntwo"
    assert display.outputs == [
        CodeText(text="one\n"),
        CodeTable(columns=["a"], rows=[["1"]]),
        CodePicture(image="AAAA", image_media_type="image/png"),
        CodeText(text="two"),
    ]


async def test_only_so_many_figures_are_shown_and_the_model_is_told() -> None:
    execution = Execution("...")
    for _ in range(MAX_CODE_PICTURES + 2):
        execution.add(shown(picture="AAAA", media_type="image/png"))
    found, display = result(execution)
    assert sum(isinstance(one, CodePicture) for one in display.outputs) == MAX_CODE_PICTURES
    assert f"[figure {MAX_CODE_PICTURES + 2} is left out]" in found.output
    assert found.output.count("Save others to files") == 1


async def test_figures_that_are_too_large_together_are_left_out() -> None:
    execution = Execution("...")
    for _ in range(2):
        execution.add(shown(picture="A" * 2_600_000, media_type="image/png"))
    _, display = result(execution)
    assert sum(isinstance(one, CodePicture) for one in display.outputs) == 1


async def test_a_long_text_is_the_results_and_a_part_of_the_views() -> None:
    execution = Execution("...")
    execution.add(written("x" * (MAX_DISPLAYED + 1)))
    found, display = result(execution)
    assert len(found.output) == MAX_DISPLAYED + 1
    assert display.is_cut
    assert display.outputs == [CodeText(text="x" * MAX_DISPLAYED)]


async def test_a_bridge_that_says_more_than_one_would_is_cut() -> None:
    execution = Execution("...")
    for _ in range(20):
        execution.add(written("y" * 100_000))
        execution.add(shown(text="z" * 100_000))
    for _ in range(5_000):
        execution.add(shown(text="again"))
    found, display = result(execution)
    assert len(found.output) <= MAX_OUTPUT_CHARACTERS + 100_000
    assert len(display.outputs) <= 250


async def test_many_small_pieces_cost_no_more_than_a_few_large_ones() -> None:
    execution = Execution("...")
    started = time.process_time()
    for _ in range(50_000):
        execution.add(written("0123456789"))
    found, _ = result(execution)
    assert len(found.output) == 500_000
    assert time.process_time() - started < 5


async def test_what_is_updated_stays_in_its_place() -> None:
    execution = Execution("...")
    execution.add(shown(key="bar", text="0 %"))
    execution.add(written("after\n"))
    execution.add(shown(key="bar", text="100 %", is_update=True))
    execution.add(shown(key="nobody", text="lost", is_update=True))
    found, _ = result(execution)
    assert found.output == "100 %\nafter"


async def test_what_was_cleared_is_not_told() -> None:
    execution = Execution("...")
    execution.add(written("before"))
    execution.add(Cleared(type="cleared"))
    execution.add(written("now"))
    assert result(execution)[0].output == "now"


async def test_what_was_cleared_or_replaced_counts_toward_no_bound() -> None:
    execution, size = Execution("..."), 100_000
    for number in range(40):
        execution.add(Cleared(type="cleared"))
        for _ in range(5):
            execution.add(written("x" * size))
        execution.add(shown(key="plot", text=str(number), picture="A" * 2_000_000, media_type="image/png"))
        for _ in range(9):
            again = shown(key="plot", text="x" * size, picture="A" * 2_000_000, media_type="image/png", is_update=True)
            execution.add(again)
    assert len(execution.take_unread()) <= MAX_OUTPUT_CHARACTERS + size
    assert [sum(map(len, one.pieces)) for one in execution.said if isinstance(one, Passage)] == [5 * size]
    (plot,) = [one for one in execution.said if isinstance(one, Shown)]
    assert (len(plot.text), len(plot.picture or "")) == (size, 2_000_000)


async def test_a_note_makes_it_a_failure_and_stands_in_the_view_too() -> None:
    found, display = result(Execution("..."), "It was interrupted.")
    assert not found.success
    assert found.output == "[It was interrupted.]"
    assert display.outputs == [CodeText(text="[It was interrupted.]")]


async def test_the_end_of_a_kernel_is_told_with_its_reason() -> None:
    execution = Execution("...")
    execution.finish(success=False, ended="it ended with exit code -9")
    found = result_of(CONTEXT, execution)
    assert not found.success
    assert "exit code -9" in found.output
    assert "variables are gone" in found.output


async def test_progress_is_told_as_it_ended_and_kept_as_it_was_written() -> None:
    execution = Execution("...")
    bars = [f"\r\x1b[32m{done:4} of 2000\x1b[0m" for done in range(1, 2001)]
    for bar in bars:
        execution.add(written(bar))
    execution.add(written("\ndone\n"))
    assert execution.take_unread() == "".join(bars) + "\ndone\n"
    found, display = result(execution)
    assert found.output == "2000 of 2000\ndone"
    assert display.outputs == [CodeText(text="2000 of 2000\ndone\n")]
    assert found.raw_output == "".join(bars) + "\ndone\n"


async def test_text_that_a_terminal_shows_as_it_is_has_no_raw_output() -> None:
    execution = Execution("...")
    execution.add(written("plain\n"))
    assert result(execution)[0].raw_output is None
