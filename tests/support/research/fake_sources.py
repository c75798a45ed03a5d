"""Servers on loopback that answer as the sources of papers do, and that can be told to fail. One port each, as hosts
are throttled by their names."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from xml.sax.saxutils import escape

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from support.listening import serving
from support.research.known_papers import KNOWN, KnownPaper

Fault = Literal["500", "html", "cut", "throttled", "slow", "empty", "forbidden"]
NAMES = ("openalex", "semantic_scholar", "arxiv", "crossref", "unpaywall", "hugging_face", "papers_with_code", "files")
CROSSREF_SAYS = {"x-rate-limit-limit": "50", "x-rate-limit-interval": "1s", "x-concurrency-limit": "3"}
_WORDS = re.compile(r"\w+")


@dataclass(slots=True, kw_only=True)
class Fakes:
    """`urls` by name; `faults` by name, `files` by path; `asked` are paths with queries, and the headers they came
    with."""

    urls: dict[str, str] = field(default_factory=dict[str, str])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])
    files: dict[str, tuple[bytes, str]] = field(default_factory=dict[str, tuple[bytes, str]])
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list[tuple[str, str, dict[str, str]]])
    retry_after: str | None = "7"
    ends: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def hosts(self) -> list[str]:
        """As `FETCH_ALLOWED_HOSTS` has them."""
        return [url.removeprefix("http://") for url in self.urls.values()]

    def asked_of(self, name: str) -> list[str]:
        return [path for source, path, _ in self.asked if source == name]

    def put_file(self, path: str, content: bytes, media_type: str = "application/pdf") -> str:
        """Its address."""
        self.files[path] = (content, media_type)
        return f"{self.urls['files']}{path}"


@asynccontextmanager
async def fake_sources() -> AsyncGenerator[Fakes]:
    """All of them, until the block ends."""
    fakes = Fakes()
    async with AsyncExitStack() as stack:
        listeners = list[socket.socket]()
        by_port = dict[int, str]()
        for name in NAMES:
            listener = stack.enter_context(socket.socket(proto=socket.IPPROTO_TCP))
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
            fakes.urls[name], by_port[port] = f"http://127.0.0.1:{port}", name
            listeners.append(listener)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            name = by_port[scope["server"][1]]
            request = Request(scope, receive)
            query = f"?{request.url.query}" if request.url.query else ""
            fakes.asked.append((name, f"{request.url.path}{query}", dict(request.headers)))
            await (await _answer(fakes, name, request))(scope, receive, send)

        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, timeout_graceful_shutdown=1))
        async with serving(server, *listeners):
            try:
                yield fakes
            finally:
                fakes.ends.set()


async def _answer(fakes: Fakes, name: str, request: Request) -> Response:
    fault = fakes.faults.get(name)
    if fault == "throttled":
        return JSONResponse({"error": "too many"}, 429, {"Retry-After": fakes.retry_after} if fakes.retry_after else {})
    if fault == "500":
        return PlainTextResponse("broken", 500)
    if fault == "forbidden":
        return JSONResponse({"error": "key"}, 403)
    if fault == "html":
        return Response("<!DOCTYPE html><html><body>Checking your browser</body></html>", media_type="text/html")
    if fault == "cut":
        return Response('{"results": [{"title": "Cut in the mid', media_type="application/json")
    if fault == "slow":
        await fakes.ends.wait()
    if fault == "empty":
        return Response(b"", media_type="application/json")
    return _ANSWERS[name](fakes, request)


def _openalex(fakes: Fakes, request: Request) -> Response:
    params = request.query_params
    if request.url.path == "/works":
        relation, _, work = params.get("filter", "").partition(":")
        found = _searched(params.get("search", "")) if "search" in params else _openalex_filter(relation, work)
        works = [_work(one) for one in found[: int(params.get("per_page", 25))]]
        return JSONResponse({"meta": {"count": len(found), "per_page": 25}, "results": works})
    wanted = request.url.path.removeprefix("/works/")
    arxiv = wanted.lower().removeprefix("doi:10.48550/arxiv.")
    for one in KNOWN:
        if wanted in (one.openalex, f"doi:{one.doi}" if one.doi else "-") or (
            one.arxiv and arxiv == one.arxiv and not one.doi
        ):
            return JSONResponse(_work(one))
    return PlainTextResponse("<title>404 Not Found</title>", 404)


def _openalex_filter(relation: str, work: str) -> list[KnownPaper]:
    if relation == "raw_author_name.search":
        return [one for one in KNOWN if any(work.lower() in author.lower() for author in one.authors)]
    number = next((one.number for one in KNOWN if one.openalex == work), None)
    if number is None:
        return []
    return list(KNOWN[number + 1 : number + 4] if relation == "cites" else KNOWN[max(number - 3, 0) : number])


def _work(one: KnownPaper) -> dict[str, Any]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(one.abstract.split()):
        index.setdefault(word, []).append(place)
    doi = one.doi or (f"10.48550/arxiv.{one.arxiv}" if one.arxiv else "")
    return {
        "id": f"https://openalex.org/{one.openalex}",
        "doi": f"https://doi.org/{doi}" if doi else None,
        "title": one.title,
        "publication_year": one.year,
        "type": "article" if one.doi else "preprint",
        "biblio": {
            "volume": one.volume or None,
            "issue": one.issue or None,
            "first_page": one.pages.partition("-")[0] or None,
            "last_page": one.pages.partition("-")[2] or None,
        },
        "authorships": [{"author": {"display_name": name}} for name in one.authors],
        "abstract_inverted_index": index,
        "primary_location": {
            "source": {
                "display_name": one.venue,
                "type": "conference" if one.kind == "proceedings-article" else "journal",
                "host_organization_name": one.publisher or None,
            },
            "landing_page_url": None,
            "pdf_url": None,
        },
        "best_oa_location": None,
        "locations": [],
        "cited_by_count": 1_000 + one.number,
        "is_retracted": one.is_retracted,
    }


def _arxiv(fakes: Fakes, request: Request) -> Response:
    params = request.query_params
    if request.url.path != "/api/query":
        return _files(fakes, request)
    if "id_list" in params:
        found = [one for one in KNOWN if one.arxiv and one.arxiv == params["id_list"]]
    else:
        words = re.sub(r"\b(all|AND|au|submittedDate)\b|\[[^\]]*\]|:", " ", params["search_query"])
        found = [one for one in _searched(words) if one.arxiv]
    entries = "".join(map(_entry, found[: int(params.get("max_results", 10))]))
    return Response(
        '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom">'
        f"<opensearch:totalResults>{len(found)}</opensearch:totalResults>{entries}</feed>",
        media_type="application/atom+xml",
    )


def _entry(one: KnownPaper) -> str:
    authors = "".join(f"<author><name>{escape(name)}</name></author>" for name in one.authors)
    doi = f"<arxiv:doi>{one.doi}</arxiv:doi>" if one.arxiv_says_doi else ""
    return (
        f"<entry><id>http://arxiv.org/abs/{one.arxiv}v5</id><published>{one.year}-06-12T17:57:34Z</published>"
        f"<title>{escape(one.title)}</title>\n<summary>  {escape(one.abstract)}\n</summary>{authors}{doi}</entry>"
    )


def _semantic_scholar(fakes: Fakes, request: Request) -> Response:
    params, path = request.query_params, request.url.path
    if path == "/graph/v1/paper/search":
        found = _searched(params["query"])[: int(params["limit"])]
        return JSONResponse(
            {"total": len(found), "offset": 0, **({"data": [_s2(one) for one in found]} if found else {})}
        )
    if path.startswith("/recommendations/v1/papers/forpaper/"):
        one = _by_s2(path.rsplit("forpaper/", 1)[1])
        if one is None:
            return JSONResponse({"error": "Paper not found"}, 404)
        return JSONResponse({"recommendedPapers": [_s2(other) for other in KNOWN if other is not one][:5]})
    rest = path.removeprefix("/graph/v1/paper/")
    for kind, name in (("citations", "citingPaper"), ("references", "citedPaper")):
        if rest.endswith(f"/{kind}"):
            one = _by_s2(rest.removesuffix(f"/{kind}"))
            if one is None:
                return JSONResponse({"error": "Paper not found"}, 404)
            near = (
                KNOWN[one.number + 1 : one.number + 4]
                if kind == "citations"
                else KNOWN[max(one.number - 3, 0) : one.number]
            )
            return JSONResponse({"offset": 0, "data": [{name: _s2(other)} for other in near]})
    one = _by_s2(rest)
    return JSONResponse(_s2(one)) if one else JSONResponse({"error": "Paper not found"}, 404)


def _by_s2(name: str) -> KnownPaper | None:
    for one in KNOWN:
        if name in (one.s2, f"DOI:{one.doi}" if one.doi else "-", f"ARXIV:{one.arxiv}" if one.arxiv else "-"):
            return one
    return None


def _s2(one: KnownPaper) -> dict[str, Any]:
    return {
        "paperId": one.s2,
        "title": one.title,
        "abstract": None,
        "year": one.year,
        "venue": one.venue,
        "authors": [{"authorId": "1", "name": name} for name in one.authors],
        "externalIds": {**({"DOI": one.doi.upper()} if one.doi else {}), **({"ArXiv": one.arxiv} if one.arxiv else {})},
        "openAccessPdf": {"url": ""},
        "publicationTypes": None,
        "journal": {"name": one.venue, "volume": one.volume, "pages": f" {one.pages} "} if one.pages else None,
        "citationCount": 900,
        "url": f"https://www.semanticscholar.org/paper/{one.s2}",
    }


def _crossref(fakes: Fakes, request: Request) -> Response:
    params = request.query_params
    if request.url.path == "/works":
        words = params.get("query.bibliographic") or params.get("query.author", "")
        found = [one for one in _searched(words) if one.doi][: int(params["rows"])]
        body: dict[str, Any] = {"status": "ok", "message": {"items": [_item(one) for one in found]}}
        return JSONResponse(body, headers=CROSSREF_SAYS)
    doi = request.url.path.removeprefix("/works/")
    for one in KNOWN:
        if one.doi and one.doi == doi:
            return JSONResponse({"status": "ok", "message": _item(one)}, headers=CROSSREF_SAYS)
    return PlainTextResponse("Resource not found.", 404, CROSSREF_SAYS)


def _item(one: KnownPaper) -> dict[str, Any]:
    names = [name.rpartition(" ") for name in one.authors]
    return {
        "DOI": one.doi,
        "URL": f"https://doi.org/{one.doi}",
        "title": [f"<i>{one.title}</i>"],
        "author": [{"given": given, "family": family} if given else {"name": family} for given, _, family in names],
        "issued": {"date-parts": [[one.year, 5]]},
        "container-title": [one.venue],
        "type": one.kind,
        **({"volume": one.volume} if one.volume else {}),
        **({"issue": one.issue} if one.issue else {}),
        **({"page": one.pages} if one.pages else {}),
        "publisher": one.publisher or "A Publisher",
        "abstract": f"<jats:p>{one.abstract}</jats:p>",
        "is-referenced-by-count": 800,
        "reference": [{"DOI": other.doi, "article-title": other.title, "year": str(other.year)} for other in KNOWN[:2]],
        **({"updated-by": [{"type": "retraction", "DOI": "10.1000/notice"}]} if one.is_retracted else {}),
    }


def _unpaywall(fakes: Fakes, request: Request) -> Response:
    if "@" not in request.query_params.get("email", ""):
        return JSONResponse({"error": True, "message": "email"}, 422)
    doi = request.url.path.removeprefix("/v2/")
    if not any(one.doi == doi for one in KNOWN):
        return JSONResponse({"error": True}, 404)
    path = f"/{doi}.pdf"
    place = {"url_for_pdf": f"{fakes.urls['files']}{path}"} if path in fakes.files else None
    return JSONResponse({"doi": doi, "best_oa_location": place})


def _hugging_face(fakes: Fakes, request: Request) -> Response:
    path, wanted = request.url.path, request.query_params.get("filter", "")
    if path.startswith("/api/papers/"):
        if path.rsplit("/", 1)[1] != "1706.03762":
            return JSONResponse({"error": "Paper not found"}, 404)
        return JSONResponse({"id": "1706.03762", "githubRepo": "https://github.com/example/attention"})
    kind = path.removeprefix("/api/")
    hits = [{"id": f"example/{kind}-of-attention", "downloads": 1200}] if wanted == "arxiv:1706.03762" else []
    return JSONResponse(hits)


def _papers_with_code(fakes: Fakes, request: Request) -> Response:
    if request.url.path == "/api/v1/papers/":
        is_known = request.query_params.get("arxiv_id") == "1706.03762"
        return JSONResponse({"count": int(is_known), "results": [{"id": "attention-is-all"}] if is_known else []})
    if request.url.path.endswith("/repositories/"):
        repository = {"url": "https://github.com/example/official", "is_official": True, "framework": "tf"}
        return JSONResponse({"results": [repository, {"url": "https://github.com/Example/attention"}]})
    return JSONResponse(
        {"results": [{"id": "wmt", "name": "WMT", "full_name": "WMT 2014", "url": "https://example.org/wmt"}]}
    )


def _files(fakes: Fakes, request: Request) -> Response:
    if request.url.path not in fakes.files:
        return PlainTextResponse("none", 404)
    content, media_type = fakes.files[request.url.path]
    return Response(content, media_type=media_type)


_ANSWERS: dict[str, Callable[[Fakes, Request], Response]] = {
    "openalex": _openalex,
    "semantic_scholar": _semantic_scholar,
    "arxiv": _arxiv,
    "crossref": _crossref,
    "unpaywall": _unpaywall,
    "hugging_face": _hugging_face,
    "papers_with_code": _papers_with_code,
    "files": _files,
}


def _searched(text: str) -> list[KnownPaper]:
    """Those that have most of the words in title, names or abstract, the most first."""
    words = {word.lower() for word in _WORDS.findall(text)}
    scored = [(len(words & _words_of(one)), one) for one in KNOWN]
    least = max(len(words) * 0.7, 1)
    return [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score >= least]


def _words_of(one: KnownPaper) -> set[str]:
    return {word.lower() for word in _WORDS.findall(f"{one.title} {' '.join(one.authors)} {one.abstract}")}
