"""Extracts the text of a paper's LaTeX source as arXiv has it, in a process of its own: a tar archive, or one file,
packed by gzip.

Standard input: a line of JSON (`characters`), then the file. Standard output: JSON, `sections` (title, text) or the
`reason` why there are none. Nothing of the source is run: it is read as text, and included files are inserted, from the
archive only. It imports nothing of ours, so that it starts without the environment.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import resource
import sys
import tarfile
import zlib
from typing import Any

CPU_S = 20
MEMORY_BYTES = 768 * 1024**2
MOST_UNPACKED = 64 * 1024**2
MOST_MEMBERS = 3_000
MOST_FILE = 4 * 1024**2
MOST_INPUTS = 300
MOST_SECTIONS = 300
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}\n]{1,200})\}")
_SECTION = re.compile(r"\\(?:chapter|section|subsection|subsubsection)\*?\s*(?:\[[^\[\]\n]{0,200}\])?\s*\{")
_ABSTRACT = re.compile(r"\\begin\{abstract\}")
_CITE = re.compile(r"\\[a-zA-Z]{0,12}cite[a-zA-Z]{0,12}\*?(?:\[[^\[\]\n]{0,100}\]){0,2}\{([^{}]{0,500})\}")
_REMOVED = re.compile(
    r"\\(?:label|vspace|hspace|includegraphics|bibliographystyle|bibliography|thispagestyle|pagestyle|setlength)\*?"
    r"(?:\[[^\[\]\n]{0,300}\])?(?:\{[^{}\n]{0,300}\}){1,2}"
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[^{}\n]{1,60}\}(?:\[[^\[\]\n]{0,100}\])?")
_PLAIN = re.compile(r"\\(?:textbf|textit|textsc|texttt|textrm|textsf|emph|underline|mbox|caption|footnote|url)\s*\{")
_ITEM = re.compile(r"\\item\b")
_LINES = re.compile(r"\n{3,}")
BEFORE = "Beginning"


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.loads(sys.stdin.buffer.readline())
    sys.stdout.buffer.write(json.dumps(read(sys.stdin.buffer.read(), asked["characters"])).encode("utf-8", "replace"))


def read(content: bytes, characters: int) -> dict[str, Any]:
    try:
        files = unpack(content)
    except (OSError, EOFError, zlib.error, tarfile.TarError):
        return {"reason": "The paper's source archive is corrupt."}
    main_file = _main_of(files)
    if main_file is None:
        return {"reason": "The paper's source archive contains no LaTeX."}
    text = _whole(files, main_file)
    return {"sections": split(text[: characters * 2], characters)}


def unpack(content: bytes) -> dict[str, str]:
    """The texts by their names."""
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
        plain = packed.read(MOST_UNPACKED)
    files = dict[str, str]()
    try:
        with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
            for count, member in enumerate(archive):
                if count >= MOST_MEMBERS:
                    break
                if (
                    member.isreg()
                    and member.size <= MOST_FILE
                    and member.name.lower().endswith((".tex", ".ltx", ".bbl"))
                ):
                    found = archive.extractfile(member)
                    if found is not None:
                        files[member.name.removeprefix("./")] = found.read(MOST_FILE).decode("utf-8", "replace")
    except tarfile.ReadError:
        if not files:
            files["main.tex"] = plain[:MOST_FILE].decode("utf-8", "replace")
    return files


def _main_of(files: dict[str, str]) -> str | None:
    wanted = [name for name, text in files.items() if "\\begin{document}" in text or "\\documentstyle" in text]
    return max(wanted, key=lambda name: len(files[name])) if wanted else None


def _whole(files: dict[str, str], name: str) -> str:
    """The text with included files inserted, each once."""
    used = {name}
    text = _COMMENT.sub("", files[name])
    for _ in range(MOST_INPUTS):
        found = _INPUT.search(text)
        if found is None:
            break
        wanted = found[1].strip().removeprefix("./")
        other = next((one for one in (wanted, f"{wanted}.tex") if one in files and one not in used), None)
        used.add(other or "")
        put = _COMMENT.sub("", files[other]) if other else ""
        text = text[: found.start()] + put + text[found.end() :]
    begin = text.find("\\begin{document}")
    return text[begin + len("\\begin{document}") :] if begin >= 0 else text


def split(text: str, characters: int) -> list[dict[str, Any]]:
    """Split at the commands of sections."""
    marks = [(found.start(), found.end(), None) for found in _SECTION.finditer(text)][:MOST_SECTIONS]
    abstract = _ABSTRACT.search(text)
    places: list[tuple[int, int, str | None]] = [*marks]
    if abstract:
        places.append((abstract.start(), abstract.end(), "Abstract"))
    places.sort()
    sections, title, begin = list[dict[str, Any]](), BEFORE, 0
    for start, end, name in places:
        sections.append({"title": title, "text": text[begin:start]})
        if name is None:
            close = _closing(text, end)
            title, begin = plain(text[end:close])[:200], close + 1
        else:
            title, begin = name, end
    sections.append({"title": title, "text": text[begin:]})
    left, made = characters, list[dict[str, Any]]()
    for one in sections:
        bare = plain(one["text"])[:left]
        left -= len(bare)
        if bare or one["title"] != BEFORE:
            made.append({"title": one["title"] or "(untitled)", "text": bare})
    return made


def _closing(text: str, at: int) -> int:
    """The place of the bracket that closes the one before `at`."""
    depth = 1
    for place in range(at, min(at + 500, len(text))):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place
    return min(at + 100, len(text))


def plain(text: str) -> str:
    """The text without commands of layout; formulas stay as they are."""
    bare = _CITE.sub(lambda found: f"[@{found[1].strip()}]", text)
    bare = _ENVIRONMENT.sub("", _REMOVED.sub("", bare))
    bare = _ITEM.sub("-", _PLAIN.sub("{", bare))
    for sign in ("\\maketitle", "\\centering", "\\noindent", "\\end{document}", "\\newpage", "\\clearpage"):
        bare = bare.replace(sign, "")
    bare = re.sub(r"\\([%&$#_])", r"\1", bare.replace("~", " "))
    if "$" not in bare and "\\" not in bare:
        bare = bare.replace("{", "").replace("}", "")
    return _LINES.sub("\n\n", bare).strip()


if __name__ == "__main__":
    main()
