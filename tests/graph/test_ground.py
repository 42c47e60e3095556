"""The ground: heights, functions, height fields and what has a `query` of its own."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import FootPlacement, Graph, GroundHits, HeightField
from marrow.graph.ground import query_ground
from marrow.samples import mannequin

HERO = mannequin()


def points(*rows):
    return np.array(rows, float).reshape(-1, 3)


def asked(ground, places, reach=10.0):
    return query_ground(ground, places, reach, np.arange(len(places)))


def test_one_height_holds_for_all_and_one_each_for_its_instance():
    places = points([0, 0, 0], [5, 1, 5])
    assert asked(2.0, places).heights.tolist() == [2.0, 2.0]
    found = query_ground(np.array([1.0, 3.0]), places, 10.0, np.array([1, 0]))
    assert found.heights.tolist() == [3.0, 1.0]
    assert found.normals.tolist() == [[0, 1, 0], [0, 1, 0]] and found.hit.all()


def test_ground_out_of_reach_is_none():
    found = asked(2.0, points([0, 1, 0], [0, 1.5, 0], [0, 2.5, 0], [0, 3.01, 0]), reach=1.0)
    assert found.hit.tolist() == [True, True, True, False]
    assert found.heights[:3].tolist() == [2, 2, 2] and np.isnan(found.heights[3])
    assert not asked(None, points([0, 0, 0])).hit.any()


def test_a_function_that_tells_heights_alone_is_asked_for_its_slope():
    found = asked(lambda p: 0.5 * p[:, 0] - 0.25 * p[:, 1], points([1, 0, 2], [3, 0, 0]))
    np.testing.assert_allclose(found.heights, [0.0, 1.5])
    up = np.array([-0.5, 1.0, 0.25])
    np.testing.assert_allclose(found.normals, [up / np.linalg.norm(up)] * 2, atol=1e-12)


def test_a_function_is_asked_at_the_points_alone_where_nobody_wants_normals():
    asked = []
    found = query_ground(
        lambda p: asked.append(p.copy()) or p[:, 0],
        points([1, 0, 2], [3, 0, 0]),
        9.0,
        np.arange(2),
        normals=False,
    )
    assert [p.tolist() for p in asked] == [[[1, 2], [3, 0]]]
    assert found.heights.tolist() == [1, 3] and found.normals.tolist() == [[0, 1, 0]] * 2


def test_a_function_may_tell_normals():
    def dome(places):
        height = np.sqrt(9 - (places**2).sum(1))
        return height, np.column_stack([places[:, 0], height, places[:, 1]])

    found = asked(dome, points([1, 3, 2]))
    np.testing.assert_allclose(found.normals, [[1 / 3, 2 / 3, 2 / 3]], atol=1e-12)
    with pytest.raises(ValidationError, match="normals"):
        asked(lambda p: (p[:, 0], np.zeros((1, 3))), points([0, 0, 0]))


def test_a_tread_is_level_up_to_its_edge():
    """A riser of 17 cm within a millimetre says nothing about the slope of either tread; nor does the edge of a hole."""
    stairs = asked(lambda p: 0.17 * (p[:, 1] >= 0.28), points([0, 0, 0.279], [0, 0, 0.281]))
    np.testing.assert_allclose(stairs.heights, [0, 0.17])
    np.testing.assert_array_equal(stairs.normals, [[0, 1, 0]] * 2)
    pit = asked(lambda p: np.where(p[:, 0] > 0, np.nan, 0.1 * p[:, 0]), points([-0.001, 0, 0], [0.1, 0, 0]))
    assert pit.hit.tolist() == [True, False]
    np.testing.assert_allclose(pit.normals[0] / pit.normals[0, 1], [-0.1, 1, 0], atol=1e-9)


def test_feet_near_a_riser_do_not_tilt():
    level, stairs = (mw.Animator(HERO, Graph(FootPlacement("idle"))) for _ in range(2))
    foot = HERO.skeleton.index("foot_l")
    level.update(1 / 30)
    _, _, z = level.model_matrices[foot, :, 3]
    level.ground, stairs.ground = 0.0, lambda p: np.where(p[:, 1] < z + 0.04, 0.0, 0.17)
    for _ in range(20):
        level.update(1 / 30)
        stairs.update(1 / 30)
    # The ball is on the step: the foot stands there, as level as before.
    there, here = stairs.model_matrices[foot], level.model_matrices[foot]
    np.testing.assert_allclose(there[:, :3], here[:, :3], atol=1e-4)
    np.testing.assert_allclose(there[1, 3] - here[1, 3], 0.17, atol=1e-3)


def test_a_height_field_has_the_normals_of_its_cells():
    """h = 2 + 3x + 5z + 7xz over the unit cell: the slope along x is 3 + 7z, along z 5 + 7x."""
    field = HeightField([[2.0, 5.0], [7.0, 17.0]], 1.0, (10.0, 20.0))
    found = asked(field, points([10.25, 5, 20.5], [10.0, 5, 20.0], [0.0, 5, 20.5]), reach=100)
    np.testing.assert_allclose(found.heights, [2 + 0.75 + 2.5 + 0.875, 2, 4.5])
    n = found.normals / found.normals[:, 1:2]
    np.testing.assert_allclose(n, [[-6.5, 1, -6.75], [-3, 1, -5], [0, 1, -5]])
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1.0)


def test_a_hole_in_a_height_field_is_no_ground():
    field = HeightField([[0.0, 0, 0], [0, 0, np.nan]], 1.0)
    found = asked(field, points([0.5, 0, 0.5], [1.5, 0, 0.5], [np.nan, 0, 0.5]))
    assert found.hit.tolist() == [True, False, False]
    assert np.isfinite(found.normals).all()


def test_ground_of_any_kind_is_what_has_a_query():
    calls = []

    class World:
        def query(self, points, reach):
            calls.append((points.shape, reach))
            return np.full(len(points), 0.2), np.tile([0.0, 2.0, 0.0], (len(points), 1)), points[:, 0] > 0

    crowd = mw.Animator(HERO, Graph(FootPlacement("idle", step=0.4)), count=3)
    crowd.ground = World()
    crowd.update(1 / 30)
    assert crowd.pose is not None
    assert len(calls) == 1 and calls[0][0][0] >= 6  # all feet of all characters in one call
    found = asked(World(), points([1, 0, 0], [-1, 0, 0]))
    assert isinstance(found, GroundHits) and found.normals.tolist() == [[0, 1, 0]] * 2
    assert found.heights[0] == 0.2 and np.isnan(found.heights[1])


@pytest.mark.parametrize(
    ("answer", "words"),
    [(None, "heights, normals and hit"), ((0.0, 0.0, True), r"heights of shape \(1,\)")],
)
def test_a_query_that_answers_wrongly_is_told_in_words(answer, words):
    class Wrong:
        def query(self, points, reach):
            return answer

    with pytest.raises(ValidationError, match=words):
        asked(Wrong(), points([0, 0, 0]))
