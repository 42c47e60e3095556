"""Feet that are longer than the source's are tilted out of the ground, and roll over the skin that touches it."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.math import affine, quaternion
from marrow.motion import Retargeter, foot_ik, foot_pitch, foot_planting
from marrow.motion.contacts import feet_points
from marrow.motion.feet_on_skin import on_skin
from marrow.motion.skin_points import find_body_skin

SAME = {n: n for n in rigs.PARTS}
BARE = {n: n for n in rigs.PARTS if not n.startswith("ball")}


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def narrow_hips(name: str, p: np.ndarray) -> np.ndarray:
    return p * [0.9, 1, 1] if name.split("_")[0] in ("thigh", "calf", "foot", "ball") else p


def long_feet(names: dict[str, str], length: float) -> mw.Character:
    """A body whose soles are flat boards that reach `length` metres ahead of its ankles, carried by foot and toes."""
    bones = rigs.body(names, place=narrow_hips, axes=np.random.default_rng(3), root="root")
    rest = bones.rest_model.astype(float)
    meshes = []
    for side in "lr":
        used = [bones.index(f"{n}_{side}") for n in ("foot", "ball") if f"{n}_{side}" in bones.names]
        ankle, toes = rest[used[0], :, 3], rest[used[-1], 2, 3]
        at = np.array(
            [ankle * [1, 0, 1] + [x, 0, z] for x in (-0.04, 0.04) for z in np.linspace(-0.06, length, 9)]
        )
        tip = (at[:, 2] > toes) & (len(used) > 1)
        faces = np.array([[a, a + 9, a + 1] for a in range(8)], np.uint32)
        joints, weights = tip.astype(np.uint16)[:, None], np.ones((18, 1), np.float32)
        bind = affine.invert(rest[used]).astype(np.float32)
        meshes.append(
            mw.Mesh(
                f"sole_{side}", at.astype(np.float32), faces, joints, weights, np.array(used, np.int32), bind
            )
        )
    return mw.Character(bones, tuple(meshes))


def legs_off(tool: Retargeter, clip: mw.Clip, made: mw.Clip) -> float:
    quality = tool.quality(clip, made)
    assert quality is not None and quality.visible.legs is not None
    assert quality.visible.sink < 0.012
    return quality.visible.legs


@pytest.mark.parametrize(("names", "share"), [(SAME, 0.8), (BARE, 0.6)], ids=["toes", "no toes"])
def test_a_long_foot_is_tilted_and_legs_are_spared(
    hero: mw.Character, names: dict[str, str], share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Feet twice as long, on somebody who runs: legs are turned by a `share` of what they are without the tilt."""
    target, clip = long_feet(names, 0.4), hero.clips["run"]
    tool = Retargeter(hero, target, clip=clip)
    tilted = tool.retarget(clip, contacts=True)
    monkeypatch.setattr(foot_ik, "tilt_feet", lambda *_, **__: [])
    stiff = tool.retarget(clip, contacts=True)
    assert legs_off(tool, clip, tilted) < share * legs_off(tool, clip, stiff)
    times = np.arange(round(clip.duration * 30)) / 30
    for side in "lr":
        foot = target.skeleton.index(f"foot_{side}")
        was, now = (target.skeleton.to_model(c.sample(times))[:, foot, :, :3] for c in (stiff, tilted))
        cosine = (np.einsum("tij,tij->t", was, now) - 1) / 2
        turned = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
        assert 5 < turned.max() < 61, "as far as it may be"


def test_feet_of_the_same_size_stay_as_they_are(hero: mw.Character) -> None:
    target = long_feet(SAME, 0.2)
    clip = hero.clips["walk"]
    tool = Retargeter(hero, target, clip=clip)
    made, free = (tool.retarget(clip, contacts=c).sample(np.arange(20) / 20) for c in (True, False))
    foot = target.skeleton.index("foot_l")
    was, now = (target.skeleton.to_model(p)[:, foot, :, :3] for p in (free, made))
    assert np.abs(was - now).max() < np.radians(8)


@pytest.mark.parametrize("names", [SAME, BARE], ids=["toes", "no toes"])
def test_poses_and_matrices_are_tilted_alike(names: dict[str, str]) -> None:
    """Random poses and tilts: the matrices are those of the poses."""
    bones = long_feet(names, 0.3).skeleton
    rng = np.random.default_rng(0)
    pose = bones.rest.broadcast_to((12,)).copy()
    pose.rotation[:] = quaternion.normalize(pose.rotation + 0.3 * rng.normal(size=pose.rotation.shape))
    model = bones.to_model(pose).copy()
    tip = bones.index("ball_l") if "ball_l" in bones.names else None
    some = np.array([1, 4, 5, 11])
    axis = foot_pitch._level(rng.normal(size=(4, 3)))
    for joint, angle in zip((bones.index("foot_l"), tip), rng.normal(size=(2, 4))):
        if joint is not None:
            foot_pitch.turn_joint(bones, pose, model, some, joint, quaternion.from_axis_angle(axis, angle))
    np.testing.assert_allclose(model, bones.to_model(pose), atol=2e-5)


def test_what_stands_under_a_foot_without_toes_is_its_skin(hero: mw.Character) -> None:
    """A foot that rolls over the edge of its sole: the edge holds still, and so does the ball that stands for it, while
    the ball itself is 5 cm away in the end."""
    target = long_feet(BARE, 0.25)
    bones, tool = target.skeleton, Retargeter(hero, target)
    foot = bones.index("foot_l")
    rest = bones.rest_model.astype(float)
    edge = rest[foot, :, 3] * [1, 0, 1] + [0, 0, 0.25]
    turn = quaternion.to_matrix(
        quaternion.from_axis_angle(np.array([1.0, 0, 0]), np.radians(np.arange(8, 68, 2)))
    )
    model = np.repeat(rest[None], len(turn), axis=0)
    model[:, foot, :, :3] = turn @ rest[foot, :, :3]
    model[:, foot, :, 3] = (turn @ (rest[foot, :, 3] - edge)) + edge
    plain = feet_points(bones, model, tool.chains("target"), tool.feet_t)
    found = on_skin(tool, plain, model)
    way, own = (np.ptp(p.place[:, 0, 1, ::2], axis=0).max() for p in (found, plain))
    assert way < 0.003 < 0.03 < own
    np.testing.assert_array_equal(found.place[..., 1], plain.place[..., 1])
    # The skin under the heel is one with the foot here, but for where it is.
    apart = found.place[:, 0, 0] - plain.place[:, 0, 0]
    assert np.abs(apart).max() < 0.05 and np.abs(np.diff(apart, axis=0)).max() < 0.004


def test_a_joint_without_skin_is_not_in_the_ground() -> None:
    """A root that goes below the ground with crouching hips raises nobody."""
    body = long_feet(SAME, 0.2)
    chains = Retargeter(mw.samples.mannequin(), body).chains("target") | {
        "hips": (body.skeleton.index("root"), body.skeleton.index("pelvis"))
    }
    parts = {part.joint for part in find_body_skin(body, body.skeleton, chains).body.parts}
    assert body.skeleton.index("root") not in parts
    bare = {part.joint for part in find_body_skin(None, body.skeleton, chains).body.parts}
    assert body.skeleton.index("root") in bare, "without skin joints are all there is"


def test_a_solve_that_loses_its_numbers_says_so(hero: mw.Character, monkeypatch: pytest.MonkeyPatch) -> None:
    """Feet and hands stay as they were transferred, and the report has a line for it."""
    bones = rigs.body(SAME, place=narrow_hips, root="root")
    clip = hero.clips["walk"]
    tool = Retargeter(hero.skeleton, bones, clip=clip)
    monkeypatch.setattr(foot_planting, "_window", lambda *_: None)
    frames = np.arange(round(clip.duration * 30) + 1)
    made, free = (tool.retarget(clip, contacts=c).sample(frames / 30) for c in (True, False))
    toes = np.char.startswith(bones.names, "ball")  # feet are turned before
    places = (bones.to_model(p)[:, ~toes, :, 3] for p in (made, free))
    np.testing.assert_allclose(*places, atol=2e-3)
    (line,) = [line for line in tool.report if "no place was found for the feet" in line.message]
    assert line.kind == "warning" and line.message.count("0.9") == 1
