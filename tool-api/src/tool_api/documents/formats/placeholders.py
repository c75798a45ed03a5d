"""Text that stays unchanged in Markdown, whatever the library that makes the Markdown would do to it."""

from __future__ import annotations

import re
import secrets


class Placeholders:
    """Placeholder words for texts of ours while a library makes Markdown of the text around them."""

    def __init__(self) -> None:
        self._mark = f"Q{secrets.token_hex(8)}Q"
        self._texts: list[str] = []

    def put(self, text: str) -> str:
        self._texts.append(text)
        return f"{self._mark}{len(self._texts) - 1}Z"

    def fill(self, markdown: str) -> str:
        return re.sub(rf"{self._mark}(\d+)Z", lambda found: self._texts[int(found[1])], markdown)
