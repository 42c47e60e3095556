"""Packed clips: off by no more than they say, whoever decodes them; played, saved and edited as any other."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import marrow as mw
from marrow.animation.bank import ClipBank
from marrow.animation.packed import base_row, with_spare
from marrow.animation.resampling import unpack_rows
from marrow.errors import ValidationError
from marrow.graph.root_tracks import in_place
from marrow.kernels.operations.packed_joints import add_packed_joints
from marrow.kernels.packing import sample_packed
from marrow.kernels.pose_layout import PoseLayout
from marrow.model import Clip, Pose, Skeleton
from marrow.model.packed_motion import PackedMotion
from packed_reference import Record, mixed, model, product

RADIUS = 0.03


def body(joints, *, morphs=0, seed=0):
    """A tree of joints that rest somehow."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(int(rng.integers(max(0, j - 3), j)) for j in range(1, joints))])
    turns = rng.normal(size=(joints, 4))
    rest = Pose(
        rng.normal(size=(joints, 3)).astype(np.float32) * 0.2, (turns / np.linalg.norm(turns, axis=1,
        keepdims=True)).astype(np.float32),
        np.ones((joints, 3), np.float32), np.zeros(morphs, np.float32),
    )  # fmt: skip
    return Skeleton(
        [f"j{k}" for k in range(joints)], parents, rest, morph_names=[f"m{k}" for k in range(morphs)]
    )


def motion(skeleton, frames, *, seed=0, still=0.3, noise=0.002, scale=False):
    """Smooth turns with some noise; some joints only rest, some turn about one axis, some are held elsewhere."""
    rng = np.random.default_rng(seed)
    J, M = len(skeleton), len(skeleton.morph_names)
    times = np.arange(frames)[:, None]
    pose = [
        np.repeat(np.array(x)[None], frames, axis=0)
        for x in (skeleton.rest.translation, skeleton.rest.rotation, skeleton.rest.scale)
    ]
    for j in range(J):
        if rng.random() < still:
            if rng.random() < 0.5:
                pose[1][:, j] = quaternion_of(rng.normal(size=(1, 3)) * 0.4)
            continue
        axes = rng.random(3) < (0.4 if rng.random() < 0.5 else 1)
        vector = sum(
            rng.normal(size=3) * 0.5 / k * np.sin(2 * np.pi * k * times / 60 + rng.uniform(0, 6, 3))
            for k in range(1, 4)
        )
        vector = (vector + noise * rng.normal(size=vector.shape)) * axes
        pose[1][:, j] = multiplied(skeleton.rest.rotation[j], quaternion_of(vector))
    pose[0][:, 0] += np.concatenate([times * 0.02, np.sin(times / 9) * 0.05, times * -0.01], axis=1)
    if J > 3:
        pose[0][:, 3, 1] += 0.1 * np.sin(times[:, 0] / 5)
    if scale:
        pose[2][:, J // 2] *= 1 + 0.2 * np.sin(times / 7)
    weights = 0.5 + 0.5 * np.sin(times / 8 + np.arange(M)) if M else np.zeros((frames, 0))
    return Clip.from_poses("moves", skeleton, Pose(*(p.astype(np.float32) for p in (*pose, weights))), 30.0)


def quaternion_of(vector):
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    half = np.where(angle > 1e-9, np.sin(angle / 2) / np.maximum(angle, 1e-9), 0.5)
    return np.concatenate([vector * half, np.cos(angle / 2)], axis=-1)


def multiplied(a, b):
    x, y, z, w = a
    X, Y, Z, W = np.moveaxis(np.atleast_2d(b), -1, 0)
    return np.stack(
        [
            w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W,
            w * W - x * X - y * Y - z * Z,
        ],
        -1,
    )


def fields(pose):
    return tuple(
        np.asarray(x, np.float64) for x in (pose.translation, pose.rotation, pose.scale, pose.morphs)
    )


def frames_of(clip):
    """The frames that a clip is played from, each as translation, rotation, scale and morph weights."""
    rows = clip.resampled().rows
    poses = unpack_rows(np.array(rows), len(clip.skeleton), len(clip.skeleton.morph_names))
    return [fields(poses[k]) for k in range(len(rows))]


def decoded(packed):
    """The frames of a packed clip by the reference."""
    motion, skeleton = packed.packed, packed.skeleton
    record = Record(motion.words, len(skeleton), len(skeleton.morph_names))
    base = unpack_rows(base_row(skeleton, motion.additive)[None], len(skeleton), len(skeleton.morph_names))[0]
    return [record.frame(f, fields(base)) for f in range(motion.frame_count)]


def sphere(count=64, seed=5):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return RADIUS * points / np.linalg.norm(points, axis=1, keepdims=True)


def worst_on_spheres(clip, packed, times=24, seed=1):
    """The largest distance of points around joints between the frames of both clips, at frames and anywhere
    between; both decoded and mixed here."""
    rng, mine, theirs = np.random.default_rng(seed), frames_of(clip), decoded(packed)
    parents, points, worst = clip.skeleton.parents.tolist(), sphere(), 0.0
    T = len(mine)
    for at in [*rng.uniform(0, T - 1, times), *rng.integers(0, T, times // 2)]:
        f = min(int(at), max(T - 2, 0))
        pair = [f, min(f + 1, T - 1)]
        a, b = (model(parents, mixed(x[pair[0]], x[pair[1]], at - f)) for x in (mine, theirs))
        apart = (a - b)[:, None, :, :3] @ points[:, :, None] + (a - b)[:, None, :, 3:]
        worst = max(worst, float(np.linalg.norm(apart[..., 0], axis=-1).max()))
    return worst


@pytest.mark.parametrize(
    "options", [{}, {"joints": 40, "frames": 53}, {"morphs": 5}, {"scale": True, "frames": 34}]
)
def test_no_point_around_a_joint_is_further_off_than_the_limit(options):
    joints, frames = options.pop("joints", 9), options.pop("frames", 37)
    skeleton = body(joints, morphs=options.pop("morphs", 0), seed=joints)
    clip = motion(skeleton, frames, seed=frames, **options)
    packed = clip.compressed(error=2e-4)
    assert packed.packed.error <= packed.packed.limit == 2e-4
    assert worst_on_spheres(clip, packed) <= 2e-4
    # Scales that go their own ways are bounded, not met.
    assert packed.packed.ratio > (1.5 if "scale" in options else 4)


def test_samples_are_those_of_the_reference_at_any_time():
    clip = motion(body(20, morphs=3, seed=4), 45, seed=8).compressed()
    frames, rate = decoded(clip), clip.packed.rate
    rng = np.random.default_rng(0)
    for at in [0.0, 44.0, *rng.uniform(0, 44, 12), 15.5, 31.5]:
        f = min(int(at), 43)
        t, q, s, m = mixed(frames[f], frames[f + 1], at - f)
        pose = clip.sample(at / rate)
        np.testing.assert_allclose(pose.translation, t, atol=2e-6)
        side = np.sign((pose.rotation * q).sum(-1, keepdims=True))
        np.testing.assert_allclose(pose.rotation * side, q, atol=2e-6)
        np.testing.assert_allclose(pose.scale, s, atol=2e-6)
        np.testing.assert_allclose(pose.morphs, m, atol=2e-6)
    # Outside it holds its ends, or goes round.
    assert np.array_equal(clip.sample(-1.0).rotation, clip.sample(0.0).rotation)
    assert np.array_equal(clip.sample(99.0).rotation, clip.sample(clip.duration).rotation)
    np.testing.assert_allclose(
        clip.sample(clip.duration + 0.3, loop=True).rotation, clip.sample(0.3).rotation, atol=1e-5
    )


def test_numpy_gives_the_bits_of_machine_code():
    clip = motion(body(33, morphs=2, seed=2), 50, seed=3).compressed()
    layout, words = PoseLayout(33, 2), with_spare([clip.packed.words])
    results = []
    for plainly in (False, True):
        rows = np.zeros(6 * layout.size, np.float32)
        frame = sample_packed.frame(
            packed=words, bank=base_row(clip.skeleton, False), query=np.array([0.0, 3.25, 15.5, 31.75, 44.5,
            49.0]), rows=rows, record=0,
            base=0, frames=50, Jp=layout.joints, Mp=layout.morphs,
        )  # fmt: skip
        sample_packed.run_plainly(frame) if plainly else frame.run()
        results.append(rows.tobytes())
    assert results[0] == results[1]


def test_the_skin_of_a_character_is_within_the_limit():
    fox = mw.samples.mannequin()
    clip = fox.clips["run"]
    packed = clip.compressed(error=1e-4, character=fox)
    frames = clip.resampled()
    worst = 0.0
    for t in np.random.default_rng(0).uniform(0, clip.duration, 6):
        a, b = mw.skin(fox, frames.sample(t)), mw.skin(fox, packed.sample(t))
        worst = max(worst, float(np.linalg.norm(a.positions.astype(np.float64) - b.positions, axis=-1).max()))
    assert 0 < worst <= 1e-4 + 2e-6


def test_limits_of_parts():
    skeleton = body(12, seed=1)
    clip = motion(skeleton, 40, seed=2)
    fine = clip.compressed(error={"": 4e-4, "j5": 2e-5})
    below = [5, *skeleton.descendants(5)]
    a, b = (
        np.array([model(skeleton.parents.tolist(), f) for f in frames])
        for frames in (frames_of(clip), decoded(fine))
    )
    apart = np.linalg.norm((a - b)[..., 3], axis=-1).max(axis=0)
    assert apart[below].max() <= 2e-5 < apart.max() <= 4e-4
    with pytest.raises(mw.MarrowError, match="nobody"):
        clip.compressed(error={"nobody": 1e-4})
    for wrong in (0.0, -1.0, math.nan, {"": 0.0}):
        with pytest.raises(ValidationError, match="error"):
            clip.compressed(error=wrong)


def test_still_short_and_additive_clips():
    skeleton = body(7, seed=3)
    still = Clip.from_poses("still", skeleton, skeleton.rest.broadcast_to((90,)), 30.0).compressed()
    assert still.packed.ratio > 200 and still.packed.error < 1e-6
    one = Clip("one", skeleton).compressed()
    assert one.packed.frame_count == 1
    np.testing.assert_allclose(one.sample(0.3).translation, skeleton.rest.translation, atol=1e-6)
    two = motion(skeleton, 2).compressed()
    assert worst_on_spheres(motion(skeleton, 2), two, times=6) <= 1e-4
    breathing = mw.samples.mannequin().clips["breathe"]
    packed = breathing.compressed()
    assert packed.additive and packed.packed.additive
    # A difference is measured where it is seen: on top of the rest pose.
    rest = fields(breathing.skeleton.rest)
    for t in (0.5, 1.234, 3.3):
        places = []
        for clip in (breathing.resampled(), packed):
            d = fields(clip.sample(t))
            turns = np.array([product(a, b) for a, b in zip(rest[1], d[1])])
            places.append(
                model(breathing.skeleton.parents.tolist(), (rest[0] + d[0], turns, rest[2] * d[2], None))[
                    ..., 3
                ]
            )
        assert np.linalg.norm(places[0] - places[1], axis=-1).max() <= 1e-4


def test_turns_that_go_round_and_jump():
    """A joint that spins, one that flips by nearly half a turn from frame to frame, as thumbs of captured hands
    do, and one that jumps."""
    skeleton = body(4, seed=6)
    frames = np.arange(40)
    turns = np.repeat(np.array(skeleton.rest.rotation, np.float64)[None], 40, axis=0)
    turns[:, 1] = quaternion_of(np.outer(frames, [0.0, 0.5, 0.1]))
    turns[:, 2] = quaternion_of(np.outer(np.where(frames % 2, 1.5707, -1.5707), [1.0, 0, 0]))
    turns[:, 3] = quaternion_of(np.outer(np.where(frames > 20, 2.9, 0.0), [0, 0.6, 0.8]))
    rest = skeleton.rest
    pose = Pose(
        np.repeat(rest.translation[None], 40, 0), turns.astype(np.float32), np.repeat(rest.scale[None], 40, 0),
        np.zeros((40, 0), np.float32)
    )  # fmt: skip
    clip = Clip.from_poses("spins", skeleton, pose, 30.0)
    assert worst_on_spheres(clip, clip.compressed(), times=60) <= 1e-4


def test_a_long_way():
    """Kilometres of travel keep their float32 exactness."""
    skeleton = body(3, seed=9)
    frames = 48
    pose = [
        np.repeat(np.array(x)[None], frames, axis=0)
        for x in (skeleton.rest.translation, skeleton.rest.rotation, skeleton.rest.scale)
    ]
    pose[0][:, 0] = np.linspace([0, 0, 0], [900, 1, -4000], frames)
    clip = Clip.from_poses(
        "far", skeleton, Pose(*(p.astype(np.float32) for p in pose), np.zeros((frames, 0), np.float32)), 30.0
    )
    packed = clip.compressed(error=1e-3)
    got, want = packed.sample(np.arange(frames) / 30.0), clip.sample(np.arange(frames) / 30.0)
    assert np.abs(got.translation - want.translation).max() <= 1e-3


def test_what_is_not_finite_is_refused():
    skeleton = body(5)
    clip = motion(skeleton, 20)
    values = np.array(clip.tracks.values)
    values[7] = np.nan
    broken = replace(clip, tracks=type(clip.tracks)(clip.tracks.table, clip.tracks.times, values))
    with pytest.raises(ValidationError, match="not finite"):
        broken.compressed()


def test_a_packed_clip_is_a_clip(tmp_path):
    hero = mw.samples.mannequin()
    walk = hero.clips["walk"]
    packed = walk.compressed()
    assert (packed.name, packed.duration, packed.events) == (walk.name, walk.duration, walk.events)
    assert packed.key_rate == pytest.approx(60.0) and "PackedMotion(55 frames" in repr(packed.packed)
    # Its tracks are its frames; what edits tracks gives a clip that is not packed.
    times = np.linspace(0, walk.duration, 7)
    plain = replace(
        packed, tracks=type(walk.tracks)(packed.tracks.table, packed.tracks.times, packed.tracks.values)
    )
    assert plain.packed is None
    np.testing.assert_allclose(plain.sample(times).rotation, packed.sample(times).rotation, atol=1e-4)
    assert packed.reversed().packed is None
    # It is saved as it is.
    one = replace(hero, clips=[packed, hero.clips["idle"]])
    mw.save(one, tmp_path / "hero.marrow")
    again = mw.load(tmp_path / "hero.marrow")
    assert np.array_equal(again.clips["walk"].packed.words, packed.packed.words)
    assert again.clips["walk"].packed.error == packed.packed.error
    assert again.clips["walk"] == packed and again.clips["idle"].packed is None


def test_a_crowd_plays_packed_and_other_clips_together():
    hero = mw.samples.mannequin()
    names = ("idle", "walk", "run")
    small = replace(
        hero, clips=[c.compressed() if c.name != "walk" else c for c in (hero.clips[n] for n in names)]
    )
    bank = ClipBank.of(small)
    assert (bank.packed_at[1:] >= 0).tolist() == [True, False, True]
    assert bank.nbytes < 0.2 * ClipBank.of(replace(hero, clips=[hero.clips[n] for n in names])).nbytes
    crowds = [mw.Animator(c, count=3) for c in (hero, small)]
    for crowd in crowds:
        crowd.play("walk")
        crowd.update(0.31)
        crowd.cross_fade("run", 0.4)
        crowd.update(0.13)
    a, b = (crowd.model_matrices for crowd in crowds)
    assert 0 < np.abs(a[..., 3] - b[..., 3]).max() < 4e-4


def test_packed_clips_in_place_stay_packed():
    """Under `RootMotion` clips are played in place: only the joint that travels has other numbers."""
    skeleton = body(20, seed=31)
    clips = [motion(skeleton, frames, seed=frames) for frames in (50, 37)]
    clips = [replace(clip, name=f"c{k}") for k, clip in enumerate(clips)]
    plain = mw.Character(skeleton, clips=clips)
    packed = mw.Character(skeleton, clips=[clips[0].compressed(), clips[1]])
    banks = [in_place(c, 0, ("x", "z", "yaw")) for c in (plain, packed)]
    assert (banks[1].packed_at >= 0).tolist() == [False, True, False]
    J, frames = len(skeleton), ClipBank.of(packed).frame_rows(1)
    ours, theirs = (unpack_rows(np.array(bank.frame_rows(1)), J, 0) for bank in banks[::-1])
    kept = unpack_rows(np.array(frames), J, 0)
    assert np.array_equal(ours.rotation[:, 1:], kept.rotation[:, 1:])
    assert np.array_equal(ours.translation[:, 1:], kept.translation[:, 1:])
    # The limit is what the clip is off by; what is added here is a twentieth of it.
    assert np.abs(ours.translation[:, 0] - theirs.translation[:, 0]).max() < 1e-4
    assert np.ptp(kept.translation[:, 0, 0]) > 0.5 > 0.01 > np.ptp(ours.translation[:, 0, 0])
    assert np.array_equal(banks[0].frame_rows(2), banks[1].frame_rows(2))


def test_words_that_were_changed_never_lead_outside():
    clip = motion(body(18, morphs=1, seed=11), 40, seed=12).compressed()
    good, rng = clip.packed, np.random.default_rng(1)
    base = fields(unpack_rows(base_row(clip.skeleton, False)[None], 18, 1)[0])
    refused = 0
    for _ in range(250):
        words = good.words.copy()
        octets = words.view(np.uint8)
        for _ in range(int(rng.integers(1, 4))):
            octets[int(rng.integers(len(octets) if rng.random() < 0.3 else 700))] = rng.integers(256)
        if rng.random() < 0.1:
            words = words[: int(rng.integers(len(words)))]
        try:
            changed = PackedMotion(words, good.frame_count, 18, 1, good.rate)
        except ValidationError:
            refused += 1
            continue
        record = Record(changed.words, 18, 1)
        for f in rng.integers(0, 40, 2).tolist():
            with np.errstate(all="ignore"):
                record.frame(f, base)  # looks at every octet it reads
    assert refused > 20
    for wrong in ({"frame_count": 41}, {"joint_count": 40}, {"morph_count": 30}):
        with pytest.raises(ValidationError, match="not sound"):
            replace(good, **wrong)


def test_what_a_shader_does_joint_by_joint_is_what_lanes_do():
    """The functions that are printed for GPUs, run by Python, against the kernel."""
    clip = motion(body(19, morphs=2, seed=21), 40, seed=22, scale=True).compressed()
    layout, base = PoseLayout(19, 2), base_row(clip.skeleton, False)
    work = SimpleNamespace(
        packed=clip.packed.words.astype(np.int64), bank=base.astype(np.float64), clip_packed=[0], clip_frames=[40],
        clip_start=[0],
        clip_rate=[1.0], stack=np.zeros(layout.size), Jp=layout.joints, Mp=layout.morphs, lanes=layout.joints,
    )  # fmt: skip
    for at in (0.0, 7.25, 15.5, 31.5, 39.0):
        add_packed_joints(work, 0, at, 0.75, 0.0, 0)
        add_packed_joints(work, 0, at, 0.25, 1.0, 0)
        rows = np.zeros(layout.size, np.float32)
        sample_packed(
            with_spare([clip.packed.words]),
            base,
            np.array([at]),
            rows,
            0,
            0,
            40,
            layout.joints,
            layout.morphs,
        )
        np.testing.assert_allclose(work.stack, rows, atol=2e-6)
