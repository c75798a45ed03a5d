"""The encoding of a text is judged by all of it."""

from __future__ import annotations

import random
import time

import pytest

from tool_api.text_encoding import TextEncoding, encoding_of

CHINESE = "编号,名称,说明\n1,张三,北京市海淀区的工程师\n2,李四,上海市浦东新区的教师\n"
TEXTS = {
    "gb18030": (CHINESE, "gb18030", "GB18030"),
    "big5": ("編號,名稱\n1,臺北市中正區的工程師\n2,高雄市的老師與學生\n", "big5hkscs", "Big5"),
    "shift_jis": ("氏名,住所\n山田太郎,東京都港区の会社員です\n", "cp932", "Shift_JIS"),
    "euc_jp": ("氏名,住所\n山田太郎さんは東京都港区の会社員です\n", "euc_jp", "EUC-JP"),
    "cp949": ("이름,주소\n홍길동,서울특별시 강남구에 사는 사람입니다\n", "cp949", "EUC-KR"),
    "cp1252": ("Größe, Länge, café, naïve, señor, über 5 €\n", "windows-1252", "windows-1252"),
    "cp1251": ("Имя, адрес, телефон и отчёт за первый квартал\n", "windows-1251", "windows-1251"),
    "cp1250": ("Příliš žluťoučký kůň úpěl ďábelské ódy\n", "windows-1250", "windows-1250"),
    "iso2022_jp": ("こんにちは、世界\n", "iso2022_jp", "ISO-2022-JP"),
    "utf-8": (CHINESE, "utf-8", "UTF-8"),
    "ascii": ("a,b\n", "utf-8", "UTF-8"),
}


@pytest.mark.parametrize(("encoding", "case"), TEXTS.items(), ids=TEXTS)
def test_a_text_is_read_in_the_encoding_it_was_written_in(encoding: str, case: tuple[str, str, str]) -> None:
    text, codec, name = case
    found = encoding_of(text.encode(encoding))
    assert found is not None
    assert (found.codec, found.name, found.odd) == (codec, name, 0)
    assert found.decode(text.encode(encoding)) == text


@pytest.mark.parametrize("before", [8 * 1024, 3 * 1024 * 1024])
def test_plain_ascii_at_the_beginning_says_nothing_of_the_rest(before: int) -> None:
    found = encoding_of(b"plain,ascii,line\n" * (before // 17 + 1) + CHINESE.encode("gb18030"))
    assert found is not None
    assert (found.name, found.others) == ("GB18030", ())


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_long_line_of_ascii_takes_no_time_beside_one_that_is_none(encoding: str, is_first: bool) -> None:
    line, rest = b"a" * 1_000_000, (CHINESE + "中\n").encode(encoding)
    began = time.process_time()
    found = encoding_of(line + b"\n" + rest if is_first else rest + line)
    # It was hours.
    assert time.process_time() - began < 20
    assert found is not None
    assert (found.codec, found.odd) == (encoding, 0)


def test_what_stands_far_along_a_line_is_seen() -> None:
    found = encoding_of(b"a," * 300_000 + CHINESE.encode("gb18030"))
    assert found is not None
    assert (found.name, found.others) == ("GB18030", ())


LOG = "\x1b$B a line of a log, with an escape sequence that means nothing\n"


@pytest.mark.parametrize("text", [LOG, LOG + CHINESE, CHINESE + LOG, LOG * 20 + "中"])
def test_an_escape_sequence_of_japanese_mail_in_other_texts_means_nothing(text: str) -> None:
    assert encoding_of(text.encode()) == TextEncoding()


def test_a_damaged_japanese_mail_is_still_one() -> None:
    data = ("こんにちは、世界\n" * 40).encode("iso2022_jp").replace(b"\x1b$B", b"\x1b$B\x20", 1)
    found = encoding_of(data)
    assert found is not None
    assert found.codec == "iso2022_jp"
    assert found.odd >= 1
    assert "こんにちは" in found.decode(data)


@pytest.mark.parametrize("word", ["数据报告", "产品价格", "你们好吗", "订单金额", "你好世界", "客户名单", "中文测试"])
def test_a_few_characters_of_gb18030_are_not_read_as_korean_with_certainty(word: str) -> None:
    found = encoding_of(word.encode("gb18030"))
    assert found is not None
    assert found.decode(word.encode("gb18030")) == word
    assert "EUC-KR" in found.others
    assert found.remark() == f"[text probably in GB18030, or in {' or '.join(found.others)}, shown in UTF-8]"


@pytest.mark.parametrize("word", ["안녕하세요", "고객명단", "데이터보고", "오늘날씨", "서울부산"])
def test_a_few_characters_of_korean_stay_korean(word: str) -> None:
    found = encoding_of(word.encode("cp949"))
    assert found is not None
    assert found.decode(word.encode("cp949")) == word


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8"])
def test_one_damaged_byte_does_not_change_what_the_others_are(encoding: str) -> None:
    data = bytearray((CHINESE * 50).encode(encoding))
    data[data.index(b"\n", 1000) + 1] = 0xFF
    found = encoding_of(bytes(data))
    assert found is not None
    assert found.codec == encoding
    assert found.odd >= 1
    assert "became \ufffd" in str(found.remark())
    assert found.encode(found.decode(bytes(data))) == bytes(data)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_a_mark_says_the_encoding_and_is_no_part_of_the_text(encoding: str) -> None:
    data = CHINESE.encode(encoding)
    if encoding == "utf-16-be":
        data = b"\xfe\xff" + data
    found = encoding_of(data)
    assert found is not None
    assert found.decode(data) == CHINESE
    assert found.mark + found.encode(CHINESE) == data


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_without_a_mark_is_seen_by_its_zero_bytes(encoding: str) -> None:
    data = "name,value\r\none,1\r\n".encode(encoding)
    found = encoding_of(data)
    assert found is not None
    assert found.decode(data) == "name,value\r\none,1\r\n"


@pytest.mark.parametrize(
    "data",
    [b"\0\1", b"\x7fELF\0\0", bytes(random.Random(1).choices(range(1, 256), k=4000)), b"\1\2\3\xff\xfe\xfd" * 20],
)
def test_what_is_no_text_is_binary(data: bytes) -> None:
    assert encoding_of(data) is None


def test_a_zero_byte_far_inside_is_a_fault_of_a_text() -> None:
    assert encoding_of(b"a line\n" * 5000 + b"\0" + b"a line\n") == TextEncoding()


@pytest.mark.parametrize("size", range(8))
@pytest.mark.parametrize("byte", [b"\0", b"\xff"])
def test_a_few_bytes_are_text_or_binary_and_no_fault(byte: bytes, size: int) -> None:
    found = encoding_of(byte * size)
    assert found is None or found.decode(byte * size) is not None


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-32", "gb18030", "big5", "cp932", "cp949", "iso2022_jp"]
)
def test_a_text_that_is_cut_off_is_read_as_far_as_it_goes(encoding: str) -> None:
    text = "name,名\n" * 20
    for cut in (1, 2, 3):
        data = text.encode(encoding)[:-cut]
        found = encoding_of(data)
        assert found is None or found.decode(data).startswith("name,")
