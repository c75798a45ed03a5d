"""Projects of writing: each part is changed as it was read, every change can be looked at and undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend_api.writing.domain import MAX_TEXT_CHARACTERS, Heading, SectionId, Settings
from backend_api.writing.errors import (
    ProjectNotFoundError,
    ReferenceNotFoundError,
    SectionNotFoundError,
    SuggestionNotFoundError,
    TextChangedError,
    WritingInvalidError,
    WritingTooLargeError,
)
from backend_api.writing.projects import Projects, difference
from support.writing import AGENT, ANNA, AT, PERSON, MemoryProjects, begun

S1 = SectionId("s1")


async def test_an_outline_makes_sections_which_keep_their_texts_when_it_changes() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction", "Method")
    assert [(one.id, one.title, one.level) for one in project.sections] == [
        ("s1", "Introduction", 1),
        ("s2", "Method", 1),
    ]
    project = await projects.write(ANNA, project.id, S1, "It begins.", project.sections[0].etag, PERSON)
    headings = [Heading(title="Results", level=2), Heading(id=S1, title="Beginning")]
    project = await projects.set_outline(ANNA, project.id, headings, project.outline_etag, AGENT)
    assert [(one.id, one.title, one.text) for one in project.sections] == [
        ("s3", "Results", ""),
        ("s1", "Beginning", "It begins."),
    ]
    assert project.sessions == ("s1",)


async def test_an_outline_does_not_lose_a_text_unless_it_may_go() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction", "Method")
    project = await projects.write(ANNA, project.id, S1, "It begins.", project.sections[0].etag, PERSON)
    only = [Heading(id=SectionId("s2"), title="Method")]
    with pytest.raises(WritingInvalidError, match=r"s1 \(Introduction\)"):
        await projects.set_outline(ANNA, project.id, only, project.outline_etag, AGENT)
    project = await projects.set_outline(ANNA, project.id, only, project.outline_etag, AGENT, drop=True)
    (last, *_) = (await projects.revisions(ANNA, project.id, "s1", limit=10)).items
    project = await projects.restore(ANNA, project.id, last.id, "", PERSON)
    assert [(one.id, one.title, one.text) for one in project.sections][-1] == ("s1", "Introduction", "It begins.")


@pytest.mark.parametrize(
    ("headings", "error"),
    [
        ([Heading(title=" ")], WritingInvalidError),
        ([Heading(title="A", level=5)], WritingInvalidError),
        ([Heading(title="A", id=SectionId("s9"))], SectionNotFoundError),
        ([Heading(title="A", id=S1), Heading(title="B", id=S1)], WritingInvalidError),
        ([Heading(title="A")] * 201, WritingTooLargeError),
        ([Heading(title="hid\u202eden")], WritingInvalidError),
    ],
)
async def test_an_outline_that_is_none_is_refused(headings: list[Heading], error: type[Exception]) -> None:
    projects, project = await begun(MemoryProjects(), "Introduction")
    with pytest.raises(error):
        await projects.set_outline(ANNA, project.id, headings, project.outline_etag, PERSON)


async def test_who_edits_an_older_text_gets_the_present_one_and_the_difference() -> None:
    store = MemoryProjects()
    projects, project = await begun(store, "Introduction")
    read = (await projects.write(ANNA, project.id, S1, "One.\nTwo.", project.sections[0].etag, PERSON)).section(S1)
    await projects.write(ANNA, project.id, S1, "One.\nThree.", read.etag, AGENT)
    with pytest.raises(TextChangedError) as refused:
        await projects.write(ANNA, project.id, S1, "One.\nFour.", read.etag, PERSON)
    error = refused.value
    assert error.present == "One.\nThree."
    assert error.difference.splitlines()[-2:] == ["-Two.", "+Three."]
    stored = await projects.write(ANNA, project.id, S1, "One.\nFour.", error.etag, PERSON)
    assert stored.section(S1).text == "One.\nFour."
    assert [one.text for one in store.history if one.part == "s1"] == ["One.\nTwo.", "One.\nThree.", "One.\nFour."]


async def test_a_text_that_was_not_read_is_not_overwritten() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction")
    first = await projects.write(ANNA, project.id, S1, "One.", "", AGENT)
    with pytest.raises(TextChangedError, match="not read yet") as refused:
        await projects.write(ANNA, project.id, S1, "Two.", "", AGENT)
    assert (refused.value.present, refused.value.etag) == ("One.", first.section(S1).etag)


async def test_two_who_edit_different_sections_do_not_hinder_each_other() -> None:
    store = MemoryProjects()
    projects, project = await begun(store, "Introduction", "Method")
    other = store.kept[project.id].with_text(SectionId("s2"), "By another.")
    store.others.append(other)
    stored = await projects.write(ANNA, project.id, S1, "Mine.", project.sections[0].etag, PERSON)
    assert [one.text for one in stored.sections] == ["Mine.", "By another."]


async def test_a_suggestion_waits_until_it_is_accepted_or_rejected() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction")
    section = (await projects.write(ANNA, project.id, S1, "One.", "", PERSON)).section(S1)
    project = await projects.suggest(ANNA, project.id, S1, "Two.", "shorter", section.etag, AGENT)
    section = project.section(S1)
    assert section.suggestion is not None
    assert (section.text, section.suggestion.text, section.suggestion.author) == ("One.", "Two.", AGENT)
    name = section.suggestion.id
    with pytest.raises(SuggestionNotFoundError):
        await projects.accept(ANNA, project.id, S1, "another", section.etag, PERSON)
    project = await projects.accept(ANNA, project.id, S1, name, section.etag, PERSON)
    assert (project.section(S1).text, project.section(S1).suggestion) == ("Two.", None)
    with pytest.raises(SuggestionNotFoundError):
        await projects.reject(ANNA, project.id, S1, name, PERSON)
    again = await projects.suggest(ANNA, project.id, S1, "Three.", "", project.section(S1).etag, AGENT)
    made = again.section(S1).suggestion
    assert made is not None
    left = await projects.reject(ANNA, project.id, S1, made.id, PERSON)
    assert (left.section(S1).text, left.section(S1).suggestion) == ("Two.", None)


async def test_a_suggestion_to_an_older_text_is_not_accepted_over_the_present_one() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction")
    section = (await projects.write(ANNA, project.id, S1, "One.", "", PERSON)).section(S1)
    made = (await projects.suggest(ANNA, project.id, S1, "Two.", "", section.etag, AGENT)).section(S1).suggestion
    assert made is not None
    await projects.write(ANNA, project.id, S1, "By hand.", section.etag, PERSON)
    with pytest.raises(TextChangedError) as refused:
        await projects.accept(ANNA, project.id, S1, made.id, section.etag, PERSON)
    assert refused.value.present == "By hand."


async def test_a_suggestion_some_changes_of_which_are_taken_is_one_to_the_present_text() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction")
    section = (await projects.write(ANNA, project.id, S1, "One.\n\nTwo.\n\nThree.", "", PERSON)).section(S1)
    suggested = await projects.suggest(ANNA, project.id, S1, "1.\n\n2.\n\n3.", "", section.etag, AGENT)
    made = suggested.section(S1).suggestion
    assert made is not None
    for text, of, stale in (
        ("1.\n\nTwo.\n\nThree.", made.id, False),
        ("1.\n\n2.\n\nThree.", made.id, False),
        ("By hand.", "another", True),
        # It is one to a text that is gone, whatever is taken of it now.
        ("1.\n\nBy hand.", made.id, True),
    ):
        written = await projects.write(ANNA, project.id, S1, text, section.etag, PERSON, of_suggestion=of)
        section = written.section(S1)
        assert section.suggestion is not None
        assert (section.text, section.suggestion.base != section.version) == (text, stale)


async def test_each_part_can_be_had_as_it_was() -> None:
    store = MemoryProjects()
    projects, project = await begun(store, "Introduction")
    await projects.set_settings(ANNA, project.id, lambda one: replace(one, style="ieee"), project.etag, PERSON)
    project = await projects.write(ANNA, project.id, S1, "One.", "", PERSON)
    project = await projects.write(ANNA, project.id, S1, "Two.", project.section(S1).etag, AGENT)
    project = await projects.set_outline(
        ANNA, project.id, [Heading(id=S1, title="Start"), Heading(title="End")], project.outline_etag, AGENT
    )
    by_change = {(one.part, one.change, one.version): one for one in store.history}
    project = await projects.restore(
        ANNA, project.id, by_change["s1", "written", 2].id, project.section(S1).etag, PERSON
    )
    assert project.section(S1).text == "One."
    project = await projects.restore(ANNA, project.id, by_change["project", "created", 1].id, project.etag, PERSON)
    assert project.settings == Settings(title="A study")
    project = await projects.restore(
        ANNA, project.id, by_change["outline", "outline", 2].id, project.outline_etag, PERSON
    )
    assert [one.title for one in project.sections] == ["Introduction"]
    assert store.history[-1].change == "restored"


@pytest.mark.parametrize(
    "settings",
    [
        Settings(title="A", style="harvard-of-mine"),
        Settings(title="A", style="../../etc/passwd"),
        Settings(title="A", language="Klingon!"),
        Settings(title="\u200b"),
        Settings(title="A", authors=("x" * 201,)),
        Settings(title="A", authors=("x",) * 51),
    ],
)
async def test_settings_that_are_none_are_refused(settings: Settings) -> None:
    store = MemoryProjects()
    projects, _ = await begun(store)
    with pytest.raises(WritingInvalidError):
        await projects.create(ANNA, settings, PERSON)
    assert len(store.kept) == 1


async def test_names_of_all_scripts_are_titles_and_authors() -> None:
    settings = Settings(title="دراسة \\input{x} 一個研究", authors=("علي حسن", "王小明"), language="ar")
    assert (await Projects(store=MemoryProjects(), now=lambda: AT).create(ANNA, settings, PERSON)).settings == settings


async def test_texts_have_bounds_and_no_signs_that_nobody_sees() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction")
    etag = project.sections[0].etag
    with pytest.raises(WritingTooLargeError):
        await projects.write(ANNA, project.id, S1, "x" * (MAX_TEXT_CHARACTERS + 1), etag, PERSON)
    with pytest.raises(WritingInvalidError):
        await projects.write(ANNA, project.id, S1, "a\x07b", etag, PERSON)
    stored = await projects.write(ANNA, project.id, S1, "a\r\nb", etag, PERSON)
    assert stored.section(S1).text == "a\nb"


async def test_keys_of_a_bibliography_are_each_one_paper() -> None:
    projects, project = await begun(MemoryProjects(), "Introduction")
    _, first = await projects.add_reference(ANNA, project.id, "rec_1", "lecun2015deep", PERSON)
    _, other = await projects.add_reference(ANNA, project.id, "rec_2", "lecun2015deep", AGENT)
    _, again = await projects.add_reference(ANNA, project.id, "rec_1", "lecun2015deep", AGENT)
    assert (first.key, other.key, again) == ("lecun2015deep", "lecun2015deep-2", first)
    left = await projects.remove_reference(ANNA, project.id, "lecun2015deep", PERSON)
    assert [one.record_id for one in left.references] == ["rec_2"]
    with pytest.raises(ReferenceNotFoundError):
        await projects.remove_reference(ANNA, project.id, "lecun2015deep", PERSON)


async def test_a_project_of_somebody_else_is_none() -> None:
    projects, project = await begun(MemoryProjects())
    with pytest.raises(ProjectNotFoundError):
        await projects.get(ANNA, project.id.__class__("prj_other"))


def test_texts_of_very_many_lines_are_not_compared() -> None:
    assert difference("a\n" * 3_000, "b") == ""
