"""What the demo model says to show parts of the page, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.infrastructure.llm.demo.texts import CHINESE, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWords:
    """One language. `{output}` is filled after all other fields; `long` is Markdown with a `{topic}`."""

    topic: str
    agents: str
    agents_tasks: tuple[str, str]
    agents_done: str
    agent_done: str
    picture: str
    picture_done: str
    thought: str
    thought_after: str
    think_done: str
    compact: str
    compact_done: str
    todo: str
    todo_work: tuple[tuple[str, str], ...]
    todo_next: str
    todo_done: str
    long: str
    titles: dict[str, str]


ENGLISH_SHOWN = ShownWords(
    topic="tea",
    agents="I hand this on; agents at work: {count}. Each has its own context; what it does stands below its line.",
    agents_tasks=("list the files", "run uname -a"),
    agents_done="They are done. This is what they say:",
    agent_done="It is done. This is what it says:",
    picture="I write a small page, open it in my browser and look at it.",
    picture_done="That is what I see. A model that sees pictures would be given this one, too.",
    thought=(
        "The person wants me to think about {topic}. First: what is known? Little, as I am a script. Second: what "
        "would help? A short answer that says so. Third: what could go wrong? I could pretend to know more. So I "
        "do not."
    ),
    thought_after="I have thought about {topic}, and say what came of it.",
    think_done=(
        "I have thought about {topic}, as far as a script can. Where thinking is on (the options below the message), "
        "you can open what I thought above this answer."
    ),
    compact="I have the conversation summed up. I go on from the summary; you keep all of it.",
    compact_done=(
        "Done: what stands above the line is still yours to read, and I know the summary of it. The gauge beside the "
        "message shows how full my context is."
    ),
    todo="I write down what there is to do for {topic}, and keep the list up to date while I work.",
    todo_work=(
        ("Look at the clock", "Looking at the clock"),
        ("Think about {topic}", "Thinking about {topic}"),
        ("Tell what came of it", "Telling what came of it"),
    ),
    todo_next="Ask what comes next",
    todo_done=(
        "Two of my to-dos are done. What is left stays in the list above the message, also when our conversation is "
        "summed up or you come back tomorrow."
    ),
    long="""\
# A long answer about {topic}

I am a script, so this says little about {topic}; it shows how a long answer reads. Scroll, stop me, or write while \
I go on.

## What an answer can hold

Text with **weight**, *stress*, ~~what was dropped~~ and `code` in a line, and [links](https://example.com). Lists:

1. The first thing about {topic}.
2. The second, with parts of its own:
   - one that is small,
   - one that is smaller.
3. The third.

- [x] what is done
- [ ] what is left to do

> What somebody else said of {topic} stands in a quote.

## A table

| Kind | Minutes | Degrees |
|---|---:|---:|
| Green | 2 | 75 |
| Oolong | 4 | 90 |
| Black | 5 | 98 |

## Code

```python
def steep(kind: str, minutes: int) -> str:
    if minutes <= 0:
        raise ValueError("patience is part of it")
    return f"{kind} after {minutes} min"
```

## A formula

How warm a cup is after some minutes:

$$T(t) = T_0 + (T_1 - T_0) e^{-kt}$$

## And on

A long answer takes a while. What is finished above stays as it is while the end of it grows, and the page follows it \
only as long as you are at the end. Scroll up, and it lets you read; a button takes you back down. Close the page and \
open it again in the middle: the answer goes on where it is, and nothing of it is lost or doubled.

If you press stop, what was said so far is kept, and I know that I was cut. If you write a message instead, I read it \
with all that came before.

That is all I can say about {topic}.""",
    titles={
        "agents": "Work for two agents",
        "picture": "A picture of a page",
        "long": "A long answer about {about}",
        "think": "Thinking about {about}",
        "compact": "A summed-up conversation",
        "todo": "A to-do list: {about}",
        "skill": "A skill at work",
        "background": "A command in the background",
    },
)

CHINESE_SHOWN = ShownWords(
    topic="茶",
    agents="我把这件事交出去，参与的智能体数：{count}。每个都有自己的上下文，它做的事显示在各自的下面。",
    agents_tasks=("列出文件", "运行 uname -a"),
    agents_done="它们做完了。它们的回答：",
    agent_done="它做完了。它的回答：",
    picture="我写一个小网页，在浏览器里打开，看一看。",
    picture_done="这就是我看到的。能看图的模型也会收到这张图片。",
    thought=(
        "用户想让我想一想{topic}。第一，知道些什么？不多，我只是一段脚本。第二，怎样才有帮助？简短地说明这一点。"
        "第三，可能出什么错？装作懂得更多。所以我不装。"
    ),
    thought_after="关于{topic}我想过了，下面说结果。",
    think_done="关于{topic}，我想过了，只是脚本能想的有限。在消息框下面的选项里打开“思考”，就能在回答上方展开我想的内容。",
    compact="我来总结这段对话，然后从摘要继续；原来的内容你都能看到。",
    compact_done="完成：横线以上的内容你仍然可以阅读，而我记得的是它的摘要。消息框旁边的刻度显示上下文用了多少。",
    todo="我先列出关于{topic}要做的事，一边做一边更新这份清单。",
    todo_work=(("看看时间", "正在看时间"), ("想一想{topic}", "正在想{topic}"), ("说说结果", "正在说结果")),
    todo_next="问问接下来做什么",
    todo_done="有两项已经完成。剩下的留在消息框上方的清单里，总结对话之后或者明天再来，它都还在。",
    long="""\
# 关于{topic}的长回答

我是一段脚本，所以这里并没有多少{topic}的知识，只是让你看看一篇长回答读起来怎么样。可以滚动，可以让我停下，也可以在我说话时写消息。

## 回答里可以有什么

有**加粗**、*强调*、~~删去的内容~~、行内 `代码` 和[链接](https://example.com)。列表：

1. 关于{topic}的第一点。
2. 第二点，还有细分：
   - 小的一条，
   - 更小的一条。
3. 第三点。

- [x] 已经做完的
- [ ] 还没做的

> 别人怎么说{topic}，放在引用里。

## 表格

| 种类 | 分钟 | 温度 |
|---|---:|---:|
| 绿茶 | 2 | 75 |
| 乌龙 | 4 | 90 |
| 红茶 | 5 | 98 |

## 代码

```python
def steep(kind: str, minutes: int) -> str:
    if minutes <= 0:
        raise ValueError("要有耐心")
    return f"{kind}泡了 {minutes} 分钟"
```

## 公式

一杯茶几分钟后有多热：

$$T(t) = T_0 + (T_1 - T_0) e^{-kt}$$

## 接下来

长回答需要一些时间。上面写完的部分保持不变，只有末尾在增长；你停在末尾时页面才会跟着滚动。往上翻，页面就让你安心阅读，有一个按钮可以回到末尾。\
中途关掉页面再打开，回答会从当前的位置继续，既不会丢失，也不会重复。

按下停止，已经说过的内容会保留，我也知道自己被打断了。如果写一条消息，我会连同前面的内容一起读。

关于{topic}，我能说的就是这些。""",
    titles={
        "agents": "两个智能体的工作",
        "picture": "一个网页的图片",
        "long": "关于{about}的长回答",
        "think": "想一想{about}",
        "compact": "总结过的对话",
        "todo": "待办清单：{about}",
        "skill": "演示一项技能",
        "background": "后台的一条命令",
    },
)


def shown_words(words: Words) -> ShownWords:
    """Of the same language."""
    return CHINESE_SHOWN if words is CHINESE else ENGLISH_SHOWN
