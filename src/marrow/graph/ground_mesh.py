"""`GroundMesh`: ground from triangles, such as a level that a modeller made."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.ground_hits import GroundHits, checked_query
from marrow.kernels.ground_rays import ground_below
from marrow.kernels.jobs import Job, thread_count, worth
from marrow.model import _late, _validate
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.mesh import Mesh
from marrow.skinning import skin

__all__ = ["GroundMesh"]

Array = NDArray[Any]
LEAF = 4
"""Triangles in a leaf of the tree."""
SECONDS_A_RAY = 0.3e-6
RAYS = 256
"""Rays that a thread casts at a time."""


class GroundMesh:
    """Ground from triangles: `positions (V, 3)` in the world, +Y up, in metres, and `triangles (T, 3)` of indices. Both
    sides of a triangle count, walls do not. What lies above a point by more than its reach is not seen: a ceiling, the
    floor above.

        crowd.ground = mw.load("stairs.glb")  # makes one
        ground = mw.GroundMesh(positions, triangles)
        heights, normals, hit = ground.query(points, reach=0.5)
    """

    def __init__(self, positions: ArrayLike, triangles: ArrayLike) -> None:
        places = np.asarray(_validate.array("GroundMesh", "positions", positions, np.float64, ("V", 3)))
        corners = places[_checked_triangles(triangles, len(places))]
        if not len(corners):
            raise ValidationError("GroundMesh: there is nothing to stand on: it has no triangles")
        finite = np.isfinite(corners).all(axis=(1, 2))
        if not finite.all():
            t = int(np.argmin(finite))
            raise ValidationError(
                f"GroundMesh: triangle {t} has a corner that is not finite: {corners[t].tolist()}"
            )
        low, high = (pick.reduce(corners.reshape(-1, 3)) for pick in (np.minimum, np.maximum))
        # Near the middle of the mesh, so that float32 is enough however far away it is.
        self._origin = np.round(0.5 * (low + high))
        with np.errstate(over="ignore"):
            near = (corners - self._origin).astype(np.float32)
        if not np.isfinite(near).all():
            raise ValidationError(f"GroundMesh: its size does not fit single precision: from {low} to {high}")
        # What stands upright has nothing to stand on, nor has what has no area.
        a, b, c = (near[:, k].astype(np.float64) for k in range(3))
        ab, ac = b - a, c - a
        near = near[ab[:, 2] * ac[:, 0] != ab[:, 0] * ac[:, 2]]
        if not len(near):
            raise ValidationError(
                f"GroundMesh: there is nothing to stand on: of its {len(corners)} triangles none has an area as seen from "
                "above (+Y is up)"
            )
        self.triangle_count = len(near)
        """Triangles that can be stood on."""
        self._corners, self._boxes = _tree(near)

    @classmethod
    def of(cls, thing: Mesh | Character | str | os.PathLike[str]) -> GroundMesh:
        """The ground that a mesh is, a character in its rest pose, or a file. That of an asset is made once."""
        if isinstance(thing, (str, os.PathLike)):
            thing = _late.function("io", "load")(thing)
        if isinstance(thing, Mesh):
            mesh = thing
            return derived(thing, "ground", lambda: cls(mesh.positions, mesh.triangles))  # type: ignore[no-any-return]
        if isinstance(thing, Character):
            character = thing
            return derived(thing, "ground", lambda: cls(*_rest_surface(character)))  # type: ignore[no-any-return]
        raise WrongTypeError(
            f"GroundMesh.of: expected a Mesh, a Character or a file, got {_validate.shown(thing)}"
        )

    @property
    def bounds(self) -> Array:
        """The lowest and the highest corner of its box, `(2, 3)`."""
        return self._boxes[1].reshape(2, 3) + self._origin

    def query(
        self, points: ArrayLike, reach: float, *, depth: float | None = None, threads: int | None = 1
    ) -> GroundHits:
        """The highest ground that is at most `reach` above and `depth` (left out: `reach`) below `points (N, 3)` in the
        world."""
        places, above, below = checked_query("GroundMesh.query", points, reach, depth)
        places = np.ascontiguousarray(places - self._origin)
        count = len(places)
        heights, normals, hit = np.empty(count), np.empty((count, 3)), np.empty(count, np.uint8)
        workers = worth(count * SECONDS_A_RAY, thread_count(threads))
        nodes = np.empty((workers, 64), np.int32)
        asked = (
            self._boxes,
            self._corners,
            places,
            heights,
            normals,
            hit,
            nodes[0],
            LEAF,
            above,
            below,
            0,
            count,
        )
        if workers == 1:
            ground_below(*asked)
        else:
            job = Job(ground_below.frame(**dict(zip(ground_below.kinds, asked))), "start", "stop")
            job.own({"nodes": list(nodes[1:])})
            job.run(0, count, step=RAYS, workers=workers)
        return GroundHits(heights + self._origin[1], normals, hit.view(np.bool_))

    def __repr__(self) -> str:
        low, high = self.bounds
        return f"GroundMesh({self.triangle_count} triangles, from {low.round(2).tolist()} to {high.round(2).tolist()})"


def _checked_triangles(triangles: ArrayLike, vertices: int) -> Array:
    given = _validate.numbers("GroundMesh.triangles", triangles)
    if given.ndim != 2 or given.shape[1] != 3 or given.dtype.kind not in "iu":
        raise ValidationError(
            f"GroundMesh.triangles: expected whole numbers (T, 3), got {given.dtype} {given.shape}"
        )
    if given.size and not (given.min() >= 0 and given.max() < vertices):
        wrong = int(np.argmax(((given < 0) | (given >= vertices)).any(axis=1)))
        raise ValidationError(
            f"GroundMesh.triangles: triangle {wrong} is {given[wrong].tolist()}, there are {vertices} vertices"
        )
    return given


def _rest_surface(character: Character) -> tuple[Array, Array]:
    """All vertices and triangles of a character in its rest pose."""
    if not any(mesh.triangle_count for mesh in character.meshes):
        raise ValidationError(f"ground: {character.name or 'the character'!r} has no triangles to stand on")
    surface = skin(character, character.skeleton.rest, normals=False, tangents=False)
    first = np.cumsum([0, *(mesh.vertex_count for mesh in character.meshes)])
    triangles = [mesh.triangles.astype(np.int64) + at for mesh, at in zip(character.meshes, first)]
    return surface.positions, np.concatenate(triangles)


def _tree(near: Array) -> tuple[Array, Array]:
    """Triangles `(T, 3, 3)` in the order of the leaves of a tree, `(S, 9)`, NaN where there is none; and the boxes of its
    nodes: see `ground_below`. Each node's triangles are halved along the longest side of what their middles fill."""
    count, leaves = len(near), 1
    while leaves * LEAF < count:
        leaves *= 2
    slots = leaves * LEAF
    # A slot without a triangle comes last, and has an empty box.
    low, high = np.full((3, slots), np.inf, np.float32), np.full((3, slots), -np.inf, np.float32)
    low[:, :count] = functools.reduce(np.minimum, near.transpose(1, 2, 0))
    high[:, :count] = functools.reduce(np.maximum, near.transpose(1, 2, 0))
    middle = np.full((3, slots), np.inf, np.float32)
    middle[:, :count] = 0.5 * low[:, :count] + 0.5 * high[:, :count]
    order, size = np.arange(slots), slots
    while size > LEAF:
        there = middle[:, order]
        first, last = _folded(np.minimum, there, size), np.where(there == np.inf, np.float32(-np.inf), there)
        with np.errstate(over="ignore"):
            axis = np.argmax(_folded(np.maximum, last, size) - first, axis=0)
        along = there.reshape(3, -1, size)[axis, np.arange(slots // size)]
        half = np.argsort(along, axis=1, kind="stable")  # the same on every machine
        order = np.take_along_axis(order.reshape(-1, size), half, axis=1).reshape(-1)
        size //= 2
    corners = np.full((slots, 9), np.nan, np.float32)
    corners[:count] = near.reshape(-1, 9)
    boxes = np.full((2 * leaves, 6), np.nan, np.float32)
    low, high, size = low[:, order], high[:, order], LEAF
    while leaves > 0:
        low, high = _folded(np.minimum, low, size), _folded(np.maximum, high, size)
        boxes[leaves : 2 * leaves] = np.concatenate([low, high]).T
        leaves, size = leaves // 2, 2
    return corners[order], boxes


def _folded(pick: np.ufunc, values: Array, size: int) -> Array:
    """The least or greatest of each `size` (a power of two) that follow each other: many times quicker than `reduce` where
    they are few."""
    while size > 1:
        values = pick(values[:, ::2], values[:, 1::2])
        size //= 2
    return values
