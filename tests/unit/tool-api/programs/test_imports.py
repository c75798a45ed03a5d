"""Programs that the tool API starts beside itself have its own sources and packages, and nothing of other services."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import tool_api

SOURCES = str(Path(tool_api.__file__).parent.parent)


PROGRAMS = (
    "navigation.program",
    "tools.files.search_process",
    "documents.reading_program",
    "documents.picture_program",
    "documents.markdown_program",
    "documents.searchable_program",
    *(f"documents.formats.{name}" for name in ("docx", "xlsx", "pptx", "pdf", "page", "odf", "mail", "rtf")),
)


def test_programs_need_nothing_of_other_services() -> None:
    paths = [SOURCES, sysconfig.get_path("purelib")]
    imports = "; ".join(f"import tool_api.{program}" for program in PROGRAMS)
    code = f"import sys; sys.path += {paths!r}; {imports}"
    subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], check=True, env={})
