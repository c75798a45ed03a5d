"""XML of documents as trees: nothing is fetched or expanded, and the readable rest of faulty XML is kept."""

from __future__ import annotations

import importlib
import re
from typing import Any

from tool_api.documents.archives import BrokenPartError

etree: Any = importlib.import_module("lxml.etree")
"""The library, which has no types."""
Element = Any
"""An element of `lxml`, which has no types."""

DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006"
RELATION_ID = f"{{{DOCUMENT}/relationships}}"
# The ISO standard's namespaces, for which all programs use those of its forerunner.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
SAFE: dict[str, Any] = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}


def parse(content: bytes) -> tuple[Element, str]:
    """The root, and the fault in the rest, empty if the document is whole. Raises `BrokenPartError`."""
    parser = etree.XMLParser(recover=True, remove_comments=True, remove_pis=True, **SAFE)
    try:
        root = etree.fromstring(plain_namespaces(content), parser)
    except etree.XMLSyntaxError as error:
        raise BrokenPartError("it is not XML") from error
    if root is None:
        raise BrokenPartError("it is not XML")
    faults = [fault for fault in parser.error_log if fault.level_name in ("ERROR", "FATAL")]
    return root, f"line {faults[0].line}: {faults[0].message}" if faults else ""


def plain_namespaces(content: bytes) -> bytes:
    """The content with the namespaces of the ISO standard's strict form replaced by the usual ones."""
    return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", content)


def local(element: Element) -> str:
    """The name of an element without its namespace; empty for comments and other nodes."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def texts(element: Element | None, name: str = "t") -> str:
    """The text of all elements of this name below one."""
    return "" if element is None else "".join(str(found.text or "") for found in element.iter(f"{{*}}{name}"))


def on_one_line(text: str) -> str:
    return " ".join(text.split())
