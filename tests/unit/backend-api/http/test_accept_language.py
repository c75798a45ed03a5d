from __future__ import annotations

import pytest

from backend_api.kit.http.accept_language import wants_chinese
from backend_api.mcp.http.sign_in_page import sign_in_page


@pytest.mark.parametrize(
    ("said", "is_chinese"),
    [
        ("", False),
        ("zh", True),
        ("zh-TW,en;q=0.9", True),
        ("en,zh", False),
        ("en;q=0.1,zh;q=0.2", True),
        ("fr, zh;q=x, en;q=0", False),
        ("de,zh;q=0.3", True),
    ],
)
def test_a_page_is_in_the_language_that_is_wanted_more(said: str, is_chinese: bool) -> None:
    assert wants_chinese(said) is is_chinese
    assert ('lang="zh"' in sign_in_page(said, "nonce", "denied", "Refused.")) is is_chinese
