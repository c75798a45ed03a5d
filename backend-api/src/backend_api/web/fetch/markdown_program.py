"""Converts HTML to Markdown in a process of its own, as the author of the page decides the time and memory it takes.

Standard input: a line of JSON (`url`, `characters`), then the page in UTF-8. Standard output: JSON (`title`, `text`,
`length`). It imports nothing of ours, so that it starts quickly and without the environment.
"""

from __future__ import annotations

import html
import json
import re
import resource
import sys

from html_to_markdown import ConversionOptions, InlineDataMedia, PreprocessingOptions, convert

CPU_S = 5
MEMORY_BYTES = 768 * 1024**2
FEW_CHARACTERS = 200
HEAD_CHARACTERS = 65_536
_TITLE = re.compile(r"<title(?:\s[^>]{0,200})?>([^<]{0,2000})", re.IGNORECASE)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.loads(sys.stdin.buffer.readline())
    page = sys.stdin.buffer.read().decode("utf-8", "replace")
    text = markdown(page, asked["url"])
    output = {"title": title(page), "text": text[: asked["characters"]], "length": len(text)}
    sys.stdout.buffer.write(json.dumps(output).encode())


def markdown(page: str, url: str) -> str:
    """The page without site navigation, unless there is next to nothing else."""
    text = _converted(page, url, is_whole=False)
    return text if len(text) >= FEW_CHARACTERS else max(_converted(page, url, is_whole=True), text, key=len)


def title(page: str) -> str:
    """The title in the page's head, on one line."""
    found = _TITLE.search(page, 0, HEAD_CHARACTERS)
    return " ".join(html.unescape(found[1]).split())[:300] if found else ""


def _converted(page: str, url: str, *, is_whole: bool) -> str:
    made = convert(
        page,
        ConversionOptions(
            base_url=url,
            compact_tables=True,
            extract_metadata=False,
            inline_data_media=InlineDataMedia.ALT_TEXT_ONLY,
            preprocessing=PreprocessingOptions(enabled=not is_whole, remove_forms=False),
        ),
    )
    return (made.content or "").strip()


if __name__ == "__main__":
    main()
