"""What a data set can hold of a motion: features by name, each an array over the frames.

Differences over time (velocities) are central, one-sided at both ends of the clip, per second. Rotations are local:
against the joint above. Positions are in the character's model space: Y up, Z forward, metres, whatever the unit of
the file is where the size of the body tells it; with `scale` they are in units of the file times that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import skinning_matrices, to_model
from marrow.animation.sampling import sample
from marrow.cached import cached_property
from marrow.dataset.recipe import Recipe
from marrow.errors import ValidationError
from marrow.graph.constrained_poses import constrained_poses
from marrow.kernels.rotations import angular_velocities, euler_angles, rotation_vectors
from marrow.math import quaternion, rotation6d
from marrow.math.elementary import arctan2, sincos
from marrow.model import Character, Clip, Pose, Skeleton
from marrow.model._derived import derived
from marrow.motion.contacts import feet_points, feet_shape, on_moving_ground, planted_frames
from marrow.motion.mirror import mirror_map, mirrored_pose
from marrow.motion.rig import find_rig
from marrow.skinning import skin

__all__ = ["FEATURES", "Feature", "Frames", "Sizes"]

Array = NDArray[Any]
PACKED_ERROR = 1e-4
"""Metres that packed motion may be off, 3 cm around joints."""


@dataclass(frozen=True)
class Sizes:
    """How many joints, palette entries, vertices and morph channels rows have, and octets; None where each row has its
    own."""

    J: int | None
    P: int | None
    V: int | None
    M: int | None
    W: int | None = None

    def of(self, axes: Sequence[str | int]) -> tuple[int | None, ...]:
        return tuple(getattr(self, axis) if isinstance(axis, str) else axis for axis in axes)


@dataclass(frozen=True)
class Frames:
    """A clip at the frames of a data set, `T` of them; `kept` are the joints that per-joint features have."""

    character: Character
    clip: Clip
    times: Array
    recipe: Recipe
    kept: Array
    mirrored: bool = False

    @cached_property
    def pose(self) -> Pose:
        pose = constrained_poses(self.character, sample(self.clip, self.times))
        return mirrored_pose(pose, mirror_map(self.character.skeleton)) if self.mirrored else pose

    @cached_property
    def model(self) -> Array:
        return to_model(self.character.skeleton, self.pose)

    @cached_property
    def positions(self) -> Array:
        """Joints in model space, `(T, J, 3)` float64: all of them."""
        return self.model[..., 3].astype(np.float64)

    @cached_property
    def velocities(self) -> Array:
        """Of the kept joints, `(T, J, 3)` metres a second."""
        return self.change(self.positions[:, self.kept])

    def change(self, values: Array) -> Array:
        """How values `(T, ...)` change, per second."""
        out = np.zeros_like(values)
        if len(values) > 1:
            rate = self.recipe.rate
            out[1:-1] = (values[2:] - values[:-2]) * (rate / 2)
            out[0], out[-1] = (values[1] - values[0]) * rate, (values[-1] - values[-2]) * rate
        return out

    @cached_property
    def root(self) -> int:
        """The joint that stands for the whole character: the hips of a body, else the first joint that has no
        parent."""
        skeleton = self.character.skeleton
        hips = find_rig(skeleton).joint("hips")
        return hips if hips >= 0 else int(skeleton.roots[0])

    @cached_property
    def heading(self) -> Array:
        """Where the character faces, as turn about +Y from +Z, `(T,)`.

        A body faces across the line through its hips and shoulders; anything else as its root has turned since rest. A
        frame that faces straight up or down keeps the heading of the one before it.
        """
        skeleton, p = self.character.skeleton, self.positions
        rig = find_rig(skeleton)
        if rig.complete:
            leg, arm = (
                p[:, rig.joint(f"left_{part}")] - p[:, rig.joint(f"right_{part}")] for part in ("leg", "arm")
            )
            left = leg + arm
            ahead = np.stack([-left[:, 2], left[:, 0]], axis=-1)  # cross(left, up) on the ground: x and z
        else:
            rest = _turn(skeleton.rest_model[self.root].astype(np.float64))
            since = quaternion.multiply(
                _turn(self.model[:, self.root].astype(np.float64)), quaternion.conjugate(rest)
            )
            ahead = quaternion.rotate(since, np.array([0.0, 0.0, 1.0]))[..., [0, 2]]
        level = np.abs(ahead).max(axis=-1) > 1e-6
        if not level.any():
            return np.zeros(len(ahead))
        last = np.maximum.accumulate(np.where(level, np.arange(len(level)), -1))
        ahead = ahead[np.where(last >= 0, last, np.argmax(level))]
        return arctan2(ahead[:, 0], ahead[:, 1])

    def levelled(self, vectors: Array) -> Array:
        """Vectors `(T, J, 3)` of model space as seen by one who faces along +Z."""
        s, c = sincos(self.heading)
        x, z = vectors[..., 0], vectors[..., 2]
        s, c = s[:, None], c[:, None]
        return np.stack([c * x - s * z, vectors[..., 1], s * x + c * z], axis=-1)

    def part(self, start: int, stop: int) -> Frames:
        """Some of the frames, for what asks for one frame at a time."""
        return Frames(
            self.character, self.clip, self.times[start:stop], self.recipe, self.kept, self.mirrored
        )


def _turn(model: Array) -> Array:
    """The rotation in affine matrices that may be scaled."""
    columns = model[..., :3]
    length = np.sqrt((columns * columns).sum(axis=-2, keepdims=True))
    return quaternion.from_matrix(columns / np.where(length > 0, length, 1.0))


def _rotations(f: Frames) -> Array:
    return np.ascontiguousarray(f.pose.rotation[:, f.kept], np.float32)


def _like(q: Array) -> Array:
    return np.empty((*q.shape[:-1], 3), np.float32)


def _axis_angle(f: Frames) -> Array:
    q = _rotations(f)
    out = _like(q)
    rotation_vectors(q.reshape(-1, 4), out.reshape(-1, 3))
    return out


def _euler(f: Frames) -> Array:
    q = _rotations(f)
    out = _like(q)
    euler_angles(q.reshape(-1, 4), out.reshape(-1, 3), *("xyz".index(axis) for axis in f.recipe.euler_order))
    return out


def _angular_velocities(f: Frames) -> Array:
    """The turn from the frame before to the frame after, in the frame of the joint above."""
    q = _rotations(f)
    out = _like(q)
    angular_velocities(q, out, f.recipe.rate)
    return out


def _root_trajectory(f: Frames) -> Array:
    return np.concatenate([f.positions[:, f.root], f.heading[:, None]], axis=-1)


def _root_velocity(f: Frames) -> Array:
    moved = f.levelled(f.change(f.positions[:, [f.root]]))[:, 0]
    whole = 2 * np.pi
    steps = np.diff(f.heading)
    unwrapped = np.concatenate([[0.0], np.cumsum(steps - whole * np.floor(steps / whole + 0.5))])
    return np.concatenate([moved, f.change(unwrapped)[:, None]], axis=-1)


def _positions_heading(f: Frames) -> Array:
    ground = f.positions[:, [f.root]] * [1.0, 0.0, 1.0]
    return f.levelled(f.positions[:, f.kept] - ground)


def _contacts(f: Frames) -> Array:
    skeleton = f.character.skeleton
    rig = find_rig(skeleton)
    if not rig.complete:
        raise ValidationError("contacts are of bodies with two legs, and this is none that marrow recognises")
    shape = derived(skeleton, "feet", lambda: feet_shape(skeleton, rig.chains))
    points = feet_points(skeleton, f.model, rig.chains, shape)
    r = f.recipe
    limits = {"height": r.contact_height, "speed": r.contact_speed}
    moved = on_moving_ground(points, f.times, **limits)
    return planted_frames(moved, f.times, **limits).reshape(-1, 4)


def packed_octets(f: Frames) -> Array:
    """The pose of the kept joints, packed without a rest pose: whoever decodes it needs nothing else."""
    skeleton, kept = f.character.skeleton, f.kept.tolist()
    place = {j: k for k, j in enumerate(kept)}
    parents = [next((place[a] for a in skeleton.ancestors(j) if a in place), -1) for j in kept]
    above = [-1 if p >= k else p for k, p in enumerate(parents)]  # in the order of the data set
    count, pose = len(kept), f.pose
    rest = Pose(np.zeros((count, 3)), np.tile([0.0, 0, 0, 1], (count, 1)), np.ones((count, 3)))
    bare = Skeleton(tuple(skeleton.names[j] for j in kept), np.array(above), rest)
    parts = (pose.translation[:, kept], pose.rotation[:, kept], pose.scale[:, kept])
    clip = Clip.from_poses(f.clip.name, bare, Pose(*(np.ascontiguousarray(p) for p in parts)), f.recipe.rate)
    motion = clip.compressed(error=PACKED_ERROR).packed
    assert motion is not None
    return motion.words.view(np.uint8)[None]


def _vertices(f: Frames) -> Array:
    return skin(f.character, f.pose, normals=False, tangents=False, threads=1).positions


@dataclass(frozen=True)
class Feature:
    """A feature: the axes of one frame of it (letters of the design, or sizes), how it is made, and what it is in
    words.

    `channels` are how many of the last axes have statistics of their own. `alone` says that each frame can be made
    without the others, so that large ones are made a window at a time. `together` has one thing for all frames of a row.
    """

    axes: tuple[str | int, ...]
    words: str
    make: Callable[[Frames], Array] | None = None
    dtype: str = "<f4"
    channels: int = 2
    alone: bool = False
    together: bool = False


_J = "J"
FEATURES: dict[str, Feature] = {
    "times": Feature((), "seconds since the clip began", lambda f: f.times, channels=0, alone=True),
    "rotations": Feature((_J, 4), "local rotations, quaternions xyzw", _rotations),
    "rotations_6d": Feature(
        (_J, 6),
        "local rotations, the first two columns of their matrices (Zhou et al. 2019)",
        lambda f: rotation6d.to_6d(_rotations(f)),
    ),
    "rotations_axis_angle": Feature((_J, 3), "local rotations, axis times angle in radians", _axis_angle),
    "rotations_euler": Feature(
        (_J, 3), "local rotations, three angles in radians in the order of euler_order", _euler
    ),
    "translations": Feature((_J, 3), "local translations", lambda f: f.pose.translation[:, f.kept]),
    "scales": Feature((_J, 3), "local scales", lambda f: f.pose.scale[:, f.kept]),
    "positions": Feature((_J, 3), "joints in model space", lambda f: f.positions[:, f.kept]),
    "velocities": Feature((_J, 3), "of joints in model space, a second", lambda f: f.velocities),
    "angular_velocities": Feature(
        (_J, 3), "of local rotations in the frame of the joint above, radians a second", _angular_velocities
    ),
    "root_trajectory": Feature(
        (4,),
        "x, y, z of the hips (or the root) and the heading: the turn about +Y from +Z, radians",
        _root_trajectory,
        channels=1,
    ),
    "root_velocity": Feature(
        (4,),
        "velocity of the hips as the heading sees it (x to its left, z ahead), and its turning, radians a second",
        _root_velocity,
        channels=1,
    ),
    "positions_heading": Feature(
        (_J, 3), "joints seen from the ground below the hips, facing along +Z", _positions_heading
    ),
    "velocities_heading": Feature(
        (_J, 3), "velocities of joints, facing along +Z", lambda f: f.levelled(f.velocities)
    ),
    "contacts": Feature(
        (4,), "which points stand: left heel, left ball, right heel, right ball", _contacts, "|u1", 1
    ),
    "matrices": Feature(
        ("P", 3, 4),
        "skinning matrices",
        lambda f: skinning_matrices(f.character, f.model),
        channels=3,
        alone=True,
    ),
    "vertices": Feature(("V", 3), "vertices of all meshes in model space", _vertices, channels=1, alone=True),
    "morphs": Feature(
        ("M",), "weights of the morph channels", lambda f: f.pose.morphs, channels=1, alone=True
    ),
    "packed": Feature(
        ("W",),
        "the local transforms of all joints in a tenth of their room, within 0.1 mm (docs/compression.md), as octets",
        packed_octets,
        "|u1",
        channels=0,
        alone=True,
        together=True,
    ),
    "events": Feature(
        (), "the events of the clip inside the row: name, time from its start, duration, payload"
    ),
    "text": Feature((), "lines of the .txt file beside the source"),
    "tags": Feature(
        (),
        "tags of the .tags file beside the source: one a line, or with commas between; a tag may have spaces",
    ),
}
TABLES = ("events", "text", "tags")
"""Features that are no arrays."""
