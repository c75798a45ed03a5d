"""Points of a picture and of the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_api.tools.desktop.scale import MAX_PIXELS, MAX_SIDE, Scale

SIDES = st.integers(min_value=1, max_value=8192)


@given(SIDES, SIDES, st.data())
def test_a_point_of_the_picture_is_the_same_one_after_the_way_to_the_screen_and_back(
    width: int, height: int, data: st.DataObject
) -> None:
    scale = Scale(width=width, height=height)
    wide, high = scale.picture
    x, y = data.draw(st.integers(0, wide - 1)), data.draw(st.integers(0, high - 1))

    place = scale.to_screen(x, y)

    assert place is not None
    assert 0 <= place[0] < width
    assert 0 <= place[1] < height
    assert scale.to_picture(*place) == (x, y)


@given(SIDES, SIDES)
def test_no_picture_is_larger_than_models_take_as_it_is(width: int, height: int) -> None:
    wide, high = Scale(width=width, height=height).picture

    assert max(wide, high) <= MAX_SIDE
    assert wide * high <= MAX_PIXELS


def test_a_usual_screen_is_shown_as_it_is_and_has_no_points_outside() -> None:
    scale = Scale(width=1280, height=800)

    assert scale.picture == (1280, 800)
    assert scale.to_screen(1279, 799) == (1279, 799)
    assert scale.to_screen(1280, 0) is None


@pytest.mark.parametrize(("x", "y"), [(5000, 10), (10, 5000)])
def test_what_is_outside_of_the_screen_is_shown_at_its_edge(x: int, y: int) -> None:
    assert max(Scale(width=100, height=100).to_picture(x, y)) == 99
