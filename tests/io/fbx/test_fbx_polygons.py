"""Polygons become triangles that cover exactly their area; corners that agree in all values weld."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marrow.io.fbx.geometry import weld
from marrow.io.fbx.polygons import triangulate
from surroundings import repeats


def areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Signed areas as seen from +Z."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)[:, 2] / 2


def outline_area(points: np.ndarray) -> float:
    x, y = points[:, 0], points[:, 1]
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def split(outline: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    points = np.array([(x, y, 0.0) for x, y in outline])
    triangles, owner = triangulate(np.array([0]), np.array([len(points)]), np.arange(len(points)), points)
    assert (owner == 0).all()
    return points, triangles


@pytest.mark.parametrize(
    "outline",
    [
        [(0, 0), (1, 0), (0, 1)],
        [(0, 0), (1, 0), (1, 1), (0, 1)],
        [(0, 0), (2, 0), (0.5, 0.5), (0, 2)],
        [(0.5, 0.5), (0, 2), (0, 0), (2, 0)],
        [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)],
        [(0, 0), (4, 0), (4, 3), (3, 3), (3, 1), (1, 1), (1, 3), (0, 3)],
        [(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)],
        [(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 12)[:-1]],
    ],
)
def test_triangles_cover_the_polygon_and_nothing_else(outline: list[tuple[float, float]]) -> None:
    points, triangles = split(outline)
    assert len(triangles) == len(outline) - 2
    found = areas(points, triangles)
    assert (found > 0).all()
    assert found.sum() == pytest.approx(outline_area(points))


@settings(max_examples=repeats(60), deadline=None)
@given(st.lists(st.floats(0.2, 1.0), min_size=5, max_size=14))
def test_stars_of_any_shape_are_covered(radii: list[float]) -> None:
    angles = np.linspace(0, 2 * np.pi, len(radii), endpoint=False)
    points, triangles = split([(r * np.cos(a), r * np.sin(a)) for r, a in zip(radii, angles)])
    found = areas(points, triangles)
    assert found.min() > -1e-12
    assert found.sum() == pytest.approx(outline_area(points))


def test_lines_points_and_flat_polygons_do_no_harm() -> None:
    points = np.zeros((14, 3))
    triangles, owner = triangulate(
        np.array([0, 1, 3, 9]), np.array([1, 2, 6, 5]), np.arange(len(points)), points
    )
    assert owner.tolist() == [2] * 4 + [3] * 3
    assert triangles.min() >= 3


def test_triangles_stay_in_the_order_of_their_polygons() -> None:
    points = np.random.default_rng(0).normal(size=(12, 3))
    _, owner = triangulate(np.array([0, 5, 9]), np.array([5, 4, 3]), np.arange(len(points)), points)
    assert owner.tolist() == [0, 0, 0, 1, 1, 2]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40))
def test_weld_keeps_one_of_each_in_order_of_appearance(pairs: list[tuple[int, int]]) -> None:
    rows = np.array(pairs, np.uint32)
    kept, numbers = weld(rows)
    expected = list(dict.fromkeys(pairs))
    assert [tuple(r) for r in rows[kept].tolist()] == expected
    assert numbers.tolist() == [expected.index(p) for p in pairs]
