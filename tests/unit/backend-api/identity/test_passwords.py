"""Hashes of passwords; tests of routes make theirs at less than the real cost."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import VerifyMismatchError
from argon2.low_level import Type

from backend_api.identity.passwords import Argon2Passwords


async def test_as_it_comes_a_hash_costs_what_is_recommended_also_to_find_that_nobody_has_the_name() -> None:
    passwords = Argon2Passwords()
    made = await passwords.hash("a long password")
    cost = extract_parameters(made)
    # RFC 9106, for machines with little memory.
    assert (cost.type, cost.time_cost >= 3, cost.memory_cost >= 64 * 1024) == (Type.ID, True, True)
    assert extract_parameters(passwords._nobody) == cost
    # It is computed and compared, not refused at a glance.
    with pytest.raises(VerifyMismatchError):
        PasswordHasher().verify(passwords._nobody, "nobody has this password")
    assert await passwords.verify(made, "a long password")
    assert not await passwords.verify(made, "another password")
    assert not await passwords.verify(None, "nobody has this password")
