"""A few papers that come with the product, so that research and writing can be tried without a key and a network. They
are a source if the demo model is the only one."""

from __future__ import annotations

import re

from backend_api.research.domain import Paper
from backend_api.research.identity import PaperId
from backend_api.research.ports import Ask, Query, Rate, Source

# Of the abstracts one sentence each, that findings of the demo can be checked against: arXiv gives what describes its
# papers to everybody (CC0).
PAPERS = (
    Paper(
        title="Long Short-Term Memory",
        authors=("Sepp Hochreiter", "Jürgen Schmidhuber"),
        year=1997,
        venue="Neural Computation",
        doi="10.1162/neco.1997.9.8.1735",
    ),
    Paper(
        title="Deep learning",
        authors=("Yann LeCun", "Yoshua Bengio", "Geoffrey Hinton"),
        year=2015,
        venue="Nature",
        doi="10.1038/nature14539",
    ),
    Paper(
        title="Attention Is All You Need",
        authors=(
            *("Ashish Vaswani", "Noam Shazeer", "Niki Parmar", "Jakob Uszkoreit", "Llion Jones", "Aidan N. Gomez"),
            *("Lukasz Kaiser", "Illia Polosukhin"),
        ),
        year=2017,
        venue="arXiv",
        arxiv_id="1706.03762",
        abstract=(
            "We propose a new simple network architecture, the Transformer, based solely on attention mechanisms, "
            "dispensing with recurrence and convolutions entirely. […]"
        ),
    ),
    Paper(
        title="BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
        authors=("Jacob Devlin", "Ming-Wei Chang", "Kenton Lee", "Kristina Toutanova"),
        year=2018,
        venue="arXiv",
        arxiv_id="1810.04805",
        abstract=(
            "[…] BERT is designed to pre-train deep bidirectional representations from unlabeled text by jointly "
            "conditioning on both left and right context in all layers. […]"
        ),
    ),
)
_SUBJECT = "neural networks language reading machine learning 神经网络 语言"
_WORD = re.compile(r"\w{3,}|[\u4e00-\u9fff]{2,}")


async def _search(ask: Ask, query: Query) -> list[Paper]:
    del ask
    words = _WORD.findall(query.text.casefold())
    fitting = [one for one in PAPERS if any(word in f"{one.title} {_SUBJECT}".casefold() for word in words)]
    first, last = query.year_from or 0, query.year_to or 9999
    return [one for one in fitting if first <= (one.year or 0) <= last][: query.limit]


async def _look_up(ask: Ask, paper_id: PaperId) -> Paper | None:
    del ask
    return next((one for one in PAPERS if paper_id in one.ids), None)


SHIPPED = Source(
    name="shipped",
    label="The papers of the demo",
    url="https://example.invalid",
    rate=Rate(gap_ms=0, at_once=100),
    ids=frozenset({"doi", "arxiv"}),
    search=_search,
    look_up=_look_up,
)
