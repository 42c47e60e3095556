"""`mw.skin`: the public operation and its choice of kernel."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import check_pose, output, skinning_matrices, to_model
from marrow.errors import ValidationError
from marrow.kernels import poses, reference
from marrow.kernels.compiler import readonly
from marrow.kernels.skinning import skin_kernel
from marrow.math import affine
from marrow.model._derived import derived
from marrow.model._validate import flag
from marrow.model.character import Character, Palette
from marrow.model.mesh import Mesh
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton
from marrow.skinning.arguments import check_options, check_thing, matrices_of, morph_weights
from marrow.skinning.blending import BlendedDirections
from marrow.skinning.layout import layout_of
from marrow.skinning.surface import Surface
from marrow.skinning.threads import WORTH_SECONDS, run_split, thread_count

__all__ = ["palette_of", "resolve", "skin"]

Array = NDArray[Any]
# What a block of 16 vertices costs, for deciding whether threads are worth it.
SECONDS_PER_BLOCK = 25e-9
# Blended meshes are skinned twice, through a buffer of this many vertices at a time.
BLEND_BUFFER_VERTICES = 1 << 20
EMPTY = readonly(np.zeros(0, np.float32))
SCRATCH = np.zeros(0, np.float32)


class Motion(NamedTuple):
    """What moves the vertices: flat skinning matrices `(F, P, 12)`, morph channel weights `(F, M)`, batch shape."""

    matrices: Array
    morphs: Array | None
    batch: tuple[int, ...]


def palette_of(thing: Character | Mesh) -> Palette:
    """The palette of a character, or of one mesh by itself: its own joint list."""
    if isinstance(thing, Character):
        return thing.palette
    slots = (np.arange(len(thing.joint_list), dtype=np.uint32),)
    palette: Palette = derived(thing, "palette", lambda: Palette(thing.joint_list, thing.inverse_bind, slots))
    return palette


def bind_positions(palette: Palette) -> Array:
    """Where each palette entry's joint is at bind, `(P, 3)` float64: the point its scale is applied about."""

    def build() -> Array:
        origin = affine.invert(palette.inverse_bind.astype(np.float64))[..., 3]
        return readonly(np.where(np.isfinite(origin), origin, 0.0))

    positions: Array = derived(palette, "bind_positions", build)
    return positions


def resolve(
    thing: Character | Mesh, pose: Pose | Array, skeleton: Skeleton | None, morphs: Array | None
) -> Motion:
    """Skinning matrices and morph weights of what a caller may pass as `pose`."""
    check_thing("skin", thing, skeleton)
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
        matrices = matrices_of(pose, len(palette))
    batch = matrices.shape[:-3]
    flat = np.ascontiguousarray(matrices, np.float32).reshape(math.prod(batch), len(palette.joints), 12)
    flat.flags.writeable = False  # of the view that reshape made, not of the caller's array
    if morphs is not None:
        channels = None if skeleton is None else len(skeleton.morph_names)
        morphs = morph_weights(thing, morphs, batch, channels)
        morphs = morphs.reshape(len(flat), morphs.shape[-1])
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
    influences = check_options("skin", method, influences, out)
    normals, tangents = flag("skin", "normals", normals), flag("skin", "tangents", tangents)
    threads = thread_count(threads)
    motion = resolve(thing, pose, skeleton, morphs)
    plan: _Plan = derived(thing, ("plan", method, influences), lambda: _Plan(thing, method, influences))
    V, F = plan.vertex_count, len(motion.matrices)
    normals = normals and plan.has_normals
    tangents = tangents and normals and plan.has_tangents
    p = output("skin: out.positions", (*motion.batch, V, 3), out.positions if out else None)
    n = output("skin: out.normals", (*motion.batch, V, 3), out.normals if out else None) if normals else None
    t = (
        output("skin: out.tangents", (*motion.batch, V, 4), out.tangents if out else None)
        if tangents
        else None
    )
    if V and F:
        for group in plan.groups:
            group.run(motion, p, n, t, threads)
    whole = out is not None and out.normals is n and out.tangents is t
    return out if whole else Surface(p, n, t)  # type: ignore[return-value]


class _Plan:
    """How a character is skinned: its meshes grouped by method, worked out once."""

    def __init__(self, thing: Character | Mesh, method: str | None, influences: int | None) -> None:
        meshes = thing.meshes if isinstance(thing, Character) else (thing,)
        self.vertex_count = sum(m.vertex_count for m in meshes)
        self.has_normals = any(m.normals is not None for m in meshes)
        self.has_tangents = any(m.tangents is not None for m in meshes)
        members: dict[str, list[int]] = {}
        for i, m in enumerate(meshes):
            chosen = method or m.skinning
            if chosen == "blended" and m.dual_quaternion_weights is None:
                raise ValidationError(
                    f"skin: {m!r} has no dual_quaternion_weights, which blended skinning needs"
                )
            members.setdefault(chosen, []).append(i)
        self.groups: list[_Group | _BlendedGroup] = []
        for chosen, indices in members.items():
            some = None if len(indices) == len(meshes) else tuple(indices)
            if chosen == "blended":
                linear = _Group(thing, "linear", some, influences, self.vertex_count)
                dual = _Group(thing, "dual_quaternion", some, influences, self.vertex_count)
                slots = palette_of(thing).mesh_slots
                bodies = [BlendedDirections(meshes[i], slots[i], influences) for i in indices]
                self.groups.append(_BlendedGroup(linear, dual, bodies))
            else:
                self.groups.append(_Group(thing, chosen, some, influences, self.vertex_count))


class _Group:
    """Meshes that are skinned by one method in one kernel call."""

    def __init__(
        self,
        thing: Character | Mesh,
        method: str,
        members: tuple[int, ...] | None,
        influences: int | None,
        vertex_count: int,
    ) -> None:
        dual = method == "dual_quaternion"
        self.method, self.vertex_count = method, vertex_count
        self.layout = layout_of(thing, members=members, influences=influences, lead_first=dual)
        self.pivots = bind_positions(palette_of(thing)) if dual else None
        self.blocks, self.targets = self.layout.block_count, sum(map(len, self.layout.targets))
        self.ranges, self.table = readonly(self.layout.ranges), readonly(self.layout.addresses())
        # Meshes that lack normals or tangents in a character that has some leave those rows zero.
        self.rows = np.unique(self.layout.rows)
        self.used = np.unique(self.layout.joints)

    def run(self, motion: Motion, p: Array, n: Array | None, t: Array | None, threads: int) -> None:
        """Writes this group's rows of the outputs."""
        layout, matrices, method = self.layout, motion.matrices, self.method
        F, P = matrices.shape[:2]
        dual = EMPTY
        if self.pivots is not None:
            dual, stretch = np.empty((F, P, 8), np.float32), np.empty((F, P, 12), np.float32)
            (stretches,) = poses.dual_quaternions(matrices, self.pivots, dual, stretch, np.empty(66))
            if stretches:
                method = "dual_quaternion_stretch"
                self.take_out_common_scale(matrices, dual, stretch)
            matrices, dual = readonly(stretch), readonly(dual.reshape(-1))
        weights = EMPTY
        if self.targets and motion.morphs is not None:
            values = layout.target_weights(motion.morphs)
            if values.any():
                weights = readonly(np.ascontiguousarray(values, np.float32).reshape(-1))
        vectors = 0
        if n is not None:
            vectors = 1 + (t is not None and layout.has_tangents) if layout.has_normals else 0
            for unwritten, missing in ((n, vectors < 1), (t, vectors < 2)):
                if unwritten is not None and missing:
                    unwritten.reshape(-1, *unwritten.shape[-2:])[:, self.rows] = 0
        kernel = skin_kernel(method, vectors, weights.size > 0)
        arguments = (
            self.ranges, self.table, matrices.reshape(-1), dual, weights,
            p.reshape(-1), SCRATCH if n is None else n.reshape(-1), SCRATCH if t is None else t.reshape(-1),
            P, self.vertex_count, self.targets,
        )  # fmt: skip
        blocks = self.blocks
        seconds = F * blocks * SECONDS_PER_BLOCK * (1 + vectors)
        if threads == 1 or seconds < 2 * WORTH_SECONDS:
            kernel(*arguments, 0, F, 0, blocks)
        elif F > 1:
            run_split(lambda a, b: kernel(*arguments, a, b, 0, blocks), F, seconds, threads)
        else:
            run_split(lambda a, b: kernel(*arguments, 0, 1, a, b), blocks, seconds, threads)

    def take_out_common_scale(self, matrices: Array, dual: Array, stretch: Array) -> None:
        """Where all joints share one scale, vertices are scaled and then moved rigidly (`reference.common_scale`)."""
        F, P = matrices.shape[:2]
        used = matrices[:, self.used].reshape(F, -1, 3, 4).astype(np.float64)
        sigma = reference.common_scale(used[..., :3])
        scaled = np.flatnonzero(sigma != 1)
        if len(scaled):
            plain = matrices[scaled].reshape(-1, P, 3, 4).astype(np.float64)
            plain[..., :3] /= sigma[scaled, None, None, None]
            rigid, rest = (
                np.empty((len(scaled), P, 8), np.float32),
                np.empty((len(scaled), P, 12), np.float32),
            )
            flat = readonly(plain.astype(np.float32).reshape(-1, P, 12))
            poses.dual_quaternions(flat, self.pivots, rigid, rest, np.empty(66))
            dual[scaled] = rigid
            stretch[scaled] = (affine.identity((), np.float64) * sigma[scaled, None, None]).reshape(-1, 1, 12)


class _BlendedGroup:
    """Meshes that mix linear and dual-quaternion skinning by a weight of each vertex (1 is all dual quaternion)."""

    def __init__(self, linear: _Group, dual: _Group, bodies: list[BlendedDirections]) -> None:
        self.linear, self.dual, self.bodies, self.rows = linear, dual, bodies, linear.rows
        shares: list[Any] = [b.mesh.dual_quaternion_weights for b in bodies]
        self.share: Array = np.concatenate(shares)[:, None]

    def run(self, motion: Motion, p: Array, n: Array | None, t: Array | None, threads: int) -> None:
        V, F = self.linear.vertex_count, len(motion.matrices)
        step = max(1, BLEND_BUFFER_VERTICES // max(V, 1))
        outputs = [None if a is None else a.reshape(F, V, a.shape[-1]) for a in (p, n, t)]
        for first in range(0, F, step):
            part = slice(first, min(F, first + step))
            some = Motion(
                motion.matrices[part],
                None if motion.morphs is None else motion.morphs[part],
                (part.stop - first,),
            )
            points, normals, tangents = (None if a is None else a[part] for a in outputs)
            # The linear kernel writes positions, handedness, and zeros for meshes that have no normals or tangents.
            self.linear.run(some, points, normals, tangents, threads)  # type: ignore[arg-type]
            rigid = np.empty_like(points)
            self.dual.run(some, rigid, None, None, threads)
            rows = self.rows
            points[:, rows] = points[:, rows] * (1 - self.share) + rigid[:, rows] * self.share  # type: ignore[index]
            if normals is None:
                continue
            first_row = 0
            for body in self.bodies:
                own = slice(first_row, first_row + body.mesh.vertex_count)
                linear = body.linear_parts(skin, some.matrices, self.share[own], threads)
                body.write(linear, some.morphs, rows[own], normals, tangents)
                first_row = own.stop
