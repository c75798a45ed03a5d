"""What an execution showed, and what comes of it."""

from __future__ import annotations

import time
from typing import Any

from contracts.tools import (
    MAX_CODE_PICTURES,
    MAX_OUTPUT_CHARACTERS,
    CodeDisplay,
    CodePicture,
    CodeTable,
    CodeText,
    ToolResult,
)
from tool_api.tools.code.execution import (
    HEAD,
    MAX_PICTURE,
    MAX_SHOWN,
    MAX_SHOWN_TEXT,
    TAIL,
    Execution,
    Passage,
    Shown,
)
from tool_api.tools.code.kernels import Context
from tool_api.tools.code.kernelspecs import KernelSpec
from tool_api.tools.code.results import MAX_DISPLAYED, result_of


async def _never(_: KernelSpec, __: float) -> None:
    raise AssertionError


CONTEXT = Context("main", KernelSpec(name="python3", argv=["x"], language="python"), _never)  # pyright: ignore[reportArgumentType] - nothing is started


def send(execution: Execution, kind: str, **content: Any) -> None:
    execution.add_message({"header": {"msg_type": kind}, "content": content})


def write(execution: Execution, text: str) -> None:
    send(execution, "stream", text=text)


def show(execution: Execution, text: str = "", key: str = "", *, is_update: bool = False, **data: Any) -> None:
    kind = "update_display_data" if is_update else "display_data"
    data = {"text/plain": text} | {f"image/{name}": picture for name, picture in data.items()}
    send(execution, kind, data=data, transient={"display_id": key})


def result(execution: Execution, note: str | None = None) -> tuple[ToolResult, CodeDisplay]:
    execution.finish(success=True)
    found = result_of(CONTEXT, execution, note)
    assert isinstance(found.display, CodeDisplay)
    return found, found.display


async def test_text_tables_and_figures_are_told_in_their_order() -> None:
    execution = Execution("...")
    write(execution, "one\n")
    html = "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>"
    send(execution, "execute_result", data={"text/plain": "a\n1", "text/html": html})
    show(execution, "<Figure>", png="AAAA")
    write(execution, "two")
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
        show(execution, png="AAAA")
    found, display = result(execution)
    assert sum(isinstance(one, CodePicture) for one in display.outputs) == MAX_CODE_PICTURES
    assert f"[figure {MAX_CODE_PICTURES + 2} is left out]" in found.output
    assert found.output.count("Save others to files") == 1


async def test_figures_that_are_too_large_together_are_left_out() -> None:
    execution = Execution("...")
    for _ in range(2):
        show(execution, png="A" * 2_600_000)
    _, display = result(execution)
    assert sum(isinstance(one, CodePicture) for one in display.outputs) == 1


async def test_a_long_text_is_the_results_and_a_part_of_the_views() -> None:
    execution = Execution("...")
    write(execution, "x" * (MAX_DISPLAYED + 1))
    found, display = result(execution)
    assert len(found.output) == MAX_DISPLAYED + 1
    assert display.is_cut
    assert display.outputs == [CodeText(text="x" * MAX_DISPLAYED)]


async def test_of_a_flood_the_first_and_the_last_text_is_kept() -> None:
    execution = Execution("...")
    for number in range(200_000):
        write(execution, f"{number:9}\n")
    assert len(execution.take_unread()) == HEAD
    show(execution, "shown")
    found, _ = result(execution)
    assert found.output.startswith("        0\n")
    assert f"shown\n\n[... {200_000 * 10 - HEAD - TAIL} characters left out ...]\n" in found.output
    assert found.output.endswith("   199999")


async def test_whatever_is_shown_the_result_is_bounded() -> None:
    execution = Execution("...")
    for _ in range(20):
        write(execution, "y" * 100_000)
        show(execution, "z" * 100_000)
        send(execution, "error", traceback=["e" * 100_000])
    for _ in range(5_000):
        show(execution, "again")
    found, display = result(execution)
    assert len(found.output) <= MAX_OUTPUT_CHARACTERS + 100_000
    assert len(display.outputs) <= 250
    assert found.output.count(f"Only the first {MAX_SHOWN}") == 1


async def test_of_a_traceback_without_end_the_end_is_kept_in_time() -> None:
    execution = Execution("...")
    began = time.process_time()
    send(execution, "error", traceback=["/-" * 10_000_000, "ValueError: x"])
    assert time.process_time() - began < 20
    found, display = result(execution)
    assert not found.success
    assert len(found.output) == MAX_SHOWN_TEXT
    assert found.output.endswith("/-\nValueError: x")
    assert isinstance(display.outputs[0], CodeText)
    assert display.outputs[0].is_error


async def test_a_long_result_says_how_much_was_left_out() -> None:
    execution = Execution("...")
    show(execution, "x" * (MAX_SHOWN_TEXT + 7))
    assert result(execution)[0].output.endswith("\n[... 7 characters left out ...]")


async def test_a_picture_that_is_too_large_is_left_out_and_named() -> None:
    execution = Execution("...")
    show(execution, "<Figure>", png="A" * (MAX_PICTURE + 1))
    assert "too large" in result(execution)[0].output
    assert "<Figure>" in result(execution)[0].output


async def test_content_of_another_shape_is_left_out() -> None:
    execution = Execution("...")
    for content in ({"data": 3}, {"data": {"text/plain": {"a": 1}, "image/png": [1]}, "transient": 4}, {}):
        send(execution, "display_data", **content)
    send(execution, "stream", text=7)
    send(execution, "no such kind", text="x")
    send(execution, "error", traceback=[1, "two"], ename=3)
    assert result(execution)[0].output == "\ntwo"


async def test_half_a_character_is_replaced() -> None:
    execution = Execution("...")
    write(execution, "a\ud800b")
    assert result(execution)[0].output == "a?b"


async def test_many_small_pieces_cost_no_more_than_a_few_large_ones() -> None:
    execution = Execution("...")
    started = time.process_time()
    for _ in range(30_000):
        write(execution, "0123456789")
    found, _ = result(execution)
    assert len(found.output) == 300_000
    assert time.process_time() - started < 5


async def test_what_is_updated_stays_in_its_place() -> None:
    execution = Execution("...")
    show(execution, "0 %", "bar")
    write(execution, "after\n")
    show(execution, "100 %", "bar", is_update=True)
    show(execution, "lost", "nobody", is_update=True)
    found, _ = result(execution)
    assert found.output == "100 %\nafter"


async def test_what_was_cleared_is_not_told() -> None:
    execution = Execution("...")
    write(execution, "before")
    send(execution, "clear_output", wait=True)
    write(execution, "now")
    assert result(execution)[0].output == "now"


async def test_what_was_cleared_or_replaced_counts_toward_no_bound() -> None:
    execution = Execution("...")
    for number in range(MAX_SHOWN + 1):
        send(execution, "clear_output", wait=True)
        write(execution, "x" * 100_000)
        show(execution, str(number), "plot", png="A" * 2_000_000)
        for _ in range(9):
            show(execution, "x" * MAX_SHOWN_TEXT, "plot", is_update=True, png="A" * 2_000_000)
    assert len(execution.take_unread()) <= MAX_OUTPUT_CHARACTERS + 100_000
    passage, plot = execution.outputs
    assert isinstance(passage, Passage)
    assert isinstance(plot, Shown)
    assert (len(passage.text), len(plot.text), len(plot.picture or "")) == (100_000, MAX_SHOWN_TEXT, 2_000_000)


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
        write(execution, bar)
    write(execution, "\ndone\n")
    assert execution.take_unread() == "".join(bars) + "\ndone\n"
    found, display = result(execution)
    assert found.output == "2000 of 2000\ndone"
    assert display.outputs == [CodeText(text="2000 of 2000\ndone\n")]
    assert found.raw_output == "".join(bars) + "\ndone\n"


async def test_text_that_a_terminal_shows_as_it_is_has_no_raw_output() -> None:
    execution = Execution("...")
    write(execution, "plain\n")
    assert result(execution)[0].raw_output is None
