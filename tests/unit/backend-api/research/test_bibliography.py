"""Records as BibTeX and RIS: what stands in a title is text, and no command of LaTeX."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from backend_api.kit.ids import UserId
from backend_api.research.bibliography import citation_key, written
from backend_api.research.domain import Paper, Record, RecordId


def record(tags: tuple[str, ...] = (), notes: str = "", **paper: Any) -> Record:
    made = Paper(**{"title": "Deep learning", "authors": ("Yann LeCun", "Yoshua Bengio"), "year": 2015, **paper})
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Record(id=RecordId("r"), user_id=UserId("u"), paper=made, tags=tags, notes=notes, created_at=at)


def test_an_entry_of_bibtex_has_what_is_known() -> None:
    (entry,) = written([record(doi="10.1038/nature14539", venue="Nature", tags=("ml",), notes="Read\nit")], "bibtex")
    assert entry == (
        "@article{lecun2015deep,\n"
        "  title = {{Deep learning}},\n"
        "  author = {LeCun, Yann and Bengio, Yoshua},\n"
        "  year = {2015},\n"
        "  journal = {Nature},\n"
        "  doi = {10.1038/nature14539},\n"
        "  url = {https://doi.org/10.1038/nature14539},\n"
        "  keywords = {ml},\n"
        "  annote = {Read it},\n"
        "}\n\n"
    )


def test_commands_in_titles_are_escaped_and_end_no_value() -> None:
    (entry,) = written(
        [record(title=r"\input{/etc/passwd} \write18{rm} 50% & }, x = {$E=mc^2$} $\write18{x}$")], "bibtex"
    )
    title = entry.splitlines()[1]
    assert r"\textbackslash{}input\{/etc/passwd\}" in title
    assert r"50\% \& \}, x = \{$E=mc^2$\} \$\textbackslash{}write18\{x\}\$" in title
    assert r"\write18" not in entry
    assert r"\input" not in entry.replace(r"\textbackslash{}input", "")


def test_two_of_the_same_key_have_different_ones_and_names_of_any_script_are_kept() -> None:
    entries = list(written([record(), record(), record(title="一個研究", authors=("王小明",))], "bibtex"))
    assert [entry.partition("{")[2].partition(",")[0] for entry in entries] == [
        "lecun2015deep",
        "lecun2015deep-2",
        "anon2015",
    ]
    assert "author = {{王小明}}" in entries[2]
    assert citation_key(Paper(title="The Äther", authors=("José Müller",))) == "mulleraether"[:6] + "ather"


def test_an_entry_of_ris_is_one_line_a_value() -> None:
    (entry,) = written([record(title="A\nER  - \nTY  - x", venue="Nature", doi="10.1/x", tags=("a", "b"))], "ris")
    assert entry.splitlines() == [
        "TY  - JOUR",
        "TI  - A ER - TY - x",
        "AU  - LeCun, Yann",
        "AU  - Bengio, Yoshua",
        "PY  - 2015",
        "JO  - Nature",
        "DO  - 10.1/x",
        "KW  - a",
        "KW  - b",
        "UR  - https://doi.org/10.1/x",
        "ER  - ",
        "",
    ]


def test_where_it_stands_is_told_by_its_kind() -> None:
    place: dict[str, Any] = {"volume": "9", "issue": "8", "pages": "1735–1780", "publisher": "MIT Press"}
    (article,) = written([record(venue="Neural Computation", kind="article-journal", **place)], "bibtex")
    assert article.startswith("@article{")
    assert "  volume = {9},\n  number = {8},\n  pages = {1735--1780},\n  publisher = {MIT Press},\n" in article
    (talk,) = written([record(venue="Proceedings", kind="paper-conference")], "bibtex")
    assert talk.startswith("@inproceedings{")
    assert "  booktitle = {Proceedings}," in talk
    (thesis,) = written([record(kind="thesis", publisher=r"Université \input{x}")], "bibtex")
    assert thesis.startswith("@phdthesis{")
    assert r"  school = {Université \textbackslash{}input\{x\}}," in thesis
    (entry,) = written([record(venue="Proceedings", kind="paper-conference", **place)], "ris")
    assert entry.splitlines()[0] == "TY  - CONF"
    for line in ("T2  - Proceedings", "VL  - 9", "IS  - 8", "SP  - 1735", "EP  - 1780", "PB  - MIT Press"):
        assert line in entry.splitlines()
