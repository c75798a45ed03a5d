"""Password guessing: the guesser is limited, but the account is only slowed, so that nobody can lock out another
user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from backend_api.identity.application.delayed_attempts import DelayedAttempts
from backend_api.identity.application.limits import Limits
from backend_api.identity.ports import RateLimiter
from backend_api.kit.ids import UserId

NAMES_OF_AN_ADDRESS = 5
"""The limit of all names from one address, as a multiple of the limit of one name: people may share an address."""
FREE_TRIES = 5
TRIES_WINDOW_S = 600
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 4.0


def pause_of(tries: int) -> float:
    """The pause in seconds before the password is checked, by the number of attempts for it from anywhere, including
    this one."""
    if tries <= FREE_TRIES:
        return 0.0
    return float(min(FIRST_PAUSE_S * 2 ** min(tries - FREE_TRIES - 1, 16), LONGEST_PAUSE_S))


@dataclass(frozen=True, slots=True)
class _AttemptLimiter:
    """Every attempt counts before its password is checked, or many at once would all be the first."""

    limiter: RateLimiter
    limits: Limits
    paused: DelayedAttempts = field(default_factory=DelayedAttempts)

    async def _delay(self, key: str, who: str) -> None:
        await self.paused.wait(who, pause_of(await self.limiter.count(key, window_s=TRIES_WINDOW_S)))

    async def _forget(self, *keys: str) -> None:
        if self.limits.login_per_minute > 0:
            await asyncio.gather(*map(self.limiter.forget, keys))


class LogInGuesses(_AttemptLimiter):
    """Log-ins: limited by address and by address and name, slowed by name."""

    __slots__ = ()

    async def admit(self, name: str, address: str) -> None:
        """Raises `LimitError` for an address alone, and waits for a name: the right password is never refused because
        of others' attempts, unless more addresses than there are places wait at once."""
        limit = self.limits.login_per_minute
        if limit <= 0:
            return
        await self.limiter.hit(f"login:{address}", limit=limit * NAMES_OF_AN_ADDRESS, window_s=60)
        await self.limiter.hit(_pair(name, address), limit=limit, window_s=60)
        await self._delay(_name_key(name), address)

    async def record_success(self, name: str, address: str) -> None:
        """The owner logged in: the attempts for the name are forgotten. The address's own count stays, as an attacker
        with an account could reset it."""
        await self._forget(_pair(name, address), _name_key(name))


class ChangeGuesses(_AttemptLimiter):
    """The old password at its change: limited by log-in, slowed by user. A thief with a stolen token has one log-in,
    and does not use up the limit of the owner's other ones."""

    __slots__ = ()

    async def admit(self, user_id: UserId, family: str) -> None:
        """Raises `LimitError` for a log-in alone, and waits for a user."""
        limit = self.limits.login_per_minute
        if limit <= 0:
            return
        await self.limiter.hit(_log_in(family), limit=limit, window_s=60)
        await self._delay(_user(user_id), family)

    async def record_success(self, user_id: UserId) -> None:
        """The owner gave the right password: the attempts for the user are forgotten. Raises `LimitError` for too many
        changes, and keeps the count of attempts, so that further ones are slowed too.

        Every change ends its log-in and begins another, so changes are counted by user, and before they are made: many
        at once each cost a hash, although one of them wins.
        """
        await self.limiter.hit(_changes(user_id), limit=self.limits.password_changes_per_hour, window_s=3600)
        await self._forget(_user(user_id))


def _pair(name: str, address: str) -> str:
    return f"login:{address}:{name}"


def _name_key(name: str) -> str:
    return f"login-name:{name}"


def _log_in(family: str) -> str:
    return f"password:log-in:{family}"


def _changes(user_id: UserId) -> str:
    return f"password:changes:{user_id}"


def _user(user_id: UserId) -> str:
    return f"password:user:{user_id}"
