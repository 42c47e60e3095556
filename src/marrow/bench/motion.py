"""`marrow bench motion`: retargeting, mirroring and reducing clips, frames a second on one core."""

from __future__ import annotations

import numpy as np

from marrow.bench.harness import Contest
from marrow.bench.rivals import numpy_retargeting
from marrow.math import affine, quaternion, transform
from marrow.model import Character, Clip, Skeleton
from marrow.motion import Retargeter, mirror_map, mirrored_pose, retarget
from marrow.motion.frames import frame_times, frames_of
from marrow.samples import mannequin

__all__ = ["contests"]

FRAMES, LONG, BATCH, CROWD = 2000, 20_000, 100, 1000
# Seconds a frame: 300,000 frames a second without contacts, 60,000 with; a short clip in one millisecond and in three.
WITHOUT, WITH, SHORT, SHORT_WITH = 1 / 300_000, 1 / 60_000, 1e-3, 3e-3


def stranger(skeleton: Skeleton, seed: int = 0) -> Skeleton:
    """The same kind of body with other names, axes and longer thighs."""
    rng = np.random.default_rng(seed)
    J = len(skeleton)
    turns = quaternion.normalize(rng.normal(size=(J, 4)))
    model = skeleton.rest_model.astype(np.float64)
    model[:, 1, 3] *= np.where(model[:, 1, 3] > 0.5, 1.1, 1.0)
    model = affine.multiply(model, transform.compose(np.zeros((J, 3)), turns, np.ones((J, 3))))
    names = tuple(f"{name}_jnt" for name in skeleton.names)
    return Skeleton(names, skeleton.parents, Skeleton(names, skeleton.parents).from_model(model))


def contests() -> list[Contest]:
    """A run of the mannequin, 61 joints, onto a body with other names, axes and proportions."""
    hero = mannequin()
    clip, other = hero.clips["run"], stranger(hero.skeleton)
    tool = Retargeter(hero, other, clip=clip)
    poses = clip.sample(np.linspace(0, clip.duration, FRAMES + 1))
    table = mirror_map(hero.skeleton)
    mirrored = Contest("mirroring poses, 61 joints", "pose", FRAMES + 1)
    mirrored.entries["marrow"] = lambda: mirrored_pose(poses, table)
    return [
        _long(tool, clip), *_planted(tool, hero, other, clip), _short(hero, other, clip), _batch(tool, clip),
        _live(hero, other), mirrored,
    ]  # fmt: skip


def _long(tool: Retargeter, clip: Clip) -> Contest:
    """A take of minutes at 60 frames a second."""
    times = np.arange(LONG) / 60.0
    take = Clip.from_poses("take", clip.skeleton, clip.sample(times, loop=True), 60.0)
    contest = Contest(f"retargeting {LONG:,} frames, 61 joints", "frame", LONG, goal=WITHOUT)
    contest.entries["marrow"] = lambda: tool.retarget(take, contacts=False, threads=1)
    contest.entries["marrow, all cores"] = lambda: tool.retarget(take, contacts=False)
    contest.entries["NumPy, all frames of a joint at once"] = numpy_retargeting(take, tool.target, times)
    contest.entries["sampling the clip alone"] = lambda: take.sample(times)
    return contest


def _planted(tool: Retargeter, hero: Character, other: Skeleton, clip: Clip) -> list[Contest]:
    """With feet that stay planted: a take of minutes, and one call for a short clip."""
    times = np.arange(LONG) / 60.0
    take = Clip.from_poses("take", clip.skeleton, clip.sample(times, loop=True), 60.0)
    long = Contest(f"retargeting {LONG:,} frames with planted feet, 61 joints", "frame", LONG, goal=WITH)
    long.entries["marrow"] = lambda: tool.retarget(take, contacts=True, threads=1)
    long.entries["without planting"] = lambda: tool.retarget(take, contacts=False, threads=1)
    there = tool.retarget(take, contacts=False)
    back = Retargeter(other, hero, clip=there)
    long.entries["marrow, onto feet with skin"] = lambda: back.retarget(there, contacts=True, threads=1)
    count = len(frame_times(clip))
    short = Contest(
        f"retargeting a clip of {count} frames with planted feet, 61 joints", "clip", 1, goal=SHORT_WITH
    )
    short.entries["marrow"] = lambda: retarget(clip, other, source=hero, contacts=True, threads=1)
    return [long, short]


def _short(hero: Character, other: Skeleton, clip: Clip) -> Contest:
    """One call from nothing but the clip and the two bodies; how they stand to each other is found in the first."""
    times = frame_times(clip)
    contest = Contest(f"retargeting a clip of {len(times)} frames, 61 joints", "clip", 1, goal=SHORT)
    contest.entries["marrow"] = lambda: retarget(clip, other, source=hero, contacts=False, threads=1)
    contest.entries["NumPy, all frames of a joint at once"] = numpy_retargeting(clip, other, times)
    return contest


def _live(hero: Character, other: Skeleton) -> Contest:
    """A graph of one body's clips on another: what is blended is retargeted in every update."""
    from marrow.graph import Animator, Graph, Retarget
    from marrow.samples.graphs import mannequin_graph

    lead = Animator(hero, mannequin_graph(), count=CROWD, threads=1)
    lead["speed"] = np.linspace(0.0, 3.6, CROWD)
    sources = {"lead": lead}
    crowd = Animator(Character(other), Graph(Retarget("lead")), count=CROWD, sources=sources, threads=1)

    def follow() -> None:
        crowd.update(1 / 60)
        crowd.matrices  # noqa: B018

    def both() -> None:
        lead.update(1 / 60)
        lead.pose  # noqa: B018
        follow()

    lead.update(1 / 60)
    lead.pose  # noqa: B018
    contest = Contest(
        f"poses of a graph on another body (Retarget), {CROWD:,} characters", "character", CROWD
    )
    contest.entries["marrow"] = follow
    contest.entries["with the graph itself"] = both
    return contest


def _batch(tool: Retargeter, clip: Clip) -> Contest:
    """Clips that are new every time: nothing is known of them before."""
    times, pose = frames_of(clip)
    clips = [Clip.from_poses(f"clip {k}", clip.skeleton, pose, 60.0) for k in range(BATCH)]
    rival = [numpy_retargeting(c, tool.target, times) for c in clips]
    contest = Contest(
        f"retargeting {BATCH} clips of {len(times)} frames, 61 joints", "frame", BATCH * len(times)
    )
    contest.entries["marrow"] = lambda: [tool.retarget(c, contacts=False, threads=1) for c in clips]
    contest.entries["NumPy, all frames of a joint at once"] = lambda: [call() for call in rival]
    return contest
