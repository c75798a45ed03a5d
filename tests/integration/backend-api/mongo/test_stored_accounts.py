"""An account is read without its document's class, and is what that class makes of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest

from backend_api.identity.mongo.documents import UserDocument
from backend_api.identity.mongo.users import MongoUsers, account_from
from backend_api.kit.mongo.database import Database
from backend_api.main.stores import connect
from support.servers import Server, emptied_database_name

__all__ = ["emptied_database_name"]

NOON = datetime(2026, 1, 1, 12, 0, 0, 123_000, tzinfo=UTC)
ALL_FIELDS: dict[str, Any] = {
    "_id": "anna-id",
    "username": "Anna",
    "username_key": "anna",
    "email": "anna@example.org",
    "password_hash": "hash",
    "is_admin": True,
    "is_active": False,
    "created_at": NOON,
    "token_version": 7,
    "revoked_families": [{"id": "one", "until": NOON}, {"id": "two", "until": NOON}],
    "more_revoked_until": NOON,
    "first": True,
}


@pytest.fixture
async def database(mongo_server: Server, mongo_database_name: str) -> AsyncGenerator[Database]:
    async with connect(mongo_server.uri, mongo_database_name) as database:
        yield database


def optional_fields() -> list[str]:
    return [name for name, field in UserDocument.model_fields.items() if not field.is_required() and name in ALL_FIELDS]


async def test_whatever_field_an_older_document_lacks_is_as_its_class_has_it(database: Database) -> None:
    left_out = optional_fields()
    assert left_out == ["email", "is_active", "token_version", "revoked_families", "more_revoked_until", "first"]
    every: list[set[str]] = [set(), set(left_out), *({name} for name in left_out)]
    for missing in every:
        fields = {name: value for name, value in ALL_FIELDS.items() if name not in missing}
        await database["users"].replace_one({"_id": "anna-id"}, fields, upsert=True)
        stored = await database["users"].find_one({"_id": "anna-id"})
        assert stored is not None
        by_class = UserDocument.model_validate(stored)
        account = account_from(stored)
        assert account == await MongoUsers(database).get(account.user.id)
        for name in ("username", "email", "password_hash", "is_admin", "is_active", "created_at"):
            assert getattr(account.user, name) == getattr(by_class, name), name
        assert account.token_version == by_class.token_version
        assert account.revoked_families == {entry["id"] for entry in by_class.revoked_families}
        assert account == account_from(by_class.model_dump(by_alias=True))


@pytest.mark.parametrize("flag", ["false", "no", "true", None, [1]])
def test_what_is_no_flag_makes_nobody_an_admin_or_active(flag: object) -> None:
    user = account_from(ALL_FIELDS | {"is_admin": flag, "is_active": flag}).user
    assert not user.is_admin
    assert not user.is_active


def test_the_class_has_no_field_that_this_test_does_not_know() -> None:
    known = {name.removeprefix("_") for name in ALL_FIELDS}
    assert known == UserDocument.model_fields.keys() - {"revision_id"}
