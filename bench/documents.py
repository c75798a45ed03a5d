"""How long a document of about twenty pages takes in each format.

PYTHONPATH=tests .venv/bin/python bench/documents.py
"""

from __future__ import annotations

import asyncio
import io
import statistics
import time
import zipfile
from typing import get_args

import pypdfium2

from backend_api.writing.ports import Format
from backend_api.writing.programs.running import ExportPrograms
from backend_api.writing.styles import STYLES
from support.writing_sample import SECTIONS, sample

COPIES = 15
RUNS = 3


def long_text() -> list[str]:
    """The sections of the sample again and again, each with names of its own."""
    return [
        f"{'#' * level} {title} {copy} {{#sec-s{copy}-{number}}}\n\n{text.strip().replace('[^note]', f'[^n{copy}]')}\n"
        for copy in range(COPIES)
        for number, (level, title, text) in enumerate(SECTIONS)
    ]


async def timed(form: Format) -> tuple[float, bytes]:
    wanted = sample(form, STYLES[0], sections=long_text())
    begin = time.monotonic()
    made = await ExportPrograms().render(wanted)
    return time.monotonic() - begin, made


async def main() -> None:
    for form in get_args(Format):
        runs = [await timed(form) for _ in range(RUNS)]
        made = runs[-1][1]
        pages = f", {len(pypdfium2.PdfDocument(made))} pages" if form == "pdf" else ""
        files = f", {len(zipfile.ZipFile(io.BytesIO(made)).namelist())} files" if made[:2] == b"PK" else ""
        print(f"{form:9} {statistics.median(one for one, _ in runs):6.2f} s, {len(made) / 1024:6.0f} kB{pages}{files}")


asyncio.run(main())
