"""Feet planted by hips, ankles and knees together, over the whole clip."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.cli.app import run
from marrow.kernels import leg_bends_reference
from marrow.kernels import planting_reference as reference
from marrow.math import quaternion
from marrow.motion import Retargeter, foot_planting
from marrow.motion.foot_ik import BentLimb
from marrow.motion.foot_planting import PlantProblem, plant_moves
from marrow.motion.limb_rotations import bend_at_rest, model_rotation
from marrow.motion.soles import with_balls

SAME = {n: n for n in rigs.PARTS}
BONES = np.array([0.52, 0.5, 0.5, 0.51])


def walking(T: int, seconds: float = 1 / 60, way: float = 0.2) -> PlantProblem:
    """Legs that swing and stand in turn, and would slide and sink."""
    rng = np.random.default_rng(0)
    t = np.arange(T) * seconds
    swing = [(0.1 + 0 * t, -0.93 + 0.06 * np.sin(7 * t + s), 0.3 * np.sin(4 * t + 1.5 * s)) for s in (1, -1)]
    leg = np.stack([np.stack(leg, axis=1) for leg in swing], axis=1)
    far = np.linalg.norm(leg, axis=-1)
    bend = reference.knee_bend(far, BONES[:2], BONES[2:], 1e-3)[0]
    stands = np.stack([np.sin(4 * t) > 0, np.sin(4 * t) <= 0], axis=1)
    step = stands * reference.STEP * reference.PER_SECOND / seconds
    change = (rng.normal(size=(T, 2, 2)) * 0.1 + way) * seconds * stands[..., None]
    high = 0.02 * np.sin(np.stack([3 * t, 5 * t], axis=1))
    return replace(
        PlantProblem.still(T), leg=leg, change=change, step=step, high=high, near=10.0 * stands, need=high - 0.01,
        bend=bend,
    )  # fmt: skip


def test_the_kernel_finds_what_the_reference_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Feet that stand; hips that must rise; ends that have places; ends that meet."""
    monkeypatch.setattr(foot_planting, "STOP", 1e-6)
    T, rng = 12, np.random.default_rng(3)
    walk = replace(walking(T), lift=0.04 - 0.01 * np.arange(T))
    place = replace(
        walking(T),
        place=rng.normal(size=(T, 2, 3)) / 50,
        hold=10.0 * (np.arange(2 * T) % 3 > 0).reshape(T, 2),
    )
    meet = replace(walking(T), between=rng.normal(size=(T, 3)) / 50, join=10.0 * (np.arange(T) % 4 > 0))
    for problem in (walk, place, meet):
        wanted, steps = reference.plant_feet(
            bones=BONES, **vars(problem), hips=reference.HIPS**2, smooth=reference.smoothness(1 / 60), rounds=10,
            stop=1e-6,
        )  # fmt: skip
        assert steps > 4 and np.abs(wanted).max() > 0.01
        np.testing.assert_allclose(plant_moves(problem, BONES, 1 / 60, loops=False).moves, wanted, atol=2e-5)


def test_feet_of_folded_legs_are_planted_where_shin_and_thigh_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody kneels: knees bend until shin and thigh lie on each other, where the law of cosines has no slope."""
    monkeypatch.setattr(foot_planting, "STOP", 1e-6)
    T, bones, t = 12, np.array([0.36, 0.37, 0.64, 0.63]), np.arange(12) / 60
    bend = np.pi - np.stack([np.abs(0.1 - t), np.abs(0.06 - t)], axis=1) * 0.2
    bend[5:7] = np.pi
    a, b = bones[:2], bones[2:]
    far = np.sqrt(a * a + b * b + 2 * a * b * np.cos(bend))
    leg = far[..., None] * np.array([0.0, -0.6, 0.8])
    problem = replace(
        PlantProblem.still(T),
        leg=leg,
        bend=bend,
        high=np.full((T, 2), 0.05),
        near=np.full((T, 2), reference.NEAR),
    )
    wanted, _ = reference.plant_feet(
        bones=bones, **vars(problem), hips=reference.HIPS**2, smooth=reference.smoothness(1 / 60), rounds=10,
        stop=1e-6,
    )  # fmt: skip
    moves = plant_moves(problem, bones, 1 / 60, loops=False).moves
    np.testing.assert_allclose(moves[:, 1] + moves[:, 4], 0.05, atol=5e-3)  # as high as they are wanted
    np.testing.assert_allclose(moves, wanted, atol=5e-4)


def test_windows_of_a_long_clip_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """In windows of 150 frames as at once, to a centimetre for a leg of 85 cm, and no rougher where they meet."""
    problem = walking(500, way=0.0)
    whole = plant_moves(problem, BONES, 1 / 60, loops=False).moves
    monkeypatch.setattr(foot_planting, "WINDOW", 150)
    parts = plant_moves(problem, BONES, 1 / 60, loops=False).moves
    assert not np.array_equal(parts, whole)
    np.testing.assert_allclose(parts, whole, atol=12e-3)
    bent = [np.abs(np.diff(moves, n=2, axis=0)).max() for moves in (parts, whole)]
    assert bent[0] < 1.05 * bent[1]


@pytest.mark.parametrize("rate", [60, 240])
def test_planted_steps_are_taken_back_at_any_rate(rate: int) -> None:
    problem = walking(2 * rate, 1 / rate)
    moves = plant_moves(problem, BONES, 1 / rate, loops=False).moves
    for k in range(2):
        ankle = moves[:, [0, 2]] + moves[:, [3 + 3 * k, 5 + 3 * k]]
        left = np.diff(ankle, axis=0) - problem.change[:-1, k]
        stands = problem.step[:-1, k] > 0
        # Less than a fiftieth of what had to be taken back.
        assert np.abs(left[stands]).mean() < 0.02 * np.abs(problem.change[:-1, k][stands]).mean()


def test_a_clip_that_repeats_still_does() -> None:
    """It ends as it begins, and goes on as fast."""
    full = walking(95)  # about a round of the swing
    moves = plant_moves(full, BONES, 1 / 60, loops=True).moves
    np.testing.assert_allclose(moves[-1], moves[0], atol=1e-9)
    steps = np.diff(np.concatenate([moves[:-1], moves[:3]]), axis=0)
    assert np.abs(np.diff(steps, axis=0))[-3:].max() <= np.abs(np.diff(steps, axis=0)).max()


def short_shins(name: str, p: np.ndarray) -> np.ndarray:
    return p - [0, 0.06, 0] if name.startswith("calf") else p


def wide_hips(name: str, p: np.ndarray) -> np.ndarray:
    return p * [1.5, 1, 1] if name.split("_")[0] in ("thigh", "calf", "foot", "ball") else p


def test_legs_are_bent_as_the_reference_bends_them() -> None:
    """Random turns of hips and legs, ankles that move up to 10 cm, some out of reach: places of the joints to 10 um."""
    bones = rigs.body(SAME, place=short_shins, axes=np.random.default_rng(1), root="root")
    rng = np.random.default_rng(2)
    T, chain = 40, tuple(bones.index(n) for n in ("thigh_l", "calf_l", "foot_l"))
    pose = bones.rest.broadcast_to((T,)).copy()
    for joint in (bones.index("pelvis"), *chain):
        turn = quaternion.from_axis_angle(
            quaternion.normalize(rng.normal(size=(T, 4)))[:, :3], rng.normal(size=T) / 4
        )
        pose.rotation[:, joint] = quaternion.normalize(quaternion.multiply(pose.rotation[:, joint], turn))
    model = bones.to_model(pose)
    forward = np.array([0.0, 0, 1])
    leg = BentLimb(bones, chain, pose, model, forward)
    at = model[..., 3][:, list(chain)].astype(float)
    hint = quaternion.rotate(model_rotation(bones, pose, chain[0]), bend_at_rest(bones, chain, forward))
    np.testing.assert_allclose(
        leg.bend, leg_bends_reference.hinge(at[:, 1] - at[:, 0], at[:, 2] - at[:, 1], hint)[1], atol=1e-9
    )
    moves = np.zeros((T, 9))
    moves[:, 3:6] = rng.uniform(-0.1, 0.1, (T, 3))
    upper, lower = leg_bends_reference.reach(at[:, 0], at[:, 1], at[:, 2], at[:, 2] + moves[:, 3:6], hint)
    knee = at[:, 0] + quaternion.rotate(upper, at[:, 1] - at[:, 0])
    ankle = knee + quaternion.rotate(lower, at[:, 2] - at[:, 1])
    for (joint, _), turns in leg.bent(moves, 3).items():
        pose.rotation[:, joint] = turns
    made = bones.to_model(pose)
    np.testing.assert_allclose(made[:, chain[1], :, 3], knee, atol=1e-5)
    np.testing.assert_allclose(made[:, chain[2], :, 3], ankle, atol=1e-5)
    np.testing.assert_allclose(made[:, chain[2], :, :3], model[:, chain[2], :, :3], atol=1e-5)
    reached = np.linalg.norm(ankle - at[:, 2] - moves[:, 3:6], axis=-1) < 1e-4
    assert 5 < reached.sum() < T, "some are out of reach"


def knee_speed(skeleton: mw.Skeleton, clip: mw.Clip) -> float:
    """The fastest that a knee bends, in degrees a second."""
    times = np.linspace(0, clip.duration, round(clip.duration * 60) + 1)
    at = skeleton.to_model(clip.sample(times))[..., 3].astype(float)
    fastest = 0.0
    for side in "lr":
        hip, knee, ankle = (at[:, skeleton.index(f"{n}_{side}")] for n in ("thigh", "calf", "foot"))
        a, b = knee - hip, ankle - knee
        cos = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
        fastest = max(fastest, float(np.abs(np.diff(np.degrees(np.arccos(np.clip(cos, -1, 1))))).max() * 60))
    return fastest


@pytest.mark.parametrize("place", [short_shins, wide_hips])
@pytest.mark.parametrize("name", ["walk", "run"])
def test_hips_move_and_knees_do_not_snap(place, name: str) -> None:
    hero = mw.samples.mannequin()
    bones = rigs.body(SAME, place=place, root="root")
    clip = hero.clips[name]
    tool = Retargeter(hero.skeleton, bones, clip=clip)
    made = tool.retarget(clip, contacts=True)
    assert knee_speed(bones, made) <= 1.3 * knee_speed(hero.skeleton, clip)
    free = tool.retarget(clip, contacts=False)
    times = np.linspace(0, clip.duration, 40)
    hips = bones.index("pelvis")
    moved = made.sample(times).translation[:, hips] - free.sample(times).translation[:, hips]
    assert 1e-3 < np.abs(moved).max() < 0.1
    lengths = np.linalg.norm(made.sample(times).translation, axis=-1)
    for joint in ("calf_l", "foot_l", "calf_r", "foot_r"):
        assert np.ptp(lengths[:, bones.index(joint)]) < 1e-5, "no bone is lengthened"
    quality = tool.quality(clip, made)
    assert quality is not None and quality.result.drift < 0.005 and quality.result.sink < 0.005


def test_feet_do_not_hold_on_across_a_cut_in_the_recording() -> None:
    """A body that is 5 m away from one frame to the next stands there as it stood here: hips do not go down for it."""
    hero = mw.samples.mannequin()
    frames = np.arange(81)
    poses = hero.clips["walk"].sample((frames % 27) / 30)
    moved = np.array(poses.translation)
    moved[:, 0, 2] += frames // 27 * 1.125  # the walk's own travel
    moved[40:, 0, 0] += 5.0
    clip = mw.Clip.from_poses("cut", hero.skeleton, poses.replace(translation=moved), 30)
    moved[40:, 0, 0] -= 5.0
    whole = mw.Clip.from_poses("whole", hero.skeleton, poses.replace(translation=moved), 30)
    bones = rigs.body(SAME, place=short_shins, root="root")
    tool = Retargeter(hero.skeleton, bones, clip=clip)
    hips, moves = bones.index("pelvis"), []
    for c in (clip, whole):
        made, free = (tool.retarget(c, contacts=k).sample(frames / 30) for k in (True, False))
        moves.append(np.abs(made.translation[:, hips] - free.translation[:, hips]).max())
    assert moves[0] < moves[1] + 0.01 < 0.08
    quality = tool.quality(clip, tool.retarget(clip, contacts=True))
    assert quality is not None and quality.source.drift < 0.1 and quality.result.drift < 0.005


def boots(sole: float) -> mw.Character:
    """A body whose boots reach `sole` metres below its ankles, with a vertex between foot and toes that bends with both."""
    bones = rigs.body(SAME, place=short_shins, root="root")
    rest = bones.rest_model[..., 3].astype(float)
    meshes = []
    for side in "lr":
        foot, ball = bones.index(f"foot_{side}"), bones.index(f"ball_{side}")
        heel = rest[foot] * [1, 0, 1] + [0, rest[foot, 1] - sole, 0]
        tip = rest[ball] * [1, 0, 1] + [0, rest[foot, 1] - sole, 0.1]
        at = np.array([heel, tip, (heel + tip) / 2], np.float32)
        inverse = np.zeros((2, 3, 4), np.float32)
        inverse[:, :, :3] = np.linalg.inv(bones.rest_model[[foot, ball], :, :3].astype(float))
        inverse[:, :, 3] = -np.einsum("jik,jk->ji", inverse[:, :, :3], rest[[foot, ball]])
        joints = np.array([[0, 1], [1, 0], [0, 1]], np.uint16)
        weights = np.array([[1, 0], [1, 0], [0.5, 0.5]], np.float32)
        triangles, used = np.array([[0, 1, 2]], np.int32), np.array([foot, ball], np.int32)
        meshes.append(mw.Mesh(f"boot_{side}", at, triangles, joints, weights, used, inverse))
    return mw.Character(bones, tuple(meshes))


def test_no_vertex_of_the_feet_sinks_and_the_report_measures_the_skin() -> None:
    """Skinned here: what is deepest is what the report says, and it is shallow with contacts only."""
    hero, target = mw.samples.mannequin(), boots(0.09)
    clip = hero.clips["run"]
    tool = Retargeter(hero, target, clip=clip)
    deep = []
    for contacts in (False, True):
        made = tool.retarget(clip, contacts=contacts)
        times = np.arange(round(clip.duration * 60) + 1) / 60
        skin = mw.skin(target, made.sample(times)).positions
        quality = tool.quality(clip, made)
        assert quality is not None
        deep.append(-float(skin[..., 1].min()))
        if not contacts:
            lowest = skin[..., 1].min(axis=1)
            assert quality.visible.sink == pytest.approx(deep[0], abs=0.006)
            assert quality.visible.sink_at == pytest.approx(times[np.argmin(lowest)], abs=0.05)
    assert deep[0] > 0.012 > 0.008 > deep[1]


def test_skin_that_sinks_fails_a_limit_and_says_when(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mw.save(boots(0.09), tmp_path / "boots.glb")
    call = [
        "retarget",
        "mannequin",
        str(tmp_path / "boots.glb"),
        "--clip",
        "run",
        "--report",
        "--max-sink",
        "0.01",
    ]
    assert run([*call, "--contacts"]) == 0
    assert "skin" in capsys.readouterr().out
    assert run([*call, "--no-contacts"]) != 0
    assert re.search(r"sink is 0\.0\d+ at \d\.\d\d s, more than 0\.01", capsys.readouterr().err)


def test_feet_without_toes_have_balls_where_their_skin_is() -> None:
    """Of the mannequin, whose toe joints are forgotten: within 6 cm of where those are, as high as its heels."""
    hero = mw.samples.mannequin()
    tool = Retargeter(hero, rigs.body(SAME, place=wide_hips, root="root"))
    known, chains = tool.feet_s, tool.chains("source")
    lost = replace(known, offset=known.offset[:, [0, 0]], rest=known.rest * 0, ball=known.ball * 0)
    found = with_balls(lost, tool.soles_s, hero.skeleton, chains, tool.rest_s)
    rest = hero.skeleton.rest_model.astype(float)
    for k, side in enumerate(("left", "right")):
        turn = rest[chains[f"{side}_leg"][2], :, :3]
        ball, wanted, heel = (turn @ v for v in (found.offset[k, 1], known.offset[k, 1], known.offset[k, 0]))
        assert np.linalg.norm((ball - wanted)[[0, 2]]) < 0.06 and abs(ball[1] - heel[1]) < 0.01
    assert with_balls(known, tool.soles_s, hero.skeleton, chains, tool.rest_s) is known, "toes say it better"
