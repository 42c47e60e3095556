"""What takes turns and ways from one skeleton to another: the kernel against its definition, on any number of threads."""

from __future__ import annotations

import gc
import json
import weakref

import numpy as np
import pytest

import marrow as mw
from builders import rotations
from marrow.bench.motion import stranger
from marrow.kernels import reference
from marrow.math import quaternion
from marrow.model.clip import Track
from marrow.motion import Retargeter, fit_cache
from marrow.motion.alignment import Driver
from marrow.motion.posture import Posture
from marrow.motion.retarget_setup import Fit
from marrow.motion.transfer import JointPlace, Transfer, TransferBuilder

SOURCE, TARGET = (-1, 0, 1, 2, 3, 2), (-1, 0, 1, 2, 2)


def bones(parents: tuple[int, ...], seed: int) -> mw.Skeleton:
    rng = np.random.default_rng(seed)
    J = len(parents)
    rest = mw.Pose(
        rng.normal(size=(J, 3)).astype(np.float32),
        rotations(rng, (J,)).astype(np.float32),
        rng.uniform(0.5, 2, (J, 3)).astype(np.float32),
    )
    return mw.Skeleton(tuple(f"j{j}" for j in range(J)), np.array(parents), rest)


def motion(skeleton: mw.Skeleton, keys: int = 9, seed: int = 3) -> mw.Clip:
    """Keys of every kind: linear and step turns and ways, a spline, times of their own; joint 5 rests."""
    rng = np.random.default_rng(seed)
    tracks = []
    for j in range(5):
        kind = ("linear", "linear", "step", "cubic", "linear")[j]
        times = np.sort(rng.uniform(0, 2, keys)) if j in (1, 3) else np.linspace(0, 2, keys)
        shape = (keys, 3) if kind == "cubic" else (keys,)
        turns = rotations(rng, shape) * (0.1 if kind == "cubic" else 1)
        if kind == "cubic":
            turns[:, 1] *= 10
        tracks.append(Track(j, "rotation", times, turns, kind))
    tracks.append(Track(0, "translation", np.linspace(0, 2, keys), rng.normal(size=(keys, 3)) * 5))
    tracks.append(Track(1, "translation", np.linspace(0, 2, 4), rng.normal(size=(4, 3, 3)), "cubic"))
    tracks.append(Track(1, "scale", np.linspace(0, 2, keys), rng.uniform(0.5, 2, (keys, 3))))
    return mw.Clip("motion", skeleton, tracks, 2.0)


def world_of_six() -> tuple[mw.Clip, mw.Skeleton, TransferBuilder, dict[int, Driver], np.ndarray]:
    """A chain that lacks a joint, one that shares two, one that hangs elsewhere, a root that goes, hips on it, a joint that
    slides."""
    rng = np.random.default_rng(5)
    source, target = bones(SOURCE, 1), bones(TARGET, 2)
    turn = list(rotations(rng, (6,)))
    found = {
        0: Driver(0, -1, 0.0, turn[0]),
        1: Driver(2, -1, 0.0, turn[1]),
        2: Driver(2, 3, 0.3, turn[2]),
        3: Driver(4, -1, 0.0, turn[3]),
        4: Driver(1, -1, 0.0, turn[4]),
    }
    rest = Posture(rotations(rng, (6,)), np.zeros((6, 3)), np.eye(3), True, "rest pose")
    builder = TransferBuilder(source, target, rest)
    builder.turn(found, turn[5])
    matrix, seen = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    builder.place(0, JointPlace(0, np.zeros(3), matrix, seen=seen))
    builder.place(
        2, JointPlace(3, rng.normal(size=3), matrix, rng.normal(size=3), 2, above=(0, 1), grounded=True)
    )
    builder.slide(3, 1, rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=3))
    return motion(source), target, builder, found, turn[5]


def defined(
    transfer: Transfer, clip: mw.Clip, times: np.ndarray, lift: float
) -> dict[tuple[int, int], np.ndarray]:
    """What the reference says, in float64 from the keys on."""
    rest, tracks = clip.skeleton.rest, clip.tracks
    poses = reference.sample_tracks(
        tracks.table, tracks.times, tracks.values,
        (rest.translation, rest.rotation, rest.scale, rest.morphs), times,
    )  # fmt: skip
    room = transfer._room[256:].reshape(-1, 4, 16)[:, :, 0].astype(np.float64)
    slots = {256 + 64 * k: np.tile(room[k], (len(times), 1)) for k in range(len(room))}
    for row, to in transfer._work["reads"].reshape(-1, 2).tolist():
        slots[to] = poses[tracks.table[row]["path"]][:, tracks.table[row]["target"]]
    slots = {to: v[:, :3] if not v[:, 3:].any() else v for to, v in slots.items()}
    made = reference.transfer_motion(slots, transfer._work, lift, len(transfer.written))
    return dict(zip(transfer.written, made))


@pytest.mark.parametrize("frames", [1, 16, 37])
def test_the_kernel_does_what_the_reference_says(frames: int) -> None:
    clip, _, builder, _, _ = world_of_six()
    transfer = builder.build(clip.tracks)
    assert {row[0] for row in transfer._work["steps"].reshape(-1, 5).tolist()} == {0, 1, 2, 3, 4, 5}
    times = np.linspace(0, 2, frames)
    made, wanted = transfer.run(clip.tracks, times, 0.7, 1), defined(transfer, clip, times, 0.7)
    assert made.keys() == wanted.keys() == {(j, 1) for j in range(5)} | {(0, 0), (2, 0), (3, 0)}
    for key, values in made.items():
        np.testing.assert_allclose(
            values, wanted[key], atol=2e-6 * (1 + np.abs(wanted[key]).max()), err_msg=f"{key}"
        )


def test_joints_turn_as_the_source_does_in_model_space() -> None:
    """`R_target = G R_source C`, whatever joints lie in between."""
    clip, target, builder, found, world = world_of_six()
    times = np.linspace(0, 2, 21)
    made = builder.build(clip.tracks).run(clip.tracks, times, 0.0, 1)
    pose = clip.sample(times)

    def model(skeleton: mw.Skeleton, local: list[np.ndarray]) -> list[np.ndarray]:
        out: list[np.ndarray] = []
        for j, p in enumerate(skeleton.parents.tolist()):
            own = local[j].astype(np.float64)
            out.append(own if p < 0 else quaternion.multiply(out[p], own))
        return out

    theirs = model(clip.skeleton, [pose.rotation[:, j] for j in range(6)])
    mine = model(target, [made[j, 1] for j in range(5)])
    for j, driver in found.items():
        if driver.b < 0:
            wanted = quaternion.multiply(quaternion.multiply(world, theirs[driver.a]), driver.turn)
            assert quaternion.angle(mine[j], wanted).max() < 1e-5, j


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_any_number_of_threads_gives_the_same_bits(threads: int) -> None:
    clip, _, builder, _, _ = world_of_six()
    transfer, times = builder.build(clip.tracks), np.linspace(0, 2, 2003)
    transfer._seconds = 1.0  # worth any number of threads
    alone, many = (transfer.run(clip.tracks, times, 0.1, n) for n in (1, threads))
    few = transfer.run(clip.tracks, times[:1001], 0.1, 1)
    for key, values in alone.items():
        assert values.tobytes() == many[key].tobytes()
        assert values[:1001].tobytes() == few[key].tobytes()  # nor does it matter what comes behind


def test_a_retargeter_takes_threads(hero: mw.Character) -> None:
    other = stranger(hero.skeleton)
    clip = hero.clips["walk"]
    one, many = (mw.retarget(clip, other, source=hero, rate=900, contacts=False, threads=n) for n in (1, 3))
    assert one == many
    with pytest.raises(mw.MarrowError, match="threads: expected at least 1"):
        mw.retarget(clip, other, source=hero, threads=0)


# -- what is found out once ----------------------------------------------------------------------------------------


def test_two_bodies_are_compared_once(hero: mw.Character, monkeypatch: pytest.MonkeyPatch) -> None:
    other, clip = stranger(hero.skeleton), hero.clips["walk"]
    first, plans = Retargeter(hero, other, clip=clip), list[object]()
    wanted = first.retarget(clip, contacts=False)
    plan = Fit._plan
    monkeypatch.setattr(Fit, "_plan", lambda self: (plans.append(self), plan(self)))
    again = Retargeter(hero, other, clip=clip)
    assert again.retarget(clip, contacts=False) == wanted and again.report == first.report
    assert again.map.chains == first.map.chains and not plans
    Retargeter(hero, other, clip=clip, scale=2.0)
    Retargeter(hero, other, clip=clip, names=("a", "b"))
    Retargeter(hero, other, clip=clip, map=json.loads(first.map.to_json()))
    assert len(plans) == 3


def test_what_is_kept_holds_neither_body_and_is_bounded(hero: mw.Character) -> None:
    other, clip = stranger(hero.skeleton), hero.clips["walk"]
    source = hero.replace(name="once")
    gone = weakref.ref(source)
    mw.retarget(clip, other, source=source, contacts=False)
    del source
    gc.collect()
    assert gone() is None
    for k in range(fit_cache.MOST_FITS + 3):
        Retargeter(hero, other, clip=clip, scale=1.0 + k)
    assert len(fit_cache._kept(other)) == fit_cache.MOST_FITS
    target = weakref.ref(other)
    del other
    gc.collect()
    assert target() is None
