"""`Stage`: what a view sees of a scene. Each actor is there as it stands: its character, and its instances in the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import skinning_matrices
from marrow.cached import cached_property
from marrow.errors import UnknownNameError
from marrow.graph.spring_plan import SpringPlan
from marrow.graph.spring_sets import SpringSet
from marrow.math import affine
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.model.skeleton import Skeleton
from marrow.motion import find_rig
from marrow.motion.helper_joints import helper_joints
from marrow.scene.colors import LEFT, MIDDLE, RIGHT
from marrow.skinning.deform import skin
from marrow.skinning.surface import Surface

__all__ = [
    "Posed",
    "PosedChoice",
    "PosedEffector",
    "PosedTarget",
    "Stage",
    "no_joint",
    "shown_joints",
    "side_colors",
]

Array = NDArray[Any]


class PosedTarget(NamedTuple):
    """The target of a motion warp in model space: `translation (N, 3)`, `facing (N, 3)` or None, how far its window is
    `(N,)`, NaN where none is open, and the joint that reaches for it, -1 for the root itself."""

    translation: Array
    facing: Array | None
    progress: Array
    joint: int = -1


class PosedEffector(NamedTuple):
    """Where a joint should be, in model space: `target (N, 3)`, NaN for instances that have none."""

    joint: int
    target: Array
    point: tuple[float, ...] = (0.0, 0.0, 0.0)
    """The place on the joint that shall be there, in the joint's frame."""


class PosedChoice(NamedTuple):
    """What motion matching chose, in model space: the ways that are wanted and found, with what is looked along there,
    `(N, k, 4)`: x and z of the place, x and z of the facing; what plays, in words, for each."""

    wanted: Array
    found: Array
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Posed:
    """N instances of an actor that are shown at one `level` of detail: `character` is the character at that level, `model
    (N, J, 3, 4)` its joints in model space, `transforms (N, 3, 4)` say where the instances stand, `morphs (N, M)` are morph
    weights. `clip` and `times (N,)` say where the poses came from, where that is known. `actor` is the number of the actor
    in the scene, `instances (N,)` are theirs in the actor. `targets` are those of the motion warps of its graph,
    `effectors` the joints that have a place to be at, `springs` what swings, `choices` those of motion matching."""

    actor: int
    character: Character
    model: Array
    transforms: Array
    morphs: Array | None = None
    level: int = 0
    instances: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    clip: Clip | None = None
    times: Array = field(default_factory=lambda: np.zeros(0))
    skinning: str | None = None
    targets: tuple[PosedTarget, ...] = ()
    effectors: tuple[PosedEffector, ...] = ()
    springs: tuple[SpringSet | SpringPlan, ...] = ()
    choices: tuple[PosedChoice, ...] = ()

    @property
    def key(self) -> tuple[int, int]:
        """What paints are kept by."""
        return self.actor, self.level

    @property
    def count(self) -> int:
        return len(self.model)

    @cached_property
    def world(self) -> Array:
        """Joints in the world, `(N, J, 3, 4)` float64."""
        return affine.multiply(self.transforms[:, None].astype(np.float64), self.model.astype(np.float64))

    @cached_property
    def joints(self) -> Array:
        """Where the joints are in the world, `(N, J, 3)`."""
        return self.world[..., 3]

    @cached_property
    def palettes(self) -> Array:
        """Skinning matrices `(N, P, 3, 4)`."""
        return skinning_matrices(self.character, self.model)

    def skinned(self, skinning: str | None = None, *, normals: bool = True) -> Surface:
        """The vertices of all instances in model space, by `skinning` or as the actor is skinned."""
        return skin(
            self.character,
            np.ascontiguousarray(self.palettes, np.float32),
            skinning=skinning or self.skinning,
            morphs=self.morphs,
            normals=normals,
        )

    @cached_property
    def surface(self) -> Surface:
        return self.skinned()

    @cached_property
    def vertices(self) -> Array:
        """Vertices in the world, `(N, V, 3)` float64."""
        return self.placed(self.surface.positions)

    def placed(self, points: Array) -> Array:
        """Points of model space `(N, ..., 3)` in the world."""
        turn, move = self.transforms[..., :3].astype(np.float64), self.transforms[..., 3].astype(np.float64)
        flat = points.reshape(len(points), -1, 3).astype(np.float64)
        return (flat @ turn.swapaxes(1, 2) + move[:, None]).reshape(points.shape)

    def directed(self, vectors: Array, *, normals: bool = False) -> Array:
        """Unit vectors of model space `(N, V, 3)` in the world; normals go by the cofactor of the transform, and
        stay outside where it mirrors."""
        turn = self.transforms[..., :3].astype(np.float64)
        if normals:
            turn = affine.normal_matrix(turn)
        out = vectors.astype(np.float64) @ turn.swapaxes(1, 2)
        return out / np.maximum(np.linalg.norm(out, axis=-1, keepdims=True), 1e-30)

    @cached_property
    def size(self) -> float:
        """The length of the diagonal of the box around the first instance in the world, in metres; 1 where it has no
        extent."""
        bones = self.joints[:1, shown_joints(self.character)]
        points = self.vertices[:1] if self.character.vertex_count else bones
        columns = np.ascontiguousarray(points.reshape(-1, 3).T)  # many times quicker to go through
        if not np.isfinite(columns.sum()):
            columns = columns[:, np.isfinite(columns).all(axis=0)]
        size = float(np.linalg.norm(columns.max(axis=1) - columns.min(axis=1))) if columns.size else 0.0
        return size if size > 0 else 1.0


@dataclass(frozen=True, eq=False)
class Stage:
    """All actors of a scene as views see them, and a character to compare with (`compare`), where one was named."""

    things: tuple[Posed, ...]
    compare: Character | None = None


def shown_joints(character: Character) -> Array:
    """The joints worth drawing, `(J,)` bool: those that move vertices, what lies between them and their root, and their
    ends. Nodes that only carry meshes are none; without any skin all are shown but cameras and lights."""
    found: Array = derived(character, "shown joints", lambda: _shown_joints(character))
    return found


def _shown_joints(character: Character) -> Array:
    skeleton, deforms = character.skeleton, character.deforms
    parents = skeleton.parents.tolist()
    if not deforms.any():
        return np.asarray(~helper_joints(character))
    below, out = deforms.copy(), deforms.copy()
    for j in range(len(parents) - 1, 0, -1):
        if below[j] and parents[j] >= 0:
            below[parents[j]] = True
    carries = np.zeros(len(parents), bool)
    carries[[m.node for m in character.meshes if m.node >= 0]] = True
    for j, p in enumerate(parents):
        # An end joint has no weight of its own, but says where the last bone points.
        out[j] = deforms[j] or (below[j] and p >= 0) or (p >= 0 and bool(deforms[p]) and not carries[j])
    return out


def side_colors(character: Character) -> Array:
    """A colour for each joint `(J, 3)`: left, right or middle of the body, as the rig says."""
    found: Array = derived(character, "side colors", lambda: _side_colors(character))
    return found


def _side_colors(character: Character) -> Array:
    skeleton = character.skeleton
    out = np.tile(MIDDLE, (len(skeleton), 1))
    rig = find_rig(skeleton)
    for part, chain in rig.chains.items():
        if chain and part.startswith(("left", "right")):
            side = skeleton.descendants(chain[0])
            out[side] = LEFT if part.startswith("left") else RIGHT
    return out


def no_joint(name: str, skeletons: list[Skeleton]) -> NoReturn:
    """Raises the error for a joint that none of those who are shown has; it names one that is near."""
    for skeleton in skeletons:
        skeleton.index(name)
    raise UnknownNameError("joint", name, ())
