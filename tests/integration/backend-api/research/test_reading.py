"""A paper is read by sections from its LaTeX or its PDF, and where neither can be had it says why."""

from __future__ import annotations

import gzip
import io
import tarfile
import time
from collections.abc import AsyncGenerator

import pytest

from backend_api.research.identity import parse_id
from backend_api.research.listing import ONLY_ABSTRACT, read_text
from support.research.known_papers import KNOWN
from support.research.parts import ResearchParts, research_parts
from support.research.pdfs import encrypted, pdf_of, scanned

ATTENTION, LEARNING = KNOWN[0], KNOWN[2]
MAIN = r"""
\documentclass{article} % a comment with \section{Not this}
\newcommand{\x}{y}
\begin{document}
\title{Attention}\maketitle
\begin{abstract}We propose \textbf{attention}.\end{abstract}
\section{Introduction} As \cite{hochreiter97,lstm} said, 50\% of $a_b$ is \emph{good}.
\input{model}
\input{../../etc/passwd}
\include{missing}
\section*{Results {\it here}}\label{sec:r}
\begin{itemize}\item one \item two\end{itemize}
\end{document}
"""


def source(**files: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("_tex", ".tex"))
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("linked.tex")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return packed.getvalue()


@pytest.fixture
async def parts() -> AsyncGenerator[ResearchParts]:
    async with research_parts() as made:
        yield made


async def test_latex_of_arxiv_is_read_by_sections_and_nothing_of_it_is_run(parts: ResearchParts) -> None:
    content = source(main_tex=MAIN, model_tex=r"\subsection{Model} It is $\alpha$. \input{linked}")
    parts.fakes.files[f"/e-print/{ATTENTION.arxiv}"] = (content, "application/gzip")
    read = await parts.texts.read(parse_id(ATTENTION.arxiv))
    assert read.origin == "arXiv source"
    assert [(one.title, one.text) for one in read.sections] == [
        ("Beginning", r"\title{Attention}"),
        ("Abstract", "We propose attention."),
        ("Introduction", "As [@hochreiter97,lstm] said, 50% of $a_b$ is {good}."),
        ("Model", r"It is $\alpha$."),
        ("Results {\\it here}", "- one - two"),
    ]


async def test_one_packed_file_is_read_too_and_a_broken_one_gives_way_to_the_pdf(parts: ResearchParts) -> None:
    parts.fakes.files[f"/e-print/{ATTENTION.arxiv}"] = (gzip.compress(MAIN.encode()), "application/gzip")
    assert len((await parts.texts.read(parse_id(ATTENTION.arxiv))).sections) == 4
    other = KNOWN[4]
    parts.fakes.files[f"/e-print/{other.arxiv}"] = (b"\x1f\x8b broken", "application/gzip")
    parts.fakes.files[f"/pdf/{other.arxiv}"] = (
        pdf_of(["1 Introduction", "It is about something that is said in a line."]),
        "application/pdf",
    )
    read = await parts.texts.read(parse_id(other.arxiv))
    assert read.origin == "arXiv PDF"
    assert read.notices == ["arXiv source: The paper's source archive is corrupt."]


async def test_a_pdf_that_anybody_may_read_is_read_with_pages(parts: ResearchParts) -> None:
    long = ["This is a line of the paper that says something of what was done there."] * 20
    pages = [["A Title", "Abstract", *long], ["1 Introduction", *long, "2.1 Our model"], ["References", *long]]
    parts.fakes.put_file(f"/{LEARNING.doi}.pdf", pdf_of(*pages))
    read = await parts.texts.read(parse_id(LEARNING.doi))
    assert [(one.title, one.page) for one in read.sections] == [
        ("Beginning", 1),
        ("Abstract", 1),
        ("1 Introduction", 2),
        ("2.1 Our model", 2),
        ("References", 3),
    ]
    whole = read_text(read, ())
    assert "3. 1 Introduction (page 2): " in whole
    assert "## 3. 1 Introduction (page 2)\nThis is a line" in whole
    part = read_text(read, ["references"])
    assert "## 5. References" in part
    assert "Introduction" not in part
    assert "There is no section 99" in read_text(read, ["99"])
    count = len(parts.fakes.asked)
    await parts.texts.read(parse_id(LEARNING.doi))
    assert len(parts.fakes.asked) == count, "the text is kept"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (scanned(), "The PDF is a scan"),
        (encrypted(), "encrypted with a password"),
        (b"%PDF-1.7\n" + b"\0" * 5_000, "The PDF is corrupt"),
        (b"<html>log in</html>", "neither a PDF nor LaTeX"),
        (b"%PDF-1.4\n" + b"0" * 51 * 1024**2, "larger than 50 MB"),
    ],
    ids=["scanned", "encrypted", "broken", "html", "large"],
)
async def test_what_cannot_be_read_says_why_and_tells_the_abstract(
    parts: ResearchParts, content: bytes, said: str
) -> None:
    parts.fakes.put_file(f"/{LEARNING.doi}.pdf", content)
    read = await parts.texts.read(parse_id(LEARNING.doi))
    assert not read.sections
    (notice,) = read.notices
    assert said in notice
    assert read_text(read, ()).startswith(ONLY_ABSTRACT)
    assert LEARNING.abstract in read_text(read, ())


async def test_a_file_that_grows_without_end_ends_its_program_and_not_the_gateway(parts: ResearchParts) -> None:
    bomb = gzip.compress(b"\\begin{document}" + b"{\\input{x}" * 3_000_000, 1)
    parts.fakes.files[f"/e-print/{ATTENTION.arxiv}"] = (bomb, "application/gzip")
    began = time.monotonic()
    await parts.texts.read(parse_id(ATTENTION.arxiv))
    assert time.monotonic() - began < 60


async def test_a_paper_that_nobody_may_read_has_its_abstract_alone(parts: ResearchParts) -> None:
    read = await parts.texts.read(parse_id(LEARNING.doi))
    assert (read.sections, read.notices) == ((), [])
    assert parts.fakes.asked_of("unpaywall")
    parts.fakes.faults["unpaywall"] = "500"
    (notice,) = (await parts.texts.read(parse_id(KNOWN[8].doi))).notices
    assert notice == "Unpaywall responded with an error (500)."
