"""`mw.skin`: the public operation and its choice of kernel."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import check_pose, output, skinning_matrices, to_model
from marrow.errors import ValidationError
from marrow.kernels import poses
from marrow.kernels.compiler import readonly
from marrow.kernels.skinning import skin_kernel
from marrow.math import affine
from marrow.model.character import Character, Palette
from marrow.model.mesh import SKINNING_METHODS, Mesh
from marrow.model.morph import target_weights
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton
from marrow.skinning.layout import Layout, layout_of
from marrow.skinning.surface import Surface
from marrow.skinning.threads import run_split

__all__ = ["palette_of", "resolve", "skin"]

Array = NDArray[Any]
# What a block of 16 vertices costs, for deciding whether threads are worth it.
SECONDS_PER_BLOCK = 25e-9
# Blended meshes are skinned twice, through a buffer of this many vertices at a time.
BLEND_BUFFER_VERTICES = 1 << 20
EMPTY = readonly(np.zeros(0, np.float32))


@dataclass(frozen=True)
class Motion:
    """What moves the vertices: flat skinning matrices `(F, P, 12)`, morph channel weights `(F, M)`, batch shape."""

    matrices: Array
    morphs: Array | None
    batch: tuple[int, ...]


_mesh_palettes: weakref.WeakKeyDictionary[Mesh, Palette] = weakref.WeakKeyDictionary()
_pivots: weakref.WeakKeyDictionary[Palette, Array] = weakref.WeakKeyDictionary()


def palette_of(thing: Character | Mesh) -> Palette:
    """The palette of a character, or of one mesh by itself: its own joint list."""
    if isinstance(thing, Character):
        return thing.palette
    if thing not in _mesh_palettes:
        slots = (np.arange(len(thing.joint_list), dtype=np.uint32),)
        _mesh_palettes[thing] = Palette(thing.joint_list, thing.inverse_bind, slots)
    return _mesh_palettes[thing]


def bind_positions(palette: Palette) -> Array:
    """Where each palette entry's joint is at bind, `(P, 3)` float64: the point its scale is applied about."""
    if palette not in _pivots:
        origin = affine.invert(palette.inverse_bind.astype(np.float64))[..., 3]
        _pivots[palette] = readonly(np.where(np.isfinite(origin), origin, 0.0))
    return _pivots[palette]


def resolve(
    thing: Character | Mesh, pose: Pose | Array, skeleton: Skeleton | None, morphs: Array | None
) -> Motion:
    """Skinning matrices and morph weights of what a caller may pass as `pose`."""
    palette = palette_of(thing)
    if isinstance(pose, Pose):
        if isinstance(thing, Character):
            skeleton = thing.skeleton
        elif skeleton is None:
            raise ValidationError(
                f"skin: a pose of {thing!r} needs its skeleton: pass skeleton=, skin the whole character, or pass "
                "skinning matrices"
            )
        check_pose(skeleton, pose)
        matrices = skinning_matrices(palette, to_model(skeleton, pose))
        if morphs is None and pose.morph_count:
            morphs = pose.morphs
    else:
        matrices = np.asarray(pose)
        if matrices.ndim < 3 or matrices.shape[-3:] != (len(palette), 3, 4):
            raise ValidationError(
                f"skin: expected a Pose or skinning matrices (..., {len(palette)}, 3, 4), got shape {matrices.shape}"
            )
    batch = matrices.shape[:-3]
    flat = readonly(np.ascontiguousarray(matrices, np.float32).reshape(-1, len(palette), 12))
    if morphs is not None:
        morphs = np.asarray(morphs)
        if morphs.shape[:-1] != batch:
            morphs = np.broadcast_to(morphs, (*batch, morphs.shape[-1]))
        morphs = morphs.reshape(-1, morphs.shape[-1])
    return Motion(flat, morphs, batch)


def skin(
    thing: Character | Mesh,
    pose: Pose | Array,
    *,
    method: str | None = None,
    influences: int | None = None,
    normals: bool = True,
    tangents: bool = True,
    morphs: Array | None = None,
    skeleton: Skeleton | None = None,
    threads: int | None = 1,
    out: Surface | None = None,
) -> Surface:
    """Deforms a character, or one mesh, by a pose or a batch of poses.

    `pose` is a `Pose`, or skinning matrices `(..., P, 3, 4)` such as `animator.matrices` (then `morphs (..., M)` are the
    morph weights, if any). `method` is `linear`, `dual_quaternion` or `blended`; None takes what each mesh's author asked
    for. `influences` limits the influences per vertex to the strongest few. `threads=None` uses all cores where the work is
    worth it. `out`, a `Surface` of the right shapes, is written into and returned.
    """
    if not isinstance(thing, (Character, Mesh)):
        raise ValidationError(f"skin: expected a Character or a Mesh, got {type(thing).__name__}")
    if method is not None and method not in SKINNING_METHODS:
        raise ValidationError(f"skin: method must be one of {', '.join(SKINNING_METHODS)}, got {method!r}")
    if influences is not None and influences < 1:
        raise ValidationError(f"skin: influences must be at least 1, got {influences}")
    motion = resolve(thing, pose, skeleton, morphs)
    meshes = thing.meshes if isinstance(thing, Character) else (thing,)
    V, F = sum(m.vertex_count for m in meshes), len(motion.matrices)
    normals = normals and any(m.normals is not None for m in meshes)
    tangents = tangents and normals and any(m.tangents is not None for m in meshes)
    p = output("skin: out.positions", (*motion.batch, V, 3), out.positions if out else None)
    n = output("skin: out.normals", (*motion.batch, V, 3), out.normals if out else None) if normals else None
    t = output("skin: out.tangents", (*motion.batch, V, 4), out.tangents if out else None) if tangents else None
    surface = Surface(p, n, t)
    if V == 0 or F == 0:
        return surface
    groups: dict[str, list[int]] = {}
    for i, m in enumerate(meshes):
        chosen = method or m.skinning
        if chosen == "blended" and m.dual_quaternion_weights is None:
            raise ValidationError(f"skin: {m!r} has no dual_quaternion_weights, which blended skinning needs")
        groups.setdefault(chosen, []).append(i)
    for chosen, indices in groups.items():
        members = None if len(indices) == len(meshes) else tuple(indices)
        job = _Job(thing, members, influences, motion, V, threads)
        if chosen == "blended":
            job.blended([meshes[i] for i in indices], p, n, t)
        else:
            job.run(chosen, p, n, t, 0, F)
    return surface


@dataclass(frozen=True)
class _Job:
    """One group of meshes that share a skinning method."""

    thing: Character | Mesh
    members: tuple[int, ...] | None
    influences: int | None
    motion: Motion
    vertex_count: int
    threads: int | None

    def layout(self, method: str) -> Layout:
        lead_first = method == "dual_quaternion"
        members = self.members if isinstance(self.thing, Character) else None
        return layout_of(self.thing, members=members, influences=self.influences, lead_first=lead_first)

    def run(self, method: str, p: Array, n: Array | None, t: Array | None, first: int, last: int) -> None:
        """Skins poses `first..last` into the front of the outputs."""
        layout = self.layout(method)
        matrices = self.motion.matrices[first:last]
        F, P = matrices.shape[:2]
        dual = EMPTY
        if method == "dual_quaternion":
            dual, stretch = np.empty((F, P, 8), np.float32), np.empty((F, P, 12), np.float32)
            if poses.dual_quaternions(matrices, bind_positions(palette_of(self.thing)), dual, stretch):
                method = "dual_quaternion_stretch"
            matrices, dual = readonly(stretch), readonly(dual)
        weights = EMPTY
        if layout.targets and self.motion.morphs is not None:
            values = target_weights(layout.targets, self.motion.morphs[first:last])
            weights = readonly(np.ascontiguousarray(values, np.float32))
        vectors = (n is not None and layout.has_normals) + (t is not None and layout.has_tangents and layout.has_normals)
        self._clear_rows(layout, n if vectors < 1 else None, t if vectors < 2 else None)
        kernel = skin_kernel(method, vectors, weights.size > 0)
        scratch = np.zeros(0, np.float32)
        arrays = (
            layout.ranges, layout.joint_start, layout.joints, layout.weights, layout.rows,
            layout.positions, layout.normals, layout.tangents,
            layout.morph_start, layout.morph_target, layout.morph_deltas, weights.reshape(-1), len(layout.targets),
            matrices.reshape(-1), dual.reshape(-1), p.reshape(-1),
            n.reshape(-1) if n is not None else scratch, t.reshape(-1) if t is not None else scratch,
            P, self.vertex_count,
        )  # fmt: skip
        blocks = layout.block_count
        seconds = F * blocks * SECONDS_PER_BLOCK * (1 + vectors)
        if F > 1:
            run_split(lambda a, b: kernel(*arrays, a, b, 0, blocks), F, seconds, self.threads)
        else:
            run_split(lambda a, b: kernel(*arrays, 0, 1, a, b), blocks, seconds, self.threads)

    def _clear_rows(self, layout: Layout, *unwritten: Array | None) -> None:
        """Meshes without normals or tangents in a character that has some: their rows are zero."""
        for values in unwritten:
            if values is not None:
                values.reshape(-1, *values.shape[-2:])[:, layout.rows] = 0

    def blended(self, meshes: list[Mesh], p: Array, n: Array | None, t: Array | None) -> None:
        """Linear and dual quaternion, mixed by each vertex's own weight (1 is all dual quaternion)."""
        V, F = self.vertex_count, len(self.motion.matrices)
        share = np.zeros(V, np.float32)
        rows = self.layout("linear").rows
        share[np.unique(rows)] = np.concatenate([m.dual_quaternion_weights for m in meshes])
        rows = np.unique(rows)
        step = max(1, BLEND_BUFFER_VERTICES // max(V, 1))
        flat = [a if a is None else a.reshape(F, V, a.shape[-1]) for a in (p, n, t)]
        for first in range(0, F, step):
            last = min(F, first + step)
            target = [None if a is None else a[first:last] for a in flat]
            rigid = [None if a is None else np.empty_like(a) for a in target]
            self.run("linear", *target, first, last)  # type: ignore[arg-type]
            self.run("dual_quaternion", *rigid, first, last)  # type: ignore[arg-type]
            w = share[rows, None]
            for a, b in zip(target, rigid):
                if a is None or b is None:
                    continue
                mixed = a[:, rows, :3] * (1 - w) + b[:, rows, :3] * w
                if a is not target[0]:
                    length = np.linalg.norm(mixed, axis=-1, keepdims=True)
                    mixed /= np.where(length == 0, 1, length)
                a[:, rows, :3] = mixed
