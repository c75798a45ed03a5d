"""The text of a document in Rich Text Format."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from striprtf import striprtf

from tool_api.documents.formats.left_out import told
from tool_api.documents.formats.whole import WholeDocument

_library: Any = striprtf
_LEFT_OUT = {"picture": re.compile(r"\\pict\b"), "embedded object": re.compile(r"\\object\b")}


def open_document(data: bytes) -> WholeDocument:
    """The document as text; bytes above 127 without a named encoding are read as Windows-1252."""
    source = data.decode("cp1252", "replace")
    text = str(_library.rtf_to_text(source, errors="replace"))
    counted = Counter({kind: len(found.findall(source)) for kind, found in _LEFT_OUT.items()})
    return WholeDocument(about="[Rich Text document]", text="\n".join([text.strip("\n"), *told(counted)]))
