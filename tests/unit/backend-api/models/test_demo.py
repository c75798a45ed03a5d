from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from backend_api.agent.background import describe_finished
from backend_api.agent.capabilities.subagent import YOUR_PART
from backend_api.agent.events import BackgroundFinished, Question, ResolvedBy, ToolFinished
from backend_api.agent.model import (
    AssistantTurn,
    FinishPart,
    ModelRequest,
    NoteTurn,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolRequest,
    ToolTurn,
    Turn,
    UnknownModelError,
    UserTurn,
)
from backend_api.agent.questions import Answers, Questions
from backend_api.agent.summary import ASKED, FOCUS
from backend_api.agent.title import Exchange, title_from, title_request
from backend_api.agent.tool import ToolSpec
from backend_api.models.catalogue import Catalogue, LlmSettingError, LlmSettings
from backend_api.models.demo.functions import FUNCTIONS
from backend_api.models.demo.model import DEMO_MODEL, DemoModel
from backend_api.models.demo.scenes import read_script
from backend_api.research.corpus_tools import KEPT, KEPT_BEFORE
from backend_api.research.findings import plain
from backend_api.research.sources.shipped import PAPERS

ROOT = Path(__file__).parents[4]
ALL = (
    "file_read",
    "shell_exec",
    "file_write",
    "file_list",
    "browser_navigate",
    "browser_view",
    "web_search",
    "task",
    "think",
    "compact",
    "ask_user",
    "exit_plan_mode",
    "plan_update",
    "todo_write",
    "todo_add",
    "todo_complete",
    "utc_now",
    "read_skill",
    "background_run",
    "papers_search",
    "corpus_add",
    "paper_read",
    "findings_submit",
    "project_create",
    "outline_set",
    "citation_add",
    "section_write",
    "citations_check",
    "section_refine",
    "file_edit",
)


def says_where_a_key_is_given(text: str) -> bool:
    return "Settings, Models and keys" in text or "设置 → 模型与密钥" in text


async def say(turns: list[Turn], tools: tuple[str, ...] = ALL, system: str = "") -> tuple[str, list[ToolRequest]]:
    request = ModelRequest(
        model="demo",
        system=system,
        turns=turns,
        tools=[ToolSpec(name=name, description="", parameters={}, phrase="", effect="reads") for name in tools],
        max_output_tokens=10,
    )
    parts = [part async for part in DemoModel(delay_s=0).stream(request)]
    assert isinstance(parts[-1], FinishPart)
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    return text, [part.request for part in parts if isinstance(part, ToolCallPart)]


def suggestions(language: str, of: str = "demo") -> list[str]:
    """What the front page sends for its examples, the first one for "see it work"."""
    texts = (ROOT / "frontend" / "src" / "i18n" / language).read_text()
    examples = re.search(rf"\n  first: \{{.*?\n    {of}: \{{(.*?)\n    \}}", texts, re.DOTALL)
    assert examples
    return re.findall(r"text\d+: '([^']+)'", examples.group(1))


async def play(asked: str, succeeds: Callable[[str], bool] = lambda name: True) -> tuple[str, list[ToolRequest]]:
    """Until it calls nothing more; every text and call."""
    turns: list[Turn] = [UserTurn(text=asked)]
    texts: list[str] = []
    all_calls: list[ToolRequest] = []
    for _ in range(10):
        text, calls = await say(turns)
        texts.append(text)
        if not calls:
            return "\n".join(texts), all_calls
        all_calls += calls
        turns.append(AssistantTurn(text=text, calls=tuple(calls)))
        turns += [
            ToolTurn(call_id=call.call_id, name=call.name, output=f"out of {call.name}", success=succeeds(call.name))
            for call in calls
        ]
    raise AssertionError("it never ends")


@pytest.mark.parametrize(
    ("asked", "tool", "arguments"),
    [
        ("run ls -la | head", "shell_exec", {"command": "ls -la | head"}),
        ("Please run `sleep 60`", "shell_exec", {"command": "sleep 60"}),
        ("运行 ls -la", "shell_exec", {"command": "ls -la"}),
        ("write a file hello.txt saying hi there", "file_write", {"path": "hello.txt", "content": "hi there\n"}),
        ("write a file a/b.md: # Title\ntext", "file_write", {"path": "a/b.md", "content": "# Title\ntext\n"}),
        ("write a file {x}.txt with {y}", "file_write", {"path": "{x}.txt", "content": "{y}\n"}),
        ("write a file {output}.txt: {name}", "file_write", {"path": "{output}.txt", "content": "{name}\n"}),
        ("写文件 你好.txt 内容是你好", "file_write", {"path": "你好.txt", "content": "你好\n"}),
        ("open example.com", "browser_navigate", {"url": "https://example.com"}),
        ("open file:///workspace/a.html", "browser_navigate", {"url": "file:///workspace/a.html"}),
        ("打开 example.com", "browser_navigate", {"url": "https://example.com"}),
        ("list the files", "file_list", {"path": "."}),
        ("列出文件", "file_list", {"path": "."}),
    ],
)
async def test_plain_requests_are_understood(asked: str, tool: str, arguments: dict[str, str]) -> None:
    text, calls = await play(asked)
    assert [(call.name, call.arguments) for call in calls] == [(tool, arguments)]
    assert text


@pytest.mark.parametrize(
    "asked",
    [
        "Show me what you can do",
        "show me what you can do.",
        "Please give me a tour",
        "Tour",
        "展示你能做什么",
        "请演示一下你能做什么",
        *(suggestions("en.ts")[0], suggestions("zh.ts")[0]),
    ],
)
async def test_the_tour_is_given_when_asked_for_and_ends_with_links(asked: str) -> None:
    text, calls = await play(asked)
    assert [call.name for call in calls] == [
        "shell_exec",
        "file_write",
        "file_write",
        "browser_navigate",
        "browser_view",
    ]
    assert "(notes/tour.md)" in text
    assert says_where_a_key_is_given(text)


@pytest.mark.parametrize(
    "asked",
    [
        "hello, what is 2+2?",
        "what is in note.txt?",
        "What can you do?",
        "",
        "Open the endpoint, please",
        "tourists in Rome",
    ],
)
async def test_what_it_does_not_know_gets_one_short_answer_and_no_action(asked: str) -> None:
    text, calls = await play(asked)
    assert calls == []
    assert "did not understand" in text
    assert says_where_a_key_is_given(text)
    assert "show me what you can do" in text
    assert len(text) < 700


async def test_the_tour_names_what_failed() -> None:
    text, _ = await play("show me what you can do", succeeds=lambda name: not name.startswith("browser"))
    assert "could not open the page" in text
    assert "opened the page in" not in text


@pytest.mark.parametrize(("asked", "failing"), [("run false", "shell_exec"), ("plan a trip", "file_write")])
async def test_what_failed_is_told_as_failed(asked: str, failing: str) -> None:
    text, calls = await play(asked, succeeds=lambda name: name != failing)
    assert ("did not work" in text, f"out of {failing}" in text) == (True, True)
    assert calls[-1].name == failing


async def test_a_report_is_written_to_a_file() -> None:
    text, calls = await play("make a report about Sea Otters!")
    assert calls[-1].name == "file_write"
    assert calls[-1].arguments is not None
    assert calls[-1].arguments["path"] == "reports/sea-otters.md"
    assert "(reports/sea-otters.md)" in text


def written(calls: list[ToolRequest]) -> str:
    assert calls[-1].arguments is not None
    return str(calls[-1].arguments["content"])


async def test_a_report_has_a_title_and_says_what_a_search_did_not_find() -> None:
    _, calls = await play("Make a report about this computer", succeeds=lambda name: name != "web_search")
    content = written(calls)
    assert content.startswith("# This computer\n")
    assert content.endswith("Nothing: the search gave no answer.\n")
    _, calls = await play("Make a report about this computer")
    assert written(calls).endswith("## What a search found\n\nout of web_search\n")


SHOWN = [
    ["shell_exec", "file_write", "file_write", "browser_navigate", "browser_view"],
    ["shell_exec", "web_search", "file_write"],
    ["shell_exec"],
    ["exit_plan_mode", "plan_update", "file_list", "plan_update", "file_write", "plan_update"],
    ["ask_user"],
    ["task", "task"],
    ["think"],
    [],
    ["todo_write", "utc_now", "todo_write", "think", "todo_complete", "todo_add"],
    ["read_skill", "file_write", "shell_exec"],
    ["background_run"],
    ["task", "project_create", "outline_set"],
]


@pytest.mark.parametrize("language", ["en.ts", "zh.ts"])
@pytest.mark.parametrize("example", range(len(SHOWN)))
async def test_each_example_of_the_front_page_shows_its_part_in_the_language_it_is_asked_in(
    language: str, example: int
) -> None:
    asked = suggestions(language)[example]
    text, calls = await play(asked)
    assert [call.name for call in calls] == SHOWN[example]
    assert ("演示模型" in text, "demo model" in text) == (language == "zh.ts", language == "en.ts")
    words = re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL)
    assert "{" not in words.replace('f"{kind}', "").replace("{minutes}", "")
    assert "$" not in words, "the page takes what stands between dollars for a formula"


@pytest.mark.parametrize("language", ["en.ts", "zh.ts"])
@pytest.mark.parametrize(
    ("preset", "shown"),
    [
        ("research", [["papers_search"], ["task", "project_create", "outline_set"], SHOWN[1]]),
        ("writing", [["file_write"], ["file_write"], ["file_write", "file_edit"]]),
        ("demoTalk", [["ask_user"], [], ["shell_exec"]]),
    ],
)
async def test_the_examples_of_presets_show_what_these_are_for(
    language: str, preset: str, shown: list[list[str]]
) -> None:
    for asked, tools in zip(suggestions(language, preset), shown, strict=True):
        text, calls = await play(asked)
        assert [call.name for call in calls] == tools, asked
        assert "{" not in text
        assert ("演示模型" in text) == (language == "zh.ts")


async def played(
    turns: list[Turn], outputs: dict[str, list[str]], *, system: str = ""
) -> tuple[str, list[ToolRequest]]:
    """To its end; the last text and every call. A tool says what is left of its `outputs`, or that it is done."""
    made: list[ToolRequest] = []
    for _ in range(10):
        text, calls = await say(turns, system=system)
        if not calls:
            return text, made
        made += calls
        turns.append(AssistantTurn(text=text, calls=tuple(calls)))
        for call in calls:
            output = outputs[call.name].pop(0) if outputs.get(call.name) else "done"
            turns.append(ToolTurn(call_id=call.call_id, name=call.name, output=output, success=True))
    raise AssertionError("it never ends")


ASKED_IN_THE_GUIDE = (
    "@papers @writing Find what is known of how deep nets keep what they learn, keep the two best papers, and write a "
    "review with me."
)


@pytest.mark.parametrize(
    "asked",
    [
        "Research how machines learned language",
        "研究机器如何学会语言",
        "@papers @writing 研究机器如何学会语言",
        ASKED_IN_THE_GUIDE,
    ],
)
async def test_its_research_is_read_by_another_agent_and_written_from_what_that_kept(asked: str) -> None:
    turns: list[Turn] = [UserTurn(text=asked)]
    _, calls = await say(turns)
    (handed,) = calls
    assert (handed.name, (handed.arguments or {})["agent_type"]) == ("task", "research")
    task = str((handed.arguments or {})["prompt"])

    kept = [f"{(KEPT, KEPT_BEFORE)[number % 2]} rec_{number}: {paper.title}" for number, paper in enumerate(PAPERS)]
    marks = ["[rec_2, abstract] It attends. (Attention Is All You Need)", "[rec_3, abstract] It reads. (BERT)"]
    below = {"corpus_add": [*kept], "findings_submit": ["\n".join([*marks, "Finding 3 was refused: it is not there."])]}
    answer, calls = await played([UserTurn(text=task)], below, system=YOUR_PART)
    read = [str((call.arguments or {})["id"]) for call in calls if call.name == "paper_read"]
    assert read == ["1706.03762", "1810.04805"]
    (submitted,) = [call.arguments or {} for call in calls if call.name == "findings_submit"]
    abstracts = {f"rec_{number}": plain(paper.abstract) for number, paper in enumerate(PAPERS)}
    assert all(plain(one["quote"]) in abstracts[one["record"]] for one in submitted["findings"])
    assert [one["record"] for one in submitted["findings"]] == ["rec_2", "rec_3"]
    assert "- It attends. (Attention Is All You Need) [rec_2, abstract]" in answer
    assert all(line in answer for line in kept)

    outputs = {
        "task": [answer],
        "project_create": ["Created proj1. Set its outline next (outline_set)."],
        "citation_add": [f"Cite it as [@key{number}word]." for number in range(4)],
        "section_write": [f"Stored s{number} A heading, etag {number}a0b." for number in range(1, 4)],
    }
    _, written = await played(turns, outputs)
    said = next(turn.text for turn in turns if isinstance(turn, AssistantTurn) and "project_create" in str(turn.calls))
    assert "> - It attends. (Attention Is All You Need) [rec_2, abstract]" in said
    cited = [(call.arguments or {})["record"] for call in written if call.name == "citation_add"]
    assert cited == ["rec_0", "rec_1", "rec_2", "rec_3"]
    texts = [str((call.arguments or {})["text"]) for call in written if call.name == "section_write"]
    assert {key for text in texts for key in re.findall(r"\[@([^\]]+)\]", text)} == {f"key{n}word" for n in range(4)}
    assert all((call.arguments or {}).get("project", "proj1") == "proj1" for call in written)
    (refined,) = [call.arguments or {} for call in written if call.name == "section_refine"]
    before, after = texts[0].split("\n\n"), str(refined["text"]).split("\n\n")
    assert (refined["section"], refined["etag"]) == ("s1", "1a0b")
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True, False], "two changes"
    assert re.findall(r"\[@([^\]]+)\]", str(refined["text"])) == ["key0word", "key1word"]
    chinese = "研究" in asked
    assert all(("一" <= text[0] <= "鿿") == chinese for text in (*texts[:1], str(refined["text"])))
    assert sum(len(text.split()) for text in texts) > 500 or sum(map(len, texts)) > 800, "about two pages"


def begun_in_background() -> list[Turn]:
    call = ToolRequest(call_id="c", name="background_run", arguments={})
    return [
        UserTurn(text="Run something in the background"),
        AssistantTurn(text="I start it.", calls=(call,)),
        ToolTurn(call_id="c", name="background_run", output="{}", success=True),
    ]


def ended_in_background() -> list[Turn]:
    finished = BackgroundFinished(background_id="bg_1", command="make", exit_code=0, preview="", state="ended")
    return [NoteTurn(text=describe_finished(finished, "all is poured")), NoteTurn(text="It is Monday.")]


async def test_the_end_of_what_runs_in_the_background_is_told_when_it_comes_and_disturbs_nothing() -> None:
    ended = ended_in_background()
    text, calls = await say([*begun_in_background(), AssistantTurn(text="It runs."), *ended])
    assert (calls, "```\nall is poured\n```" in text) == ([], True)
    other = [UserTurn(text="运行 ls"), AssistantTurn(text="好的。")]
    text, calls = await say([*begun_in_background(), AssistantTurn(text="It runs."), *other, *ended])
    assert (calls, "我在后台启动的命令结束了" in text) == ([], True)
    text, calls = await say([*begun_in_background(), *ended])
    assert (calls, "all is poured" in text) == ([], True)
    at_work = [
        UserTurn(text="list the files"),
        AssistantTurn(text="", calls=(ToolRequest(call_id="f", name="file_list", arguments={}),)),
    ]
    text, _ = await say([*at_work, ToolTurn(call_id="f", name="file_list", output="a.txt", success=True), *ended])
    assert ("a.txt" in text, "poured" in text) == (True, False)
    asked = [UserTurn(text="list the files")]
    _, calls = await say([*begun_in_background(), AssistantTurn(text="It runs."), *ended, *asked])
    assert [call.name for call in calls] == ["file_list"]


async def test_files_that_come_with_a_message_it_does_not_know_are_read_and_shown() -> None:
    asked = UserTurn(text="what is in these?", attachments=("a.txt", "b.txt"))
    text, calls = await say([asked])
    assert [(call.name, call.arguments) for call in calls] == [
        ("file_read", {"path": "a.txt"}),
        ("file_read", {"path": "b.txt"}),
    ]
    assert "`a.txt`, `b.txt`" in text
    read = [
        ToolTurn(call_id="1", name="file_read", output="1: tea", success=True),
        ToolTurn(call_id="2", name="file_read", output="There is no such file.", success=False),
    ]
    text, calls = await say([asked, AssistantTurn(text=text), *read])
    assert ("1: tea" in text, "There is no such file." in text, calls) == (True, True, [])
    _, calls = await say([UserTurn(text="run ls", attachments=("a.txt",))])
    assert [call.name for call in calls] == ["shell_exec"]


def test_each_scene_has_a_name_of_its_own_and_each_function_a_scene() -> None:
    scenes = read_script().scenes
    assert len({scene.name for scene in scenes}) == len(scenes)
    assert {scene.function for scene in scenes} - {None} == {*FUNCTIONS}


@pytest.mark.parametrize(
    ("asked", "tools"),
    [
        ("ask another agent to list the files", ["task"]),
        ("让另一个智能体列出文件", ["task"]),
        ("take a screenshot", ["file_write", "browser_navigate", "browser_view"]),
        ("please start a command in the background", ["background_run"]),
        ("请在后台执行一个任务", ["background_run"]),
        ("run in the background", ["shell_exec"]),
        ("给我看一张图片", ["file_write", "browser_navigate", "browser_view"]),
        ("sum up our conversation", ["compact"]),
        ("总结我们的对话，重点是水獭", ["compact"]),
        ("give me a long answer", []),
        ("写一篇长文", []),
    ],
)
async def test_parts_of_the_page_can_be_tried_by_a_word(asked: str, tools: list[str]) -> None:
    text, calls = await play(asked)
    assert [call.name for call in calls] == tools
    assert "did not understand" not in text
    assert "没有听懂" not in text


async def test_what_is_handed_on_is_what_was_asked_for_and_a_focus_is_too() -> None:
    _, (task,) = await play("Ask another agent to list the files.")
    assert task.arguments == {"description": "list the files", "prompt": "list the files", "agent_type": "general"}
    _, (compact,) = await play("sum up our conversation about the otters")
    assert compact.arguments == {"focus": "the otters"}


async def answer_below(task: str, output: str) -> str:
    """Of a sub-agent whose one call gave that."""
    turns: list[Turn] = [UserTurn(text=task)]
    said, (call,) = await say(turns, system=f"You are an agent.\n\n{YOUR_PART}")
    turns += [
        AssistantTurn(text=said, calls=(call,)),
        ToolTurn(call_id=call.call_id, name=call.name, output=output, success=True),
    ]
    answer, _ = await say(turns, system=YOUR_PART)
    assert not says_where_a_key_is_given(said + answer)
    return answer


async def test_agents_below_say_what_they_did_and_each_answer_is_quoted_as_it_is() -> None:
    answers = [await answer_below("list the files", "a.txt\n```\nb.txt"), await answer_below("run uname -a", "Linux")]
    calls = tuple(
        ToolRequest(call_id=f"c{number}", name="task", arguments={"description": task})
        for number, task in enumerate(("list the files", "run uname -a"))
    )
    turns: list[Turn] = [UserTurn(text="ask two agents"), AssistantTurn(text="I hand this on.", calls=calls)]
    turns += [
        ToolTurn(call_id=call.call_id, name="task", output=answer, success=True)
        for call, answer in zip(calls, answers, strict=True)
    ]
    text, _ = await say(turns)
    quotes = [line for line in text.splitlines() if line.startswith(">")]
    assert [line.removeprefix(">").removeprefix(" ") for line in quotes] == "\n".join(answers).splitlines()
    assert not [line for line in text.splitlines() if line.startswith("```")]
    assert text.index("**list the files**") < text.index("a.txt") < text.index("**run uname -a**")


@pytest.mark.parametrize(
    ("asked", "task", "said"),
    [
        ("ask another agent to list the files", "count the stars", "I did not understand my task"),
        ("让另一个智能体列出文件", "数星星", "我没有听懂这项任务"),
    ],
)
async def test_an_agent_below_that_understands_nothing_says_so_shortly(asked: str, task: str, said: str) -> None:
    answer, calls = await say([UserTurn(text=task)], system=YOUR_PART)
    assert (said in answer, calls, says_where_a_key_is_given(answer)) == (True, [], False)
    turns: list[Turn] = [UserTurn(text=asked)]
    _, calls = await say(turns)
    turns += [AssistantTurn(text="", calls=tuple(calls))]
    turns += [ToolTurn(call_id=calls[0].call_id, name="task", output="The agent did not finish: no", success=False)]
    told, _ = await say(turns)
    assert "> ```\n> The agent did not finish: no\n> ```" in told


async def test_it_thinks_of_what_it_was_asked_to_where_thinking_is_on() -> None:
    request = ModelRequest(
        model="demo",
        system="",
        turns=[UserTurn(text="think about otters")],
        tools=[ToolSpec(name="think", description="", parameters={}, phrase="", effect="reads")],
        max_output_tokens=10,
        thinking="high",
    )
    parts = [part async for part in DemoModel(delay_s=0).stream(request)]
    assert "think about otters" in "".join(part.text for part in parts if isinstance(part, ThinkingPart))


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("Give me a tour of your computer", "A tour of the computer"),
        ("带我看看你的电脑", "参观电脑"),
        ("run ls -la | head", "Running ls -la | head"),
        ("run " + "x" * 100, "Running " + "x" * 51 + "…"),
        ("make a report about Sea Otters!", "A report about Sea Otters"),
        ("写一份关于水獭的报告", "关于水獭的报告"),
        ("输出 500 个词", "500 个词"),
        ("what is 2+2?", ""),
        (ASKED_IN_THE_GUIDE, "How machines learned language"),
    ],
)
async def test_a_conversation_gets_a_scripted_title_in_its_language(asked: str, title: str) -> None:
    request = title_request(DEMO_MODEL, Exchange(asked=asked, answered="Done."))
    parts = [part async for part in DemoModel(delay_s=0).stream(request)]
    said = "".join(part.text for part in parts if isinstance(part, TextPart))
    assert (said, title_from(said) or "") == (title, title)


async def test_missing_tools_are_named() -> None:
    text, calls = await say([UserTurn(text="run ls")], tools=())
    assert calls == []
    assert "shell_exec" in text


@pytest.mark.parametrize(
    ("said", "question", "options"),
    [
        ("Ask me which tea I like", "Which tea do you like?", ["Green tea", "Oolong", "Black tea"]),
        ("问我喜欢什么茶", "你喜欢什么茶？", ["绿茶", "乌龙茶", "红茶"]),
        ("ask me what I need", "What do you need?", []),
        ("ask me how it went", "how it went", []),
        ("ask me whether to go on", "whether to go on", ["Yes", "No"]),
    ],
)
async def test_its_answers_to_choose_from_are_answers_to_its_question(
    said: str, question: str, options: list[str]
) -> None:
    _, (call,) = await say([UserTurn(text=said)], tools=("ask_user",))
    assert call.arguments == {"questions": [{"question": question, "options": options}]}


@pytest.mark.parametrize(
    ("answers", "by", "shown", "hidden"),
    [
        ({"q1": "Yes\n> no"}, "user", "```\nYes\n> no\n```", "The person answered"),
        (None, "timeout", "No answer came", "as well as you can"),
    ],
)
async def test_of_an_answer_it_shows_what_the_person_said_and_nothing_meant_for_a_model(
    answers: dict[str, str] | None, by: ResolvedBy, shown: str, hidden: str
) -> None:
    turns: list[Turn] = [UserTurn(text="ask me whether to go on")]
    text, (call,) = await say(turns, tools=("ask_user",))
    assert call.arguments is not None
    question = Question(
        id="q1", text=call.arguments["questions"][0]["question"], options=["Yes", "No"], allow_text=True
    )
    resolved = Questions(call_id=call.call_id, questions=[question]).resolved(
        "w", by, Answers(answers) if answers else None
    )
    finished = next(one.payload for one in resolved if isinstance(one.payload, ToolFinished))
    turns += [
        AssistantTurn(text=text, calls=(call,)),
        ToolTurn(call_id=call.call_id, name=call.name, output=finished.preview, success=finished.success),
    ]
    said, _ = await say(turns, tools=("ask_user",))
    assert shown in said
    assert hidden not in said


@pytest.mark.parametrize(("asked", "done"), [("plan a trip", "All steps are done"), ("计划：旅行", "所有步骤都完成了")])
async def test_it_shows_a_plan_and_its_steps(asked: str, done: str) -> None:
    turns: list[Turn] = [UserTurn(text=asked)]
    called: list[str] = []
    tools = ("enter_plan_mode", "exit_plan_mode", "plan_update", "file_list", "file_write")
    while True:
        in_plan = "enter_plan_mode" in called
        text, calls = await say(turns, tools=tools[1:] if in_plan else (tools[0], *tools[2:]))
        if not calls:
            break
        called += [call.name for call in calls]
        turns.append(AssistantTurn(text=text, calls=tuple(calls)))
        turns += [ToolTurn(call_id=call.call_id, name=call.name, output="ok", success=True) for call in calls]
    assert done in text
    expected = ["enter_plan_mode", "exit_plan_mode", "plan_update", "file_list", "plan_update", "file_write"]
    assert called == [*expected, "plan_update"]


async def test_of_a_plan_that_is_rejected_it_does_nothing() -> None:
    turns: list[Turn] = [
        UserTurn(text="plan a trip"),
        ToolTurn(call_id="c", name="exit_plan_mode", output="no", success=False),
    ]
    text, calls = await say(turns, tools=("exit_plan_mode",))
    assert (calls, "leave everything as it is" in text) == ([], True)


def test_without_a_key_the_demo_model_is_the_default() -> None:
    catalogue = Catalogue(LlmSettings())
    assert catalogue.default().is_demo
    assert [model.id for model in catalogue.models()] == ["demo"]


async def test_a_key_chooses_its_provider_and_the_demo_stays_on_offer() -> None:
    async with Catalogue(LlmSettings(anthropic_key="k", model="m", models=("n",))) as catalogue:
        assert [(model.id, model.provider) for model in catalogue.models()] == [
            ("m", "anthropic"),
            ("n", "anthropic"),
            ("demo", "demo"),
        ]
        assert catalogue.choose("n").info.id == "n"
        assert catalogue.choose(None).info.id == "m"
        with pytest.raises(UnknownModelError):
            catalogue.choose("other")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (LlmSettings(provider="gemini"), "LLM_PROVIDER"),
        (LlmSettings(provider="openai"), "OPENAI_API_KEY"),
        (LlmSettings(provider="anthropic", openai_key="k"), "ANTHROPIC_API_KEY"),
    ],
)
def test_a_wrong_provider_or_missing_key_is_named(settings: LlmSettings, named: str) -> None:
    with pytest.raises(LlmSettingError, match=named):
        Catalogue(settings)


async def test_it_sums_up_a_conversation_without_calling_a_tool() -> None:
    turns: list[Turn] = [UserTurn(text="run ls"), AssistantTurn(text="I run it."), NoteTurn(text=ASKED + FOCUS)]
    text, calls = await say(turns)
    assert not calls
    assert "run ls" in text
