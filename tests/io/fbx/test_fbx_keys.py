"""Keys of all tracks of a take are cut to it at once, each as if it were alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marrow.io.fbx.keys import FbxKeys, cut
from marrow.math import quaternion
from surroundings import repeats

HALF = np.sqrt(0.5)


def keys(*rows: tuple[float, ...]) -> FbxKeys:
    """Rows of a time and its value."""
    table = np.array(rows, np.float64) if rows else np.zeros((0, 2))
    return FbxKeys(table[:, 0], table[:, 1:])


def rows(found: FbxKeys) -> list[list[float]]:
    return np.column_stack([found.times, found.values]).tolist()


def test_each_track_has_keys_on_both_borders_and_its_own_between() -> None:
    tracks = [
        keys((0, 10), (1, 20), (2, 40), (4, 60)),  # both borders between keys
        keys((1.5, 1), (3, 2)),  # both on keys
        keys(),
        keys((9, 7)),  # held from before its only key
        keys((0, 5), (2, 5), (2, 8), (5, 8)),  # a step inside
        keys((0, 5), (1.5, 6), (1.5, 9), (5, 9)),  # a step on the border: the second key holds
    ]
    found = [rows(track) for track in cut(tracks, 1.5, 3.0, False, None).split()]
    assert found[0] == [[0, 30], [0.5, 40], [1.5, 50]]
    assert found[1] == [[0, 1], [1.5, 2]]
    assert found[2] == []
    assert found[3] == [[0, 7], [1.5, 7]]
    assert found[4] == [[0, 5], [0.5, 5], [0.5, 8], [1.5, 8]]
    assert found[5] == [[0, 9], [1.5, 9]]


def test_keys_that_are_not_finite_are_left_out() -> None:
    tracks = [keys((0, np.nan), (1, 4), (np.inf, 5), (2, 6)), keys((0, np.inf))]
    found = cut(tracks, 0.0, 2.0, False, None).split()
    assert rows(found[0]) == [[0, 4], [1, 4], [2, 6]]
    assert rows(found[1]) == []


def test_nothing_is_interpolated_on_borders_that_lie_on_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("slerp was asked for")

    monkeypatch.setattr(quaternion, "slerp", never)
    turning = keys((0, 0, 0, 0, 1), (1, 0, 0, HALF, HALF), (2, 0, 0, 1, 0), (3, 0, 0, -HALF, HALF))
    found = cut([turning, turning], 1.0, 3.0, True, None)
    for track in found.split():
        # The last lies on the other side: the border takes the near one of the two quaternions of a rotation.
        assert rows(track)[:2] == [[0, 0, 0, HALF, HALF], [1, 0, 0, 1, 0]]
        assert track.times[-1] == 2
    alone = cut([keys((0, 0, 0, 0, 1), (1, 0, 0, -HALF, -HALF))], 1.0, 1.0, True, None)
    assert rows(alone.split()[0]) == [[0, 0, 0, HALF, HALF]]


def test_rotations_between_keys_turn_at_constant_speed() -> None:
    quarter = keys((0, 0, 0, 0, 1), (3, 0, 0, HALF, HALF))
    (found,) = cut([quarter], 1.0, 2.0, True, None).split()
    angles = np.radians([15, 30])  # half of 30 and 60 degrees
    expected = np.stack([0 * angles, 0 * angles, np.sin(angles), np.cos(angles)], axis=1)
    np.testing.assert_allclose(found.values, expected, atol=1e-12)


def test_a_rate_gives_every_track_the_same_times() -> None:
    tracks = [keys((0, 0), (1, 10)), keys(), keys((0.5, 3))]
    found = cut(tracks, 0.25, 1.0, False, 4.0).split()
    assert rows(found[0]) == [[0, 2.5], [0.25, 5], [0.5, 7.5], [0.75, 10]]
    assert rows(found[1]) == []
    assert rows(found[2]) == [[0, 3], [0.25, 3], [0.5, 3], [0.75, 3]]


@settings(max_examples=repeats(40), deadline=None)
@given(st.data(), st.sampled_from([None, 7.0]), st.booleans())
def test_a_track_is_cut_as_if_it_were_alone(data: st.DataObject, rate: float | None, rotation: bool) -> None:
    numbers = st.floats(-2, 2, allow_nan=False).map(lambda x: round(x, 3))
    tracks = []
    for size in data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=5)):
        times = sorted(
            data.draw(st.lists(st.sampled_from([0, 0.5, 1, 1.25, 2, 3]), min_size=size, max_size=size))
        )
        values = data.draw(st.lists(st.tuples(numbers, numbers, numbers), min_size=size, max_size=size))
        table = np.array([(t, *v, 1.0) for t, v in zip(times, values)]).reshape(size, 5)
        tracks.append(FbxKeys(table[:, 0], quaternion.normalize(table[:, 1:]) if size else table[:, 1:]))
    together = cut(tracks, 0.5, 2.0, rotation, rate).split()
    for track, found in zip(tracks, together):
        (alone,) = cut([track], 0.5, 2.0, rotation, rate).split()
        np.testing.assert_array_equal(found.times, alone.times)
        np.testing.assert_array_equal(found.values, alone.values)
