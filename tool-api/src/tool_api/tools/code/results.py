"""Makes a tool result of an execution: text for the model, and outputs for the page."""

from __future__ import annotations

from dataclasses import dataclass, field

from contracts.tools import (
    MAX_CODE_OUTPUTS,
    MAX_CODE_PICTURES,
    MAX_CODE_PICTURES_BYTES,
    CodeDisplay,
    CodePicture,
    CodeTable,
    CodeText,
    ToolResult,
)
from service_kit.terminal.screen import screen_text
from tool_api.tools.code.execution import Execution, Passage, Shown
from tool_api.tools.code.kernels import Context
from tool_api.tools.tool import done, failed

MAX_DISPLAYED = 8_000
"""Most characters of text in the page's view; the result has the whole text."""
MAX_CELLS = 6_000
MAX_CELL_CHARACTERS = 200_000


def result_of(context: Context, execution: Execution, note: str | None = None) -> ToolResult:
    """The result of an execution; `note` says why it was ended."""
    rendered = _Rendered()
    for one in execution.outputs:
        rendered.add(one)
    if execution.ended is not None and note is None:
        note = f"The kernel is gone: {execution.ended.strip()}. The next code starts a new one; variables are gone."
    notes = [*rendered.notes, *([note] if note is not None else [])]
    parts = [part for part in ("".join(rendered.texts).rstrip(), *(f"[{one}]" for one in notes)) if part]
    if not parts:
        parts = ["[no output]"]
    outputs = [*rendered.outputs[: MAX_CODE_OUTPUTS - len(notes)], *(CodeText(text=f"[{one}]") for one in notes)]
    display = CodeDisplay(language=context.spec.language, context=context.name, outputs=outputs, is_cut=rendered.is_cut)
    make = done if execution.success and note is None else failed
    result = make("\n".join(parts), display=display)
    return result.model_copy(update={"raw_output": "".join(rendered.raw)}) if rendered.is_redrawn else result


@dataclass(slots=True)
class _Rendered:
    texts: list[str] = field(default_factory=list[str])
    outputs: list[CodeText | CodeTable | CodePicture] = field(default_factory=list[CodeText | CodeTable | CodePicture])
    is_cut: bool = False
    notes: list[str] = field(default_factory=list[str])
    raw: list[str] = field(default_factory=list[str])
    """The written text with everything that a terminal does not show."""
    is_redrawn: bool = False
    """Whether a terminal shows something else."""
    _room: int = MAX_DISPLAYED
    _cells: int = MAX_CELLS
    _cell_characters: int = MAX_CELL_CHARACTERS
    _pictures: int = 0
    _pictures_room: int = MAX_CODE_PICTURES_BYTES
    _left_out: bool = False

    def add(self, one: Passage | Shown) -> None:
        """Add an output; they are added in the order they were shown."""
        text = screen_text(one.text)
        self.raw.append(one.text if isinstance(one, Passage) else f"{one.text}\n")
        self.is_redrawn = self.is_redrawn or text != one.text
        if isinstance(one, Passage):
            self._write(text, is_error=one.is_error)
        elif one.picture is not None:
            self._picture(one.picture, one.media_type, text)
        elif one.table is not None and self._table(one.table):
            self._line(text)
        elif text:
            self._write(f"{text}\n")

    def _write(self, text: str, *, is_error: bool = False) -> None:
        self._line(text, ends_line=is_error)
        shown = text[: self._room]
        self._room -= len(shown)
        self.is_cut = self.is_cut or len(shown) < len(text)
        if shown:
            self.outputs.append(CodeText(text=shown, is_error=is_error))

    def _line(self, text: str, *, ends_line: bool = True) -> None:
        if self.texts and not self.texts[-1].endswith("\n") and ends_line:
            self.texts.append("\n")
        self.texts.append(f"{text}\n" if ends_line and not text.endswith("\n") else text)

    def _table(self, table: CodeTable) -> bool:
        cells = [*table.columns, *(cell for row in table.rows for cell in row)]
        size = sum(map(len, cells))
        if len(cells) > self._cells or size > self._cell_characters:
            return False
        self._cells -= len(cells)
        self._cell_characters -= size
        self.outputs.append(table)
        return True

    def _picture(self, picture: str, media_type: str | None, text: str) -> None:
        size = len(picture) * 3 // 4
        self._pictures += 1
        if self._pictures > MAX_CODE_PICTURES or size > self._pictures_room:
            self._line(f"[figure {self._pictures} is left out] {text}")
            if not self._left_out:
                limit = f"{MAX_CODE_PICTURES} figures of {MAX_CODE_PICTURES_BYTES // 1_000_000} MB together"
                self.notes.append(f"At most {limit} are shown. Save others to files.")
            self._left_out = True
            return
        self._pictures_room -= size
        self.outputs.append(CodePicture(image=picture, image_media_type=media_type))
        self._line(f"[figure {self._pictures}] {text}")
