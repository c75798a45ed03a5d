"""Tell what kind of PDF a file is, with the standard library alone."""

from __future__ import annotations

import argparse
import re
import sys
import zlib
from pathlib import Path

MOST_BYTES = 200 * 1024 * 1024
MOST_UNPACKED = 64 * 1024 * 1024
STREAM = re.compile(rb"stream\r?\n")


def unpacked(content: bytes) -> bytes:
    """The content with its packed objects unpacked: newer files keep pages and title there."""
    parts, left = [content], MOST_UNPACKED
    for found in STREAM.finditer(content):
        head = content[max(found.start() - 400, 0) : found.start()].rpartition(b"obj")[2]
        if b"/ObjStm" in head and b"/FlateDecode" in head and left > 0:
            try:
                part = zlib.decompressobj().decompress(content[found.end() :], left)
            except zlib.error:
                continue
            left -= len(part)
            parts.append(part)
    return b"\n".join(parts)


def title_of(objects: bytes) -> str:
    found = re.search(rb"/Title\s*\(((?:\\.|[^\\)])*)\)", objects)
    if found:
        raw = re.sub(rb"\\([()\\])", rb"\1", found[1])
        return raw[2:].decode("utf-16-be", "replace") if raw[:2] == b"\xfe\xff" else raw.decode("latin-1")
    coded = re.search(rb"/Title\s*<([0-9A-Fa-f\s]+)>", objects)
    if coded:
        raw = bytes.fromhex("".join(coded[1].decode().split()).ljust(2, "0"))
        return raw[2:].decode("utf-16-be", "replace") if raw[:2] == b"\xfe\xff" else raw.decode("latin-1")
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    try:
        if given.file.stat().st_size > MOST_BYTES:
            sys.exit(f"{given.file} is larger than this program reads.")
        content = given.file.read_bytes()
    except OSError as error:
        sys.exit(f"{given.file} can't be read: {error.strerror}")
    version = re.search(rb"%PDF-(\d\.\d)", content[:1024])
    if version is None:
        sys.exit(f"{given.file} is not a PDF.")
    objects = unpacked(content)
    pages = len(re.findall(rb"/Type\s*/Page(?![a-zA-Z])", objects))
    print(f"PDF {version[1].decode()}, {len(content)} bytes")
    print(f"pages: {pages or 'not found'}")
    print(f"title: {title_of(objects) or '-'}")
    print(f"encrypted: {'yes' if b'/Encrypt' in content else 'no'}")
    print(f"text: {'probably' if re.search(rb'/Font(?![a-zA-Z])', objects) else 'none: probably a scan'}")
    if b"%%EOF" not in content[-2048:]:
        print("! the end is missing: the file was probably cut off")


if __name__ == "__main__":
    main()
