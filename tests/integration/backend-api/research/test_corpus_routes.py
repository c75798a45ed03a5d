"""The corpus of a user over HTTP: added from sources or a file, each paper once, changed as it was read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, cast

import httpx
import pytest

from backend_api.kit.untrusted.resolver import lookups_of
from backend_api.research import mongo_files
from backend_api.research.domain import MAX_CHARACTERS
from backend_api.research.programs import import_program
from backend_api.research.programs.running import ImportPrograms
from support.backend_stores import redis_channels
from support.gateway import Gateway, run_gateway
from support.research.fake_sources import Fakes, fake_sources
from support.research.known_papers import KNOWN
from support.research.pdfs import encrypted, pdf_of, scanned
from support.servers import Server

RESNET = KNOWN[1]
BIBTEX = rb"""
@string{nat = "Nature"}
@article{lecun, title={Deep {L}earning}, author={LeCun, Yann and Bengio, Yoshua}, year=2015, journal=nat,
  doi={10.1038/nature14539}, keywords={deep, nets}, annote={Read \emph{twice}}}
@article{lecun, title={Deep learning}, author={LeCun, Y.}, year={2015}}
@article{broken, title={Never closed
@misc{vaswani, title={Attention}, author={Vaswani, Ashish}, year={2017}, eprint={1706.03762v5}, archiveprefix={arXiv}}
@misc{evil, title={\input{/etc/passwd} A \write18{rm -rf} study of M{\"u}ller}, author={{The {\'E}quipe}}, year={2020}}
"""


@dataclass(frozen=True, slots=True)
class Library:
    gateway: Gateway
    fakes: Fakes
    anna: dict[str, str]

    async def ask(self, method: str, path: str = "", **more: Any) -> httpx.Response:
        headers = self.anna | more.pop("headers", {})
        return await self.gateway.client.request(method, f"/api/corpus{path}", headers=headers, timeout=240, **more)

    async def add(self, name: str, **more: Any) -> dict[str, Any]:
        answer = await self.ask("POST", json={"id": name, **more})
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def take_in(self, content: bytes, form: str = "bibtex") -> httpx.Response:
        return await self.ask("POST", f"/import?format={form}", files={"file": ("refs.bib", content)})


@pytest.fixture
async def library(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[Library]:
    async with fake_sources() as fakes, redis_channels(redis_server.uri) as live:
        # Answers of sources are kept there for days, and those of other tests had other faults.
        await cast("Any", live.redis).flushdb()
        urls = {name: url for name, url in fakes.urls.items() if name != "files"}
        async with run_gateway(
            mongo_server.uri, mongo_database_name, redis_server.uri, fetch_hosts=fakes.hosts, source_urls=urls
        ) as gateway:
            yield Library(gateway, fakes, await gateway.user("anna"))


async def test_a_paper_is_added_from_a_source_and_stays_one_by_any_id(library: Library) -> None:
    added = await library.add(RESNET.doi, tags=["vision"], session_id="s1")
    assert (added["is_new"], added["notices"]) == (True, [])
    record = added["record"]
    assert (record["title"], record["paper_id"], record["is_imported"]) == (RESNET.title, f"doi:{RESNET.doi}", False)
    assert (record["added_by"], record["source"], record["sessions"]) == ("person", "openalex", ["s1"])
    again = await library.add(f"arXiv:{RESNET.arxiv}v2", tags=["cnn"], session_id="s2")
    assert (again["is_new"], again["record"]["id"]) == (False, record["id"])
    assert again["record"]["tags"] == ["vision", "cnn"]
    assert again["record"]["sessions"] == ["s1", "s2"]
    assert (await library.ask("GET")).json()["total"] == 1


async def test_what_no_source_has_is_not_added(library: Library) -> None:
    for name, status, code in (
        ("10.1000/nothing", 404, "paper_not_found"),
        ("not a doi", 422, "paper_id_invalid"),
        ("x" * 301, 422, "invalid"),
    ):
        answer = await library.ask("POST", json={"id": name})
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    for name in library.fakes.urls:
        library.fakes.faults[name] = "500"
    answer = await library.ask("POST", json={"id": KNOWN[8].doi})
    assert (answer.status_code, answer.json()["code"]) == (502, "sources_failed")
    assert (await library.ask("GET")).json()["total"] == 0


async def test_notes_and_tags_change_as_they_were_read_and_nobody_else_sees_them(library: Library) -> None:
    record = (await library.add(RESNET.doi))["record"]
    path, etag = f"/{record['id']}", {"If-Match": f'"{record["etag"]}"'}
    changed = await library.ask("PATCH", path, json={"notes": "Good", "tags": [" a  b ", "A B", "c"]}, headers=etag)
    assert (changed.status_code, changed.json()["tags"]) == (200, ["a b", "c"])
    assert changed.headers["etag"] == f'"{changed.json()["etag"]}"'
    late = await library.ask("PATCH", path, json={"notes": "Bad"}, headers=etag)
    assert (late.status_code, late.json()["code"]) == (412, "record_changed")
    assert (await library.ask("GET", path)).json()["notes"] == "Good"
    for body in ({"tags": ["\u202e"]}, {"notes": "x" * 20_001}, {"tags": ["x"] * 31}, {"tags": ["x" * 61]}):
        assert (await library.ask("PATCH", path, json=body)).status_code == 422
    assert (await library.ask("GET", "/tags")).json() == [{"tag": "a b", "count": 1}, {"tag": "c", "count": 1}]
    bert = await library.gateway.user("bert")
    for method, body in (("GET", None), ("PATCH", {"notes": "mine"}), ("DELETE", None)):
        answer = await library.ask(method, path, json=body, headers=bert)
        assert (answer.status_code, answer.json()["code"]) == (404, "record_not_found")
    assert (await library.ask("DELETE", path)).status_code == 204
    assert (await library.ask("GET", path)).status_code == 404


async def test_a_file_is_taken_in_what_is_broken_told_and_each_paper_one_record(library: Library) -> None:
    await library.add(KNOWN[0].arxiv)
    answer = await library.take_in(BIBTEX)
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert (body["added"], body["merged"]) == (2, 2)
    (broken,) = body["broken"]
    assert (broken["line"], broken["begins"]) == (6, "@article{broken, title={Never closed")
    items = {one["title"]: one for one in (await library.ask("GET")).json()["items"]}
    lecun = items["Deep Learning"]
    assert (lecun["is_imported"], lecun["source"], lecun["tags"]) == (True, "import", ["deep", "nets"])
    assert (lecun["authors"], lecun["venue"], lecun["notes"]) == (
        ["Yann LeCun", "Yoshua Bengio"],
        "Nature",
        "Read twice",
    )
    assert not items["Attention Is All You Need"]["is_imported"]
    assert items["A 18rm -rf study of Müller"]["authors"] == ["The Équipe"]
    assert (await library.take_in(BIBTEX)).json()["added"] == 0, "the same file again adds nothing"
    found = await library.add("10.1038/nature14539")
    assert (found["is_new"], found["record"]["is_imported"], found["record"]["source"]) == (False, False, "openalex")
    assert found["record"]["notes"] == "Read twice"


@pytest.mark.parametrize("form", ["bibtex", pytest.param("ris", marks=pytest.mark.thorough)])
async def test_what_is_exported_is_the_same_when_it_is_taken_in(library: Library, form: str) -> None:
    for one in (KNOWN[1], KNOWN[2], KNOWN[27]):
        record = (await library.add(one.doi, tags=["x", "y"]))["record"]
        await library.ask("PATCH", f"/{record['id']}", json={"notes": r"50% of \alpha & {b}"})
    exported = await library.ask("GET", f"/export?format={form}")
    assert exported.headers["content-disposition"] == f'attachment; filename="corpus.{form[:3]}"'
    again = await library.take_in(exported.content, form)
    assert again.json() == {"added": 0, "merged": 3, "broken": []}
    before = (await library.ask("GET")).json()["items"]
    assert {one["pages"] for one in before} == {"770–778", "436–444", ""}
    for record in before:
        await library.ask("DELETE", f"/{record['id']}")
    assert (await library.take_in(exported.content, form)).json()["added"] == 3
    after = (await library.ask("GET")).json()["items"]
    told = (
        *("title", "authors", "year", "venue", "kind", "volume", "issue", "pages", "publisher"),
        *("doi", "abstract", "tags", "notes"),
    )

    def plain(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted(tuple(str(record[name]) for name in told) for record in records)

    assert plain(after) == plain(before)


async def test_records_are_filtered_and_paged(library: Library) -> None:
    for one in KNOWN[1:4]:
        await library.add(one.doi, tags=[f"t{one.number}"], session_id=f"s{one.number}")
    await library.take_in(b"@misc{a, title={Own (notes) [x}, author={A B}, year={2001}}")

    async def titles(query: str) -> list[str]:
        answer = await library.ask("GET", f"?{query}")
        assert answer.status_code == 200, answer.text
        return [one["title"] for one in answer.json()["items"]]

    assert len(await titles("")) == 4
    assert await titles("q=SCHMIDHUBER long") == ["Long Short-Term Memory"]
    assert await titles("q=(notes) [") == ["Own (notes) [x"]
    assert await titles("tag=t2") == ["Deep learning"]
    assert await titles("session_id=s1") == [RESNET.title]
    assert await titles("source=import") == ["Own (notes) [x"]
    assert await titles("year_from=1997&year_to=2001") == ["Own (notes) [x", "Long Short-Term Memory"]
    first = (await library.ask("GET", "?limit=3")).json()
    rest = (await library.ask("GET", f"?limit=3&cursor={first['next_cursor']}")).json()
    assert (len(first["items"]), len(rest["items"]), rest["next_cursor"], rest["total"]) == (3, 1, None, 4)
    assert (await library.ask("GET", "?cursor=xxx")).status_code == 422


@pytest.mark.parametrize(
    ("content", "form", "status", "said"),
    [
        (b"", "bibtex", 422, "no BibTeX entries"),
        pytest.param(b"<html>not a bibliography</html>", "ris", 422, "no RIS entries", marks=pytest.mark.thorough),
        pytest.param(b"\xff\xfe\x00@", "bibtex", 422, "no BibTeX entries", marks=pytest.mark.thorough),
        (b"x", "csl", 422, "format"),
        pytest.param(
            b"@misc{a, title={x}}\n" * 50_001,
            "bibtex",
            422,
            "50,001 entries; at most 50,000",
            marks=pytest.mark.thorough,
        ),
        (b"x" * (49 * 1024**2), "bibtex", 413, ""),
    ],
    ids=["empty", "html", "binary", "format", "many", "large"],
)
async def test_a_file_that_is_no_bibliography_is_refused(
    library: Library, content: bytes, form: str, status: int, said: str
) -> None:
    answer = await library.take_in(content, form)
    assert answer.status_code == status, answer.text
    assert said in answer.text
    assert (await library.ask("GET")).json()["total"] == 0


@pytest.mark.thorough
async def test_values_nested_without_end_are_a_broken_block(library: Library) -> None:
    deep = b"@misc{a, title={" + b"\\emph{" * 20_000 + b"x" + b"}" * 20_000 + b"}}\n@misc{b, title={Good}, year=2001}"
    body = (await library.take_in(deep)).json()
    assert (body["added"], len(body["broken"])) == (1, 1)


async def test_a_small_file_becomes_no_large_one_and_costs_no_time(library: Library) -> None:
    long = b'@string{a = "' + b"x" * 5_000 + b'"}\n'
    content = long + b"".join(b"@misc{k%d, title={T%d}, abstract=a}\n" % (one, one) for one in range(2_000))
    answer = (await library.take_in(content)).json()
    assert answer["added"] + len(answer["broken"]) >= 1_200
    assert 0 < answer["added"] < 500
    assert "abbreviations" in answer["broken"][0]["reason"]
    spaces = b"@misc{k, title={T}, author={A B" + b" " * 39_000 + b"and C D}}\n"
    began = time.process_time_ns()
    (entry,) = import_program.read(spaces.decode(), "bibtex", 1)["entries"]
    assert entry["authors"] == ["A B", "C D"]
    assert time.process_time_ns() - began < 3e9


async def test_who_sends_many_files_at_once_leaves_others_their_turn(library: Library) -> None:
    research = cast("Any", library.gateway.ports.modules.ports["research"])
    research.places.wait_s = 0.1
    me = (await library.gateway.client.get("/api/auth/me", headers=library.anna)).json()["id"]
    bert = await library.gateway.user("bert")
    async with research.places.claim(me), research.places.claim(me):
        refused = await library.take_in(BIBTEX)
        assert (refused.status_code, refused.json()["code"]) == (429, "limit")
        file = {"file": ("paper.pdf", b"no pdf")}
        assert (await library.ask("POST", "/match", files=file)).status_code == 429
        assert (await library.ask("POST", "/match", files=file, headers=bert)).status_code == 422
    assert (await library.take_in(BIBTEX)).status_code == 201


async def test_programs_at_work_for_one_leave_a_place_to_others() -> None:
    slow = b"".join(b"@misc{k%d, title={\\alpha %b}}\n" % (one, b"\\beta{} " * 4_000) for one in range(200))
    programs = ImportPrograms()

    async def read(owner: str, content: bytes) -> str:
        with lookups_of(owner):
            await programs.read(content, "bibtex")
        return owner

    hers = [asyncio.create_task(read("anna", slow)) for _ in range(4)]
    await asyncio.sleep(0)
    his = asyncio.create_task(read("bert", BIBTEX))
    done, _ = await asyncio.wait([*hers, his], return_when=asyncio.FIRST_COMPLETED)
    assert his in done
    for task in hers:
        task.cancel()
    await asyncio.gather(*hers, return_exceptions=True)


@pytest.mark.thorough
async def test_twenty_that_add_one_paper_at_once_make_one_record(library: Library) -> None:
    names = [RESNET.doi, RESNET.arxiv] * 10
    added = await asyncio.gather(*(library.add(name) for name in names))
    assert len({one["record"]["id"] for one in added}) == 1
    assert sum(one["is_new"] for one in added) == 1
    assert (await library.ask("GET")).json()["total"] == 1


async def test_a_corpus_that_is_full_takes_no_notes_no_paper_and_no_file_and_says_so(library: Library) -> None:
    record = (await library.add(RESNET.doi))["record"]
    held = library.gateway.database["corpus_held"]
    almost = {"$set": {"characters": MAX_CHARACTERS - 100}}
    await held.update_many({}, almost)

    def is_full(answer: httpx.Response) -> bool:
        return (answer.status_code, answer.json()["code"]) == (413, "corpus_full") and "200,000,000" in answer.text

    path = f"/{record['id']}"
    assert is_full(await library.ask("PATCH", path, json={"notes": "x" * 101}))
    assert is_full(await library.ask("PATCH", path, json={"tags": ["x" * 60, "y" * 60]}))
    assert is_full(await library.ask("POST", json={"id": KNOWN[2].doi}))
    assert is_full(await library.take_in(BIBTEX))
    assert (await library.ask("GET")).json()["items"] == [record], "nothing of it was stored"
    assert (await library.ask("PATCH", path, json={"notes": "x" * 100})).status_code == 200
    assert is_full(await library.ask("PATCH", path, json={"notes": "x" * 100, "tags": ["y"]}))
    assert (await library.ask("PATCH", path, json={"notes": "x" * 99, "tags": ["y"]})).status_code == 200
    await held.update_many({}, {"$inc": {"characters": 1_000}})
    assert (await library.ask("PATCH", path, json={"notes": ""})).status_code == 200, "to shorten is always possible"
    assert (await library.ask("DELETE", path)).status_code == 204


@pytest.mark.thorough
async def test_two_records_that_turn_out_to_be_one_become_one(library: Library) -> None:
    await library.take_in(
        b"@misc{a, title={X}, author={A B}, year=2001, doi={10.1109/cvpr.2016.90}, annote={one}}\n"
        b"@misc{b, title={Y}, author={A B}, year=2002, eprint={1512.03385}, archiveprefix={arXiv}, annote={two}}"
    )
    assert (await library.ask("GET")).json()["total"] == 2
    record = (await library.add(RESNET.doi))["record"]
    assert (await library.ask("GET")).json()["total"] == 1
    assert {"one", "two"} <= set(record["notes"].split())


@pytest.mark.thorough
@pytest.mark.timeout(300)
async def test_fifty_thousand_entries_are_taken_in_and_others_are_answered(library: Library) -> None:
    who = 'author={M{\\"u}ller, A%d and Smith, J.}, year={2001}, doi={10.1000/%d}'
    entry = f"@article{{k%d, title={{On {{\\'E}}tude %d}}, {who}}}\n"
    content = "".join(entry % (number, number, number, number) for number in range(50_000)).encode()
    began, slowest = time.monotonic(), 0.0
    taking = asyncio.create_task(library.take_in(content))
    while not taking.done():
        asked = time.monotonic()
        assert (await library.ask("GET", "/tags")).status_code == 200
        slowest = max(slowest, time.monotonic() - asked)
        await asyncio.sleep(0.05)
    assert (await taking).json()["added"] == 50_000
    assert time.monotonic() - began < 240
    assert slowest < 20


async def test_keys_of_a_user_are_tried_kept_sealed_and_sent_for_that_user_alone(library: Library) -> None:
    tried = await library.ask("POST", "/sources/openalex/test", json={"key": " my-own-key "})
    assert tried.json() == {"outcome": "ok", "detail": ""}
    assert "api_key=my-own-key" in library.fakes.asked_of("openalex")[-1]
    library.fakes.faults["semantic_scholar"] = "forbidden"
    refused = await library.ask("POST", "/sources/semantic_scholar/test", json={"key": "wrong-key"})
    assert refused.json() == {
        "outcome": "wrong_key",
        "detail": "Semantic Scholar refused the request (403): it needs a key, or a different one.",
    }
    library.fakes.faults["semantic_scholar"] = "throttled"
    assert (await library.ask("POST", "/sources/semantic_scholar/test", json={"key": "k"})).json()["outcome"] == "limit"
    del library.fakes.faults["semantic_scholar"]
    for path, body in (("openalex", {}), ("openalex", {"key": "a b"}), ("arxiv", {"key": "k"})):
        assert (await library.ask("POST", f"/sources/{path}/test", json=body)).status_code == 422
    put = library.gateway.client.put
    for key, value in (("openalex_api_key", "my-own-key"), ("contact", "anna@example.org")):
        answer = await put(f"/api/settings/research/{key}", json={"value": value}, headers=library.anna)
        assert answer.status_code == 200, answer.text
        assert "my-own-key" not in answer.text
    wrong = await put("/api/settings/research/contact", json={"value": "anna"}, headers=library.anna)
    assert wrong.status_code == 422
    saved = await library.ask("POST", "/sources/openalex/test", json={})
    assert saved.json() == {"outcome": "ok", "detail": ""}
    await library.add(RESNET.doi)
    assert "api_key=my-own-key" in library.fakes.asked_of("openalex")[-1]
    assert "mailto=anna%40example.org" in library.fakes.asked_of("crossref")[-1]
    bert = await library.gateway.user("bert")
    await library.ask("POST", json={"id": KNOWN[12].doi}, headers=bert)
    assert "my-own-key" not in library.fakes.asked_of("openalex")[-1]


@pytest.mark.thorough
async def test_of_many_matched_files_of_a_conversation_the_newest_are_kept(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongo_files, "MOST_FILES", 2)
    session_id = await library.gateway.session(library.anna)
    await library.add(RESNET.doi)
    for name in "abc":
        params = {"session_id": session_id, "path": f"uploads/{name}.pdf"}
        file = {"file": ("paper.pdf", pdf_of([f"doi:{RESNET.doi}", "and what is said about it"]))}
        assert (await library.ask("POST", "/match", params=params, files=file)).status_code == 200
    assert await mongo_files.AttachedFileDocument.find({"session_id": session_id}).count() == 2
    items = (await library.ask("GET", "/attached", params={"session_id": session_id})).json()["items"]
    assert [one["path"] for one in items] == ["uploads/c.pdf", "uploads/b.pdf"]


@pytest.mark.thorough
async def test_which_paper_a_file_is_stays_known_to_its_conversation(library: Library) -> None:
    bert = await library.gateway.user("bert")
    session_id = await library.gateway.session(library.anna)
    lstm = KNOWN[3]

    async def match(path: str, text: str, **more: Any) -> None:
        file = {"file": ("paper.pdf", pdf_of([text, "and what is said about it"]))}
        params = {"session_id": session_id, "path": path}
        assert (await library.ask("POST", "/match", params=params, files=file, **more)).status_code == 200

    async def attached(**more: Any) -> tuple[int, dict[str, tuple[str | None, str | None]]]:
        found = (await library.ask("GET", "/attached", params={"session_id": session_id}, **more)).json()
        ids = [((one["record"] or {}).get("id"), (one["offered"] or {}).get("id")) for one in found["items"]]
        return found["linked"], dict(zip([one["path"] for one in found["items"]], ids, strict=True))

    kept = (await library.add(RESNET.doi))["record"]
    await match("uploads/a.pdf", f"doi:{RESNET.doi}")
    await match("uploads/b.pdf", f"{lstm.title} doi:{lstm.doi}")
    await match("uploads/c.pdf", "A report that nobody knows, zzzz qqqq")
    assert await attached() == (1, {"uploads/b.pdf": (None, lstm.doi), "uploads/a.pdf": (kept["id"], None)})
    assert await attached(headers=bert) == (0, {})
    await match("uploads/b.pdf", f"{lstm.title} doi:{lstm.doi}", headers=bert)
    assert await attached(headers=bert) == (0, {}), "the conversation is another user's"
    later = (await library.add(lstm.doi, session_id=session_id))["record"]
    assert await attached() == (2, {"uploads/b.pdf": (later["id"], None), "uploads/a.pdf": (kept["id"], None)})
    by_ids = await library.ask("GET", params={"id": [later["id"], "rec_none"]})
    assert [one["id"] for one in by_ids.json()["items"]] == [later["id"]]
    await library.ask("DELETE", f"/{kept['id']}")
    assert (await attached())[1]["uploads/a.pdf"] == (None, RESNET.doi)
    await match("uploads/a.pdf", "A report that nobody knows, zzzz qqqq")
    assert list((await attached())[1]) == ["uploads/b.pdf"]
    await library.gateway.client.delete(f"/api/sessions/{session_id}", headers=library.anna)
    async with asyncio.timeout(30):
        while await library.gateway.database["corpus_files"].count_documents({"session_id": session_id}):
            await asyncio.sleep(0.05)


async def test_a_pdf_is_matched_by_doi_or_title_and_linked_or_offered(library: Library) -> None:
    async def match(*lines: str, content: bytes = b"") -> httpx.Response:
        file = content or pdf_of(lines, ["The second page"])
        return await library.ask("POST", "/match?session_id=s9", files={"file": ("paper.pdf", file)})

    kept = (await library.add(RESNET.doi))["record"]
    by_doi = (await match("Some heading", f"https://doi.org/{RESNET.doi.upper()}.", "Text")).json()
    assert (by_doi["record"]["id"], by_doi["record"]["sessions"]) == (kept["id"], ["s9"])
    by_title = (await match("Deep Residual Learning", "for Image Recognition", "Kaiming He")).json()
    assert by_title["record"]["id"] == kept["id"]
    lstm = KNOWN[3]
    offered = (await match(lstm.title, "Sepp Hochreiter", f"doi:{lstm.doi}")).json()
    assert offered == {"record": None, "offered": {"id": lstm.doi, "title": lstm.title}}
    assert (await library.ask("GET")).json()["total"] == 1, "nothing is kept by itself"
    unknown = (await match("A report that nobody knows", *["zzzz qqqq and more of the same"] * 8)).json()
    assert unknown == {"record": None, "offered": None}
    for content, said in ((scanned(), "a scan"), (encrypted(), "password"), (b"no pdf", "not a PDF")):
        refused = await match(content=content)
        assert (refused.status_code, refused.json()["code"]) == (422, "import_invalid")
        assert said in refused.json()["detail"]
