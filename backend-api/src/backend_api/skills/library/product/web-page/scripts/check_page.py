"""List the faults of a folder's pages that show in their files."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

VOID = {"input", "img", "br", "hr", "meta", "link", "source", "area", "base", "col", "embed", "track", "wbr"}
MOST_BYTES = 5 * 1024 * 1024


class Page(HTMLParser):
    def __init__(self, path: Path, root: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.path, self.root = path, root
        self.faults: list[tuple[int, str]] = []
        self.ids: Counter[str] = Counter()
        self.anchors: list[tuple[int, str]] = []
        self.labels: set[str] = set()
        self.fields: list[tuple[int, str, str]] = []
        self.open: list[str] = []
        self.headings: list[int] = []
        self.title = self.lang = ""
        self.has_viewport = False
        self.named = True
        self.at = 0

    def fault(self, text: str, line: int | None = None) -> None:
        self.faults.append((self.getpos()[0] if line is None else line, text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        line = self.getpos()[0]
        if tag not in VOID:
            self.open.append(tag)
        if name := given.get("id"):
            self.ids[name] += 1
        self._structure(tag, given)
        if tag == "img" and "alt" not in given:
            self.fault(f"a picture without alt: {given.get('src', '')[:80]}")
        if tag == "label":
            self.labels.add(given.get("for", ""))
        is_field = tag in ("select", "textarea") or (
            tag == "input" and given.get("type", "text") not in ("hidden", "submit", "button", "reset", "image")
        )
        if is_field and not ({"aria-label", "aria-labelledby", "title"} & given.keys()) and "label" not in self.open:
            self.fields.append((line, tag, given.get("id", "")))
        if tag == "button":
            self.named, self.at = bool({"aria-label", "aria-labelledby", "title"} & given.keys()), line
        for name in ("href", "src", "poster", "action"):
            if name in given:
                self._address(tag, name, given[name])

    def _structure(self, tag: str, given: dict[str, str]) -> None:
        if tag == "html":
            self.lang = given.get("lang", "")
        elif tag == "meta" and given.get("name") == "viewport":
            self.has_viewport = True
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdecimal():
            level = int(tag[1])
            if self.headings and level > self.headings[-1] + 1:
                self.fault(f"h{level} comes after h{self.headings[-1]}")
            self.headings.append(level)

    def _address(self, tag: str, name: str, address: str) -> None:
        parts = urlsplit(address.strip())
        if not address.strip() or address.strip() == "#":
            if tag == "a":
                self.fault("a link that leads nowhere; what acts is a button")
        elif parts.scheme in ("http", "https") or parts.netloc:
            if tag in ("script", "img", "iframe", "source", "video", "audio") or (tag == "link" and name == "href"):
                self.fault(f"loaded from another server: {address[:100]}")
        elif parts.scheme == "javascript":
            self.fault("a link to javascript: is a button")
        elif not parts.scheme:
            if not parts.path:
                self.anchors.append((self.getpos()[0], unquote(parts.fragment)))
                return
            base = self.root if parts.path.startswith("/") else self.path.parent
            target = base / unquote(parts.path).lstrip("/")
            if not (target.is_file() or (target / "index.html").is_file()) and tag != "form":
                self.fault(f"there is no {parts.path}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title":
            self.title += data
        if "button" in self.open and data.strip():
            self.named = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "button" and not self.named:
            self.fault("a button without a name", self.at)
        if tag in self.open:
            while self.open.pop() != tag:
                pass
        elif tag not in VOID:
            self.fault(f"</{tag}> closes nothing")

    def finish(self) -> list[tuple[int, str]]:
        for text, is_missing in (
            ("html has no lang", not self.lang),
            ("there is no title", not self.title.strip()),
            ("there is no viewport: a phone shows it tiny", not self.has_viewport),
            (f"there should be one h1; there are {self.headings.count(1)}", self.headings.count(1) != 1),
        ):
            if is_missing:
                self.fault(text, 1)
        for line, tag, name in self.fields:
            if name not in self.labels or not name:
                self.fault(f"a {tag} without a label", line)
        for line, name in self.anchors:
            if name and name not in self.ids:
                self.fault(f"there is no id {name}", line)
        for name, count in self.ids.items():
            if count > 1:
                self.fault(f"the id {name} is there {count} times", 1)
        return sorted(self.faults)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    root = given.folder if given.folder.is_dir() else given.folder.parent
    pages = sorted(root.rglob("*.html")) if given.folder.is_dir() else [given.folder]
    if not pages:
        sys.exit(f"There is no page in {root}.")
    count = 0
    for path in pages[:200]:
        try:
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("it is larger than this program reads")
            page = Page(path, root)
            page.feed(path.read_text(encoding="utf-8"))
            page.close()
            faults = page.finish()
        except (OSError, ValueError) as error:
            faults = [(1, f"can't be read: {error}")]
        count += len(faults)
        for line, text in faults:
            print(f"{path}:{line}: {text}")
    print(f"{len(pages)} pages, {count} faults")
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
