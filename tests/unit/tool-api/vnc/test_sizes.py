"""Which size a screen is given where a viewer asks for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_api.vnc.sizes import HIGHEST, LOWEST, NARROWEST, STEP, WIDEST, ScreenSize, nearest_size


@pytest.mark.parametrize(
    ("asked", "given_size"),
    [
        ((541, 748), (544, 752)),
        ((350, 700), (480, 960)),
        ((3000, 1200), (2560, 1024)),
        ((10, 4000), (480, HIGHEST)),
        ((0, 0), (480, 480)),
    ],
)
def test_it_is_the_nearest_one_in_the_shape_of_the_panel(asked: tuple[int, int], given_size: tuple[int, int]) -> None:
    assert nearest_size(*asked) == ScreenSize(*given_size)


@given(st.integers(0, 65535), st.integers(0, 65535))
def test_it_is_one_of_a_set(width: int, height: int) -> None:
    size = nearest_size(width, height)

    assert NARROWEST <= size.width <= WIDEST
    assert LOWEST <= size.height <= HIGHEST
    assert size.width % STEP == size.height % STEP == 0
    assert nearest_size(size.width, size.height) == size


@given(st.integers(350, 1500), st.integers(500, 1100))
def test_its_picture_fills_nearly_all_of_an_ordinary_panel(width: int, height: int) -> None:
    size = nearest_size(width, height)
    scale = min(width / size.width, height / size.height)

    assert (size.width * scale) * (size.height * scale) >= 0.93 * width * height
