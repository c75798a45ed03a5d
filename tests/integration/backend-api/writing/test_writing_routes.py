"""Projects of writing over HTTP: changed as they were read, with revisions, of one user alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.research.known_papers import KNOWN
from support.writing import PNG

RETRACTED = next(one for one in KNOWN if one.is_retracted)


async def test_a_project_is_begun_outlined_written_and_deleted(studio: Any) -> None:
    project = await studio.begin("Introduction", "Method", kind="thesis_chapter", language="zh", style="gb-t-7714")
    assert (project["kind"], project["style"], project["language"]) == ("thesis_chapter", "gb-t-7714", "zh")
    written = await studio.write(project, "It begins.")
    assert [(one["id"], one["title"], one["text"]) for one in written["sections"]] == [
        ("s1", "Introduction", "It begins."),
        ("s2", "Method", ""),
    ]
    (listed,) = (await studio.done("GET"))["items"]
    assert (listed["id"], listed["title"], listed["sections"]) == (project["id"], "A study", 2)
    assert await studio.done("GET", f"/{project['id']}") == written
    assert (await studio.ask("DELETE", f"/{project['id']}")).status_code == 204
    gone = await studio.ask("GET", f"/{project['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "project_not_found")


async def test_of_two_who_edit_a_section_one_is_told_so_with_the_present_text(studio: Any) -> None:
    project = await studio.write(await studio.begin("Introduction"), "One.\nTwo.")
    section, path = project["sections"][0], f"/{project['id']}/sections/s1"
    answers = await asyncio.gather(
        *(studio.ask("PUT", path, {"text": f"One.\n{who}."}, etag=section["etag"]) for who in ("Anna", "Ben"))
    )
    assert sorted(one.status_code for one in answers) == [200, 412]
    (late,) = [one.json() for one in answers if one.status_code == 412]
    present = (await studio.done("GET", f"/{project['id']}"))["sections"][0]
    assert (late["code"], late["present"], late["etag"]) == ("text_changed", present["text"], present["etag"])
    assert late["difference"].splitlines()[-2:] == ["-Two.", f"+{present['text'].splitlines()[1]}"]
    unread = await studio.ask("PUT", path, {"text": "Mine."})
    assert (unread.status_code, unread.json()["present"]) == (412, present["text"])


async def test_revisions_tell_who_and_are_restored(studio: Any) -> None:
    project = await studio.write(await studio.begin("Introduction"), "One.")
    project = await studio.write(project, "Two.")
    path = f"/{project['id']}/revisions"
    page = await studio.done("GET", f"{path}?part=s1&limit=1")
    assert [(one["change"], one["author"]["kind"]) for one in page["items"]] == [("written", "person")]
    older = await studio.done("GET", f"{path}?part=s1&limit=1&cursor={page['next_cursor']}")
    whole = await studio.done("GET", f"{path}/{older['items'][0]['id']}")
    assert (whole["text"], whole["title"]) == ("One.", "Introduction")
    late = await studio.ask("POST", f"{path}/{whole['id']}/restore", etag="0123456789abcdef")
    assert (late.status_code, late.json()["present"]) == (412, "Two.")
    back = await studio.done("POST", f"{path}/{whole['id']}/restore", etag=project["sections"][0]["etag"])
    assert back["sections"][0]["text"] == "One."
    assert len((await studio.done("GET", f"{path}?part=s1"))["items"]) == 3
    assert (await studio.ask("GET", f"{path}?cursor=none")).status_code == 422


async def test_a_suggestion_is_accepted_as_the_person_has_it(studio: Any) -> None:
    project = await studio.write(await studio.begin("Introduction"), "One.")
    section, path = project["sections"][0], f"/{project['id']}/sections/s1/suggestion"
    body = {"text": "Two.", "instruction": "shorter"}
    made = (await studio.done("POST", path, body, etag=section["etag"]))["sections"][0]["suggestion"]
    assert (made["text"], made["instruction"], made["is_stale"]) == ("Two.", "shorter", False)
    changed = await studio.done("POST", f"{path}/{made['id']}", {"text": "Two, and more."}, etag=section["etag"])
    assert (changed["sections"][0]["text"], changed["sections"][0]["suggestion"]) == ("Two, and more.", None)
    assert (await studio.ask("DELETE", f"{path}/{made['id']}")).status_code == 404


async def test_input_that_is_none_changes_nothing(studio: Any) -> None:
    project = await studio.begin("Introduction")
    path = f"/{project['id']}"
    for method, where, body, status, code in (
        ("POST", "", {"title": "A", "style": "my-own"}, 422, "writing_invalid"),
        ("POST", "", {"title": "A", "style": "../../apa"}, 422, "writing_invalid"),
        ("POST", "", {"title": "A", "kind": "poem"}, 422, "invalid"),
        ("POST", "", {"title": " \u200b"}, 422, "invalid"),
        ("PATCH", path, {"style": "my-own"}, 422, "writing_invalid"),
        ("PUT", f"{path}/sections/s9", {"text": "x"}, 404, "section_not_found"),
        ("PUT", f"{path}/sections/s1", {"text": "x" * 100_001}, 422, "invalid"),
        ("PUT", f"{path}/sections/s1", {"text": "a\u0000"}, 422, "invalid"),
        ("POST", f"{path}/bibliography", {"record_id": "rec_none"}, 404, "record_not_found"),
        ("POST", f"{path}/export?format=exe", None, 422, "invalid"),
    ):
        etag = project["etag"] if method == "PATCH" else project["sections"][0]["etag"]
        answer = await studio.ask(method, where, body, etag=etag)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert await studio.done("GET", path) == project


async def test_nobody_else_sees_or_changes_a_project(studio: Any) -> None:
    project = await studio.write(await studio.begin("Introduction"), "One.")
    ben = await studio.gateway.user("ben")
    path, etag = f"/api/writing/{project['id']}", project["sections"][0]["etag"]
    for method, where, body in (
        ("GET", "", None),
        ("PATCH", "", {"title": "Mine"}),
        ("DELETE", "", None),
        ("PUT", "/sections/s1", {"text": "x"}),
        ("PUT", "/outline", {"outline": []}),
        ("GET", "/revisions", None),
        ("POST", "/check", None),
        ("GET", "/preview", None),
        ("POST", "/export?format=html", None),
    ):
        answer = await studio.gateway.client.request(
            method, path + where, json=body, headers=ben | {"If-Match": f'"{etag}"'}
        )
        assert (answer.status_code, answer.json()["code"]) == (404, "project_not_found"), (method, where)
    assert (await studio.gateway.client.get("/api/writing", headers=ben)).json()["items"] == []


async def test_citations_are_checked_against_fake_sources(studio: Any) -> None:
    project = await studio.begin("Introduction")
    good, gone = await studio.cite(project, KNOWN[2].doi), await studio.cite(project, RETRACTED.doi)
    assert good == "lecun2015deep"
    project = await studio.write(await studio.done("GET", f"/{project['id']}"), f"[@{good}; @{gone}; @made2024up]")
    check = await studio.done("POST", f"/{project['id']}/check")
    assert {(one["code"], one["key"]) for one in check["findings"]} == {
        ("retracted", gone),
        ("key_unknown", "made2024up"),
    }
    refused = await studio.ask("POST", f"/{project['id']}/export?format=html")
    assert (refused.status_code, refused.json()["code"]) == (409, "citations_failed")
    assert {one["key"] for one in refused.json()["findings"]} == {gone, "made2024up"}
    marked = await studio.ask("POST", f"/{project['id']}/export?format=html&anyway=true")
    assert marked.status_code == 200
    assert "[citation not verified: made2024up]" in marked.text
    assert f"[citation not verified: {gone}]" in marked.text


async def test_a_planted_reference_of_a_file_does_not_hold(studio: Any) -> None:
    planted = b"@article{x, title={A wholly other title}, author={Nobody, Ann}, year={1999}, doi={10.1038/nature14539}}"
    await studio.gateway.client.post(
        "/api/corpus/import?format=bibtex", headers=studio.anna, files={"file": ("refs.bib", planted)}
    )
    (record,) = (await studio.done("GET", "/api/corpus"))["items"]
    project = await studio.begin("Introduction")
    changed = await studio.done("POST", f"/{project['id']}/bibliography", {"record_id": record["id"]})
    await studio.write(changed, f"[@{changed['bibliography'][0]['key']}]")
    check = await studio.done("POST", f"/{project['id']}/check")
    assert {one["code"] for one in check["findings"]} == {"title_differs", "author_differs", "year_differs"}
    assert (await studio.done("GET", "/api/corpus"))["items"][0]["is_imported"]


@pytest.mark.parametrize(
    "form",
    [
        "markdown",
        pytest.param("latex", marks=pytest.mark.thorough),
        "pdf",
        pytest.param("docx", marks=pytest.mark.thorough),
        pytest.param("html", marks=pytest.mark.thorough),
    ],
)
async def test_a_document_comes_whole(studio: Any, form: str) -> None:
    project = await studio.begin("Introduction", authors=["Anna Weber"])
    key = await studio.cite(project, KNOWN[2].doi)
    await studio.write(await studio.done("GET", f"/{project['id']}"), f"Nets are deep [@{key}].")
    answer = await studio.ask("POST", f"/{project['id']}/export?format={form}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
    begins = {"markdown": b"---\n", "latex": b"PK", "pdf": b"%PDF-", "docx": b"PK", "html": b"<!doctype html>"}
    assert answer.content.startswith(begins[form])
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.thorough
async def test_a_preview_has_citations_that_name_their_keys(studio: Any) -> None:
    project = await studio.begin("Introduction")
    key = await studio.cite(project, KNOWN[2].doi)
    await studio.write(await studio.done("GET", f"/{project['id']}"), f"<b onclick=x>Nets</b> [@{key}] [@none]")
    html = (await studio.done("GET", f"/{project['id']}/preview"))["html"]
    assert f'data-cites="{key}"' in html
    assert "LeCun" in html
    assert "<b onclick" not in html
    assert "[citation not verified: none]" in html
    assert 'id="sec-s1"' in html


async def test_figures_are_in_preview_and_document_and_a_missing_one_is_a_problem_at_its_place(studio: Any) -> None:
    session_id = await studio.gateway.session(studio.anna)
    files = studio.gateway.workspace.files.setdefault(session_id, {})
    files |= {"plots/one.png": PNG, "notes.txt": b"no picture", "big.png": PNG + b"\0" * 3 * 1024**2}
    project = await studio.done("POST", "", {"title": "A study", "session_id": session_id})
    path = f"/{project['id']}"
    outline = {"outline": [{"title": "One"}]}
    project = await studio.done("PUT", f"{path}/outline", outline, etag=project["outline_etag"])
    text = "![A plot](plots/one.png)\n\n![Gone](gone.png)\n\n![Notes](notes.txt)\n\n![Big](big.png)"
    await studio.write(project, text)
    html = (await studio.done("GET", f"{path}/preview"))["html"]
    assert html.count('src="data:image/png;base64,') == 1
    for told in (
        "[figure missing: gone.png]",
        "[no picture: notes.txt]",
        "[figure too large for the preview: big.png]",
    ):
        assert told in html
    findings = (await studio.done("POST", f"{path}/check"))["findings"]
    assert [(one["code"], one["severity"], one["section_id"], text[one["at"] :][:7]) for one in findings] == [
        ("figure_missing", "error", "s1", "![Gone]"),
        ("figure_missing", "error", "s1", "![Notes"),
    ]
    anyway = (await studio.ask("POST", f"{path}/export?format=html&anyway=true")).text
    assert anyway.count('src="data:image/png;base64,') == 2


async def test_no_figure_of_another_users_workspace_is_shown(studio: Any) -> None:
    bert = await studio.gateway.user("bert")
    session_id = await studio.gateway.session(bert)
    studio.gateway.workspace.files[session_id] = {"one.png": PNG}
    project = await studio.done("POST", "", {"title": "A study", "session_id": session_id})
    outline = {"outline": [{"title": "One"}]}
    project = await studio.done("PUT", f"/{project['id']}/outline", outline, etag=project["outline_etag"])
    await studio.write(project, "![A plot](one.png)")
    assert "[figure missing: one.png]" in (await studio.done("GET", f"/{project['id']}/preview"))["html"]


@pytest.mark.thorough
async def test_a_figure_that_is_missing_is_said(studio: Any) -> None:
    project = await studio.write(await studio.begin("Introduction"), "![A plot](plots/none.png)")
    refused = await studio.ask("POST", f"/{project['id']}/export?format=html")
    assert (refused.status_code, refused.json()["code"]) == (422, "export_invalid")
    assert "plots/none.png" in refused.json()["detail"]
    anyway = await studio.ask("POST", f"/{project['id']}/export?format=html&anyway=true")
    assert "[figure missing: plots/none.png]" in anyway.text
