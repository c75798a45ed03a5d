"""Markdown as it is printed: emphasis beside scripts without blanks, and formulas."""

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
