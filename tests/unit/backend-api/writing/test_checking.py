"""Citations that do not hold are found, each at its place, and those that hold are left alone."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from backend_api.research.domain import Paper
from backend_api.writing.checking import Check, CheckCitations
from backend_api.writing.citations import cited_in, csl_name, figures_in
from backend_api.writing.domain import Project, ProjectId, Reference, Section, SectionId, Settings
from support.research.known_papers import KNOWN
from support.writing import ANNA, AT, MemoryRecords, paper

LECUN = paper(doi="10.1038/nature14539", venue="Nature")


def project(text: str, *references: str) -> Project:
    return Project(
        id=ProjectId("prj"),
        user_id=ANNA,
        settings=Settings(title="A study"),
        sections=(Section(id=SectionId("s1"), title="One", text=text),),
        references=tuple(Reference(key=one, record_id=f"rec_{one}") for one in references),
        created_at=AT,
        updated_at=AT,
    )


async def checked(text: str, records: MemoryRecords, *references: str, asks_sources: bool = True) -> Check:
    return await CheckCitations(records=records)(ANNA, project(text, *references), asks_sources=asks_sources)


def codes(check: Check) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in check.findings]


def test_keys_are_found_where_pandoc_finds_them() -> None:
    text = (
        "[@a; see @b, p. 3] and @c:2015. Not mail me@example.org, nor `@code`, nor \\@escaped.\n"
        "```\n@fenced\n```\n-@d [-@e] @{f.g} @王2018\n"
    )
    section = Section(id=SectionId("s1"), title="One", text=text)
    assert [one.key for one in cited_in(section)] == ["a", "b", "c:2015", "d", "e", "f.g", "王2018"]
    assert [text[one.at] for one in cited_in(section)] == ["@"] * 7


def test_figures_are_those_of_the_workspace() -> None:
    text = "![a](plots/one.png) ![b [@x]](<two.png>){width=50%} ![c](https://example.org/x.png) ![d](plots/one.png)"
    text += "\n\n```\n![e](code.png)\n```\n"
    assert [one.path for one in figures_in(project(text))] == ["plots/one.png", "two.png", "plots/one.png"]
    assert [text[one.at] for one in figures_in(project(text))] == ["!"] * 3


@pytest.mark.parametrize(
    "text", ["![" * 50_000, "`" * 100_000, "```\n" * 25_000, "@" * 100_000, "@a." * 33_000, "![a](" * 20_000]
)
def test_a_text_that_is_made_to_take_long_does_not(text: str) -> None:
    begin = time.monotonic()
    list(cited_in(Section(id=SectionId("s1"), title="One", text=text)))
    figures_in(project(text))
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Yann LeCun", {"family": "LeCun", "given": "Yann"}),
        ("Ludwig van Beethoven", {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"}),
        ("Oscar de la Cruz", {"family": "Cruz", "given": "Oscar", "non-dropping-particle": "de la"}),
        ("Martin Luther King Jr.", {"family": "King", "given": "Martin Luther", "suffix": "Jr."}),
        ("LeCun, Yann", {"family": "LeCun", "given": "Yann"}),
        ("王小明", {"literal": "王小明"}),
        ("علي حسن", {"family": "حسن", "given": "علي"}),
        ("ATLAS Collaboration", {"literal": "ATLAS Collaboration"}),
    ],
)
def test_names_are_told_apart(name: str, parts: dict[str, str]) -> None:
    assert csl_name(name) == parts


async def test_what_its_source_tells_as_well_holds() -> None:
    records = MemoryRecords()
    records.add("rec_lecun", LECUN)
    check = await checked("Known [@lecun].", records, "lecun")
    assert (codes(check), check.cited, check.places, check.records) == ([], 1, 1, 1)


async def test_a_key_without_a_record_and_a_record_that_is_never_cited_are_found() -> None:
    records = MemoryRecords()
    records.add("rec_lecun", LECUN)
    check = await checked("Known [@invented2020].", records, "lecun", "gone")
    assert codes(check) == [("key_unknown", "error"), ("uncited", "warning"), ("uncited", "warning")]
    assert (check.findings[0].section_id, check.findings[0].at, check.findings[0].key) == ("s1", 7, "invented2020")
    gone = await checked("Known [@gone].", records, "gone")
    assert codes(gone) == [("record_gone", "error")]


@pytest.mark.parametrize(
    ("told", "code", "severity"),
    [
        (replace(LECUN, title="On the migration of swallows"), "title_differs", "error"),
        (replace(LECUN, authors=("Ada Lovelace",)), "author_differs", "error"),
        (replace(LECUN, year=1999), "year_differs", "error"),
        (replace(LECUN, year=2014), "year_differs", "warning"),
        (replace(LECUN, is_retracted=True), "retracted", "error"),
    ],
)
async def test_what_the_source_tells_otherwise_is_found(told: Paper, code: str, severity: str) -> None:
    records = MemoryRecords()
    records.add("rec_lecun", LECUN, told=told)
    assert codes(await checked("[@lecun]", records, "lecun")) == [(code, severity)]


@pytest.mark.parametrize(
    "told",
    [
        replace(LECUN, title="Deep Learning."),
        replace(LECUN, title="Deep learning: a review of the field"),
        replace(LECUN, authors=("LeCun, Y.",)),
        replace(LECUN, authors=("LeCun Yann",)),
        replace(LECUN, year=None),
    ],
)
async def test_other_writings_of_the_same_are_the_same(told: Paper) -> None:
    records = MemoryRecords()
    records.add("rec_lecun", LECUN, told=told)
    assert codes(await checked("[@lecun]", records, "lecun")) == []


async def test_an_imported_record_holds_once_its_source_tells_the_same() -> None:
    records = MemoryRecords()
    records.add("rec_lecun", LECUN, is_imported=True)
    assert codes(await checked("[@lecun]", records, "lecun", asks_sources=False)) == [("unconfirmed", "error")]
    assert codes(await checked("[@lecun]", records, "lecun")) == []
    assert records.confirmed == ["rec_lecun"]


async def test_an_imported_record_that_nobody_knows_does_not_hold() -> None:
    records = MemoryRecords()
    records.add("rec_id", LECUN, is_imported=True)
    records.told.clear()
    records.add("rec_title", paper("A title alone"), is_imported=True)
    check = await checked("[@id; @title]", records, "id", "title")
    assert codes(check) == [("not_found", "error"), ("unconfirmed", "error")]


async def test_sources_that_are_away_keep_only_imported_ones_from_holding() -> None:
    records = MemoryRecords(are_away=True)
    records.add("rec_known", LECUN)
    records.add("rec_file", replace(LECUN, doi="10.1000/other"), is_imported=True)
    check = await checked("[@known; @file]", records, "known", "file")
    assert codes(check) == [("unconfirmed", "error"), ("not_checked", "warning")]


async def test_dois_written_in_the_text_have_their_form_checked() -> None:
    records = MemoryRecords()
    check = await checked("See https://doi.org/10.1038/nature14539 and doi:10.abc/nothing.", records)
    assert codes(check) == [("doi_malformed", "warning")]


async def test_five_planted_citations_of_thirty_are_found_and_no_others() -> None:
    records = MemoryRecords()
    keys = list[str]()
    for number, known in enumerate(KNOWN):
        true = paper(known.title, *known.authors, year=known.year, doi=known.doi, arxiv_id=known.arxiv)
        true = replace(true, is_retracted=known.is_retracted, openalex_id=known.openalex)
        records.add(f"rec_k{number}", true)
        keys.append(f"k{number}")
    planted = ["k3", "k7", "k11", "invented"]
    records.kept["rec_k3"] = replace(records.kept["rec_k3"], paper=replace(records.kept["rec_k3"].paper, year=1972))
    title = "A theory that nobody wrote of things that are not"
    records.kept["rec_k7"] = replace(records.kept["rec_k7"], paper=replace(records.kept["rec_k7"].paper, title=title))
    del records.told[str(records.kept["rec_k11"].paper.id)]
    retracted = next(f"k{number}" for number, known in enumerate(KNOWN) if known.is_retracted)
    check = await checked(" ".join(f"[@{key}]" for key in [*keys, "invented"]), records, *keys)
    assert {one.key for one in check.findings if one.severity == "error"} == {*planted, retracted}
    assert len(check.findings) == 5
