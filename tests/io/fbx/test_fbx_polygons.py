"""Polygons become triangles that cover exactly their area; corners that agree in all values weld."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marrow.errors import FormatError
from marrow.io.fbx.geometry import _weld_by_sorting, weld
from marrow.io.fbx.polygons import _split, triangulate
from marrow.kernels.polygon_meshes import split_faces, weld_rows
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


def hashed(x: int) -> int:
    """What the weld's hash makes of one number."""
    product = x * 73244475
    return (product ^ (product >> 29)) & 0xFFFFFFFF


def test_rows_made_to_look_alike_are_welded_without_delay() -> None:
    """A file could hold rows that all have one hash: the kernel gives up, and sorting does it."""
    rows = np.array([(a, hashed(a) ^ 12345) for a in range(3000)] * 2, np.uint32)
    table = np.full(16384, -1, np.int32)
    kept, numbers = np.empty((2, len(rows)), np.int32)
    assert weld_rows(rows, table, kept, numbers) == (-1,)
    kept, numbers = weld(rows)
    assert kept.tolist() == list(range(3000))
    assert numbers.tolist() == [*range(3000), *range(3000)]


def test_kernels_and_numpy_agree_on_triangles_and_welded_rows() -> None:
    rng = np.random.default_rng(5)
    count = rng.integers(0, 8, 400)
    first = np.cumsum(count) - count
    control = rng.integers(0, 60, int(count.sum()))
    points = rng.normal(size=(60, 3)) * (1, 1, 0.01)  # nearly flat: many quads have only one diagonal inside
    made = np.maximum(count - 2, 0)
    corners, owner = np.empty((made.sum(), 3), np.int64), np.empty(made.sum(), np.int64)
    large = np.empty(((count > 4).sum(), 2), np.int64)
    assert split_faces(first, count, control, points, corners, owner, large) == (made.sum(), len(large))
    for ours, theirs in zip(_split(first, count, made, points[control]), (corners, owner, large)):
        np.testing.assert_array_equal(ours, theirs)
    quads = np.flatnonzero(count == 4)
    split = corners[np.isin(owner, quads)].reshape(-1, 6) - first[quads, None]
    assert len(np.unique(split, axis=0)) == 2, "both diagonals occur"
    rows = rng.integers(0, 3, (500, 5)).astype(np.uint32)
    for ours, theirs in zip(weld(rows), _weld_by_sorting(rows)):
        np.testing.assert_array_equal(ours, theirs)


def test_polygons_that_reach_past_the_corners_are_refused() -> None:
    with pytest.raises(FormatError, match="corners that are not there"):
        triangulate(np.array([0, 3]), np.array([3, 4]), np.arange(6), np.zeros((6, 3)))
