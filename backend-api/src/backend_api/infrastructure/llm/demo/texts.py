"""The demo model's words in both languages, and the files it writes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One language. `{output}` is filled after all other fields."""

    notice: str
    not_understood: str
    not_understood_below: str
    """As a sub-agent says it."""
    summary: str
    no_tool: str
    failed: str
    thought_start: str
    thought_results: str
    thought_calls: str
    thought_end: str
    run: str
    run_done: str
    write: str
    write_done: str
    file_content: str
    open: str
    open_done: str
    list: str
    list_done: str
    read: str
    read_done: str
    ask: str
    ask_yes: str
    ask_no: str
    ask_teas: tuple[str, ...]
    ask_done: str
    ask_unanswered: str
    plan_enter: str
    plan_propose: str
    plan: str
    plan_rejected: str
    plan_begin: str
    plan_steps: tuple[str, str]
    plan_result: str
    plan_done: str
    report: str
    report_write: str
    report_done: str
    report_gaps: str
    tour_start: str
    tour_write: str
    tour_open: str
    tour_look: str
    tour_trouble: str
    tour_did: dict[str, str]
    tour_did_not: dict[str, str]
    tour_end: str
    titles: dict[str, str]
    """Of a conversation that begins so, `{about}` what its request names."""


ENGLISH = Words(
    notice=(
        "*I am the demo model: a script, not a language model. What I do on the computer is real. To talk to a real "
        "model, give its key under Settings, Models and keys.*"
    ),
    summary="The person asked for: {asked}.\n\nCalls of tools: {count}. What they gave stands in the history.",
    not_understood=(
        "I did not understand that: I only know a few requests. Try `show me what you can do`, `run ls -la`, "
        "`write a file hello.txt saying hello`, `open example.com`, `list the files` or `make a report about otters`; "
        "and to see more of the page, `plan a garden`, `make a to-do list`, `ask me which tea I like`, "
        "`ask two agents`, `show me a skill`, `run something in the background`, `take a screenshot`, "
        "`give me a long answer`, `think about otters` or `sum up our conversation`."
    ),
    not_understood_below="I did not understand my task: I only know a few, such as `list the files` or `run ls -la`.",
    no_tool="I would need tools that are not available here: {tools}.",
    failed="That did not work. The tool says:\n\n{output}",
    thought_start="A script has no thoughts: I look the request up among those I know.",
    thought_results="Results so far: {count}.",
    thought_calls="Next I call {tools}.",
    thought_end="Now I answer.",
    run="I run `{command}` on my computer.",
    run_done="Done. The command says:\n\n{output}",
    write="I write the file `{name}`.",
    write_done="The file is there: [{name}]({name}). You can open and download it in the files panel.",
    file_content="Hello from the demo model.",
    open="I open {url} in my browser. You can watch it on the desktop.",
    open_done="The page is open:\n\n{output}",
    list="I look at the files of the workspace.",
    list_done="These are the files:\n\n{output}",
    read="I read {names} first.",
    read_done="This came with your message, as far as it can be read. I am a script and can't say what it means:",
    ask="I have a question.",
    ask_yes="Yes",
    ask_no="No",
    ask_teas=("Green tea", "Oolong", "Black tea"),
    ask_done="Thank you. I heard:\n\n{output}",
    ask_unanswered="No answer came, so I leave it at that.",
    plan_enter="I think about {topic} first, and change nothing meanwhile.",
    plan_propose="This is what I would do.",
    plan="## {topic}\n\n1. Look at the files of the workspace.\n2. Write `plan.md` with what is to be done.",
    plan_rejected="I leave everything as it is. Ask me to plan again, or for something else.",
    plan_begin="I begin.",
    plan_steps=("Look at the files of the workspace", "Write plan.md"),
    plan_result="plan.md is written",
    plan_done="All steps are done: [plan.md](plan.md).",
    report="I make a short report about {topic}: first I gather what I can.",
    report_write="Now I write it down.",
    report_done="The report is ready: [{path}]({path}). As a demo model I only gathered facts; a real model writes.",
    report_gaps="\n\nSome sources could not be reached, so the report has gaps.",
    tour_start=(
        "Here is a short tour of what an agent does here. I will\n\n1. run a command on my own computer,\n"
        "2. write two files,\n3. open one of them in the browser there and look at it.\n\n"
        "You can watch it on the desktop of my computer. First, the command:"
    ),
    tour_write="That is my computer. Now I write a note and a page into the workspace:",
    tour_open="Next I open the page in Chrome. It is a local file, so no network is needed:",
    tour_look="The page is open. I look at it as I would at any page:",
    tour_trouble="That step did not work; the tool says:\n\n{output}\n\n",
    tour_did={
        "shell_exec": "ran a command in a shell",
        "file_write": "wrote [notes/tour.md](notes/tour.md) and [notes/tour.html](notes/tour.html)",
        "browser_navigate": "opened the page in Chrome",
        "browser_view": "looked at the page",
    },
    tour_did_not={
        "shell_exec": "could not run the command",
        "file_write": "could not write the files",
        "browser_navigate": "could not open the page in a browser",
        "browser_view": "could not look at the page",
    },
    tour_end=(
        "That was the tour. What happened:\n\n{lines}\n\n"
        "Try next: `run ls -la`, `write a file hello.txt saying hello`, `open example.com`, `list the files`, "
        "`make a report about otters`, `plan a garden`, `ask two agents`, `sum up our conversation`, or `stream 500` "
        "and then the stop button."
    ),
    titles={
        "tour": "A tour of the computer",
        "ask": "A question from the agent",
        "plan": "A plan: {about}",
        "stream": "{about} words",
        "run": "Running {about}",
        "write": "Writing {about}",
        "list": "The files of the workspace",
        "report": "A report about {about}",
        "open": "Opening {about}",
    },
)

CHINESE = Words(
    notice=(
        "*我是演示模型：一段脚本，不是语言模型。但我在电脑上做的一切都是真实的。要使用真正的模型，请在"
        "“设置 → 模型与密钥”中填写它的密钥。*"
    ),
    summary="用户的请求：{asked}。\n\n使用了 {count} 次工具，结果保存在历史记录中。",
    not_understood=(
        "我没有听懂：我只认识几种请求。可以试试：`展示你能做什么`、`运行 ls -la`、`写文件 hello.txt 内容是你好`、"
        "`打开 example.com`、`列出文件`，或者`写一份关于水獭的报告`；想看看页面的其他功能，可以说：`规划一个花园`、"
        "`列一份待办清单`、`问我喜欢什么茶`、`让两个智能体看看电脑`、`演示一项技能`、"
        "`在后台运行一条命令`、`截图`、`写一篇长文`、`想一想水獭`，或者`总结我们的对话`。"
    ),
    not_understood_below="我没有听懂这项任务：我只认识几种，例如`列出文件`或`运行 ls -la`。",
    no_tool="我需要的工具在这里不可用：{tools}。",
    failed="没有成功。工具返回：\n\n{output}",
    thought_start="脚本没有思想：我在认识的请求里查找这一条。",
    thought_results="目前的结果数：{count}。",
    thought_calls="接下来我调用 {tools}。",
    thought_end="现在我来回答。",
    run="我在自己的电脑上运行 `{command}`。",
    run_done="完成。命令输出：\n\n{output}",
    write="我来写文件 `{name}`。",
    write_done="文件已写好：[{name}]({name})。你可以在文件面板中打开和下载。",
    file_content="来自演示模型的问候。",
    open="我在浏览器中打开 {url}，你可以在桌面上观看。",
    open_done="页面已打开：\n\n{output}",
    list="我查看工作区的文件。",
    list_done="文件如下：\n\n{output}",
    read="我先读取 {names}。",
    read_done="这是随你的消息一起发来的内容（我能读到的部分）。我只是一个脚本，说不出它的含义：",
    ask="我有一个问题。",
    ask_yes="是",
    ask_no="否",
    ask_teas=("绿茶", "乌龙茶", "红茶"),
    ask_done="谢谢。我听到的是：\n\n{output}",
    ask_unanswered="没有收到回答，那就先到这里。",
    plan_enter="我先想一想{topic}，这期间不改动任何东西。",
    plan_propose="我打算这样做。",
    plan="## {topic}\n\n1. 看看工作区里的文件。\n2. 把要做的事写进 `plan.md`。",
    plan_rejected="我什么都不改。可以让我重新计划，或者做别的事。",
    plan_begin="我开始做。",
    plan_steps=("看看工作区里的文件", "写 plan.md"),
    plan_result="plan.md 已写好",
    plan_done="所有步骤都完成了：[plan.md](plan.md)。",
    report="我来做一份关于{topic}的简短报告，先收集资料。",
    report_write="现在写下来。",
    report_done="报告已完成：[{path}]({path})。演示模型只收集事实，真正的写作需要真正的模型。",
    report_gaps="\n\n部分来源无法访问，因此报告有空缺。",
    tour_start=(
        "这是一段简短的演示。我将\n\n1. 在我自己的电脑上运行一条命令，\n2. 写两个文件，\n"
        "3. 在那里的浏览器中打开其中一个并查看。\n\n你可以在我的电脑的桌面上观看。首先是命令："
    ),
    tour_write="这就是我的电脑。现在我把一份笔记和一个网页写入工作区：",
    tour_open="接下来在 Chrome 中打开这个网页。它是本地文件，不需要网络：",
    tour_look="网页已打开，我来看一看：",
    tour_trouble="这一步没有成功，工具返回：\n\n{output}\n\n",
    tour_did={
        "shell_exec": "在终端中运行了一条命令",
        "file_write": "写了 [notes/tour.md](notes/tour.md) 和 [notes/tour.html](notes/tour.html)",
        "browser_navigate": "在 Chrome 中打开了网页",
        "browser_view": "查看了网页",
    },
    tour_did_not={
        "shell_exec": "未能运行命令",
        "file_write": "未能写入文件",
        "browser_navigate": "未能在浏览器中打开网页",
        "browser_view": "未能查看网页",
    },
    tour_end=(
        "演示结束。经过如下：\n\n{lines}\n\n"
        "接下来可以试试：`运行 ls -la`、`写文件 hello.txt 内容是你好`、`打开 example.com`、`列出文件`、"
        "`写一份关于水獭的报告`、`规划一个花园`、`让两个智能体看看电脑`、`总结我们的对话`，"
        "或者 `stream 500` 再按停止按钮。"
    ),
    titles={
        "tour": "参观电脑",
        "ask": "智能体的提问",
        "plan": "计划：{about}",
        "stream": "{about} 个词",
        "run": "运行 {about}",
        "write": "写文件 {about}",
        "list": "工作区的文件",
        "report": "关于{about}的报告",
        "open": "打开 {about}",
    },
)

TOUR_NOTES = """# Notes of the tour

Written by the demo model on its computer.

## The computer

```
{system}
```

- Everything in this folder can be opened and downloaded in the files panel.
- The page of the tour is [tour.html](tour.html).
"""

# The desktop is often watched at less than half its size, where Chinese of 20 px runs into one.
TOUR_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A page the agent wrote</title>
<style>
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; color: #e8ecff;
         background: radial-gradient(circle at 30% 20%, #3949ab, #10142b 70%);
         font: 28px/1.5 "DejaVu Sans", "Noto Sans CJK SC", sans-serif; }
  main { max-width: 32em; margin: 1rem; padding: 1.5em 2em; border-radius: 1.5rem; background: #ffffff14; }
  h1 { margin-top: 0; font-size: 1.6em; line-height: 1.3; }
  h1 span { white-space: nowrap; }
</style>
</head>
<body>
<main>
  <h1>Hello from the agent's computer <span lang="zh-CN">你好</span></h1>
  <p>The agent wrote this page a moment ago and opened it in the Chrome of its own computer.</p>
  <p>You see it live.</p>
</main>
</body>
</html>
"""

REPORT = """# {topic}

A report gathered by the demo model. It collects facts; it does not judge them.

## Where and when

```
{facts}
```
"""

REPORT_FOUND = """
## What a search found

{found}
"""
REPORT_NO_ANSWER = "Nothing: the search gave no answer."


def words_for(text: str) -> Words:
    """Chinese where the request begins so: what it names, such as a command or a file, may be of any language."""
    first = next((character for character in text if character.isalpha()), "")
    return CHINESE if "\u4e00" <= first <= "\u9fff" else ENGLISH
