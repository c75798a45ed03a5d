"""The skills that agents of a user are told of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from backend_api.agent.skills import SkillOffer
from backend_api.kit.ids import UserId
from backend_api.skills.application.own_skills import OwnSkills
from backend_api.skills.domain.entity import SkillEntry


@dataclass(frozen=True, slots=True)
class SkillOffers:
    """Those of everybody, `shared`, and over them the user's own. None where there are no skills at all."""

    own: OwnSkills | None = None
    shared: Sequence[SkillOffer] = field(init=False)

    def __post_init__(self) -> None:
        # Read once, as the library is.
        object.__setattr__(self, "shared", _to_offers(self.own.library.entries()) if self.own is not None else ())

    async def __call__(self, user_id: UserId) -> Sequence[SkillOffer]:
        """By their names. Raises `StoreUnavailableError`."""
        return _to_offers(await self.own.entries(user_id)) if self.own is not None else ()


def _to_offers(entries: Iterable[SkillEntry]) -> list[SkillOffer]:
    return [SkillOffer(name=one.name, description=one.description) for one in entries]
