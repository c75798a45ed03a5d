"""Write the reference.docx of exports anew: pandoc's own, with other fonts, sizes and colours in its styles.

.venv/bin/python scripts/reference_docx.py
"""

from __future__ import annotations

import re
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path

import pypandoc

TARGET = Path(__file__).parents[1] / "backend-api/src/backend_api/writing/programs/reference.docx"
FONTS = '<w:rFonts w:ascii="Georgia" w:hAnsi="Georgia" w:cs="Times New Roman" w:eastAsia="Noto Sans CJK SC"/>'
INK, SOFT, ACCENT = "1C1B19", "6A665F", "2F5D46"
SIZES = {"Title": 40, "Subtitle": 26, "Author": 22, "Date": 20, "Heading1": 30, "Heading2": 25, "Heading3": 22}
"""In half points."""


def main() -> None:
    command = [pypandoc.get_pandoc_path(), "--print-default-data-file", "reference.docx"]
    original = BytesIO(subprocess.run(command, check=True, capture_output=True).stdout)
    with zipfile.ZipFile(original) as given, zipfile.ZipFile(TARGET, "w", zipfile.ZIP_DEFLATED) as made:
        for item in given.infolist():
            content = given.read(item)
            if item.filename == "word/styles.xml":
                content = restyled(content.decode()).encode()
            made.writestr(zipfile.ZipInfo(item.filename, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def restyled(styles: str) -> str:
    styles = re.sub(r"<w:rFonts[^>]*/>", FONTS, styles)
    styles = re.sub(r"<w:lang [^>]*/>", '<w:lang w:val="en-US" w:eastAsia="zh-CN" w:bidi="ar-SA"/>', styles)
    return re.sub(r'<w:style [^>]*w:styleId="(\w+)".*?</w:style>', _style, styles, flags=re.DOTALL)


def _style(found: re.Match[str]) -> str:
    text, name = found[0], found[1]
    if name in SIZES:
        text = re.sub(r'<w:(sz|szCs) w:val="\d+"\s*/>', rf'<w:\1 w:val="{SIZES[name]}"/>', text)
        colour = SOFT if name in ("Subtitle", "Author", "Date") else INK
        text = re.sub(r"<w:color [^>]*/>", f'<w:color w:val="{colour}"/>', text)
    if name == "Hyperlink":
        text = re.sub(r"<w:color [^>]*/>", f'<w:color w:val="{ACCENT}"/>', text)
    return text


if __name__ == "__main__":
    main()
