"""No secret is in what is kept of a model call, and no other word is lost."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from urllib.parse import quote

import pytest

from backend_api.kit.masking import MASKED, Mask

SECRET = 'tr0ub4dor"&3\\x'


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        json.dumps({"key": SECRET}),
        f"?key={quote(SECRET, safe='')}",
        base64.b64encode(SECRET.encode()).decode(),
        f"before {SECRET} and {SECRET} after",
    ],
)
def test_a_secret_of_the_deployment_is_masked_in_every_form_it_may_stand_in(text: str) -> None:
    masked = Mask([SECRET]).text(text)
    for form in (SECRET, json.dumps(SECRET)[1:-1], quote(SECRET, safe=""), base64.b64encode(SECRET.encode()).decode()):
        assert form.rstrip("=") not in masked
    assert MASKED in masked


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdef0123456789abcdef",
        "authorization: basic dXNlcjpwYXNzd29yZA==",
        "sk-ant-api03-abcdefghijklmnop",
        "OPENAI_API_KEY=abcd1234efgh",
        "ghp_0123456789abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def",
        "a-token-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def",
        "long-name-of.another-name.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIE cut off",
        "mongodb://root:hunter2@db/x",
        "password = 'hunter2hunter2'",
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str) -> None:
    masked = Mask().text(f"so: {text} and on")
    assert MASKED in masked
    for part in ("abcdef0123456789", "dXNlcj", "sk-ant", "abcd1234", "ghp_", "AKIA", "eyJ", "MIIE", "hunter2"):
        assert part not in masked


@pytest.mark.parametrize("before", ["", "token-", "eyJ-", "a.eyJ0.", "eyJshort-"])
def test_a_token_is_masked_wherever_in_a_word_it_begins(before: str) -> None:
    masked = Mask().text(f"({before}eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def)")
    assert MASKED in masked
    assert "abc-def" not in masked


@pytest.mark.parametrize(
    "piece",
    [
        "-eyJ",
        "eyJ01234567.",
        "sk-",
        "://a:",
        "password=",
        "bearer ",
        "-----BEGIN A ",
        "-----END A",
        "ghp_-",
        "=a",
        "a_",
    ],
)
def test_no_text_takes_long_however_often_it_begins_like_a_secret(piece: str) -> None:
    text, began = piece * (1_000_000 // len(piece)), time.thread_time()
    Mask(["0123456789abcdef"]).text(text)
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    "text",
    [
        "the bearer of this letter has a basic understanding of responsibility",
        "def f(token: str, password: str) -> None: ...",
        "see https://example.org:8080/a@b and user@example.org",
        "risk-free task-oriented sk- words",
        "密码是什么？",
    ],
)
def test_other_words_are_left_alone(text: str) -> None:
    assert Mask(["none", ""]).text(text) == text


def test_a_value_whose_name_says_that_it_is_a_secret_is_masked_whole() -> None:
    value = {"api_key": "a b", "nested": [{"x-token": "words here", "text": "words here"}], "count": 3, "none": None}
    masked = {"api_key": MASKED, "nested": [{"x-token": MASKED, "text": "words here"}], "count": 3, "none": None}
    assert Mask().value(value) == masked


@pytest.mark.parametrize(
    "unit", ["-eyJaaaaaaaa", "eyJaaaaaaaa.", "eyJaaaaaaaa.bbbbbbbb-", "bearer ", "://a:", "a=", "-----END A"]
)
def test_no_text_keeps_a_process_busy(unit: str) -> None:
    text = (unit * 100_000)[:400_000]
    began = time.process_time()
    Mask().text(text)
    assert time.process_time() - began < 2


def test_many_secrets_are_looked_for_in_many_texts_at_once() -> None:
    known = [hashlib.sha256(str(one).encode()).hexdigest() + "&" for one in range(150)]
    mask, texts = Mask(known), [known[one % 150][:20] + str(one) for one in range(50_000)]
    began = time.thread_time()
    assert [mask.known(text) for text in texts] == texts
    long = " ".join(texts)
    assert mask.known(long) == long
    assert time.thread_time() - began < 0.4
    assert mask.known(f"a {known[7]} b") == f"a {MASKED} b"


@pytest.mark.parametrize("long", ["abcdefgh-and-more", "abcdefghi"])
def test_of_secrets_that_begin_alike_the_longest_is_masked_whole(long: str) -> None:
    assert Mask(["abcdefgh", long, "abcx-other"]).known(f"{long} abcdefgh abcdefg abcx-other") == (
        f"{MASKED} {MASKED} abcdefg {MASKED}"
    )


def test_of_a_long_secret_its_beginning_is_enough_and_all_of_it_goes() -> None:
    first, second = "x" * 200 + "-one-0123456789", "x" * 200 + "-two-0123456789"
    mask = Mask([first, second, "short-secret"])
    assert mask.known(f"A {second} B {first} C short-secret D") == f"A {MASKED} B {MASKED} C {MASKED} D"
    assert "x" * 64 not in mask.known("x" * 150)


def test_what_nearly_is_a_long_secret_again_and_again_takes_no_longer_than_another_text() -> None:
    mask = Mask(["a" * 4_090 + end for end in "bcde"])
    began = time.perf_counter()
    mask.known("a" * 1_000_000)
    assert time.perf_counter() - began < 1
