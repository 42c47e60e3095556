"""`marrow bench motion`: retargeting, mirroring and reducing clips, frames a second on one core."""

from __future__ import annotations

import numpy as np

from marrow.bench.harness import Contest
from marrow.math import affine, quaternion, transform
from marrow.model import Skeleton
from marrow.motion import Retargeter, mirror_map, mirrored_pose
from marrow.samples import mannequin

__all__ = ["contests"]

FRAMES = 2000
# Seconds a frame: a hundred thousand frames a second without contacts, twenty thousand with.
WITHOUT, WITH = 1e-5, 5e-5


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
    clip = hero.clips["run"]
    rate = FRAMES / clip.duration
    times = np.linspace(0, clip.duration, FRAMES + 1)
    tool = Retargeter(hero, stranger(hero.skeleton), clip=clip)
    plain = Contest("retargeting, 61 joints", "frame", FRAMES + 1, goal=WITHOUT)
    plain.entries["marrow"] = lambda: tool.retarget(clip, contacts=False, rate=rate)
    plain.entries["sampling the clip alone"] = lambda: clip.sample(times)
    planted = Contest("retargeting with planted feet, 61 joints", "frame", FRAMES + 1, goal=WITH)
    planted.entries["marrow"] = lambda: tool.retarget(clip, contacts=True, rate=rate)
    planted.entries["without planting"] = lambda: tool.retarget(clip, contacts=False, rate=rate)
    poses, table = clip.sample(times), mirror_map(hero.skeleton)
    mirrored = Contest("mirroring poses, 61 joints", "pose", FRAMES + 1)
    mirrored.entries["marrow"] = lambda: mirrored_pose(poses, table)
    return [plain, planted, mirrored]
