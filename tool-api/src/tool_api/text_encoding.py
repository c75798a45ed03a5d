"""The encoding of a text file, judged by all of it: its mark, UTF-8, or what `chardetng` guesses.

`chardetng` is the detector of Firefox. It is given the lines that are not ASCII, wherever they stand in the file.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from chardetng_py.detector import EncodingDetector

HEAD_BYTES = 8192
"""A NUL among the first ones makes a file binary, as it does for git."""
MAX_JUDGED_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_SAMPLE_BYTES = 1024 * 1024
_LEAST_WIDE_BYTES = 8
"""Bytes needed to judge that every other one is zero on purpose."""
_CERTAIN_BYTES = 40
"""Bytes beyond ASCII that suffice for a certain guess; with fewer, the other encodings that fit are named too."""
_ODD_SHARE = 0.02
"""Share of damaged characters below which no other encoding is tried."""
_CONTROL_SHARE = 0.02
_ODD = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_UNLIKELY = re.compile("[\x80-\x9f\ue000-\uf8ff\ufff0-\uffff]")
_ASCII = re.compile("[\x00-\x7f]+")
_KANA = re.compile("[\u3040-\u30ff]")
_COMMON_CHINESE = re.compile(rb"(?:[\x00-\x7f]|[\xa1-\xa3\xb0-\xd7][\xa1-\xfe])+")
"""Common Chinese in GB2312: ASCII, punctuation and the first level of characters."""
_COMMON_KOREAN = frozenset(
    "이다는을의가에고하를기지한사로은리자서대해인어도시아정수일장전부그나라있여상제구주보스들동조것원경년과공비중만성당무선신생회화소진유세관문용"
    "실안미우계모방물오적터면개교위없되학국민말했요분트입니습할된게너내마저데드르려연영우운음의재차천최타트파판표품하함합행현호홍후히날씨울산격고객명단록"
)
_REST_BEYOND_ASCII = re.compile(rb"[\x80-\xff][^\n]*\n?")
"""The rest of each line from its first byte beyond ASCII; a match that began earlier would go through the ASCII again
from each of its bytes on."""
_ASCII_BEFORE_BYTES = 4096
_JAPANESE_MAIL = re.compile(rb"\x1b\$[@B]")

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32LE"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32BE"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16LE"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16BE"),
)
_CODECS = {
    "GBK": "gb18030",
    "gb18030": "gb18030",
    "Big5": "big5hkscs",
    "Shift_JIS": "cp932",
    "EUC-JP": "euc_jp",
    "EUC-KR": "cp949",
    "ISO-2022-JP": "iso2022_jp",
    "ISO-8859-8-I": "iso8859_8",
    "x-mac-cyrillic": "mac_cyrillic",
    "windows-874": "cp874",
}
"""Python's names for the WHATWG's encodings that have another one there."""
_NAMES = {
    "gb18030": "GB18030",
    "big5hkscs": "Big5",
    "cp932": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "cp949": "EUC-KR",
    "iso2022_jp": "ISO-2022-JP",
    "iso8859_8": "ISO-8859-8",
    "mac_cyrillic": "x-mac-cyrillic",
    "cp874": "windows-874",
}
"""Familiar names for Python's codecs that have another one there."""
_CODEC_OF_NAME = {name: codec for codec, name in _NAMES.items()}
_SEVERAL_BYTES = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """An encoding: Python's name of it, the name people know, and the byte order mark the file begins with.

    `others` are the names of those that fit as well, if there is too little text to be certain. `odd` is the number of
    bytes in the judged part that it can't explain.
    """

    codec: str = "utf-8"
    name: str = "UTF-8"
    mark: bytes = b""
    others: tuple[str, ...] = ()
    odd: int = 0

    @property
    def is_utf8(self) -> bool:
        return self.codec == "utf-8"

    @property
    def errors(self) -> str:
        """Python's error handler for bytes that can't be decoded: surrogates, if none of them is ASCII."""
        return "replace" if self.codec.startswith(("utf-16", "utf-32", "iso2022")) else "surrogateescape"

    def decode(self, data: bytes) -> str:
        """The text; a byte that can't be explained becomes a surrogate, from which `encode` makes it again, or a
        replacement character."""
        return data.removeprefix(self.mark).decode(self.codec, self.errors)

    def encode(self, text: str) -> bytes:
        """The bytes of a text, without the mark. Raises `UnicodeEncodeError` where the encoding lacks a character."""
        return text.encode(self.codec, "strict" if self.errors == "replace" else self.errors)

    def is_same_in_all(self, text: str) -> bool:
        """Whether a text would be the same bytes in each encoding that fits."""
        if text.isascii():
            return True
        try:
            data = self.encode(text)
            return all(text.encode(_CODEC_OF_NAME[name]) == data for name in self.others)
        except UnicodeEncodeError:
            return False

    def remark(self) -> str | None:
        """A remark on the encoding for a reader of the text; None for UTF-8 without faults."""
        odd = f"{self.odd} byte{'s' if self.odd != 1 else ''} of it can't be read and became �" if self.odd else ""
        if self.is_utf8:
            return f"[{odd}]" if odd else None
        which = f"probably in {self.name}, or in {' or '.join(self.others)}" if self.others else f"in {self.name}"
        return f"[text {which}, shown in UTF-8{f'. {odd}' if odd else ''}]"


UTF8 = TextEncoding()


def encoding_of_file(fd: int) -> TextEncoding | None:
    """The encoding of an open file, whose position stays; None for a binary file. Blocking, for a thread."""
    return _judge(_pieces(fd))


def encoding_of(data: bytes) -> TextEncoding | None:
    """The encoding of bytes, as `encoding_of_file`."""
    return _judge(data[start : start + _PIECE_BYTES] for start in range(0, len(data), _PIECE_BYTES))


def shown_text(text: str) -> str:
    """The text with a replacement character for each byte that could not be explained."""
    return _ODD.sub("�", text)


def is_common_chinese(data: bytes) -> bool:
    """Whether all that is not ASCII would be common Chinese characters, were it GB18030."""
    return _COMMON_CHINESE.fullmatch(data) is not None


def _pieces(fd: int) -> Iterator[bytes]:
    at = 0
    while at < MAX_JUDGED_BYTES and (piece := os.pread(fd, _PIECE_BYTES, at)):
        at += len(piece)
        yield piece


def _judge(pieces: Iterator[bytes]) -> TextEncoding | None:
    first = next(pieces, b"")
    for mark, codec, name in _MARKS:
        if first.startswith(mark):
            return TextEncoding(codec, name, mark)
    if b"\0" in first[:HEAD_BYTES]:
        return _wide_without_mark(first[:HEAD_BYTES])
    sample = _Sample()
    sample.take(first)
    for piece in pieces:
        if sample.is_full:
            break
        sample.take(piece)
    return sample.encoding()


def _wide_without_mark(head: bytes) -> TextEncoding | None:
    """UTF-16 of a text that is mostly ASCII, every other byte of which is NUL."""
    if len(head) < _LEAST_WIDE_BYTES:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    wide = TextEncoding("utf-16-le", "UTF-16LE") if odd > even else TextEncoding("utf-16-be", "UTF-16BE")
    if max(even, odd) < 0.6 * (len(head) // 2) or _CONTROL.search(wide.decode(head[: len(head) // 2 * 2])):
        return None
    return wide


class _Sample:
    """Whether all input so far is UTF-8, and the lines to guess by if it is not: half of them are the first ones beyond
    ASCII, half those from the first fault on."""

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._is_utf8 = True
        self._before, self._after = bytearray(), bytearray()
        self._is_ascii = True
        self._mail = _JapaneseMail()

    @property
    def is_full(self) -> bool:
        """Whether more of the file changes nothing."""
        return len(self._after) >= _SAMPLE_BYTES // 2

    def take(self, piece: bytes) -> None:
        self._is_ascii = self._is_ascii and piece.isascii()
        if self._is_ascii:
            self._mail.take(piece)
        if self._is_utf8:
            try:
                self._utf8.decode(piece)
            except UnicodeDecodeError:
                self._is_utf8 = False
        _add_lines(self._before if self._is_utf8 else self._after, piece)

    def encoding(self) -> TextEncoding | None:
        is_cut = bool(self._utf8.getstate()[0])
        if self._is_utf8 and not is_cut:
            return self._mail.encoding() if self._is_ascii else UTF8
        sample = bytes(self._before + self._after)
        text = sample.decode("utf-8", "surrogateescape")
        odd = len(_ODD.findall(text))
        if _beyond_ascii(text) - odd > 4 * odd:
            return TextEncoding(odd=odd)
        return _guess(sample)


class _JapaneseMail:
    """Whether ASCII is ISO-2022-JP, which writes Japanese in it: escape sequences switch the meaning of what follows.

    A log may hold such a sequence too. What follows it there is hardly ever Japanese.
    """

    def __init__(self) -> None:
        self._decoder: codecs.IncrementalDecoder | None = None
        self._letters = self._odd = 0

    def take(self, piece: bytes) -> None:
        if self._decoder is None:
            if _JAPANESE_MAIL.search(piece) is None:
                return
            self._decoder = codecs.getincrementaldecoder("iso2022_jp")("replace")
        text = self._decoder.decode(piece)
        self._letters += _beyond_ascii(text)
        self._odd += text.count("�")

    def encoding(self) -> TextEncoding:
        """The encoding; UTF-8 if the text is no ISO-2022-JP."""
        if self._letters == 0 or self._odd > _ODD_SHARE * self._letters:
            return UTF8
        return TextEncoding("iso2022_jp", _name("iso2022_jp"), odd=self._odd)


def _add_lines(lines: bytearray, piece: bytes) -> None:
    most = _SAMPLE_BYTES // 2
    if len(lines) >= most or piece.isascii():
        return
    for rest in _REST_BEYOND_ASCII.finditer(piece):
        begin = max(piece.rfind(b"\n", 0, rest.start()) + 1, rest.start() - _ASCII_BEFORE_BYTES)
        lines += piece[begin : min(rest.end(), begin + most)]
        if len(lines) >= most:
            return


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _guess(sample: bytes) -> TextEncoding | None:
    is_short = len(sample) - len(sample.decode("ascii", "ignore")) < _CERTAIN_BYTES
    codec = _guessed_codec(sample)
    fitting = [one for one in _SEVERAL_BYTES if _odd_share(sample, one) < _ODD_SHARE]
    if codec not in fitting:
        # One damaged character rules an encoding out for the detector: it guesses again without those.
        for one in fitting:
            text = _ODD.sub("", sample.decode(one, "surrogateescape"))
            if _odd_share(sample, one) and _guessed_codec(text.encode(one)) == one:
                codec = one
                break
    if is_short and _is_rather_chinese(sample, codec):
        codec = "gb18030"
    text = sample.decode(codec, "surrogateescape")
    odd = len(_ODD.findall(text))
    if len(_CONTROL.findall(text)) + odd > _CONTROL_SHARE * len(text) + 1:
        return None
    others = [one for one in _SEVERAL_BYTES if one != codec and _fits(sample, one)] if is_short else []
    return TextEncoding(codec, _name(codec), others=tuple(map(_name, others)), odd=odd)


def _guessed_codec(sample: bytes) -> str:
    detector = EncodingDetector()
    detector.feed(sample, last=True)
    label = detector.guess(tld=None, allow_utf8=False)
    return _CODECS.get(label, label)


def _name(codec: str) -> str:
    return _NAMES.get(codec, codec)


def _is_rather_chinese(sample: bytes, codec: str) -> bool:
    """Whether a few characters of GB18030 were detected as Korean or Japanese, as happens often: then the Korean ones
    are rare, or the Japanese ones have no kana, while all are common in Chinese."""
    if codec not in ("cp949", "euc_jp") or not is_common_chinese(sample):
        return False
    letters = _ASCII.sub("", sample.decode(codec, "replace"))
    if codec == "euc_jp":
        return _KANA.search(letters) is None
    return 2 * sum(letter in _COMMON_KOREAN for letter in letters) < len(letters)


def _odd_share(sample: bytes, codec: str) -> float:
    text = sample.decode(codec, "surrogateescape")
    return len(_ODD.findall(text)) / max(_beyond_ascii(text), 1)


def _fits(sample: bytes, codec: str) -> bool:
    try:
        return _UNLIKELY.search(sample.decode(codec)) is None
    except UnicodeDecodeError:
        return False
