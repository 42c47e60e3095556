"""A body whose legs hang on a joint that lies on the ground still stands on two legs."""

import numpy as np

import marrow as mw
from marrow.motion import find_rig

BODY = {
    "Root": (None, (0, 0, 0)), "Hips": ("Root", (0, 1.0, 0)), "Torso": ("Hips", (0, 1.25, 0)),
    "Chest": ("Torso", (0, 1.4, 0)), "Neck": ("Chest", (0, 1.5, 0)), "Head": ("Neck", (0, 1.6, 0)),
} | {
    f"{part}.{side}": (above if above in ("Root", "Chest") else f"{above}.{side}", (x * sign, y, z))
    for side, sign in (("L", 1), ("R", -1))
    for part, above, x, y, z in (
        ("UpperArm", "Chest", 0.12, 1.44, 0), ("LowerArm", "UpperArm", 0.35, 1.44, 0), ("Hand", "LowerArm", 0.6, 1.44, 0),
        ("UpperLeg", "Root", 0.1, 1.0, 0), ("LowerLeg", "UpperLeg", 0.1, 0.55, 0.03), ("Foot", "LowerLeg", 0.1, 0.03, 0),
    )
}  # fmt: skip


def test_legs_that_hang_on_a_joint_on_the_ground_are_legs():
    names = list(BODY)
    parents = [-1 if BODY[n][0] is None else names.index(BODY[n][0]) for n in names]
    at = np.array([BODY[n][1] for n in names], float)
    local = np.array([at[j] - (at[p] if p >= 0 else 0) for j, p in enumerate(parents)])
    rest = mw.Pose(local, np.tile([0, 0, 0, 1.0], (len(names), 1)), np.ones((len(names), 3)))
    rig = find_rig(mw.Skeleton(tuple(names), parents, rest))
    assert rig.kind == "humanoid" and rig.complete
