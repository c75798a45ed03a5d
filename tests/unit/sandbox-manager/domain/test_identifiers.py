"""Identifiers become names of folders, containers and marks: whatever is value, only a plain name passes."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_manager.domain.identifiers import (
    InvalidIdentifierError,
    parse_generation,
    parse_sandbox_id,
    parse_session_id,
    parse_snapshot_id,
    parse_user_id,
)
from sandbox_manager.domain.sandbox import Identity, pool_session
from sandbox_manager.infrastructure.runtimes.docker import naming
from sandbox_manager.infrastructure.runtimes.process.launch import mark_of, marked_identity

PARSERS = (parse_sandbox_id, parse_session_id, parse_user_id, parse_snapshot_id)
HOSTILE = [
    "",
    ".",
    "..",
    "../..",
    "a/b",
    "/etc",
    "a\n",
    "a\0b",
    "pool.",
    "pool...",
    "pool./..",
    "-x",
    "a" * 65,
    "ａ",
    "é",
]
fuzz = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEED = "0123456789abcdef"

words = st.one_of(
    st.text(max_size=80),
    st.sampled_from(HOSTILE),
    st.from_regex(r"[A-Za-z0-9_./\n-]{0,70}", fullmatch=True),
    st.from_regex(r"pool\.[0-9a-f]{15,17}\n?", fullmatch=True),
    st.binary(max_size=40).map(os.fsdecode),
)
anything = st.one_of(words, st.none(), st.integers(), st.floats(), st.booleans(), st.lists(words, max_size=2))


def is_plain(name: str) -> bool:
    """One name of one folder, and no option of a program."""
    parts = PurePosixPath("/held", name).parts
    return parts == ("/", "held", name) and name.isascii() and name.isprintable() and not name.startswith(".")


@fuzz
@given(anything)
def test_what_passes_is_one_plain_name(value: Any) -> None:
    for parse in PARSERS:
        try:
            passed = parse(value)
        except InvalidIdentifierError:
            continue
        assert passed == value
        assert is_plain(passed)
        assert len(passed) <= 64


@pytest.mark.parametrize("value", HOSTILE)
def test_what_is_no_name_is_refused_as_every_kind(value: str) -> None:
    for parse in PARSERS[:3]:
        with pytest.raises(InvalidIdentifierError):
            parse(value)


@fuzz
@given(st.one_of(anything, st.text("0123456789٣²", max_size=5000)))
def test_a_generation_is_a_small_number(value: Any) -> None:
    try:
        generation = parse_generation(value)
    except InvalidIdentifierError:
        return
    assert 0 <= generation < 2**31
    assert str(generation) == str(value).lstrip("0") or generation == 0


@fuzz
@given(words, words, words, st.one_of(st.integers(), words))
def test_no_identity_leads_anywhere_else_than_to_its_own_things(
    sandbox_id: str, session_id: str, user_id: str, generation: Any
) -> None:
    try:
        identity = Identity(sandbox_id=sandbox_id, session_id=session_id, user_id=user_id, generation=generation)
    except InvalidIdentifierError:
        return
    assert is_plain(identity.sandbox_id)
    assert is_plain(identity.session_id)


def test_one_of_the_pool_is_nobodys_and_no_other_stands_for_it() -> None:
    Identity(sandbox_id=SEED, session_id=pool_session(SEED), user_id="", generation=0)
    for session_id, user_id, generation in (
        (pool_session(SEED), "u1", 1),
        (pool_session("0" * 16), "u1", 1),
        (pool_session("0" * 16), "", 0),
        ("s1", "", 1),
        ("s1", "u1", 0),
    ):
        with pytest.raises(InvalidIdentifierError):
            Identity(sandbox_id=SEED, session_id=session_id, user_id=user_id, generation=generation)


@fuzz
@given(st.one_of(words, st.lists(words, min_size=3, max_size=6).map("/".join), st.text("/.0a", max_size=60)))
def test_a_mark_tells_an_identity_or_nothing(mark: str) -> None:
    for value in (mark, f"agent/{mark}", f"agent/{SEED}/{mark}", f"agent/{SEED}/s1/u1/{mark}"):
        identity = marked_identity(value, "agent")
        if identity is not None:
            assert re.fullmatch(r"[0-9a-f]{16}", identity.sandbox_id)
            assert mark_of(identity, "agent").split("/")[:4] == value.split("/")[:4]


@fuzz
@given(
    st.dictionaries(
        st.sampled_from([naming.SANDBOX, naming.SESSION, naming.USER, naming.GENERATION, naming.STACK]), words
    )
)
def test_labels_tell_an_identity_or_nothing(labels: dict[str, str]) -> None:
    known = {naming.SANDBOX: SEED, naming.SESSION: "s1", naming.USER: "u1", naming.GENERATION: "1"}
    for value in (labels, known | labels):
        identity = naming.identity_of(value)
        if identity is not None:
            assert all(is_plain(name) for name in (identity.sandbox_id, identity.session_id))
            assert naming.volume_name("agent", identity) == f"agent-ws-{value[naming.SESSION]}"
