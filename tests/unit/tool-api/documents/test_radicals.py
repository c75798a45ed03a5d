"""Characters of radicals become the common ones that a person searches for."""

from __future__ import annotations

from tool_api.documents.radicals import PLAIN


def test_each_radical_becomes_the_character_that_is_written() -> None:
    assert "⽐⻰⻋⻓⼀⾔⻛⻩".translate(PLAIN) == "比龙车长一言风黄"


def test_no_other_character_changes() -> None:
    plain = "".join(map(chr, range(0x4E00, 0xA000))) + "abc ß 你好、。😀"
    assert plain.translate(PLAIN) == plain
    assert not any(chr(code) in PLAIN.values() for code in PLAIN)
