"""Reading and changing the text of one file, all inside a located place; blocking, for a thread."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass

from service_kit.amounts import size_text
from tool_api.text_encoding import UTF8, TextEncoding, encoding_of, encoding_of_file, shown_text
from tool_api.tools.files.diff import unified_diff, whole_diff
from tool_api.workspace import Located

MAX_READ_CHARACTERS = 200_000
MAX_SCANNED_CHARACTERS = 256 * 1024 * 1024
MAX_EDIT_BYTES = 10 * 1024 * 1024
_LINE_CHARACTERS = 1024 * 1024
_WIDER = {"big5hkscs": "BIG5-HKSCS", "cp932": "CP932", "cp949": "CP949", "mac_cyrillic": "MAC-CYRILLIC"}
"""iconv's names for encodings whose familiar name means fewer characters there, or nothing."""


class NotTextError(Exception):
    """The file is no text, too big to be treated as such, or its encoding lacks characters of the new text."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file: the text, the last line's number, and whether more was requested than fitted."""

    text: str
    last: int
    size: int
    is_cut: bool


def read_lines(fd: int, size: int, start: int, end: int | None, encoding: TextEncoding = UTF8) -> Lines:
    """Lines `start` to `end` of an open file, bounded; closes it."""
    with os.fdopen(fd, "rb") as raw:
        raw.seek(len(encoding.mark))
        file = io.TextIOWrapper(raw, encoding.codec, encoding.errors, newline="\n")
        number, starts_line, scanned, room = 0, True, 0, MAX_READ_CHARACTERS
        taken: list[str] = []
        while piece := file.readline(_LINE_CHARACTERS):
            scanned += len(piece)
            number += starts_line
            starts_line = piece.endswith("\n")
            if end is not None and number > end:
                return Lines("".join(taken), number - 1, size, is_cut=False)
            if number >= start:
                text = shown_text(piece)
                if len(text) > room:
                    kept = "".join(taken)
                    return Lines(kept or text[:room], number - 1 if kept else number, size, is_cut=True)
                room -= len(text)
                taken.append(text)
            if scanned > MAX_SCANNED_CHARACTERS:
                return Lines("".join(taken), number, size, is_cut=True)
    return Lines("".join(taken), number, size, is_cut=False)


@dataclass(frozen=True, slots=True)
class Written:
    """The size of a file, and how its text is kept: in which encoding, and whether its lines end in CR and LF. If it
    was there before (None: unknown), the diff from its former text, unless that is too long or was none."""

    size: int
    encoding: TextEncoding
    is_crlf: bool
    was_there: bool | None = None
    diff: str | None = None


def append_text(place: Located, text: str) -> Written:
    """Add text to the end of a file in the encoding the file has, and with its line ends; the file is made if need be.
    Raises `NotTextError`."""
    with os.fdopen(place.open(os.O_RDWR | os.O_APPEND | os.O_CREAT), "ab") as file:
        encoding = _text_encoding(place, file.fileno())
        _refuse_uncertain(place, encoding, text)
        is_crlf = _ends_lines_in_crlf(file.fileno(), encoding)
        file.write(_encoded(place, encoding, _with_crlf(text) if is_crlf else text))
        file.flush()
        return Written(os.fstat(file.fileno()).st_size, encoding, is_crlf)


def write_text(place: Located, text: str) -> Written:
    """Give a file this content, with the line ends the file has, and in its encoding, as far as that is certain and has
    all its characters; else in UTF-8."""
    former = _former(place)
    encoding, is_crlf = former.encoding, former.is_crlf
    text = _with_crlf(text) if is_crlf else text
    try:
        data = encoding.mark + encoding.encode(text)
    except UnicodeEncodeError:
        encoding, data = UTF8, text.encode()
    place.write(data)
    diff = None
    if former.text is not None and len(data) <= MAX_EDIT_BYTES:
        diff = whole_diff(place.path, shown_text(former.text), shown_text(text))
    return Written(len(data), encoding, is_crlf, former.was_there, diff)


@dataclass(frozen=True, slots=True)
class _Former:
    """What a file was before it is written: the encoding and the line ends as far as they are kept, and its text if it
    was one that may be compared."""

    encoding: TextEncoding = UTF8
    is_crlf: bool = False
    was_there: bool | None = True
    text: str | None = None


def _former(place: Located) -> _Former:
    try:
        fd = place.open()
    except FileNotFoundError:
        return _Former(was_there=False)
    except OSError:
        # Writing reports the fault, if there is one.
        return _Former(was_there=None)
    try:
        encoding = encoding_of_file(fd)
        if encoding is None:
            return _Former()
        is_crlf = _ends_lines_in_crlf(fd, encoding)
        data = os.pread(fd, MAX_EDIT_BYTES + 1, 0)
    finally:
        os.close(fd)
    text = encoding.decode(data) if len(data) <= MAX_EDIT_BYTES else None
    return _Former(UTF8 if encoding.others else encoding, is_crlf, text=text)


def _ends_lines_in_crlf(fd: int, encoding: TextEncoding) -> bool:
    """Whether all ends of lines of an open file are CR and LF, as far as it may be edited."""
    data = os.pread(fd, MAX_EDIT_BYTES, 0)
    if encoding.codec.startswith(("utf-16", "utf-32")):
        data = encoding.decode(data).encode("utf-8", "replace")
    ends = data.count(b"\n")
    return ends > 0 and ends == data.count(b"\r\n")


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _text_encoding(place: Located, fd: int) -> TextEncoding:
    encoding = encoding_of_file(fd)
    if encoding is None:
        raise NotTextError(f"{place.path} is a binary file.")
    return encoding


def _encoded(place: Located, encoding: TextEncoding, text: str) -> bytes:
    try:
        return encoding.encode(text)
    except UnicodeEncodeError as error:
        raise NotTextError(
            f"{place.path} is in {encoding.name}, which has no {error.object[error.start]!r}. Leave that out, or "
            f"{_to_utf8(encoding)}"
        ) from error


def _refuse_uncertain(place: Located, encoding: TextEncoding, text: str) -> None:
    """Refuse a text that would be other bytes in another encoding that fits: it must not be written on a guess."""
    if encoding.others and not encoding.is_same_in_all(text):
        raise NotTextError(
            f"{place.path} may be in {' or '.join((encoding.name, *encoding.others))}: it holds too little text to "
            "tell, and what is to be written is other bytes in each. Turn it into UTF-8 first: "
            "iconv -f ENCODING -t UTF-8, with the one in which it reads well."
        )


def _to_utf8(encoding: TextEncoding) -> str:
    return f"turn the file into UTF-8 first: iconv -f {_WIDER.get(encoding.codec, encoding.name)} -t UTF-8."


@dataclass(frozen=True, slots=True)
class Replaced:
    """Outcome of a replacement: how often the text was found, in which encoding; the diff when the file was changed."""

    found: int
    encoding: TextEncoding
    diff: str | None = None


def replace_text(place: Located, old: str, new: str, *, every: bool) -> Replaced:
    """Replace the one occurrence, or every one; a text with more occurrences than that changes nothing."""
    with os.fdopen(place.open(), "rb") as file:
        data = file.read(MAX_EDIT_BYTES + 1)
    if len(data) > MAX_EDIT_BYTES:
        raise NotTextError(f"{place.path} is over {size_text(MAX_EDIT_BYTES)}, too big to edit.")
    encoding = encoding_of(data)
    if encoding is None:
        raise NotTextError(f"{place.path} is a binary file.")
    before = encoding.decode(data)
    if "\r\n" in before and old not in before:
        # A model writes the ends of lines as it was shown them, or as it always does.
        old, new = _with_crlf(old), _with_crlf(new)
    found = before.count(old)
    if found == 0 or (found > 1 and not every):
        return Replaced(found, encoding)
    _refuse_uncertain(place, encoding, _not_in(old, new))
    data_old, data_new = _encoded(place, encoding, old), _encoded(place, encoding, new)
    if len(data) + found * (len(data_new) - len(data_old)) > MAX_EDIT_BYTES:
        raise NotTextError(f"{place.path} would become over {size_text(MAX_EDIT_BYTES)}, too big to edit.")
    after = before.replace(old, new)
    if _is_written_alike(encoding, before, data):
        changed = encoding.mark + _encoded(place, encoding, after)
    else:
        # Some encodings have two forms of one character: text outside the replacement must stay unchanged.
        changed = data.replace(data_old, data_new)
        if encoding.decode(changed) != after:
            raise NotTextError(
                f"{place.path} is in {encoding.name}, of which a part can't be edited. Write it again, or "
                f"{_to_utf8(encoding)}"
            )
    place.write(changed)
    return Replaced(found, encoding, unified_diff(place.path, shown_text(before), shown_text(after)))


def _not_in(old: str, new: str) -> str:
    """The middle of a new text: without the beginning and the end that it shares with the old one."""
    begin = _shared(old, new)
    old, new = old[begin:], new[begin:]
    return new[: len(new) - _shared(old[::-1], new[::-1])]


def _shared(one: str, other: str) -> int:
    """The number of characters at their beginning that two texts share."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _is_written_alike(encoding: TextEncoding, text: str, data: bytes) -> bool:
    """Whether the text that was read of these bytes is written as them again."""
    try:
        return encoding.mark + encoding.encode(text) == data
    except UnicodeEncodeError:
        return False
