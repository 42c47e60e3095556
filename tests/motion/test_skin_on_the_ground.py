"""Skin and ground, where joints say something else: soles over the joints of toes, heads larger than a spine may lean, and
parts of a model that are called as a body's are."""

from __future__ import annotations

import numpy as np
import pytest
import rigs
from test_spine_and_props import SAME, all_fours, short_arms

import marrow as mw
from marrow.motion import Retargeter
from marrow.motion.rig import find_rig


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def wearing(skeleton: mw.Skeleton, parts: dict[str, np.ndarray]) -> mw.Character:
    """A character whose skin are points at rest, each with a joint; a body needs no more."""
    joints = [skeleton.index(name) for name in parts]
    inverse = np.zeros((len(joints), 3, 4))
    for k, j in enumerate(joints):
        rest = skeleton.rest_model[j].astype(float)
        inverse[k, :, :3] = np.linalg.inv(rest[:, :3])
        inverse[k, :, 3] = -inverse[k, :, :3] @ rest[:, 3]
    at = np.concatenate(list(parts.values())).astype(np.float32)
    own = np.repeat(np.arange(len(joints)), [len(p) for p in parts.values()])
    mesh = mw.Mesh(
        "skin", at, np.array([[k, k + 1, k + 2] for k in range(len(at) - 2)], np.int32),
        np.stack([own, own], axis=1).astype(np.uint16), np.tile(np.float32([1, 0]), (len(at), 1)),
        np.array(joints, np.int32), inverse.astype(np.float32),
    )  # fmt: skip
    return mw.Character(skeleton, (mesh,))


def box(middle: np.ndarray, half: tuple[float, float, float]) -> np.ndarray:
    corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    return np.asarray(middle + corners * half)


def lowest(character: mw.Character, clip: mw.Clip) -> np.ndarray:
    times = np.arange(round(clip.duration * 30) + 1) / 30
    return np.asarray(mw.skin(character, clip.sample(times)).positions[..., 1].min(axis=1))


def test_soles_stand_on_the_ground_where_joints_of_toes_are_below_them(hero: mw.Character) -> None:
    """A rest pose that hangs from its hips does not say where the ground is; the skin does."""
    skeleton = rigs.body(
        SAME, place=lambda n, p: p - [0, 1.02 if n.startswith(("foot", "ball")) else 0.95, 0], root="root"
    )
    soles = {}
    for side in "lr":
        ankle, ball = (skeleton.rest_model[skeleton.index(f"{n}_{side}"), :, 3] for n in ("foot", "ball"))
        middle = np.array([ankle[0], ball[1] + 0.05, (ankle[2] + ball[2]) / 2])
        soles[f"foot_{side}"] = box(middle, (0.04, 0.02, 0.1))
    target = wearing(skeleton, soles)
    tool = Retargeter(hero, target)
    made = tool.retarget(hero.clips["idle"])
    assert np.abs(lowest(target, made)).max() < 0.008
    told = tool.quality(hero.clips["idle"], made)
    assert told is not None and told.visible.contacts and not told.visible.lost

    high = tool.retarget(hero.clips["idle"], contacts=False)
    hips = skeleton.index("pelvis")
    pose = high.sample(np.arange(31) / 30)
    pose.translation[:, hips, 1] += 0.1
    told = tool.quality(hero.clips["idle"], mw.Clip.from_poses("idle", skeleton, pose, 30))
    assert told is not None and told.visible.lost, "skin that never comes down is told"


def test_a_head_stays_out_of_the_ground_where_the_spine_leans(hero: mw.Character) -> None:
    skeleton, clip = rigs.body(SAME, place=short_arms, root="root"), all_fours(hero.skeleton)
    head = skeleton.rest_model[skeleton.index("head"), :, 3].astype(float)
    target = wearing(skeleton, {"head": box(head + np.array([0, 0.3, 0]), (0.45, 0.45, 0.45))})
    made = mw.retarget(clip, onto=target, contacts=True)
    assert lowest(target, made).min() > -0.01


def test_skin_that_is_deep_where_no_joint_is_low_is_told(hero: mw.Character) -> None:
    """The hips of somebody who bows come no lower; a head that is a metre long does, for a moment."""
    skeleton = rigs.body(SAME, root="root")
    head = skeleton.rest_model[skeleton.index("head"), :, 3].astype(float)
    target = wearing(skeleton, {"head": box(head + np.array([0, 0.6, 0]), (0.05, 0.6, 0.05))})
    pose = hero.skeleton.rest.broadcast_to((90,)).copy()
    bow = mw.math.quaternion.from_axis_angle(
        [1.0, 0, 0], np.radians(130) * np.sin(np.linspace(0, np.pi, 90))[:, None] ** 8
    )
    spine = hero.skeleton.index("spine_01")
    above, own = (
        mw.math.quaternion.from_matrix(hero.skeleton.rest_model[j, :, :3].astype(float))
        for j in (int(hero.skeleton.parents[spine]), spine)
    )
    multiply, back = mw.math.quaternion.multiply, mw.math.quaternion.conjugate
    pose.rotation[:, spine] = multiply(back(above), multiply(bow.reshape(90, 4), own))
    pose.translation[:, hero.skeleton.index("pelvis"), 1] -= 0.002 * np.abs(np.linspace(-1, 1, 90))
    clip = mw.Clip.from_poses("bow", hero.skeleton, pose, 30)
    tool = Retargeter(hero, target, clip=clip)
    made = tool.retarget(clip, contacts=False)
    deep = -lowest(target, made).min()
    told = tool.quality(clip, made)
    assert told is not None and deep > 0.05
    assert told.visible.depth == pytest.approx(deep, abs=0.01)


def test_parts_of_a_model_beside_the_skeleton_are_no_body(hero: mw.Character) -> None:
    body = rigs.body(SAME, root="Armature")
    names, n = [*body.names, "Model", "Neck", "Head", "Left_Foot"], len(body)
    rest = mw.Pose(
        *(
            np.concatenate([own, np.tile(np.asarray(none, own.dtype), (4, 1))])
            for own, none in (
                (body.rest.translation, [0, 0, 0]),
                (body.rest.rotation, [0, 0, 0, 1]),
                (body.rest.scale, [1, 1, 1]),
            )
        )
    )
    both = mw.Skeleton(names, [*body.parents.tolist(), -1, n, n + 1, n], rest)
    assert (find_rig(both).chains, find_rig(both).by) == (find_rig(body).chains, find_rig(body).by)
    walk = hero.clips["walk"]
    a, b = (s.to_model(mw.retarget(walk, onto=s).sample(0.4))[:n] for s in (both, body))
    np.testing.assert_allclose(a, b, atol=1e-5)
