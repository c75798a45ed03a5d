"""A sandbox's life is one table."""

from __future__ import annotations

from sandbox_manager.domain.life import LIFE, Move, Status


def test_every_move_is_in_the_table_and_every_state_but_the_first_is_reached() -> None:
    assert set(LIFE) == set(Move)
    assert {after for _, after in LIFE.values()} == set(Status) - {Status.WARMING, Status.QUEUED}


def test_what_is_over_has_no_move_left_and_what_is_not_can_be_given_up() -> None:
    for status in Status:
        moves = {move for move, (before, _) in LIFE.items() if status in before}
        assert (Move.RETIRE in moves) is (status not in (Status.FAILED, Status.GONE))
        assert moves or status in (Status.FAILED, Status.GONE)
