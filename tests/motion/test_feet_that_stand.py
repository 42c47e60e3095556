"""Feet that stand keep their turn, recordings that turn feet over are mended, and bodies without an end to their legs,
without a stance at rest or with skin beside the body take motion as others do."""

from __future__ import annotations

import numpy as np
import pytest
from test_detached_feet import detached
from test_foot_pitch import SAME, long_feet

import marrow as mw
from marrow.animation.kinematics import to_model
from marrow.math import affine, quaternion
from marrow.motion import Retargeter, foot_ik
from marrow.motion.stand_ins import standing, with_leg_ends
from marrow.motion.stray_skin import stray_skin

FRAMES = np.arange(45)


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def turned_feet(hero: mw.Character, **turns: np.ndarray) -> mw.Clip:
    """Somebody who stands, with joints turned by rotation vectors `(T, 3)` in model space; ankles hold still."""
    bones = hero.skeleton
    poses = bones.rest.broadcast_to((len(FRAMES),)).copy()
    own = quaternion.from_matrix(bones.rest_model[..., :3].astype(float))
    for name, vector in turns.items():
        j = bones.index(name)
        frame = own[int(bones.parents[j])]
        size = np.linalg.norm(vector, axis=-1)
        turn = quaternion.from_axis_angle(vector / np.maximum(size, 1e-12)[:, None], size)
        turn = quaternion.multiply(quaternion.multiply(quaternion.conjugate(frame), turn), frame)
        poses.rotation[:, j] = quaternion.multiply(turn, poses.rotation[:, j].astype(float))
    return mw.Clip.from_poses("standing", bones, poses, 30)


def sole_way(character: mw.Character, clip: mw.Clip) -> float:
    """How far any vertex of a sole goes over the ground."""
    model = character.skeleton.to_model(clip.sample(FRAMES / 30)).astype(float)
    ways = []
    for mesh in character.meshes:
        (at,) = (
            np.einsum("tvij,vj->tvi", affine.multiply(model[:, mesh.joint_list], mesh.inverse_bind)[:, mesh.joints[:, 0]],
                      np.append(mesh.positions, np.ones((len(mesh.positions), 1)), axis=1)),
        )  # fmt: skip
        ways.append(np.ptp(at[..., ::2], axis=0).max())
    return float(max(ways))


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["pitch", "yaw", "roll"])
def test_a_longer_foot_that_stands_does_not_tremble(
    hero: mw.Character, axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns of 4 degrees to and fro on the spot: the soles of feet twice as long hold still, which they do not without."""
    wave = np.zeros((len(FRAMES), 3))
    wave[:, axis] = np.radians(4) * np.sin(FRAMES / 6)
    clip, target = turned_feet(hero, foot_l=wave, foot_r=wave), long_feet(SAME, 0.4)
    tool = Retargeter(hero, target, clip=clip)
    still = sole_way(target, tool.retarget(clip, contacts=True))
    monkeypatch.setattr(foot_ik, "settle_feet", lambda *_, **__: [])
    shaken = sole_way(target, tool.retarget(clip, contacts=True))
    assert still < 0.007 and still < 0.5 * shaken, (still, shaken)


def test_who_turns_on_the_spot_still_does(hero: mw.Character) -> None:
    """A slow turn of 40 degrees stays one, within the band."""
    wave = np.zeros((len(FRAMES), 3))
    wave[:, 1] = np.radians(40) * FRAMES / FRAMES[-1]
    clip, target = turned_feet(hero, foot_l=wave, foot_r=wave), long_feet(SAME, 0.4)
    made = mw.retarget(clip, onto=target, source=hero, contacts=True)
    ends = target.skeleton.to_model(made.sample([0.0, made.duration]))[
        :, target.skeleton.index("foot_l"), :, :3
    ]
    cosine = (np.trace(ends[0].T @ ends[1]) - 1) / 2
    assert 29 < np.degrees(np.arccos(np.clip(cosine, -1, 1))) < 41


def test_feet_and_toes_that_a_recording_turns_over_are_turned_back(hero: mw.Character) -> None:
    """A foot rolled by 170 degrees, and toes that point back in five frames: soles stay below ankles, which the report
    says; nothing else changes."""
    roll, flip = np.zeros((2, len(FRAMES), 3))
    at = hero.skeleton.rest_model[..., 3].astype(float)
    way = at[hero.skeleton.index("ball_l")] - at[hero.skeleton.index("foot_l")]
    roll[20:] = np.radians(170) * way / np.linalg.norm(way)
    flip[8:13, 1] = np.radians(178)
    clip, target = turned_feet(hero, foot_l=roll, ball_r=flip), long_feet(SAME, 0.4)
    tool = Retargeter(hero, target, clip=clip)
    made = tool.retarget(clip)
    model = target.skeleton.to_model(made.sample(FRAMES / 30))
    rest = target.skeleton.rest_model
    for name in ("foot_l", "ball_r", "foot_r", "ball_l"):
        j = target.skeleton.index(name)
        own = np.linalg.inv(rest[j, :, :3]) @ [0.0, 1.0, 0.0]
        assert (model[:, j, :, :3] @ own)[:, 1].min() > 0.8, name
    assert any("are turned for 0.8" in line.message for line in tool.report)
    plain = turned_feet(hero)
    calm = Retargeter(hero, target, clip=plain)
    calm.retarget(plain)
    assert not any("as no body could" in line.message for line in calm.report)


def endless(clip: mw.Clip) -> mw.Clip:
    """`detached`, without the ends of the legs."""
    whole = detached(clip)
    bones, count = whole.skeleton, len(whole.skeleton) - 2
    rest = mw.Pose(*(getattr(bones.rest, n)[:count] for n in ("translation", "rotation", "scale")))
    less = mw.Skeleton([f"rig:{n}" for n in bones.names[:count]], bones.parents[:count], rest)
    return whole.replace(skeleton=less, tracks=tuple(t for t in whole.tracks if t.target < count))


def test_legs_without_an_end_carry_their_feet(hero: mw.Character) -> None:
    """As a motion and as a character; the file's skeleton goes in and comes out, and single poses go too."""
    motion = endless(hero.clips["walk"])
    target = mw.Character(motion.skeleton)
    assert len(with_leg_ends(target).skeleton) == len(motion.skeleton) + 2 and with_leg_ends(hero) is hero
    there = Retargeter(hero, target, clip=hero.clips["walk"])
    made = there.retarget(hero.clips["walk"])
    assert made.skeleton is motion.skeleton and there.quality(hero.clips["walk"], made) is not None
    times = np.arange(0.0, made.duration, 1 / 15)
    at = to_model(motion.skeleton, made.sample(times))[..., 3]
    was = to_model(hero.skeleton, hero.clips["walk"].sample(times))[..., 3]
    for name in ("calf_l", "foot_l", "foot_r"):
        off = at[:, motion.skeleton.index(f"rig:{name}")] - was[:, hero.skeleton.index(name)]
        assert np.abs(off).max() < 0.012, name
    poses = there.retarget_pose(hero.clips["walk"].sample(times))
    assert poses.joint_count == len(motion.skeleton)
    feet = to_model(motion.skeleton, poses)[:, motion.skeleton.index("rig:foot_r"), :, 3]
    assert np.abs(feet - was[:, hero.skeleton.index("foot_r")]).max() < 0.012
    back = mw.retarget(motion, onto=hero)
    again = to_model(hero.skeleton, back.sample(times))[:, hero.skeleton.index("foot_l"), :, 3]
    assert np.abs(again - was[:, hero.skeleton.index("foot_l")]).max() < 0.02


def test_joints_that_nothing_moves_rest_as_the_body_stands(hero: mw.Character) -> None:
    """A body that rests in a run, with a clip of how it stands: fingers are as they are there, and the clip is one of the
    file's skeleton."""
    bones = hero.skeleton
    run = hero.clips["run"].sample(0.2)
    resting = bones.replace(rest=run.replace(morphs=bones.rest.morphs), sockets=())
    stance = mw.Clip.from_poses("A-pose", resting, bones.rest.broadcast_to((1,)), times=[0.0])
    target = mw.Character(resting, clips=[stance])
    assert standing(hero) is hero and standing(target) is not target
    clip = mw.samples.mannequin().clips["walk"]
    few = [t for t in clip.tracks if "index_0" not in bones.names[t.target]]
    other = bones.replace(names=[f"{n}_x" for n in bones.names], sockets=())
    parts = {n: {"source": [f"{a}_x" for a in joints], "target": joints} for n, joints in CHAINS.items()}
    map = {"format": "marrow bone map", "version": 1, "chains": parts}
    made = mw.retarget(clip.replace(tracks=tuple(few), skeleton=other), onto=target, map=map, contacts=False)
    assert made.skeleton is resting
    pose, j = made.sample(0.3), bones.index("index_02_l")
    np.testing.assert_allclose(np.abs((pose.rotation[j] * bones.rest.rotation[j]).sum()), 1, atol=1e-5)


CHAINS = {"hips": ["pelvis"], "spine": ["spine_01", "spine_02", "spine_03"], "head": ["neck", "head"]} | {
    f"{side}_{limb}": [f"{part}_{s}" for part in parts]
    for side, s in (("left", "l"), ("right", "r"))
    for limb, parts in (("arm", ("upperarm", "lowerarm", "hand")), ("leg", ("thigh", "calf", "foot")))
}


def test_skin_beside_the_body_goes_with_it(hero: mw.Character) -> None:
    """A belt without weights hangs on the node of its mesh: it stays around the hips of somebody who walks."""
    body = long_feet(SAME, 0.3)
    old = body.skeleton
    rest = mw.Pose(*(np.concatenate([getattr(old.rest, n), e]) for n, e in (
        ("translation", np.zeros((1, 3))), ("rotation", [[0, 0, 0, 1.0]]), ("scale", np.ones((1, 3))))))  # fmt: skip
    bones = mw.Skeleton((*old.names, "belt"), [*old.parents.tolist(), -1], rest)
    hips = bones.rest_model[bones.index("pelvis"), :, 3]
    mesh = body.meshes[0]
    k = len(mesh.joint_list)
    mesh = mesh.replace(
        positions=np.concatenate([mesh.positions, hips + 0.1 * np.eye(3, dtype=np.float32)]),
        joints=np.concatenate([mesh.joints, np.full((3, mesh.joints.shape[1]), k, np.uint16)]),
        weights=np.concatenate([mesh.weights, mesh.weights[:3] * 0 + np.eye(1, mesh.weights.shape[1], dtype=np.float32)]),
        joint_list=np.append(mesh.joint_list, len(old)).astype(np.int32),
        inverse_bind=np.concatenate([mesh.inverse_bind, np.eye(3, 4, dtype=np.float32)[None]]),
    )  # fmt: skip
    target = mw.Character(bones, (mesh, *body.meshes[1:]))
    clip = hero.clips["walk"]
    tool = Retargeter(hero, target, clip=clip)
    assert stray_skin(target, tool.chains("target")) == {bones.index("belt"): bones.index("pelvis")}
    times = np.arange(0.0, clip.duration, 1 / 15)
    model = bones.to_model(tool.retarget(clip).sample(times)).astype(float)
    place = affine.apply(
        affine.multiply(affine.invert(model[:, bones.index("pelvis")]), model[:, bones.index("belt")]),
        hips[None].astype(float),
    )
    assert np.ptp(place, axis=0).max() < 1e-4
    assert not stray_skin(hero, Retargeter(hero, target).chains("source"))


def test_a_single_frame_in_which_a_leg_is_elsewhere_is_left_out(hero: mw.Character) -> None:
    """A shin that jumps by 20 degrees for one frame while all is still; a kick that is as fast stays."""
    jump, kick = np.zeros((2, len(FRAMES), 3))
    jump[20, 0] = np.radians(20)
    kick[15:26, 0] = np.radians(45) * (1 - np.cos(np.arange(11) * 2 * np.pi / 10)) / 2
    target = long_feet(SAME, 0.3)
    for turn, most in ((jump, 0.5), (kick, 60.0)):
        clip = turned_feet(hero, calf_l=turn)
        made = Retargeter(hero, target, clip=clip).retarget(clip, contacts=False)
        model = target.skeleton.to_model(made.sample(FRAMES / 30))[:, target.skeleton.index("calf_l"), :, :3]
        cosine = (np.einsum("ij,tij->t", model[0], model) - 1) / 2
        bent = np.degrees(np.arccos(np.clip(cosine, -1, 1))).max()
        assert bent < most and (most < 1 or bent > 44)
