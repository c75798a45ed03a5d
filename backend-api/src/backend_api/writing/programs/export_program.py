"""Makes a document of sections in Markdown, in a process of its own, as the author of the text decides how long it
takes.

Standard input: a line of JSON (see `Rendering` of ports; `sections` are files of Markdown in the working directory,
`pandoc` is the path of pandoc). Standard output: JSON: the `file` that it made, or the `reason` why there is none; for
the format `figures` which of them are `unusable`, and why.
Pandoc reads Markdown without raw TeX and HTML, and only what `Cleaner` allows is written to the document. It imports
nothing of ours, so that it starts without the environment.
"""

from __future__ import annotations

import base64
import html
import json
import re
import resource
import subprocess
import sys
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

CPU_S = 60
MEMORY_BYTES = 3 * 1024**3
FILE_BYTES = 256 * 1024**2
PANDOC_S = 45
MAX_MATH_CHARACTERS = 20_000
HERE = Path(__file__).parent
READ = (
    "markdown-raw_html-raw_tex-raw_attribute-native_divs-native_spans-fenced_divs-yaml_metadata_block"
    "-pandoc_title_block-mmd_title_block-latex_macros-example_lists"
)
READ_TALK = (
    "commonmark+raw_html+pipe_tables+strikeout+task_lists+autolink_bare_uris+tex_math_dollars+footnotes+attributes"
    "+east_asian_line_breaks"
)
"""Of a conversation: as the page reads it. Its HTML is none, as in the page, and stands there as code."""
_OF_FILE = re.compile(r"^s\d+\.md__")
_NAME = re.compile(r"[A-Za-z][\w-]{0,40}", re.ASCII)
_ID = re.compile(r"[\w:.-]{1,120}")
_SIZE = re.compile(r"\d{1,4}(?:\.\d{1,4})?(?:%|cm|mm|in|px|pt|em)")
_ADDRESS = re.compile(r"(?:https?://|mailto:|#)[^\s\\{}]{0,2000}", re.IGNORECASE)
_FORBIDDEN_MATH = re.compile(
    r"\^\^|\\(?:(?:immediate|input|include|import|subimport|read|openin|openout|write|closeout|newwrite|newread|special"
    r"|directlua|latelua|luaexec|shipout|catcode|csname|endcsname|expandafter|def|edef|gdef|xdef|let|futurelet|global"
    r"|newcommand|renewcommand|providecommand|DeclareMathOperator|newenvironment|usepackage|RequirePackage|documentclass"
    r"|verbatiminput|lstinputlisting|includegraphics|includepdf|href|url|scantokens|everymath|everypar|everyeof|output"
    r"|loop|repeat|number|jobname|meaning|string|detokenize|outer|afterassignment|aftergroup|InputIfFileExists|IfFileExists"
    r"|ShellEscape|pdfobj|pdfliteral|require|unicode|class|style|cssId|html[A-Za-z]*)(?![A-Za-z])|[@])"
)
_NAMED_WITH_COMMANDS = re.compile(r"\\(?:label|tag)(?![A-Za-z])\*?(?!\s*\{[^{}\\%]*\})")
_UNKNOWN_TO_PANDOC = re.compile(
    r"\\(?:notag|eqref|rm|bf|it|sf|tt|cal|mathbbm|varliminf|varlimsup|textcolor|prescript|sideset|limits|middle)(?![A-Za-z])"
)
"""Harmless commands of formulas that pandoc can't read."""
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{([^{}]*)\}")
_ENVIRONMENTS = re.compile(
    r"(?:equation|align|gather|multline|flalign|eqnarray|alignat)\*?|(?:p|b|v|B|V|small)?matrix\*?|cases|array|aligned"
    r"|alignedat|gathered|split|subarray"
)
_END_OF_MATH = re.compile(r"(?<!\\)\$|\\[()\[\]]")
_FROM_THE_RIGHT = frozenset({"ar", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "syr", "ug", "ur", "yi"})
"""Languages that are written so."""
_LABELS = {
    "zh": {
        "references": "参考文献",
        "missing": "图缺失",
        "too_large": "图过大，预览中略去",
        "no_picture": "不是图片",
        "linked": "图引用了其他图片，无法显示",
        "damaged": "图无法显示",
        "citation": "引文未核实",
        "picture": "图片",
    },
    "": {
        "references": "References",
        "missing": "figure missing",
        "too_large": "figure too large for the preview",
        "no_picture": "no picture",
        "linked": "figure not shown, as it links to another picture",
        "damaged": "figure can't be shown",
        "citation": "citation not verified",
        "picture": "picture",
    },
}


class Refused(Exception):
    """No document can be made; the message is a sentence with the reason."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.loads(sys.stdin.buffer.readline())
    try:
        answer = {"unusable": _unusable(asked["figures"])} if asked["format"] == "figures" else _written(asked)
    except Refused as refused:
        answer = {"reason": str(refused)}
    except RecursionError:
        answer = {"reason": "The text is nested too deeply."}
    sys.stdout.write(json.dumps(answer))


def _written(asked: dict[str, Any]) -> dict[str, Any]:
    return {"file": Document(asked).write()}


def _unusable(figures: dict[str, str]) -> dict[str, str]:
    """The figures that can't be set, with the reason. Typst loads nothing that a figure links to, be it a file or an
    address."""
    import typst

    def reason(*names: str) -> str:
        Path("figures.typ").write_text("\n".join(f"#image({json.dumps(name)})" for name in names))
        try:
            typst.compile("figures.typ", output="figures.pdf", root=".", package_path=".")
        except (typst.TypstError, RuntimeError) as error:
            return "linked" if "linked image" in str(error) else "damaged"
        return ""

    if not figures or not reason(*figures.values()):
        return {}
    return {path: found for path, name in figures.items() if (found := reason(name))}


class Document:
    """A document in the making; `asked` is the JSON of the standard input."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._asked: dict[str, Any] = asked
        self._pandoc: str = asked["pandoc"]
        self._form: str = asked["format"]
        lang: str = asked["language"]
        self._language = lang
        self._labels = _LABELS["zh" if asked["words"].partition("-")[0] == "zh" else ""]
        self._direction = "rtl" if lang.partition("-")[0] in _FROM_THE_RIGHT else "ltr"
        self._references: list[dict[str, Any]] = asked["references"]
        # In a document that is written from the right they are at home, and Latin names beside them stay in place.
        if self._direction == "ltr" and self._form in ("pdf", "docx", "html"):
            self._references = [_kept_apart(one) for one in self._references]
        Path("references.json").write_text(json.dumps(self._references, ensure_ascii=False))

    def write(self) -> str:
        """Write the file and return its name."""
        reader = READ_TALK if self._asked["is_talk"] else READ
        read = json.loads(self._run([f"--from={reader}", "--file-scope", "--to=json", *self._asked["sections"]], b""))
        if self._form != "pdf":
            return self._made(read)
        try:
            return self._made(read)
        except Refused:
            unusable = _unusable(self._asked["figures"])
            if not unusable:
                raise
            figures = {path: name for path, name in self._asked["figures"].items() if path not in unusable}
            self._asked = {**self._asked, "figures": figures, "unusable": {**self._asked["unusable"], **unusable}}
            return self._made(read)

    def _made(self, read: dict[str, Any]) -> str:
        cleaner = Cleaner(
            figures=self._figures(),
            unread=self._unread(read["blocks"]) if self._form == "latex" else set(),
            known={one["id"] for one in self._references},
            unusable=self._asked["unusable"],
            marked=self._asked["marked"],
            labels={**self._labels, "missing": self._labels["picture"]} if self._asked["is_talk"] else self._labels,
        )
        blocks = self._directed(_with_targets(cleaner.blocks(read["blocks"])))
        tree = {**read, "blocks": blocks, "meta": self._meta()}
        return {
            "markdown": self._markdown,
            "latex": self._latex,
            "pdf": self._pdf,
            "docx": self._docx,
            "html": self._html,
        }[self._form](json.dumps(tree).encode())

    def _directed(self, blocks: list[Any]) -> list[Any]:
        """Each says so that is written in another direction than what it stands in. Neighbours are kept together."""
        if self._form == "markdown":
            return blocks
        around = "ltr" if self._asked["is_preview"] else self._direction
        name = "typst:text:dir" if self._form == "pdf" else "dir"
        made, inside, beside = list[Any](), "", list[Any]()
        for block in blocks:
            direction = "" if block["t"] in ("Header", "Figure", "HorizontalRule") else _direction_of(block)
            if direction in ("", around):
                made.append(block)
                inside = ""
            elif direction == inside:
                beside.append(block)
            else:
                inside, beside = direction, [block]
                made.append({"t": "Div", "c": [["", [], [[name, direction]]], beside]})
        return made

    def _unread(self, blocks: list[Any]) -> set[str]:
        """The formulas that pandoc can't read. LaTeX gets formulas as they are, and would run commands in them that
        nobody has thought of; of pandoc it is known what it reads."""
        formulas = list(dict.fromkeys(text for text in _formulas_in(blocks) if _is_formula(text)))
        if not formulas:
            return set()
        tree: dict[str, Any] = {
            "pandoc-api-version": [1, 23, 1],
            "meta": {},
            "blocks": [{"t": "Para", "c": [_formula(_UNKNOWN_TO_PANDOC.sub(r"\\alpha ", one))]} for one in formulas],
        }
        drawn = self._run(["--from=json", "--to=html5", "--mathml"], json.dumps(tree).encode()).decode().split("<p>")
        return {one for one, made in zip(formulas, drawn[1:], strict=True) if "<math" not in made}

    def _figures(self) -> dict[str, str]:
        """The location of each figure. In its sandbox mode pandoc reads no files to embed, so for docx they are data
        addresses."""
        names: dict[str, str] = self._asked["figures"]
        return {path: _data_address(name) for path, name in names.items()} if self._form == "docx" else names

    def _run(self, options: list[str], given: bytes) -> bytes:
        command = [self._pandoc, "--sandbox", *options]
        try:
            done = subprocess.run(command, input=given, capture_output=True, timeout=PANDOC_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise Refused("Reading the text took too long. Shorten or divide it.") from error
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise Refused(f"The document could not be created: {(told or ['out of memory'])[-1][:300]}")
        return done.stdout

    def _meta(self) -> dict[str, Any]:
        meta = {
            "title": {"t": "MetaInlines", "c": _words(self._asked["title"])},
            "author": {
                "t": "MetaList",
                "c": [{"t": "MetaInlines", "c": _words(name)} for name in self._asked["authors"]],
            },
            "lang": {"t": "MetaString", "c": self._language},
            **({"dir": {"t": "MetaString", "c": "rtl"}} if self._direction == "rtl" else {}),
            "link-citations": {"t": "MetaBool", "c": True},
        }
        if self._references:
            meta["reference-section-title"] = {"t": "MetaInlines", "c": _words(self._labels["references"])}
        return meta

    @property
    def _cited(self) -> list[str]:
        return ["--citeproc", "--csl=style.csl", "--bibliography=references.json"] if self._references else []

    @property
    def _numbered(self) -> list[str]:
        return ["--number-sections"] if self._asked["is_numbered"] else []

    def _markdown(self, tree: bytes) -> str:
        extensions = "markdown-simple_tables-multiline_tables-grid_tables+pipe_tables"
        text = self._run(["--from=json", f"--to={extensions}", "--wrap=none"], tree).decode()
        front = [
            f"title: {_quoted(_escaped(self._asked['title']))}",
            f"author: {json.dumps([_escaped(one) for one in self._asked['authors']], ensure_ascii=False)}",
            f"lang: {_quoted(self._language)}",
            *(["references:"] if self._references else []),
            *(f"- {json.dumps(_escaped_all(one), ensure_ascii=False)}" for one in self._references),
        ]
        text = text.replace("`{=", "` {=")  # else raw code of a writer, to whoever reads it again
        Path("out.md").write_text("\n".join(["---", *front, "---", "", text]))
        return "out.md"

    def _latex(self, tree: bytes) -> str:
        options = [
            *("--from=json", "--to=latex", "--standalone", "--biblatex", "--wrap=preserve"),
            *("--variable=documentclass:article", "--variable=papersize:a4", "--variable=geometry:margin=2.5cm"),
            *("--variable=colorlinks:true", f"--variable=biblio-style:{self._asked['biblatex']}"),
            *(["--variable=CJKmainfont:Noto Sans CJK SC"] if self._has_cjk() else []),
            *(["--metadata=bibliography:references.bib"] if self._references else []),
            *self._numbered,
        ]
        text = self._run(options, tree)
        # Pandoc writes an address as it is: braces would end it, and begin fields of its own.
        references = [{**one, "URL": _without_braces(one["URL"])} if "URL" in one else one for one in self._references]
        bibliography = self._run(["--from=csljson", "--to=biblatex"], json.dumps(references).encode())
        with zipfile.ZipFile("out.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("main.tex", text)
            packed.writestr("references.bib", bibliography)
            for name in self._asked["figures"].values():
                packed.write(name)
        return "out.zip"

    def _pdf(self, tree: bytes) -> str:
        import typst  # the other formats do without it, and it takes a while to load

        body = self._run(["--from=json", "--to=typst", "--wrap=preserve", *self._cited], tree).decode()
        Path("main.typ").write_text(f"{(HERE / 'template.typ').read_text()}\n{body}")
        language, _, region = self._language.partition("-")
        told = {
            "title": self._asked["title"],
            "authors": json.dumps(self._asked["authors"]),
            "lang": language,
            "region": region if len(region) == 2 else ("CN" if language == "zh" else ""),
            "dir": self._direction,
            "numbered": "yes" if self._asked["is_numbered"] else "",
        }
        try:
            typst.compile("main.typ", output="out.pdf", root=".", sys_inputs=told, package_path=".")
        except (typst.TypstError, RuntimeError) as error:
            raise Refused(f"The PDF could not be typeset: {' '.join(str(error).split())[:300]}") from error
        return "out.pdf"

    def _docx(self, tree: bytes) -> str:
        reference = HERE / "reference.docx"
        options = ["--from=json", "--to=docx", "--output=out.docx", f"--reference-doc={reference}"]
        self._run([*options, *self._cited, *self._numbered], tree)
        return "out.docx"

    def _html(self, tree: bytes) -> str:
        options = ["--from=json", "--to=html5", "--mathml", "--wrap=preserve", "--syntax-highlighting=none"]
        text = self._run([*options, "--section-divs", *self._cited, *self._numbered], tree).decode()
        for name in self._asked["figures"].values():
            text = text.replace(f'src="{name}"', f'src="{_data_address(name)}"')
        if not self._asked["is_preview"]:
            text = self._page(text)
        Path("out.html").write_text(text)
        return "out.html"

    def _page(self, text: str) -> str:
        title = html.escape(self._asked["title"])
        authors = html.escape(", ".join(self._asked["authors"]))
        return (
            f'<!doctype html>\n<html lang="{html.escape(self._language)}" dir="{self._direction}">\n'
            '<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
            "style-src 'unsafe-inline'\">\n"
            f"<title>{title}</title>\n<style>\n{(HERE / 'page.css').read_text()}</style>\n</head>\n<body>\n<header>\n"
            f'<h1 dir="auto">{title}</h1>\n{f"<p>{authors}</p>" if authors else ""}\n</header>\n'
            f"<main>\n{text}</main>\n</body>\n</html>\n"
        )

    def _has_cjk(self) -> bool:
        texts = (Path(name).read_text() for name in self._asked["sections"])
        return self._language.startswith("zh") or any(re.search("[\u3400-\u9fff]", text) for text in texts)


class Cleaner:
    """The tree that pandoc has read, reduced to text, formulas, links and available figures."""

    def __init__(
        self,
        figures: dict[str, str],
        known: set[str],
        unusable: dict[str, str],
        marked: dict[str, str],
        labels: dict[str, str],
        unread: set[str],
    ) -> None:
        self._figures = figures
        self._unread = unread
        self._known = known
        self._unusable = unusable
        self._marked = marked
        self._labels = labels
        self._shift = 0

    def blocks(self, blocks: list[Any]) -> list[Any]:
        """The cleaned blocks. Headings in a section's text are lowered below its own, by as much as the highest one
        needs."""
        made, sections = list[Any](), list[list[Any]]()
        for block in blocks:
            if not sections or _begins_section(block):
                sections.append([])
            sections[-1].append(block)
        for first, *others in sections:
            level = first["c"][0] if _begins_section(first) else 0
            highest = min((one["c"][0] for one in others if one["t"] == "Header"), default=6)
            self._shift = max(level + 1 - highest, 0)
            made += self._clean([first, *others])
        return made

    def _clean(self, node: Any) -> Any:
        if isinstance(node, list):
            nodes = cast("list[Any]", node)
            if _is_attributes(nodes):
                return _attributes(nodes)
            return [made for one in nodes for made in self._cleaned(one)]
        if isinstance(node, dict):
            return {name: self._clean(value) for name, value in cast("dict[str, Any]", node).items()}
        return node

    def _cleaned(self, node: Any) -> Iterator[Any]:
        """The replacement of one node in a list, mostly a single one."""
        kind = cast("dict[str, Any]", node).get("t") if isinstance(node, dict) else None
        special = {
            "RawInline": self._raw,
            "RawBlock": self._raw,
            "Math": self._math,
            "Link": self._link,
            "Image": self._image,
            "Cite": self._cite,
            "Header": self._header,
        }.get(str(kind))
        if special is None:
            yield self._clean(node)
        else:
            yield from special(node["c"], str(kind))

    def _raw(self, content: Any, kind: str) -> Iterator[Any]:
        code = _code(str(content[1]))
        yield code if kind == "RawInline" else {"t": "Para", "c": [code]}

    def _math(self, content: Any, kind: str) -> Iterator[Any]:
        text = str(content[1])
        is_shown = _is_formula(text) and text not in self._unread
        yield {"t": kind, "c": content} if is_shown else _code(text)

    def _link(self, content: Any, kind: str) -> Iterator[Any]:
        attributes, inlines, (address, _) = content
        if not _ADDRESS.fullmatch(address):
            yield {"t": "Span", "c": [["", [], []], self._clean(inlines)]}
            return
        bare = f"#{_OF_FILE.sub('', address[1:])}" if address.startswith("#") else address
        yield {"t": kind, "c": [_attributes(attributes), self._clean(inlines), [bare, ""]]}

    def _image(self, content: Any, kind: str) -> Iterator[Any]:
        attributes, inlines, (source, _) = content
        name = self._figures.get(source)
        if name is None:
            yield {
                "t": "Strong",
                "c": _words(f"[{self._labels[self._unusable.get(source, 'missing')]}: {source[:200]}]"),
            }
            return
        yield {"t": kind, "c": [_attributes(attributes), self._clean(inlines), [name, ""]]}

    def _cite(self, content: Any, kind: str) -> Iterator[Any]:
        """Citations with unknown keys replaced by a remark, and invalid ones marked."""
        citations, inlines = content
        known = [one for one in citations if one["citationId"] in self._known]
        if known:
            yield {"t": kind, "c": [self._clean(known), self._clean(inlines)]}
        for one in citations:
            key = one["citationId"]
            if key not in self._known or key in self._marked:
                yield {"t": "Strong", "c": _words(f"[{self._labels['citation']}: {key[:100]}]")}

    def _header(self, content: Any, kind: str) -> Iterator[Any]:
        level, attributes, inlines = content
        clean = _attributes(attributes)
        if not clean[0].startswith("sec-"):
            level = min(level + self._shift, 6)
        yield {"t": kind, "c": [level, clean, self._clean(inlines)]}


def _with_targets(blocks: list[Any]) -> list[Any]:
    """The cleaned blocks with each name once, at its first place, and links to names that are there alone: others are
    their text. The names of the bibliography are made later, and no text has them."""
    names = set[str]()
    _name_once(blocks, names)
    return [made for block in blocks for made in _linked(block, names)]


def _name_once(node: Any, names: set[str]) -> None:
    if isinstance(node, dict):
        _name_once(list(cast("dict[str, Any]", node).values()), names)
    elif isinstance(node, list):
        nodes = cast("list[Any]", node)
        if not _is_attributes(nodes):
            for one in nodes:
                _name_once(one, names)
        elif nodes[0] in names or nodes[0] == "refs" or nodes[0].startswith("ref-"):
            nodes[0] = ""
        elif nodes[0]:
            names.add(nodes[0])


def _linked(node: Any, names: set[str]) -> Iterator[Any]:
    if isinstance(node, list):
        yield [made for one in cast("list[Any]", node) for made in _linked(one, names)]
    elif isinstance(node, dict):
        known = cast("dict[str, Any]", node)
        made: dict[str, Any] = {name: next(_linked(value, names)) for name, value in known.items()}
        if known.get("t") == "Link" and known["c"][2][0].startswith("#") and known["c"][2][0][1:] not in names:
            made = {"t": "Span", "c": [["", [], []], made["c"][1]]}
        yield made
    else:
        yield node


def _direction_of(node: Any) -> str:
    """By the first letter of it that has one; code is written from the left, and keys of citations are no text."""
    if isinstance(node, list):
        return next((found for one in cast("list[Any]", node) if (found := _direction_of(one))), "")
    if not isinstance(node, dict):
        return ""
    known = cast("dict[str, Any]", node)
    kind, content = known.get("t"), known.get("c")
    if kind == "Str":
        return _direction_in(str(content))
    if kind == "CodeBlock":
        return "ltr"
    return "" if kind in ("Cite", "Code", "Math", "Image") else _direction_of(content)


def _direction_in(text: str) -> str:
    classes = (unicodedata.bidirectional(one) for one in text)
    found = next((one for one in classes if one in ("L", "R", "AL")), "")
    return {"": "", "L": "ltr"}.get(found, "rtl")


def _kept_apart(value: Any, name: str = "") -> Any:
    """A reference in which each text that is written from the right is isolated, so that it draws nothing behind it
    along, such as the year behind a name. Other names stay as they are: styles shorten them."""
    if isinstance(value, dict):
        return {key: _kept_apart(one, key) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_kept_apart(one, name) for one in cast("list[Any]", value)]
    is_prose = isinstance(value, str) and name not in ("id", "type", "DOI", "URL")
    return f"\u2068{value}\u2069" if is_prose and _direction_in(value) == "rtl" else value


def _code(text: str) -> Any:
    attributes: Any = ["", [], []]
    return {"t": "Code", "c": [attributes, text]}


def _begins_section(block: Any) -> bool:
    return block["t"] == "Header" and _OF_FILE.sub("", block["c"][1][0]).startswith("sec-")


def _is_attributes(nodes: list[Any]) -> bool:
    return len(nodes) == 3 and isinstance(nodes[0], str) and isinstance(nodes[1], list) and isinstance(nodes[2], list)


def _attributes(attributes: Any) -> list[Any]:
    """Names and sizes only: writers interpret others as code."""
    name, classes, pairs = attributes
    bare = _OF_FILE.sub("", name)
    return [
        bare if _ID.fullmatch(bare) else "",
        [one for one in classes if _NAME.fullmatch(one)],
        [pair for pair in pairs if pair[0] in ("width", "height") and _SIZE.fullmatch(pair[1])],
    ]


def _is_formula(text: str) -> bool:
    """Whether the formula is safe: it reads and writes no files, defines no commands, and does not end early."""
    if len(text) > MAX_MATH_CHARACTERS or _END_OF_MATH.search(text):
        return False
    if _FORBIDDEN_MATH.search(text) or _NAMED_WITH_COMMANDS.search(text):
        return False
    return all(_ENVIRONMENTS.fullmatch(found[1].strip()) for found in _ENVIRONMENT.finditer(text))


def _formula(text: str) -> Any:
    return {"t": "Math", "c": [{"t": "InlineMath"}, text]}


def _formulas_in(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for one in cast("list[Any]", node):
            yield from _formulas_in(one)
    elif isinstance(node, dict):
        known = cast("dict[str, Any]", node)
        if known.get("t") == "Math":
            yield str(known["c"][1])
        else:
            yield from _formulas_in(list(known.values()))


def _without_braces(address: str) -> str:
    return re.sub(r"[{}\\]", lambda found: f"%{ord(found[0]):02X}", address)


def _words(text: str) -> list[Any]:
    """The text as inlines, without markup."""
    inlines = list[Any]()
    for word in text.split():
        inlines += [*([{"t": "Space"}] if inlines else []), {"t": "Str", "c": word}]
    return inlines


def _escaped(text: str) -> str:
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _escaped_all(value: Any, name: str = "") -> Any:
    """A reference with its prose fields escaped."""
    if isinstance(value, dict):
        return {key: _escaped_all(one, key) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_escaped_all(one, name) for one in cast("list[Any]", value)]
    is_prose = isinstance(value, str) and name not in ("id", "type", "DOI", "URL")
    return _escaped(value) if is_prose else value


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _data_address(name: str) -> str:
    ending = name.rsplit(".", 1)[-1]
    media_type = {"svg": "image/svg+xml", "jpg": "image/jpeg"}.get(ending, f"image/{ending}")
    return f"data:{media_type};base64,{base64.b64encode(Path(name).read_bytes()).decode()}"


if __name__ == "__main__":
    main()
