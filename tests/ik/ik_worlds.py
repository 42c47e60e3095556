"""Small bodies and a plain float64 model of what the solver minimises, for its tests."""

import numpy as np

import marrow as mw
from marrow.math import quaternion

HOLD = (0.0, 0.0, 0.0, 1.0)


def chain(lengths, *, names=None):
    """Joints one above the other along y; the first is at the origin."""
    J = len(lengths) + 1
    rest = mw.Pose.identity(J)
    rest.translation[1:, 1] = lengths
    return mw.Skeleton(names or tuple(f"j{k}" for k in range(J)), np.arange(J) - 1, rest)


def random_skeleton(rng, J):
    """A tree with bones of some decimetres and rest rotations of all kinds."""
    parents = np.array([-1] + [int(rng.integers(max(0, j - 4), j)) for j in range(1, J)])
    rest = mw.Pose.identity(J)
    rest.translation[1:] = rng.normal(0, 0.2, (J - 1, 3))
    rest.rotation[:] = quaternion.normalize(rng.normal(size=(J, 4)))
    return mw.Skeleton(tuple(f"j{k}" for k in range(J)), parents, rest)


def turn(vector):
    """The quaternion of a rotation vector."""
    vector = np.asarray(vector, np.float64)
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    axis = vector / np.where(angle > 0, angle, 1)
    return np.concatenate([axis * np.sin(angle / 2), np.cos(angle / 2)], axis=-1)


def turned(pose, turns):
    """A pose with each joint turned further, by rotation vectors `(..., J, 3)` in the frames of its parents."""
    return pose.replace(rotation=quaternion.multiply(turn(turns), np.asarray(pose.rotation, np.float64)))


def frames(skeleton, translation, rotation):
    """Model-space rotations `(..., J, 4)` and places `(..., J, 3)` of all joints, in float64."""
    turns, places = [], []
    for j, p in enumerate(skeleton.parents):
        if p < 0:
            turns.append(rotation[..., j, :])
            places.append(translation[..., j, :])
        else:
            turns.append(quaternion.multiply(turns[p], rotation[..., j, :]))
            places.append(places[p] + quaternion.rotate(turns[p], translation[..., j, :]))
    return np.stack(turns, -2), np.stack(places, -2)
