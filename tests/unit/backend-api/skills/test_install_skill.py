"""Skills from addresses: kept whole with the address, or refused whole with the reason."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Mapping

import pytest

from backend_api.agent.capability import Setup
from backend_api.agent.tool import Done
from backend_api.agent.tools.local import LocalTools, MainAgentTools
from backend_api.kit.errors import UpstreamError
from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.errors import AddressRefusedError, FetchFailedError, FetchTooLargeError
from backend_api.kit.untrusted.guarded_client import Fetched, FetchLimits
from backend_api.skills.application.add_skill import AddSkill
from backend_api.skills.application.install_skill import InstallSkill
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.domain.entity import MAX_ARCHIVE_BYTES, MAX_BYTES
from backend_api.skills.domain.errors import SkillLimitError, SkillRefusedError, SkillTakenError
from backend_api.skills.library.archives import ZipArchives
from backend_api.skills.library.downloads import FetchedSkills
from backend_api.skills.library.library import read_library
from backend_api.skills.ports import SkillDownload
from backend_api.skills.tools.install_skill import install_skill
from support.memory.skills import MemorySkillStore
from support.scripted import ANY, call_tool

ANNA, BERT = UserId("u"), UserId("bert")
"""`call_tool` calls for the first."""
URL = "https://a.example/k.zip"
MAIN = "---\nname: {name}\ndescription: How to tie.\n---\nTie it."


def zipped(name: str = "knots", *, kind: int = stat.S_IFREG | 0o644, **others: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", MAIN.format(name=name))
        for path, data in others.items():
            info = zipfile.ZipInfo(path)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, kind << 16
            archive.writestr(info, data)
    return content.getvalue()


class Web:
    """Answers by address; an exception is raised."""

    def __init__(self, answers: Mapping[str, bytes | Fetched | Exception]) -> None:
        self.answers = dict(answers)
        self.limits: list[FetchLimits] = []

    async def get(self, url: str, limits: FetchLimits, *, accept: str) -> Fetched:
        self.limits.append(limits)
        answer = self.answers[url]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Fetched) else fetched(answer, url=url)


def fetched(content: bytes, *, url: str = URL, status: int = 200, media_type: str = "") -> Fetched:
    return Fetched(url=url, status=status, media_type=media_type, charset="", content=content)


class Installing:
    def __init__(self, answer: bytes | Fetched | Exception, *, most: int = 50) -> None:
        self.web = Web({URL: answer})
        self.own = UserSkills(MemorySkillStore(), read_library())
        self.install = InstallSkill(AddSkill(self.own.store, ZipArchives(), most), self.own, FetchedSkills(self.web))

    async def by_agent(self) -> Done:
        tools = LocalTools([install_skill(self.install)])
        return await call_tool(tools, "install_skill", {"name": "knots", "url": URL})


async def test_one_is_kept_with_its_address_for_whoever_asked_and_asks_for_no_more_than_is_taken() -> None:
    there = Installing(zipped(**{"scripts/tie.py": b"#"}))
    entry = await there.install(ANNA, f" {URL}\n")
    assert (entry.name, entry.origin, entry.source, entry.files) == ("knots", "user", URL, 2)
    assert [one.source for one in await there.own.store.entries(ANNA)] == [URL]
    assert await there.own.store.entries(BERT) == []
    assert [limits.body_bytes for limits in there.web.limits] == [MAX_ARCHIVE_BYTES]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (zipped(**{"../up.txt": b"x"}), "points outside"),
        (zipped(**{"/etc/passwd": b"x"}), "absolute"),
        (zipped(link=b"/etc/passwd", kind=stat.S_IFLNK | 0o777), "link or a device"),
        (zipped(device=b"", kind=stat.S_IFCHR | 0o600), "link or a device"),
        (zipped(large=bytes(MAX_BYTES + 1)), "exceeds"),
        (zipped("Knots"), "small letters"),
        (b"<html>A page about it</html>", "neither a zip archive nor"),
        (b"", "neither a zip archive nor"),
        (zipped()[:-30], "damaged"),
        (fetched(zipped(), status=404), "with status 404"),
        (fetched(zipped(), status=304), "with status 304"),
    ],
)
async def test_what_is_no_skill_is_refused_whole_and_what_was_there_stays(
    content: bytes | Fetched, reason: str
) -> None:
    there = Installing(zipped(tie=b"before"))
    await there.install(ANNA, URL)
    there.web.answers[URL] = content
    with pytest.raises(SkillRefusedError, match=reason):
        await there.install(ANNA, URL)
    skill = await there.own.get(ANNA, "knots")
    assert skill.contents["tie"] == b"before"
    assert len(await there.own.store.entries(ANNA)) == 1


@pytest.mark.parametrize(
    ("url", "led_to", "media_type"),
    [
        ("https://a.example/SKILL.md", "https://b.example/raw/1", "text/plain"),
        ("https://a.example/raw", "https://b.example/knots/SKILL.md", "text/plain"),
        ("https://a.example/raw?file=knots", "https://a.example/raw?file=knots", "text/markdown"),
    ],
)
async def test_a_single_file_is_known_by_its_name_or_type(url: str, led_to: str, media_type: str) -> None:
    there = Installing(b"")
    there.web.answers[url] = fetched(MAIN.format(name="knots").encode(), url=led_to, media_type=media_type)
    assert (await there.install(ANNA, url)).name == "knots"


async def test_a_server_that_fails_is_told_as_that() -> None:
    with pytest.raises(UpstreamError, match="with status 503"):
        await Installing(fetched(zipped(), status=503)).install(ANNA, URL)


async def test_nobody_has_more_than_one_may_have() -> None:
    there = Installing(zipped(), most=1)
    await there.install(ANNA, URL)
    there.web.answers[URL] = zipped("nets")
    with pytest.raises(SkillLimitError):
        await there.install(ANNA, URL)
    assert [one.name for one in await there.own.store.entries(ANNA)] == ["knots"]


async def test_an_agent_installs_one_and_reads_what_it_says_of_itself_as_somebodys_words() -> None:
    there = Installing(zipped())
    done = await there.by_agent()
    assert done.success
    for said in ("Installed knots", URL, "it approves nothing", "How to tie."):
        assert said in done.output
    assert [one.name for one in await there.own.store.entries(ANNA)] == ["knots"]


async def test_an_agent_that_names_another_skill_than_there_is_installs_nothing() -> None:
    there = Installing(zipped("nets"))
    done = await there.by_agent()
    assert (done.success, done.output) == (
        False,
        "The skill was not installed. The skill found there is named nets, not knots.",
    )
    assert await there.own.store.entries(ANNA) == []


async def test_an_agent_puts_nothing_in_the_place_of_a_skill_from_elsewhere_and_a_person_does() -> None:
    there = Installing(zipped(tie=b"other"))
    await there.install.add(ANNA, "k.zip", zipped(tie=b"mine"))
    done = await there.by_agent()
    assert not done.success
    assert "The skill knots already exists" in done.output
    assert there.web.limits == []
    assert (await there.own.get(ANNA, "knots")).contents["tie"] == b"mine"
    await there.install(ANNA, URL)
    there.web.answers[URL] = zipped(tie=b"newer")
    assert (await there.by_agent()).success
    assert (await there.own.get(ANNA, "knots")).contents["tie"] == b"newer"


async def test_an_agent_puts_nothing_in_the_place_of_one_that_comes_while_it_is_fetched() -> None:
    there = Installing(b"")

    class Meanwhile:
        async def get(self, user_id: UserId, url: str) -> SkillDownload:
            await there.install.add(user_id, "k.zip", zipped(tie=b"mine"))
            return SkillDownload(file_name="k.zip", content=zipped(tie=b"other"))

    with pytest.raises(SkillTakenError):
        await InstallSkill(there.install.add, there.own, Meanwhile()).add_from_agent(ANNA, URL, name="knots")
    assert (await there.own.get(ANNA, "knots")).contents["tie"] == b"mine"


async def test_an_agent_puts_nothing_before_a_skill_of_the_server() -> None:
    there = Installing(zipped("pdf"))
    with pytest.raises(SkillTakenError):
        await there.install.add_from_agent(ANNA, URL, name="pdf")
    assert (await there.own.with_entry(ANNA, "pdf"))[0].origin == "bundled"


@pytest.mark.parametrize(
    "fault",
    [
        AddressRefusedError("10.0.0.1 is not a public address."),
        FetchTooLargeError("The response is larger than 8192 KB."),
        FetchFailedError("The server can't be reached."),
        SkillLimitError("You have 50 skills."),
    ],
)
async def test_what_can_not_be_installed_is_told_to_the_agent_with_the_reason(
    fault: AddressRefusedError | FetchTooLargeError | FetchFailedError | SkillLimitError,
) -> None:
    done = await Installing(fault).by_agent()
    assert (done.success, done.output) == (False, f"The skill was not installed. {fault.detail}")


@pytest.mark.parametrize("arguments", [{"url": URL}, {"name": "knots"}, {"name": "k\nx", "url": URL}])
async def test_arguments_that_do_not_fit_are_told(arguments: dict[str, str]) -> None:
    there = Installing(zipped())
    done = await call_tool(LocalTools([install_skill(there.install)]), "install_skill", arguments)
    assert not done.success
    assert there.web.limits == []


async def test_it_is_a_change_that_plans_approvals_and_rules_judge_and_only_the_main_agent_has_it() -> None:
    source = MainAgentTools([install_skill(None)])
    [tool] = await source.tools(ANY)
    assert (tool.spec.effect, tool.spec.needs_sandbox) == ("writes", False)
    assert await source.tools(Setup(now=ANY.now, kind="general")) == []
