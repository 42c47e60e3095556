"""Animals on four legs, built by hand: which legs they have, and paws that stay where they stand."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.motion import Retargeter
from marrow.motion.contact_weights import ContactWeights
from marrow.motion.foot_ik import BentLimb
from marrow.motion.paws import find_leg_pairs

LEGS = tuple(f"{end}_{side}" for end in ("back", "front") for side in ("l", "r"))


def animal(*, knee: float = 0.5, tail: bool = False, extra: str = "") -> mw.Skeleton:
    """A body 0.8 high and 1 long on four legs; knees are so far down them."""
    names, parents, at = ["root", f"{extra}body"], [-1, 0], [np.zeros(3), np.array([0.0, 0.8, 0.0])]

    def add(name: str, parent: str, place: list[float]) -> None:
        parents.append(names.index(parent))
        names.append(name)
        at.append(np.array(place))

    add("neck", f"{extra}body", [0, 0.9, 0.5])
    add("head", "neck", [0, 1.1, 0.7])
    for leg in LEGS:
        x, z = (0.15 if leg.endswith("l") else -0.15), (-0.4 if leg.startswith("back") else 0.4)
        add(f"{leg}_upper", f"{extra}body", [x, 0.75, z])
        add(f"{leg}_lower", f"{leg}_upper", [x, 0.75 - 0.7 * knee, z + 0.08])
        add(f"{leg}_paw", f"{leg}_lower", [x, 0.05, z])
        add(f"{leg}_tip", f"{leg}_paw", [x, 0.0, z + 0.08])
    if tail:
        add("tail", f"{extra}body", [0, 0.5, -0.7])
        add("tail_tip", "tail", [0, 0.02, -1.0])
    places = np.array(at)
    above = np.array([places[p] if p >= 0 else np.zeros(3) for p in parents])
    turns = np.tile(np.array([0, 0, 0, 1], np.float32), (len(names), 1))
    rest = mw.Pose((places - above).astype(np.float32), turns, np.ones((len(names), 3), np.float32))
    return mw.Skeleton(tuple(names), np.array(parents, np.int32), rest)


def swaying(skeleton: mw.Skeleton, frames: int = 60) -> mw.Clip:
    """The body sways forth and up and down over paws that stand."""
    pose = skeleton.rest.broadcast_to((frames,)).copy()
    along = np.linspace(0, 2 * np.pi, frames)
    body = skeleton.index("body")
    pose.translation[:, body] += np.stack(
        [0.03 * np.sin(along), -0.06 + 0.03 * np.cos(along), 0.08 * np.sin(along)], axis=1
    )
    for leg in LEGS:
        chain = tuple(skeleton.index(f"{leg}_{part}") for part in ("upper", "lower", "paw"))
        model = skeleton.to_model(pose)
        moves = np.zeros((frames, 9))
        moves[:, :3] = skeleton.rest_model[chain[2], :, 3] - model[:, chain[2], :, 3]
        for (joint, _), turns in (
            BentLimb(skeleton, chain, pose, model, np.array([0, 0, 1.0])).bent(moves, 0).items()
        ):
            pose.rotation[:, joint] = turns
    return mw.Clip.from_poses("sway", skeleton, pose, 30)


def paws(skeleton: mw.Skeleton, clip: mw.Clip) -> np.ndarray:
    at = skeleton.to_model(clip.sample(np.arange(60) / 30))[..., 3].astype(float)
    return at[:, [skeleton.index(f"{leg}_paw") for leg in LEGS]]


def test_legs_are_pairs_that_reach_the_ground() -> None:
    """The back pair first; a tail on the ground is no leg."""
    skeleton = animal(tail=True)
    found = [
        [tuple(skeleton.names[j] for j in leg) for leg in (p.left, p.right)] for p in find_leg_pairs(skeleton)
    ]
    assert found == [
        [tuple(f"{end}_{side}_{part}" for part in ("upper", "lower", "paw")) for side in "lr"]
        for end in ("back", "front")
    ]


def test_a_body_without_legs_has_none() -> None:
    full = animal()
    few = mw.Pose(*(np.asarray(v)[:4] for v in (full.rest.translation, full.rest.rotation, full.rest.scale)))
    assert find_leg_pairs(mw.Skeleton(full.names[:4], full.parents[:4], few)) == ()


@pytest.mark.parametrize("knee", [0.35, 0.65])
def test_paws_that_stand_still_stand_on_another_animal(knee: float) -> None:
    """Knees higher or lower: without contacts paws go up to 2 cm to and fro, with them less than 2 mm."""
    source, target = animal(), animal(knee=knee, tail=True)
    clip = swaying(source)
    assert np.ptp(paws(source, clip), axis=0).max() < 1e-4, "they stand in the source"
    tool = Retargeter(source, target)
    assert not tool.map.humanoid
    loose, kept = (paws(target, tool.retarget(clip, contacts=c)) for c in (False, "auto"))
    assert np.ptp(kept, axis=0).max() < 0.002 < 0.02 < np.ptp(loose, axis=0).max()
    tool.weights = ContactWeights(feet=0.0)
    np.testing.assert_allclose(paws(target, tool.retarget(clip)), loose, atol=0.005)


def test_the_same_legs_are_left_alone() -> None:
    source, target = animal(), animal(tail=True)
    clip = swaying(source)
    made, free = (Retargeter(source, target).retarget(clip, contacts=c) for c in ("auto", False))
    assert np.array_equal(made.sample(np.arange(60) / 30).rotation, free.sample(np.arange(60) / 30).rotation)
