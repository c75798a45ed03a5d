"""By what a paper is named, and when two answers are the same paper."""

from __future__ import annotations

import pytest

from backend_api.research.domain import Paper, cleaned, merged
from backend_api.research.errors import PaperIdInvalidError
from backend_api.research.identity import parse_id, title_key


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("10.1038/Nature14539", "doi:10.1038/nature14539"),
        ("https://doi.org/10.1038/nature14539", "doi:10.1038/nature14539"),
        ("doi: 10.1038/nature14539.", "doi:10.1038/nature14539"),
        (
            "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
            "doi:10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
        ),
        ("arXiv:1706.03762v5", "arxiv:1706.03762"),
        ("https://arxiv.org/pdf/1706.03762v5.pdf", "arxiv:1706.03762"),
        ("https://arxiv.org/abs/hep-th/9711200v3", "arxiv:hep-th/9711200"),
        ("10.48550/arXiv.1706.03762", "arxiv:1706.03762"),
        ("https://openalex.org/w2741809807", "openalex:W2741809807"),
        ("204E3073870FAE3D05BCBC2F6A8E263D9B72E776", "s2:204e3073870fae3d05bcbc2f6a8e263d9b72e776"),
    ],
)
def test_an_id_is_read_with_and_without_address_and_label(text: str, named: str) -> None:
    assert str(parse_id(text)) == named


@pytest.mark.parametrize(
    "text", ["", "Attention is all you need", "10.1/x", "11.1038/x", "10.1038/a b", "1706.037", "W12", "x" * 10_000]
)
def test_what_names_no_paper_is_refused_with_what_would(text: str) -> None:
    with pytest.raises(PaperIdInvalidError, match="Give a DOI"):
        parse_id(text)


def test_a_title_is_the_same_without_case_accents_and_signs_by_the_family_name_and_year() -> None:
    key = title_key("Über the  LSTM: a study!", "Jürgen Schmidhuber", 1997)
    assert key == title_key("uber the lstm — A Study", "Schmidhuber, J.", 1997)
    assert key != title_key("Über the LSTM: a study!", "Jürgen Schmidhuber", 1998)
    assert title_key("一個研究", "王小明", 2018)
    assert not title_key("!!!", "A", 2018)
    assert not title_key("A title", "", 2018)


def paper(title: str = "T", year: int | None = 2020, **more: str) -> Paper:
    return Paper(title=title, authors=("Anna Lee",), year=year, **more)  # pyright: ignore[reportArgumentType]


def test_papers_are_the_same_by_the_first_of_the_rule_that_both_have() -> None:
    one = paper(doi="10.1/a", arxiv_id="1")
    assert len(merged([one, paper(title="Other", doi="10.1/a")])) == 1
    assert len(merged([one, paper(title="Other", arxiv_id="1")])) == 1
    assert len(merged([one, paper(doi="10.1/b", arxiv_id="1")])) == 2, "two DOIs are two papers"
    assert len(merged([paper(arxiv_id="1"), paper(arxiv_id="2")])) == 2
    assert len(merged([paper(doi="10.1/a"), paper(arxiv_id="1")])) == 1, "title, first author and year"
    assert len(merged([paper(doi="10.1/a"), paper(year=2021, arxiv_id="1")])) == 2


def test_one_that_is_the_same_as_two_makes_one_of_all_and_fills_what_they_lack() -> None:
    found = merged(
        [
            paper(title="A", doi="10.1/a", abstract="short"),
            paper(title="B", arxiv_id="1", pdf="https://x/p.pdf"),
            paper(title="C", doi="10.1/a", arxiv_id="1", abstract="a longer one"),
        ]
    )
    assert [(one.title, one.doi, one.arxiv_id, one.abstract, one.pdf) for one in found] == [
        ("A", "10.1/a", "1", "a longer one", "https://x/p.pdf")
    ]


def test_what_sources_tell_is_made_plain_and_bounded() -> None:
    told = cleaned(
        Paper(
            title="<jats:title>A  <i>b</i>\n\u202ec\u200b</jats:title>",
            authors=("  ", "علي حسن", *(["x"] * 1_000)),
            abstract="a < b and c > d " * 5_000,
            url="javascript:alert(1)",
            pdf="https://x.org/a b",
            doi="10.48550/arxiv.1706.03762",
            year=99_999,
        )
    )
    assert (told.title, told.authors[0], told.url, told.pdf, told.year) == ("A b c", "علي حسن", "", "", None)
    assert (told.doi, told.arxiv_id) == ("", "1706.03762")
    assert len(told.abstract) == 10_000
    assert told.abstract.startswith("a < b and c > d a")
    assert len(told.authors) < 301
