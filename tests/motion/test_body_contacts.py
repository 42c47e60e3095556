"""Hands on the own body, bodies on the ground: on other bodies as on the one they were made for."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.math import affine, quaternion
from marrow.motion import Retargeter
from marrow.motion.body_lift import smooth_rise
from marrow.motion.body_shape import AxisFrames, find_shape, trunk_frames
from marrow.motion.contact_weights import ContactWeights
from marrow.motion.foot_ik import BentLimb
from marrow.motion.skin_points import find_body_skin

SAME = {n: n for n in rigs.PARTS}
ROUND = 0.2
"""The radius of a barrel that a body has for its trunk, in metres."""


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def barrel(bones: mw.Skeleton, radius: float = ROUND) -> mw.Character:
    """A body whose trunk is a barrel about the line from hips to shoulders, carried by one bone of its spine."""
    rest = bones.rest_model.astype(float)[..., 3]
    low, high = (sum(rest[bones.index(f"{n}_{s}")] for s in "lr") / 2 for n in ("thigh", "upperarm"))
    up = (high - low) / np.linalg.norm(high - low)
    left = np.array([1.0, 0, 0])
    front = np.cross(left, up)
    heights, angles = np.linspace(-0.2, 1.2, 40), np.arange(48) * (2 * np.pi / 48)
    at = np.array([
        low + h * (high - low) + radius * (np.cos(a) * left + np.sin(a) * front) for h in heights for a in angles
    ])  # fmt: skip
    faces = []
    for i in range(len(heights) - 1):
        for j in range(len(angles)):
            a, b = i * 48 + j, i * 48 + (j + 1) % 48
            faces += [[a, b, a + 48], [b, b + 48, a + 48]]
    joint = bones.index("spine_02")
    mesh = mw.Mesh(
        "barrel", at.astype(np.float32), np.array(faces, np.uint32), joints=np.zeros((len(at), 1), np.int32),
        weights=np.ones((len(at), 1), np.float32), joint_list=np.array([joint], np.int32),
        inverse_bind=affine.invert(bones.rest_model[joint].astype(float))[None].astype(np.float32),
    )  # fmt: skip
    return mw.Character(bones, (mesh,))


def reached(skeleton: mw.Skeleton, goals: dict[str, np.ndarray], frames: int = 40) -> mw.Clip:
    """A body that stands with its wrists at places."""
    pose = skeleton.rest.broadcast_to((frames,)).copy()
    for side, goal in goals.items():
        model = skeleton.to_model(pose)
        chain = tuple(skeleton.index(f"{n}_{side}") for n in ("upperarm", "lowerarm", "hand"))
        moves = np.zeros((frames, 9))
        moves[:, :3] = goal - model[:, chain[2], :, 3]
        for (joint, _), turns in (
            BentLimb(skeleton, chain, pose, model, np.array([0, 0, -1.0])).bent(moves, 0).items()
        ):
            pose.rotation[:, joint] = turns
    return mw.Clip.from_poses("reach", skeleton, pose, 30)


def wider(name: str, p: np.ndarray) -> np.ndarray:
    return p * [1.1, 1, 1] if name.split("_")[0] in ("thigh", "calf", "foot", "ball") else p


def palm(skeleton: mw.Skeleton, clip: mw.Clip, side: str) -> np.ndarray:
    """Half way from the wrist to the knuckles, `(T, 3)`."""
    at = skeleton.to_model(clip.sample(np.arange(40) / 30))[..., 3].astype(float)
    return (at[:, skeleton.index(f"hand_{side}")] + at[:, skeleton.index(f"middle_01_{side}")]) / 2


def from_axis(skeleton: mw.Skeleton, points: np.ndarray) -> np.ndarray:
    rest = skeleton.rest_model.astype(float)[..., 3]
    low, high = (sum(rest[skeleton.index(f"{n}_{s}")] for s in "lr") / 2 for n in ("thigh", "upperarm"))
    up = (high - low) / np.linalg.norm(high - low)
    away = points - low
    return np.linalg.norm(away - (away @ up)[:, None] * up, axis=1)


def test_a_point_by_a_body_comes_back_from_how_it_is_seen() -> None:
    rng = np.random.default_rng(0)
    up = quaternion.rotate(quaternion.normalize(rng.normal(size=(20, 4))), np.array([0, 1.0, 0]))
    frames = AxisFrames(rng.normal(size=(20, 3)), up, rng.uniform(0.4, 0.6, 20), rng.normal(size=(20, 2, 3)))
    points = frames.origin + rng.normal(size=(20, 3)) / 3
    np.testing.assert_allclose(frames.point(*frames.seen(points)), points, atol=1e-12)


def test_the_shape_of_a_barrel_is_round(hero: mw.Character) -> None:
    body = barrel(rigs.body(SAME, root="root"))
    tool = Retargeter(hero, body)
    chains = tool.chains("target")
    shape = find_shape(body, body.skeleton, chains, tool.rest_t)
    length = float(trunk_frames(body.skeleton.rest_model[None, ..., 3].astype(float), chains).length[0])
    assert shape.trunk.skin
    np.testing.assert_allclose(shape.trunk.radius * length, ROUND, rtol=0.02)


def test_a_hand_on_the_belly_is_on_a_larger_belly(hero: mw.Character) -> None:
    """As far over the barrel as over the belly that it was on, to a centimetre; left alone it is deep inside."""
    skeleton = hero.skeleton
    body = barrel(rigs.body(SAME, place=wider, root="root"))
    clip = reached(skeleton, {"l": np.array([-0.02, 1.12, 0.095])})
    tool = Retargeter(hero, body)
    shape = find_shape(hero, skeleton, tool.chains("source"), tool.rest_s)
    frames = trunk_frames(skeleton.rest_model[None, ..., 3].astype(float), tool.chains("source"))
    height, angle, far = frames.seen(palm(skeleton, clip, "l")[:1])
    over = float((far - shape.trunk.at(height, angle) * frames.length)[0])
    assert -0.01 < over < 0.025, "it touches"
    loose, kept = (
        from_axis(body.skeleton, palm(body.skeleton, tool.retarget(clip, hands=h), "l"))
        for h in (False, "auto")
    )
    assert loose.max() < ROUND - 0.05
    np.testing.assert_allclose(kept, ROUND + over, atol=0.01)


def test_a_hand_in_front_of_the_belly_is_not_in_a_larger_one(hero: mw.Character) -> None:
    body = barrel(rigs.body(SAME, place=wider, root="root"), 0.3)
    clip = reached(hero.skeleton, {"r": np.array([-0.12, 1.12, 0.22])})
    tool = Retargeter(hero, body)
    loose, kept = (
        from_axis(body.skeleton, palm(body.skeleton, tool.retarget(clip, hands=h), "r"))
        for h in (False, "auto")
    )
    assert loose.max() < 0.3 < kept.min()


def bowed(skeleton: mw.Skeleton) -> mw.Clip:
    """Somebody who bows until the head is near the ground, and comes up again."""
    frames = 60
    pose = skeleton.rest.broadcast_to((frames,)).copy()
    bend = np.radians(150) * np.sin(np.linspace(0, np.pi, frames)) ** 2
    pelvis = skeleton.index("pelvis")
    own = quaternion.from_matrix(skeleton.rest_model[pelvis, :, :3].astype(float))
    turn = quaternion.multiply(quaternion.from_axis_angle(np.array([1.0, 0, 0]), bend), own)
    above = quaternion.from_matrix(skeleton.rest_model[skeleton.parents[pelvis], :, :3].astype(float))
    pose.rotation[:, pelvis] = quaternion.multiply(quaternion.conjugate(above), turn)
    pose.translation[:, pelvis, 1] -= (0.3 * np.sin(np.linspace(0, np.pi, frames)) ** 2).astype(np.float32)
    return mw.Clip.from_poses("bow", skeleton, pose, 30)


def tall_trunk(name: str, p: np.ndarray) -> np.ndarray:
    low = 0.95
    return p if p[1] < low else np.array([p[0], low + 1.5 * (p[1] - low), p[2]])


def test_the_head_of_a_taller_body_is_not_in_the_ground(hero: mw.Character) -> None:
    bones = rigs.body(SAME, place=tall_trunk, root="root")
    clip = bowed(hero.skeleton)
    tool = Retargeter(hero.skeleton, bones)
    times = np.linspace(0, clip.duration, 61)

    def lowest(made: mw.Clip) -> float:
        at = bones.to_model(made.sample(times))[..., 1, 3]
        return float(at[:, bones.index("head")].min())

    made = tool.retarget(clip)
    assert lowest(tool.retarget(clip, contacts=False)) < -0.05
    assert lowest(made) > -0.002
    tool.weights = ContactWeights(body=0.0)
    assert lowest(tool.retarget(clip)) < -0.05, "unless it may"
    hips = bones.to_model(made.sample(times))[:, bones.index("pelvis"), 1, 3]
    assert np.abs(np.diff(hips, n=2)).max() < 0.01, "hips rise smoothly"


def test_a_rise_is_enough_everywhere_and_nothing_far_away() -> None:
    height = np.ones(200)
    height[80:90] = -np.linspace(0.1, 0.3, 10)
    for loops in (False, True):
        rise = smooth_rise(height, 1 / 30, loops=loops)
        assert (height + rise).min() >= -1e-12 and rise.max() <= 0.3 + 1e-12
        assert not rise[:60].any() and not rise[110:].any()


def test_what_meets_the_ground_is_the_lowest_of_the_skin(hero: mw.Character) -> None:
    """Turned in many ways, hips are as high over the ground as the lowest of the vertices that go with them, to 1 cm."""
    tool = Retargeter(hero, rigs.body(SAME, place=wider, root="root"))
    skin = find_body_skin(hero, hero.skeleton, tool.chains("source"))
    hips = next(p for p in skin.body.parts if p.joint == hero.skeleton.index("pelvis"))
    rng = np.random.default_rng(4)
    model = np.zeros((50, len(hero.skeleton), 3, 4), np.float32)
    model[:, hips.joint, :, :3] = quaternion.to_matrix(quaternion.normalize(rng.normal(size=(50, 4))))
    places = []
    for mesh in hero.meshes:
        most = np.take_along_axis(mesh.joints, np.argmax(mesh.weights, axis=1)[:, None], 1)[:, 0]
        mine = mesh.joint_list[most] == hips.joint
        bind = mesh.inverse_bind[most[mine]].astype(float)
        places.append(np.einsum("vij,vj->vi", bind[..., :3], mesh.positions[mine]) + bind[..., 3])
    wanted = (model[:, hips.joint, 1, :3] @ np.concatenate(places).T).min(axis=1)
    np.testing.assert_allclose(hips.lowest(model), wanted, atol=0.01)
