"""Motion that was solved from positions: joints in the right places that turn arbitrarily."""

from __future__ import annotations

import numpy as np
import pytest
from rigs import model_to_rest

import marrow as mw
from marrow.animation.kinematics import to_model
from marrow.math import affine, quaternion, transform

BETWEEN = {"l_hip_joint": "thigh_l", "r_hip_joint": "thigh_r", "back_joint": "spine_01"}


def adrift(clip: mw.Clip, degrees: float) -> mw.Clip:
    """`clip` on hips that turn by themselves: joints between them and what hangs from them turn back, so that every joint
    is where it was."""
    old = clip.skeleton
    hips = old.index("pelvis")
    names, parents = list(old.names), old.parents.tolist()
    times = np.arange(0.0, clip.duration, 1 / 30)
    model = to_model(old, clip.sample(times)).astype(np.float64)
    rest = old.rest_model.astype(np.float64)
    order: list[tuple[str, str | None, np.ndarray, np.ndarray]] = []
    for j, name in enumerate(names):
        above = names[parents[j]] if parents[j] >= 0 else None
        link = next((new for new, child in BETWEEN.items() if child == name), None)
        if link is not None:
            order.append((link, "pelvis", rest[hips], model[:, hips]))
            above = link
        order.append((name, above, rest[j], model[:, j]))
    axis = np.stack([np.sin(times), np.cos(2 * times), 0.5 + 0 * times], axis=-1)
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    turn = quaternion.from_axis_angle(axis, np.radians(degrees) * (1 + 0.2 * np.sin(3 * times)))
    own = transform.compose(np.zeros((len(times), 3)), turn, np.ones((len(times), 3)))
    made = [name for name, *_ in order]
    links = np.array([made.index(above) if above else -1 for _, above, *_ in order])
    still = np.stack([r for *_, r, _ in order])
    moved = np.stack([m for *_, m in order], axis=1)
    at = made.index("pelvis")
    moved[:, at] = affine.multiply(moved[:, at], own)
    local = moved.copy()
    for j, p in enumerate(links.tolist()):
        if p >= 0:
            local[:, j] = affine.multiply(affine.invert(moved[:, p]), moved[:, j])
    skeleton = mw.Skeleton(tuple(made), links, model_to_rest(links, still))
    poses = mw.Pose(*(a.astype(np.float32) for a in transform.decompose(local)))
    rest_offsets = np.broadcast_to(skeleton.rest.translation, poses.translation.shape).copy()
    for name in ("pelvis", old.names[0]):
        rest_offsets[:, made.index(name)] = poses.translation[:, made.index(name)]
    return mw.Clip.from_poses(
        "adrift", skeleton, mw.Pose(rest_offsets, poses.rotation, poses.scale), times=times
    )


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.degrees(quaternion.angle(a, b))


def test_hips_that_turn_arbitrarily_are_turned_as_their_joints_say(hero: mw.Character) -> None:
    clip = hero.clips["walk"]
    drifting = adrift(clip, 90.0)
    tool = mw.Retargeter(drifting.skeleton, hero, clip=drifting)
    made = tool.retarget(drifting, contacts=False)
    times = np.arange(0.0, drifting.duration, 1 / 15)
    was, now = (
        transform.decompose(to_model(hero.skeleton, c.sample(times)).astype(np.float64))[1]
        for c in (clip, made)
    )
    for name, most in (("pelvis", 3.0), ("spine_03", 12.0), ("thigh_l", 15.0), ("calf_r", 15.0)):
        j = hero.skeleton.index(name)
        off = angles(was[:, j], now[:, j])
        assert np.median(off) < most, (name, off)
    assert any("turn arbitrarily" in line.message for line in tool.report.lines)


def test_limbs_point_where_they_pointed(hero: mw.Character) -> None:
    clip = hero.clips["run"]
    drifting = adrift(clip, 70.0)
    made = mw.retarget(drifting, hero, contacts=False)
    times = np.arange(0.0, drifting.duration, 1 / 15)
    was, now = (to_model(hero.skeleton, c.sample(times))[..., 3].astype(np.float64) for c in (clip, made))
    for side in "lr":
        for a, b in (("thigh", "calf"), ("calf", "foot"), ("upperarm", "lowerarm"), ("lowerarm", "hand")):
            i, j = hero.skeleton.index(f"{a}_{side}"), hero.skeleton.index(f"{b}_{side}")
            one, two = (p[:, j] - p[:, i] for p in (was, now))
            cosine = (one * two).sum(-1) / np.linalg.norm(one, axis=-1) / np.linalg.norm(two, axis=-1)
            assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 3, (a, side)


def test_hips_that_turn_a_little_otherwise_are_believed(hero: mw.Character) -> None:
    swaying = adrift(hero.clips["walk"], 8.0)
    tool = mw.Retargeter(swaying.skeleton, hero, clip=swaying)
    tool.retarget(swaying, contacts=False)
    assert not any("turn arbitrarily" in line.message for line in tool.report.lines)
