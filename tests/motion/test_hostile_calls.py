"""Motion tools called wrongly: whatever is passed for any argument, the answer is a result or a MarrowError with words."""

from __future__ import annotations

import numpy as np
import pytest
import rigs
from families import PARTS_WITHOUT_FINGERS

import marrow as mw
from hostile import exchange, hostile

WHOLE = mw.samples.mannequin()
# A body of 22 joints and a mesh of a few triangles is enough to be called wrongly.
BONES = rigs.body({n: n for n in PARTS_WITHOUT_FINGERS}, root="root")
CLIPS = [mw.retarget(WHOLE.clips[n], onto=BONES).trimmed(0, 0.3) for n in ("walk", "run")]
HERO = mw.Character(BONES, (mw.Mesh.rigid("box", np.eye(3), [[0, 1, 2]], 1),), CLIPS)
WALK, RUN = CLIPS
EVENTFUL = WALK.replace(events=[mw.Event(0.1, "step")])
POSES = WALK.sample([0.0, 0.1, 0.2])
OTHER = mw.Skeleton(tuple(f"{n}_jnt" for n in BONES.names), BONES.parents, BONES.rest)

HOSTILE = hostile(a_pose=BONES.rest, poses=POSES, a_clip=WALK, a_character=HERO, a_joint="pelvis")
TOOL = mw.Retargeter(HERO, OTHER)
CALLS = {
    "retarget": (
        mw.retarget,
        {
            "clip": WALK,
            "onto": OTHER,
            "source": HERO,
            "map": None,
            "contacts": True,
            "hands": True,
            "scale": None,
            "units": None,
            "rate": 10.0,
        },
    ),
    "Retargeter": (
        mw.Retargeter,
        {"source": BONES, "onto": OTHER, "map": None, "scale": 1.0, "units": 1.0},
    ),
    "quality": (TOOL.quality, {"clip": WALK, "result": TOOL.retarget(WALK)}),
    "from_poses": (
        mw.Clip.from_poses,
        {"name": "n", "skeleton": BONES, "poses": POSES, "rate": 30.0, "events": ()},
    ),
    "from_poses at times": (
        mw.Clip.from_poses,
        {"name": "n", "skeleton": BONES, "poses": POSES, "times": [0, 0.1, 0.2]},
    ),
    "from_run": (
        mw.Clip.from_run,
        {
            "animator": mw.Animator(HERO),
            "seconds": 0.1,
            "rate": 30.0,
            "instance": 0,
            "name": "n",
            "travel": True,
        },
    ),
    "mirrored": (WALK.mirrored, {"pairs": {"hand_l": "hand_r"}, "name": "n"}),
    "trimmed": (WALK.trimmed, {"start": 0.1, "end": 0.2, "name": "n"}),
    "cut": (WALK.cut, {"ranges": {"a": (0, 0.1)}}),
    "split at": (WALK.split, {"at": [0.1]}),
    "split at an event": (EVENTFUL.split, {"event": "step"}),
    "split at silence": (WALK.split, {"silence": 0.1}),
    "then": (WALK.then, {"other": RUN, "blend": 0.1, "follow": True, "name": "n", "rate": 30.0}),
    "looped": (WALK.looped, {"window": 0.1, "travel": True, "joint": "pelvis", "rate": 30.0}),
    "in_place": (WALK.in_place, {"joint": "root", "rate": 30.0}),
    "with_travel": (WALK.with_travel, {"velocity": (0, 0, 1), "joint": "root", "rate": 30.0}),
    "retimed": (WALK.retimed, {"speed": 2.0}),
    "retimed to": (WALK.retimed, {"duration": 2.0}),
    "at_rate": (WALK.at_rate, {"rate": 30.0}),
    "renamed": (WALK.renamed, {"name": "n"}),
    "only": (WALK.only, {"joints": ["head"], "below": True, "morphs": True}),
    "without": (WALK.without, {"joints": ["head"], "below": True}),
    "as_additive": (WALK.as_additive, {"to": 0.1}),
    "smoothed": (
        WALK.smoothed,
        {"cutoff": 6.0, "method": "one-euro", "joints": ["head"], "beta": 0.5, "rate": 30.0},
    ),
    "with_contacts": (WALK.with_contacts, {"height": 0.05, "speed": 0.2, "names": {"left": "a"}}),
    "reduced": (WALK.reduced, {"error": 0.01, "character": HERO}),
    "blend": (mw.blend, {"poses": [POSES, POSES], "weights": [0.5, 0.5]}),
    "sample_clips": (
        mw.sample_clips,
        {"clips": [WALK, RUN], "which": [0, 1], "time": [0.1, 0.2], "loop": True},
    ),
    "to_6d": (mw.motion.to_6d, {"pose": POSES}),
    "from_6d": (
        mw.motion.from_6d,
        {"values": mw.motion.to_6d(POSES), "like": BONES, "translation": POSES.translation},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_any_wrong_argument_is_a_marrow_error(name: str) -> None:
    function, good = CALLS[name]
    exchange(function, good, HOSTILE, name=name)
