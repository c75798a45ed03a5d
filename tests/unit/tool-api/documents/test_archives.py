"""An archive is looked through before a library opens it."""

from __future__ import annotations

import io
import zipfile

import pytest

from support.documents import zipped
from tool_api.documents.archives import MAX_ENTRIES, MAX_UNPACKED_BYTES, Archive, BrokenPartError, checked_names
from tool_api.documents.parts import RefusedDocumentError


def opened(parts: dict[str, bytes]) -> zipfile.ZipFile:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return zipfile.ZipFile(packed)


def test_the_names_of_a_sound_one_are_told() -> None:
    assert checked_names(opened({"a.xml": b"<a/>", "b/c.bin": b"\0"})) == {"a.xml", "b/c.bin"}


TEXT = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'
DECLARING = {
    "type": b"<!DOCTYPE a><a/>",
    "entity": TEXT.encode(),
    "wide": TEXT.encode("utf-16"),
    "wide without a mark": TEXT.encode("utf-16-be"),
    "between two pieces": b" " * (1024 * 1024 - 5) + b"<!DOCTYPE a><a/>",
    "another encoding": b'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE a+AD4-<a/>',
    "letters of mainframes": b'<?xml version="1.0" encoding="cp037"?>' + "<!DOCTYPE a><a/>".encode("cp037"),
}


@pytest.mark.parametrize("content", DECLARING.values(), ids=DECLARING)
def test_a_part_with_declarations_is_refused_and_no_other(content: bytes) -> None:
    archive = Archive(zipped({"word/document.xml": content, "word/styles.xml": b"<a/>"}))
    with pytest.raises(BrokenPartError, match=r"declares|encoding"):
        archive.read_xml("word/document.xml")
    assert archive.read_xml("word/styles.xml") == b"<a/>"


def test_one_that_unpacks_to_too_much_is_refused_before_it_is_unpacked() -> None:
    archive = opened({"a.xml": b"x"})
    archive.infolist()[0].file_size = MAX_UNPACKED_BYTES + 1
    with pytest.raises(RefusedDocumentError, match="unpacks"):
        checked_names(archive)


def test_one_of_too_many_parts_is_refused() -> None:
    with pytest.raises(RefusedDocumentError, match="parts"):
        checked_names(opened({f"{number}.xml": b"" for number in range(MAX_ENTRIES + 1)}))


def test_an_encrypted_one_is_refused() -> None:
    archive = opened({"a.xml": b"x"})
    archive.infolist()[0].flag_bits |= 1
    with pytest.raises(RefusedDocumentError, match="encrypted"):
        checked_names(archive)


def test_settings_of_a_printer_may_declare_what_they_want() -> None:
    declared = b"<!DOCTYPE plist>"
    assert Archive(zipped({"ppt/printerSettings1.bin": declared})).read_xml("ppt/printerSettings1.bin") == declared


def test_parts_are_found_by_their_names_as_programs_write_them() -> None:
    archive = Archive(zipped({"Word\\Document.xml": b"<a/>"}))
    assert archive.read_xml("/word/document.xml") == b"<a/>"
    with pytest.raises(BrokenPartError, match="missing"):
        archive.read_xml("word/styles.xml")


def test_a_damaged_part_costs_no_other() -> None:
    made = zipped({"a.xml": b"<a>" + bytes(range(256)), "b.xml": b"<b/>"})
    archive = Archive(made.replace(bytes(range(8, 40)), bytes(32), 1))
    assert archive.read_xml("b.xml") == b"<b/>"
    with pytest.raises(BrokenPartError, match="damaged"):
        archive.read_xml("a.xml")
