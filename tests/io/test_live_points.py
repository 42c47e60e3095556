"""`mw.live`: poses as frames come."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import marrow as mw
import point_worlds
from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.motion.point_layouts import LAYOUTS

COCO = LAYOUTS["coco"].points


def points(name: str = "coco") -> np.ndarray:
    return point_worlds.key_points(LAYOUTS[name].points)


def places(skeleton: mw.Skeleton, poses: list[mw.Pose]) -> np.ndarray:
    return np.stack([skeleton.to_model(pose)[:, :, 3] for pose in poses])


def test_every_frame_gives_the_pose_that_is_where_its_points_are() -> None:
    given = points()
    stream = mw.live(iter(given), "coco")
    poses = list(stream)
    assert len(poses) == 31 and poses[0].batch_shape == ()
    found = places(stream.skeleton, poses)
    for name in ("left_wrist", "right_ankle", "left_knee"):
        off = found[:, stream.skeleton.index(name)] - given[:, COCO.index(name)]
        assert np.linalg.norm(off, axis=-1).max() < 0.01
    assert all((a.rotation * b.rotation).sum(-1).min() > 0.5 for a, b in pairwise(poses))


def test_no_more_frames_are_taken_than_are_needed() -> None:
    taken = []

    def camera() -> Iterator[np.ndarray]:
        for frame in points():
            taken.append(1)
            yield frame

    stream = mw.live(camera(), "coco", fit=4)
    assert not taken
    next(stream)
    assert len(taken) == 4
    for _ in range(4):
        next(stream)
    assert len(taken) == 5


def test_a_skeleton_of_before_is_used_again() -> None:
    given = points()
    first = mw.live(iter(given), "coco")
    again = mw.live(iter(given[:3]), "coco", skeleton=first.skeleton)
    assert again.skeleton is first.skeleton
    assert len(list(again)) == 3
    with pytest.raises(ValidationError, match="none that was made for such points"):
        next(mw.live(iter(given), "coco", skeleton=mw.load("mannequin").skeleton))


def test_frames_come_as_landmarks_by_name_and_with_gaps() -> None:
    given = points()
    wanted = places(mw.live(iter(given), "coco").skeleton, list(mw.live(iter(given), "coco")))
    landmarks = [[SimpleNamespace(x=x, y=y, z=z, visibility=0.9) for x, y, z in frame] for frame in given]
    named = [dict(zip(COCO, frame)) for frame in given]
    for frames in (landmarks, named, [SimpleNamespace(landmark=frame) for frame in landmarks]):
        stream = mw.live(iter(frames), "coco")
        found = places(stream.skeleton, list(stream))
        np.testing.assert_allclose(
            found[:, stream.skeleton.index("left_hip")],
            wanted[:, stream.skeleton.index("left_hip")],
            atol=1e-3,
        )
    gaps: list[object] = [None, *given]
    gaps[8] = None
    hidden = given[20].copy()
    hidden[9] = np.nan
    gaps[21] = hidden
    poses = list(mw.live(iter(gaps), "coco"))
    assert len(poses) == 31  # the frame before anybody was seen has none
    np.testing.assert_array_equal(poses[7].rotation, poses[6].rotation)
    assert np.isfinite(poses[20].rotation).all()


def test_wrong_frames_are_told() -> None:
    with pytest.raises(ValidationError, match=r"frame 1: expected \(17, 3\)"):
        next(mw.live(iter([np.zeros((5, 3))]), "coco"))
    with pytest.raises(ValidationError, match="no frame shows a body"):
        next(mw.live(iter([None, None]), "coco"))
    with pytest.raises(ValidationError, match=r"left shoulder.*missing"):
        next(mw.live(iter(np.full((3, 17, 3), np.nan)), "coco"))
    with pytest.raises(ValidationError, match="it has no left shoulder"):
        next(mw.live(iter([{"nose": (0, 0, 0)}]), "coco"))
    with pytest.raises(WrongTypeError, match="expected numbers"):
        next(mw.live(iter([[["a", "b", "c"]]]), "coco"))
    with pytest.raises(UnknownNameError, match="coco"):
        mw.live(iter([]), "cocoa")
    with pytest.raises(WrongTypeError, match="iterate"):
        mw.live(5, "coco")  # type: ignore[arg-type]
