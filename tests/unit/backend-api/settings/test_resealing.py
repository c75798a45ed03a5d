"""Bringing what is sealed under the key that seals now."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest

from backend_api.kit.errors import StoreUnavailableError
from backend_api.settings.application.resealing import ResealingMessages, SealedRecord, reseal
from backend_api.settings.domain.entity import Sealed
from backend_api.settings.secret_box import AesSecretBox

OLD, NEW = "o" * 32, "n" * 32
MESSAGES = ResealingMessages(store_away="away", resealed="sealed anew", unreadable="can't be opened")


async def test_a_store_that_goes_away_is_told_with_what_was_sealed_before(caplog: pytest.LogCaptureFixture) -> None:
    stored: list[Sealed] = []

    async def put(fresh: Sealed) -> bool:
        stored.append(fresh)
        return True

    async def records() -> AsyncIterator[SealedRecord]:
        yield SealedRecord(AesSecretBox([OLD]).seal("secret", bound_to="x"), "x", put)
        raise StoreUnavailableError("The database does not answer.")

    with caplog.at_level(logging.INFO):
        await reseal(records(), AesSecretBox([NEW, OLD]), MESSAGES)
    assert [record.getMessage() for record in caplog.records] == ["away", "sealed anew"]
    assert [AesSecretBox([NEW]).open(one, bound_to="x") for one in stored] == ["secret"]
