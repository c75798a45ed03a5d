"""Access tokens are verified once and hold no longer for that; what the account says is asked each time elsewhere."""

from __future__ import annotations

import pytest

from backend_api.identity import tokens
from backend_api.identity.domain.entity import AccessClaims
from backend_api.identity.domain.errors import TokenInvalidError
from backend_api.identity.tokens import JwtAccessTokens
from backend_api.kit.ids import UserId

KEY = "k9" * 24
ANNA = AccessClaims(user_id=UserId("anna"), family="first", token_version=3)


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def signing(clock: Clock, key: str = KEY) -> JwtAccessTokens:
    return JwtAccessTokens(key, algorithm="HS256", expires_s=60, clock=clock)


def test_a_token_that_was_read_before_is_refused_once_its_time_is_over() -> None:
    clock = Clock()
    access = signing(clock)
    token, expires_s = access.sign(ANNA)
    for _ in range(2):
        claims = access.read(token)
        assert (claims.user_id, claims.family, claims.token_version) == ("anna", "first", 3)
        assert claims.expires_at == clock.now + expires_s
    clock.now += expires_s
    assert access.read(token) == claims
    clock.now += 0.1
    for _ in range(2):
        with pytest.raises(TokenInvalidError):
            access.read(token)


def test_no_other_token_holds_because_one_was_read() -> None:
    access = signing(Clock())
    token, _ = access.sign(ANNA)
    bert, _ = access.sign(AccessClaims(user_id=UserId("bert"), family="second", token_version=0))
    assert access.read(token).user_id == "anna"
    assert access.read(bert).user_id == "bert"
    header, body, signature = token.split(".")
    for wrong in (f"{header}.{bert.split('.')[1]}.{signature}", f"{header}.{body}.", f"{header}.{body}", token[:-2]):
        with pytest.raises(TokenInvalidError):
            access.read(wrong)
    with pytest.raises(TokenInvalidError):
        signing(Clock(), key="another key of the same length").read(token)


def test_only_tokens_that_hold_are_kept_and_not_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "VERIFIED_TOKENS", 2)
    access = signing(Clock())
    for number in range(5):
        token, _ = access.sign(AccessClaims(user_id=UserId("anna"), family=str(number), token_version=0))
        assert access.read(token).family == str(number)
        with pytest.raises(TokenInvalidError):
            access.read(token + "x")
    assert access._verified.cache_info().currsize == 2
    access.read(token)
    assert access._verified.cache_info().hits == 1


def test_a_token_that_its_owner_lengthened_is_not_kept() -> None:
    access = signing(Clock())
    token, _ = access.sign(ANNA)
    assert len(token) < tokens.VERIFIED_CHARACTERS
    # What is no base64 is skipped where the signature is read.
    assert access.read(token + "~" * 1000) == access.read(token)
    assert access._verified.cache_info().currsize == 1
