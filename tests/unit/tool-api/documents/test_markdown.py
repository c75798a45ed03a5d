"""Markdown as it is printed: emphasis beside scripts without blanks, formulas, footnotes, and what links lead to."""

from __future__ import annotations

import html

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tool_api.documents.formulas import formula_at
from tool_api.documents.markdown_program import markdown_parser

PLAIN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shown(source: str) -> str:
    return html.unescape(markdown_parser().renderInline(source))


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("**开源：**代码", "<strong>开源：</strong>代码"),
        ("（**重点**）", "（<strong>重点</strong>）"),
        ("（**…**）", "（<strong>…</strong>）"),
        ("**《红楼梦》**的", "<strong>《红楼梦》</strong>的"),
        ("是**“引号”**的", "是<strong>“引号”</strong>的"),
        ("中文**（重点）**中文", "中文<strong>（重点）</strong>中文"),
        ('**"Hello"**世界', '<strong>"Hello"</strong>世界'),
        ("增长**100%**的", "增长<strong>100%</strong>的"),
        ("**重点：**text", "<strong>重点：</strong>text"),
        ("***粗斜。***后", "<em><strong>粗斜。</strong></em>后"),
        ("**粗*斜。*粗**后", "<strong>粗<em>斜。</em>粗</strong>后"),
        ("*斜，*后", "<em>斜，</em>后"),
        ("~~删除。~~后面", "<s>删除。</s>后面"),
        ("字**`code`。**后", "字<strong><code>code</code>。</strong>后"),
        (
            "**この文を強調できますか（はい）？**この",
            "<strong>この文を強調できますか（はい）？</strong>この",
        ),
        ("これは**「重要」**です", "これは<strong>「重要」</strong>です"),
        ("**이 용어(This term)**를", "<strong>이 용어(This term)</strong>를"),
        ("_强调。_后面", "<em>强调。</em>后面"),
        ("前_（强调）_后", "前<em>（强调）</em>后"),
        ("变量_名称_值", "变量_名称_值"),
        ("**葛\U000e0100。**後", "<strong>葛\U000e0100。</strong>後"),
    ],
)
def test_emphasis_is_read_beside_punctuation_of_a_script_without_blanks(source: str, made: str) -> None:
    assert shown(source) == made


@given(st.lists(st.sampled_from(["a", "é", "*", "**", "***", "_", "__", "~~", " ", '"', ".", "(", ")", "“", "🎉"])))
@settings(max_examples=300)
def test_emphasis_in_other_scripts_is_as_commonmark_has_it(pieces: list[str]) -> None:
    source = "".join(pieces)
    assert markdown_parser().renderInline(source) == PLAIN.renderInline(source)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("so $x^2$ is", ["x^2"]),
        (r"$a$, $b$ and \(c_1\)", ["a", "b", "c_1"]),
        (r"is $$E = mc^2$$ then \[ \frac{1}{2} \]", ["E = mc^2", r"\frac{1}{2}"]),
        ("$2x$ and $5 < 6$", ["2x", "5 < 6"]),
        ("质量$m$的", ["m"]),
        ("costs $5 and then $10", []),
        ("$5-$10", []),
        ("between 5$ and 6$", []),
        ("cost $5 (or 6$)", []),
        ("$HOME and $PATH", []),
        ("$A/$B", []),
        (r"a \[note\] in brackets", []),
        ("US$5 to US$6", []),
        ("$ x $", []),
        (r"\(\)", []),
        ("价格$5和$10", []),
        ("从$5到10$不等", []),
        (r"\$5 and \$6", []),
    ],
)
def test_a_formula_is_known_and_an_amount_of_money_is_none(text: str, found: list[str]) -> None:
    formulas: list[str] = []
    at = 0
    while at < len(text):
        formula = formula_at(text, at)
        if formula:
            formulas.append(formula.tex)
        at = formula.end if formula else at + 1
    assert formulas == found
    tokens = markdown_parser().parse(text)
    assert [one.content for token in tokens for one in token.children or () if one.type == "formula"] == found


def test_a_formula_keeps_its_lines_together_in_lists_and_tables() -> None:
    tokens = markdown_parser().parse("- so:\n\n  $$\n  a\n  - b\n\n  + c\n  $$\n\n| a |\n|---|\n| $x^2$ |\n")
    block = next(token for token in tokens if token.type == "formula")
    assert (block.content, block.markup) == ("a\n- b\n\n+ c", "display")
    inline = [one.content for token in tokens for one in token.children or () if one.type == "formula"]
    assert inline == ["x^2"]
    assert not any(token.type == "formula" for token in markdown_parser().parse("    $$\n    x\n    $$"))
    assert "`$x$`" not in shown("`$x$`")
    assert shown("`$x$`") == "<code>$x$</code>"


def printed(source: str) -> str:
    return html.unescape(markdown_parser().render(source)).replace("\n", "")


def note(number: int) -> str:
    return f'<sup><a href="#footnote-{number}">{number}</a></sup>'


@pytest.mark.parametrize(
    ("source", "text", "notes"),
    [
        (
            "正文[^1]。\n\n[^1]: 这是脚注的内容，没有空格。",
            f"<p>正文{note(1)}。</p>",
            ["<p>这是脚注的内容，没有空格。</p>"],
        ),
        ("A[^src].\n[^src]: https://example.com/x", f"<p>A{note(1)}.</p>", ["<p>https://example.com/x</p>"]),
        ("A[^b] B[^a]\n\n[^a]: one\n[^b]: two", f"<p>A{note(1)} B{note(2)}</p>", ["<p>two</p>", "<p>one</p>"]),
        ("A[^1]\n\n[^1]: one\n\n    more\n\nB", f"<p>A{note(1)}</p><p>B</p>", ["<p>one</p><p>more</p>"]),
        (
            "A[^1]\n\n[^1]: one\n[^1]: two\n[^2]: three",
            f"<p>A{note(1)}</p>",
            ["<p>one</p>", "<p>two</p>", "<p>three</p>"],
        ),
        ("> A[^1]\n>\n> [^1]: one", f"<blockquote><p>A{note(1)}</p></blockquote>", ["<p>one</p>"]),
        ("A[^1]\n\n[^1]: [^2]: one", f"<p>A{note(1)}</p>", ["<p>[^2]: one</p>"]),
    ],
)
def test_footnotes_are_numbered_at_the_end(source: str, text: str, notes: list[str]) -> None:
    items = "".join(f'<li id="footnote-{number}">{one}</li>' for number, one in enumerate(notes, 1))
    assert printed(source) == f"{text}<hr /><ol>{items}</ol>"


@pytest.mark.parametrize(
    "source",
    [
        "A[^1] is no note.",
        "[^a b]: no label",
        "[1]: 张三《论文》",
        "[1]: Smith:2020",
        "[1]: 张三/李四《论文》",
        "    [^1]: code",
        "- [^1]: one of a list",
    ],
)
def test_what_only_looks_like_a_definition_stays_text(source: str) -> None:
    assert source.strip(" -") in printed(source)


@pytest.mark.parametrize(
    "target", ["https://example.org", "#part", "./a", "/a/b", "a/b", "报告.pdf", "sandbox:/a b.png"]
)
def test_a_reference_to_an_address_is_a_link(target: str) -> None:
    defined = f"<{target}>" if " " in target else target
    assert "<p><a href=" in printed(f"[A][1]\n\n[1]: {defined}")
    assert "[1]" not in printed(f"[A][1]\n\n[1]: {defined}\n[1]: {defined}")


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("![图](./a b.png)", "./a%20b.png"),
        ("![图](/workspace/out/my chart (final).png)", "/workspace/out/my%20chart%20(final).png"),
        ("![x](sandbox:/workspace/图 表.png)", "sandbox:/workspace/%E5%9B%BE%20%E8%A1%A8.png"),
        ('[x](my data.csv "Data") (more)', "my%20data.csv"),
        ('[x](my.csv "Data")', "my.csv"),
        ("[x](<my data.csv>)", "my%20data.csv"),
    ],
)
def test_the_path_of_a_link_may_have_blanks(source: str, address: str) -> None:
    assert f'="{address}"' in printed(source)


@pytest.mark.parametrize(
    "source",
    ["[note](this is no file)", "[x](https://example.org/a b.png)", '[x](my "chart.png)', "[x](a b) (c d.png)"],
)
def test_what_is_no_path_is_no_link(source: str) -> None:
    assert printed(source) == f"<p>{source}</p>"
    assert PLAIN.renderInline("[x](a b.png)") == "[x](a b.png)"
