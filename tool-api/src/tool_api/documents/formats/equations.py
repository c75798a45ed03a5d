"""Equations of Office documents on one line, as they are written in programs."""

from __future__ import annotations

from collections.abc import Callable

from tool_api.documents.formats.trees import Element, local

_DEEPEST = 60
_PROPERTIES = frozenset({"rPr", "ctrlPr"})


def linear(element: Element, depth: int = 0) -> str:
    """An `oMath` element, or one within, such as `(a+b)/2` or `x^2`."""
    if depth > _DEEPEST:
        return "..."
    name = local(element)
    if name == "t":
        return str(element.text or "")
    if name in _PROPERTIES or name.endswith("Pr"):
        return ""
    parts = {local(child): linear(child, depth + 1) for child in element}
    if name in _FORMS:
        return _FORMS[name](lambda part: parts.get(part, ""))
    if name == "nary":
        sign = _property(element, "chr") or "∫"
        return f"{sign}{_mark('_', parts.get('sub', ''))}{_mark('^', parts.get('sup', ''))} {parts.get('e', '')}"
    if name == "d":
        begin, end = _property(element, "begChr"), _property(element, "endChr")
        inner = ", ".join(linear(child, depth + 1) for child in element if local(child) == "e")
        return f"{'(' if begin is None else begin}{inner}{')' if end is None else end}"
    if name in ("m", "eqArr"):
        return f"[{'; '.join(linear(child, depth + 1) for child in element if local(child) in ('mr', 'e'))}]"
    if name == "mr":
        return ", ".join(linear(child, depth + 1) for child in element)
    return "".join(linear(child, depth + 1) for child in element)


def _property(element: Element, name: str) -> str | None:
    found = element.find(f"./*/{{*}}{name}")
    values = [] if found is None else [value for key, value in found.attrib.items() if key.endswith("val")]
    return str(values[0]) if values else None


def _group(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _mark(sign: str, text: str) -> str:
    return f"{sign}{_group(text)}" if text else ""


def _root(part: Callable[[str], str]) -> str:
    return f"root({part('e')}, {part('deg')})" if part("deg") else f"√{_group(part('e'))}"


_FORMS: dict[str, Callable[[Callable[[str], str]], str]] = {
    "f": lambda part: f"{_group(part('num'))}/{_group(part('den'))}",
    "sSup": lambda part: f"{_group(part('e'))}{_mark('^', part('sup'))}",
    "sSub": lambda part: f"{_group(part('e'))}{_mark('_', part('sub'))}",
    "sSubSup": lambda part: f"{_group(part('e'))}{_mark('_', part('sub'))}{_mark('^', part('sup'))}",
    "rad": _root,
    "func": lambda part: f"{part('fName')}({part('e')})",
    "limLow": lambda part: f"{part('e')}{_mark('_', part('lim'))}",
    "limUpp": lambda part: f"{part('e')}{_mark('^', part('lim'))}",
}
