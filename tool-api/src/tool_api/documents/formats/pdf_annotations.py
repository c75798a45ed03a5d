"""Annotations of a PDF page: the values of its form's fields, and people's comments."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2.raw as pdfium

from tool_api.documents.formats.trees import on_one_line

_raw: Any = pdfium
_MOST_ANNOTATIONS = 5_000
_MOST_OPTIONS = 100
_MOST_CHARACTERS = 1_000_000
_NO_COMMENTS = frozenset({_raw.FPDF_ANNOT_POPUP, _raw.FPDF_ANNOT_LINK, _raw.FPDF_ANNOT_WIDGET})
_MEDIA = {
    _raw.FPDF_ANNOT_FILEATTACHMENT: "attached file",
    _raw.FPDF_ANNOT_SOUND: "sound",
    _raw.FPDF_ANNOT_MOVIE: "video",
    _raw.FPDF_ANNOT_RICHMEDIA: "video",
    _raw.FPDF_ANNOT_INK: "drawing by hand",
}


class Annotations:
    def __init__(self, page: Any, form: Any, left_out: Counter[str]) -> None:
        """`form` is that of the document, None where there is none."""
        self._page, self._form, self._left_out = page, form, left_out
        self._radios: dict[str, str] = {}

    def lines(self) -> Iterator[str]:
        """The fields in their order, groups of buttons once; then the comments."""
        fields: list[tuple[str, str | None]] = []
        comments: list[str] = []
        for number in range(min(_raw.FPDFPage_GetAnnotCount(self._page), _MOST_ANNOTATIONS)):
            with _opened(self._page, number) as annotation:
                if not annotation:
                    continue
                kind = _raw.FPDFAnnot_GetSubtype(annotation)
                if kind == _raw.FPDF_ANNOT_WIDGET:
                    fields += self._field(annotation)
                    continue
                self._left_out[_MEDIA.get(kind, "")] += kind in _MEDIA
                comments += _comment(annotation, kind)
        del self._left_out[""]
        for name, value in fields:
            yield f'Field "{name}": {self._radios[name] or "none chosen" if value is None else value}'
        yield from comments

    def _field(self, annotation: Any) -> Iterator[tuple[str, str | None]]:
        """Name and value of a field; None for one of several buttons, whose choice is known only at the end."""
        kind = _raw.FPDFAnnot_GetFormFieldType(self._form, annotation) if self._form else -1
        if kind <= _raw.FPDF_FORMFIELD_UNKNOWN:
            yield from _unlisted(annotation)
            return
        name = self._of_form(_raw.FPDFAnnot_GetFormFieldName, annotation) or "without a name"
        if kind == _raw.FPDF_FORMFIELD_RADIOBUTTON:
            is_new = name not in self._radios
            self._radios.setdefault(name, "")
            if _raw.FPDFAnnot_IsChecked(self._form, annotation):
                self._radios[name] = self._of_form(_raw.FPDFAnnot_GetFormFieldExportValue, annotation) or "chosen"
            if is_new:
                yield name, None
        elif kind == _raw.FPDF_FORMFIELD_CHECKBOX:
            yield name, "ticked" if _raw.FPDFAnnot_IsChecked(self._form, annotation) else "not ticked"
        elif kind in (_raw.FPDF_FORMFIELD_COMBOBOX, _raw.FPDF_FORMFIELD_LISTBOX):
            yield name, self._choice(annotation)
        elif kind == _raw.FPDF_FORMFIELD_SIGNATURE:
            yield name, "a signature, which is not read"
        elif kind != _raw.FPDF_FORMFIELD_PUSHBUTTON:
            yield name, self._of_form(_raw.FPDFAnnot_GetFormFieldValue, annotation) or "empty"

    def _choice(self, annotation: Any) -> str:
        count = min(_raw.FPDFAnnot_GetOptionCount(self._form, annotation), _MOST_OPTIONS)
        labels = [self._option(annotation, at) for at in range(max(count, 0))]
        chosen = [
            label for at, label in enumerate(labels) if _raw.FPDFAnnot_IsOptionSelected(self._form, annotation, at)
        ]
        value = ", ".join(chosen) or self._of_form(_raw.FPDFAnnot_GetFormFieldValue, annotation) or "none chosen"
        return f"{value} (of: {', '.join(labels)})" if labels else value

    def _option(self, annotation: Any, at: int) -> str:
        return _text(lambda room, size: _raw.FPDFAnnot_GetOptionLabel(self._form, annotation, at, room, size))

    def _of_form(self, function: Callable[..., int], annotation: Any) -> str:
        return _text(lambda room, size: function(self._form, annotation, room, size))


def _unlisted(annotation: Any) -> Iterator[tuple[str, str]]:
    """A field that is missing from the form's list."""
    name, kind = _named(annotation, b"T"), _named(annotation, b"FT")
    if kind == "Btn":
        state = _named(annotation, b"AS")
        yield name or "without a name", "not ticked" if state in ("", "Off") else "ticked"
    elif name or kind:
        value = _named(annotation, b"V")
        yield name or "without a name", value or "empty"


def _comment(annotation: Any, kind: int) -> Iterator[str]:
    text = _named(annotation, b"Contents")
    if kind not in _NO_COMMENTS and text:
        by = _named(annotation, b"T")
        yield f"Comment{f' by {by}' if by else ''}: {text}"


@contextmanager
def _opened(page: Any, number: int) -> Generator[Any]:
    annotation = _raw.FPDFPage_GetAnnot(page, number)
    try:
        yield annotation
    finally:
        if annotation:
            _raw.FPDFPage_CloseAnnot(annotation)


def _named(annotation: Any, key: bytes) -> str:
    return _text(lambda room, size: _raw.FPDFAnnot_GetStringValue(annotation, key, room, size))


def _text(read: Callable[[Any, int], int]) -> str:
    """A UTF-16 text from the library, which first reports the size of the buffer it needs."""
    size = min(int(read(None, 0)), 2 * _MOST_CHARACTERS)
    if size <= 2:
        return ""
    room = (ctypes.c_ushort * (size // 2 + 1))()
    read(room, size)
    return on_one_line(bytes(room)[:size].decode("utf-16-le", "replace").rstrip("\0"))
