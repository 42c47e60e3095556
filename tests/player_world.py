"""A body that nobody knows, and that walks."""

import math

import numpy as np

import marrow as mw


def box(name, joint, size):
    corners = np.array(list(np.ndindex(2, 2, 2)), float) * size - np.array(size) * [0.5, 0, 0.5]
    faces = [
        (0, 1, 2),
        (1, 3, 2),
        (4, 6, 5),
        (5, 6, 7),
        (0, 4, 1),
        (1, 4, 5),
        (2, 3, 6),
        (3, 7, 6),
        (0, 2, 4),
        (2, 6, 4),
    ]
    return mw.Mesh.rigid(name, corners, faces, joint)


def stilts(speed=1.2, turned=0.0, name="Walk"):
    """A box on two poles that no rig detector knows. In a second each pole stands for half of it, going back at `speed`,
    and comes forward in the air."""
    bones = mw.Skeleton(("base", "crate", "pole_a", "pole_b"), [-1, 0, 0, 0])
    meshes = (box("crate", 1, (0.5, 0.6, 0.3)), box("a", 2, (0.1, 0.9, 0.1)), box("b", 3, (0.1, 0.9, 0.1)))
    times = np.linspace(0, 1, 61)
    pose = mw.Pose.identity(4, shape=(61,))
    ahead = np.array([math.sin(turned), 0.0, math.cos(turned)])
    aside = np.array([math.cos(turned), 0.0, -math.sin(turned)])
    translation = np.array(pose.translation)
    translation[:, 1] = (0, 0.9, 0)
    for joint, start, side in ((2, 0.0, 0.2), (3, 0.5, -0.2)):
        phase = (times + start) % 1.0
        reach = speed / 4
        along = np.where(phase < 0.5, reach - speed * phase, -reach + speed * (phase - 0.5))
        up = np.where(phase < 0.5, 0.0, 0.15 * np.sin(2 * np.pi * (phase - 0.5)))
        translation[:, joint] = along[:, None] * ahead + side * aside + up[:, None] * [0, 1, 0]
    clip = mw.Clip.from_poses(name, bones, pose.replace(translation=translation), times=times)
    return mw.Character(bones, meshes, clips=(clip,), name="stilts")
