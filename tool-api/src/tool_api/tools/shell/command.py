"""One command of a shell: its text, what it wrote, and how it ended."""

from __future__ import annotations

from contracts.tools import MAX_OUTPUT_CHARACTERS
from tool_api.tools.followed import Followed
from tool_api.tools.shell.output import BoundedText


class Command(Followed):
    """Filled by bash."""

    def __init__(self, text: str, folder: str) -> None:
        super().__init__()
        self.text = text
        self.folder = folder
        self.exit_code: int | None = None
        self._output = BoundedText(MAX_OUTPUT_CHARACTERS)

    @property
    def output(self) -> str:
        return self._output.text()

    def add_output(self, text: str) -> None:
        self._output.append(text)
        self._add_unread(text)

    def finish(self, exit_code: int | None, folder: str) -> None:
        self.exit_code = exit_code
        self.folder = folder
        self._set_finished()
