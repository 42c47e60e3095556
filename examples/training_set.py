"""A training set: a folder of recordings becomes windows of features, and a model learns from them.

    python examples/training_set.py [MOCAP_FOLDER]

Without a folder, recordings are made of the mannequin's clips. All motion is put on one character, whatever rig it was
recorded with. The model is the simplest there is, a linear one: from three moments of half a second it tells the pose a
fifth of a second later. What it says about motion that it has not seen is measured in degrees, and drawn to
training_set.png.
"""

import sys
from pathlib import Path

import numpy as np

import marrow as mw
from marrow.math import quaternion

RATE, SEEN, AHEAD = 30, 15, 6
BODY = [
    "pelvis",
    "spine*",
    "neck",
    "head",
    "clavicle*",
    "*arm_?",
    "hand*",
    "thigh_?",
    "calf_?",
    "foot*",
    "ball*",
]


def recordings(folder):
    """Files as a motion capture studio delivers them: a BVH for each take, three times round."""
    folder.mkdir(exist_ok=True)
    hero = mw.samples.mannequin()
    for name, clip in hero.clips.items():
        if name.startswith(("walk", "jog", "run")) and not name.endswith(("_left", "_right")):
            long = clip.then(clip, 0.0).then(clip, 0.0)
            mw.save(hero.replace(clips=(long,)), folder / f"{name}.bvh", joints=BODY, rate=RATE)
    return folder


def windows(split):
    """What is seen and what comes: rows `(n, 3 * J * 6 + 1)` and `(n, J, 6)`."""
    rotations = split.array("rotations_6d")
    past = rotations[:, [0, SEEN // 2, SEEN - 1]].reshape(len(rotations), -1)
    return np.column_stack([past, np.ones(len(past))]), rotations[:, -1]


def degrees_apart(a, b, skeleton):
    """The mean angle between joints of two batches of rotations `(n, J, 6)`."""
    a, b = (mw.motion.from_6d(v, skeleton).rotation.astype(np.float64) for v in (a, b))
    turn = np.abs(quaternion.multiply(quaternion.conjugate(a), b)[..., 3])
    return float(np.degrees(2 * np.arccos(np.clip(turn, 0, 1))).mean())


folder = Path(sys.argv[1]) if len(sys.argv) > 1 else recordings(Path("recordings"))
made = mw.dataset.build(
    folder,
    "training_set",
    rate=RATE,
    character="mannequin",
    features=["rotations_6d", "root_trajectory", "contacts"],
    window=SEEN + AHEAD,
    stride=3,
    split=(0.8, 0.2, 0.0),
    workers=0,
)
train, unseen = made["train"], made["validation"]
failed = [source["name"] for source in made.sources() if "error" in source]
print(
    f"{len(train)} windows to learn from, {len(unseen)} of other files to be tried on; {len(failed)} files failed"
)

hero = mw.samples.mannequin()
x, y = windows(train)
flat = y.reshape(len(y), -1)
ridge = 1e-2 * np.eye(x.shape[1])
model = np.linalg.solve(x.T @ x + ridge, x.T @ flat)

x, y = windows(unseen)
guess = (x @ model).reshape(y.shape)
held = x[:, :-1].reshape(len(x), 3, -1, 6)[:, -1]
wrong, lazy = (degrees_apart(v, y, hero.skeleton) for v in (guess, held))
print(
    f"joints {AHEAD / RATE:.1f} s ahead: off by {wrong:.2f} degrees; by {lazy:.2f} if all simply stay as they are"
)

# Half of them as they were, half as they were foretold.
chosen = np.linspace(0, len(y) - 1, 4).astype(int)
poses = [mw.motion.from_6d(v[i], hero.skeleton) for i in chosen for v in (y, guess)]
actors = []
for k, pose in enumerate(poses):
    place = np.eye(3, 4)
    place[0, 3] = 0.75 * k + 0.5 * (k // 2)
    actors.append(mw.Actor(hero, pose, transforms=place, tint=None if k % 2 == 0 else (0.5, 0.7, 1.0)))
mw.render(mw.Scene(actors), camera="front", size=(960, 320)).save("training_set.png")
print("training_set.png: four moments that it had not seen, and in blue what it said")
