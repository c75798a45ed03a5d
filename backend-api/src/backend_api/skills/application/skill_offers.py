"""The skills listed to a user's agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from backend_api.kit.ids import UserId
from backend_api.skills.application.user_skills import UserSkills
from backend_api.skills.domain.entity import SkillEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillOffer:
    """A skill that an agent may read."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class SkillOffers:
    """The skills of everybody, `shared`, and the user's own, which replace those of the same name."""

    own: UserSkills
    shared: Sequence[SkillOffer] = field(init=False)

    def __post_init__(self) -> None:
        # Read once, as the library is.
        object.__setattr__(self, "shared", _to_offers(self.own.library.entries()))

    async def __call__(self, user_id: UserId) -> Sequence[SkillOffer]:
        """The offers by their names. Raises `StoreUnavailableError`."""
        return _to_offers(await self.own.entries(user_id))


def _to_offers(entries: Iterable[SkillEntry]) -> list[SkillOffer]:
    return [SkillOffer(name=one.name, description=one.description) for one in entries]
