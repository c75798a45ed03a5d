"""One command of a shell: its text, its output, and its outcome."""

from __future__ import annotations

from contracts.tools import MAX_OUTPUT_CHARACTERS
from service_kit.terminal.screen import TerminalScreen
from tool_api.tools.followed import Followed
from tool_api.write_bound import too_large


class Command(Followed):
    """Filled by bash."""

    def __init__(self, text: str, folder: str) -> None:
        super().__init__()
        self.text = text
        self.folder = folder
        self.exit_code: int | None = None
        self.file_bytes: int | None = None
        """The size limit of files that the command makes."""
        self._screen = TerminalScreen(MAX_OUTPUT_CHARACTERS)

    @property
    def output(self) -> str:
        """The output as a terminal shows it."""
        return self._screen.text()

    @property
    def raw_output(self) -> str | None:
        """The output as it was written, if a terminal shows something else."""
        return self._screen.raw

    def end_notes(self, output: str) -> list[str]:
        """Notes on the exit code and, if known, its reason, judged by this output."""
        reason = too_large(self.file_bytes, self.exit_code, output)
        return [f"exit code {self.exit_code}", *([reason] if reason is not None else [])]

    def add_output(self, text: str) -> None:
        self._screen.feed(text)
        self._add_unread(text)

    def finish(self, exit_code: int | None, folder: str) -> None:
        self.exit_code = exit_code
        self.folder = folder
        self._set_finished()
