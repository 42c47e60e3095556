"""`mw.skin`: the public operation and its choice of kernel."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import (
    FLOAT32,
    check_pose,
    output,
    shares_memory,
    skinning_matrices,
    to_model,
)
from marrow.errors import NotEnoughMemoryError, ValidationError
from marrow.kernels.jobs import Job, thread_count, worth
from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.kernels.memory import readonly
from marrow.kernels.poses import dual_quaternions
from marrow.kernels.skinning import SkinWork, skin_kernel
from marrow.math import affine
from marrow.model._derived import derived
from marrow.model._validate import flag
from marrow.model.character import Character, Palette
from marrow.model.mesh import Mesh
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton
from marrow.skinning.arguments import check_options, check_thing, matrices_of, morph_weights
from marrow.skinning.layout import layout_of
from marrow.skinning.surface import Surface

__all__ = ["palette_of", "resolve", "skin", "skin_plan"]

Array = NDArray[Any]
SECONDS_PER_BLOCK = 25e-9
"""What a block of 16 vertices costs, for deciding whether threads are worth it."""
CHUNKS = 8
"""Chunks for each thread: few are left to wait for at the end, and none is too small."""
SCRATCH = np.zeros(0, np.float32)


class PoseMatrices(NamedTuple):
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
) -> PoseMatrices:
    """Skinning matrices and morph weights of what a caller may pass as `pose`."""
    check_thing("skin", thing, skeleton)
    palette = palette_of(thing)
    P = len(palette.joints)
    if (
        type(pose) is np.ndarray
        and pose.dtype == FLOAT32
        and pose.shape[-3:] == (P, 3, 4)
        and pose.flags.c_contiguous
    ):
        # Matrices as kernels take them, by far the most usual for many small calls.
        matrices = pose
    elif isinstance(pose, Pose):
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
        matrices = np.ascontiguousarray(matrices_of(pose, P), np.float32)
    batch = matrices.shape[:-3]
    flat = matrices.reshape(math.prod(batch) if batch else 1, P, 12)
    if morphs is not None:
        channels = None if skeleton is None else len(skeleton.morph_names)
        morphs = morph_weights(thing, morphs, batch, channels)
        morphs = morphs.reshape(len(flat), morphs.shape[-1])
    return PoseMatrices(flat, morphs, batch)


def skin(
    thing: Character | Mesh,
    pose: Pose | Array,
    *,
    skinning: str | None = None,
    influences: int | None = None,
    normals: bool = True,
    tangents: bool = True,
    morphs: Array | None = None,
    skeleton: Skeleton | None = None,
    threads: int | None = None,
    out: Surface | None = None,
) -> Surface:
    """Deforms a character, or one mesh, by a pose or a batch of poses.

    `pose` is a `Pose`, or skinning matrices `(..., P, 3, 4)` such as `animator.matrices` (then `morphs (..., M)` are the
    morph weights, if any). `skinning` is `linear`, `dual_quaternion` or `blended`; None takes what each mesh's author asked
    for. `influences` limits the influences per vertex to the strongest few. `threads=None` uses all cores where the work is
    worth it. `out`, a `Surface` of the right shapes, is written into and returned.
    """
    if (
        out is not None
        and morphs is None
        and type(pose) is np.ndarray
        and (threads is None or (type(threads) is int and threads == 1))
    ):
        known = _known_plan(thing, skinning, influences)
        if known is not None and known.run_bound(pose, normals, tangents, out, threads):
            return out
    influences = check_options("skin", skinning, influences, out)
    normals, tangents = flag("skin", "normals", normals), flag("skin", "tangents", tangents)
    if threads is not None:
        threads = thread_count(threads)
    motion = resolve(thing, pose, skeleton, morphs)
    try:
        return _skinned(thing, motion, skinning, influences, normals, tangents, threads, out)
    except MemoryError:
        V = sum(m.vertex_count for m in (thing.meshes if isinstance(thing, Character) else (thing,)))
        F = len(motion.matrices)
        raise NotEnoughMemoryError(
            f"skin: {F:,} poses of {V:,} vertices take {F * V * 40 / 1e9:.1f} GB, more than there is; skin fewer poses, or "
            "fewer meshes, at a time"
        ) from None


def _skinned(
    thing: Character | Mesh,
    motion: Any,
    skinning: str | None,
    influences: int | None,
    normals: bool,
    tangents: bool,
    threads: int | None,
    out: Surface | None,
) -> Surface:
    plan = skin_plan(thing, skinning, influences)
    V, F = plan.vertex_count, len(motion.matrices)
    normals = normals and plan.has_normals
    tangents = tangents and normals and plan.has_tangents
    n = t = None
    read: dict[str, Array | None] = {"the matrices": motion.matrices, "the morph weights": motion.morphs}
    p = output("skin: out.positions", (*motion.batch, V, 3), out.positions if out else None, **read)
    if normals:
        read["out.positions"] = p
        n = output("skin: out.normals", (*motion.batch, V, 3), out.normals if out else None, **read)
    if tangents:
        read["out.normals"] = n
        t = output("skin: out.tangents", (*motion.batch, V, 4), out.tangents if out else None, **read)
    if V and F:
        for group in plan.groups:
            group.run(motion, p, n, t, threads)
    whole = out is not None and out.normals is n and out.tangents is t
    return out if whole else Surface(p, n, t)  # type: ignore[return-value]


def skin_plan(
    thing: Character | Mesh, skinning: str | None = None, influences: int | None = None
) -> SkinPlan:
    """How a character is skinned, worked out once."""
    plan: SkinPlan = derived(
        thing, ("plan", skinning, influences), lambda: SkinPlan(thing, skinning, influences)
    )
    return plan


def _known_plan(thing: Any, skinning: Any, influences: Any) -> SkinPlan | None:
    """The plan made for such a call before, if there was one."""
    try:
        plan: SkinPlan | None = thing.__dict__["_derived"].get(("plan", skinning, influences))
    except (AttributeError, KeyError, TypeError):
        return None
    return plan


class SkinPlan:
    """How a character is skinned: its meshes grouped by how they are skinned, worked out once."""

    def __init__(self, thing: Character | Mesh, skinning: str | None, influences: int | None) -> None:
        meshes = thing.meshes if isinstance(thing, Character) else (thing,)
        self.vertex_count = sum(m.vertex_count for m in meshes)
        self.has_normals = any(m.normals is not None for m in meshes)
        self.has_tangents = any(m.tangents is not None for m in meshes)
        members: dict[str, list[int]] = {}
        for i, m in enumerate(meshes):
            chosen = skinning or m.skinning
            if chosen == "blended" and m.dual_quaternion_weights is None:
                raise ValidationError(
                    f"skin: {m!r} has no dual_quaternion_weights, which blended skinning needs"
                )
            members.setdefault(chosen, []).append(i)
        self.groups = [
            _Group(
                thing,
                chosen,
                None if len(some) == len(meshes) else tuple(some),
                influences,
                self.vertex_count,
            )
            for chosen, some in members.items()
        ]

    def run_bound(self, matrices: Array, normals: Any, tangents: Any, out: Any, threads: int | None) -> bool:
        """The usual call of a program that skins every frame: one pose's matrices as kernels take them, into arrays that
        are there, and no more than one thread's work. Does nothing and returns False for any other."""
        group = self.groups[0] if len(self.groups) == 1 else None
        if group is None or group.dual or type(out) is not Surface or matrices.dtype != FLOAT32:
            return False
        p, n, t, V = out.positions, out.normals, out.tangents, self.vertex_count
        if normals is False or not self.has_normals:
            vectors = 0 if n is None and t is None else -1
        elif tangents is False or not self.has_tangents:
            vectors = 1 if n is not None and t is None else -1
        else:
            vectors = 2 if n is not None and t is not None else -1
        outputs: Any = (p, n, t)[: vectors + 1]
        shapes = ((V, 3), (V, 3), (V, 4))
        if (
            vectors < 0
            or (threads is None and worth(group.blocks * SECONDS_PER_BLOCK * (1 + vectors), 2) > 1)
            or (vectors and not (group.layout.has_normals and (vectors == 1 or group.layout.has_tangents)))
            or matrices.shape != (len(group.palette.joints), 3, 4)
            or not matrices.flags.c_contiguous
            or any(a.shape != s or a.dtype != FLOAT32 or not a.flags.carray for a, s in zip(outputs, shapes))
        ):
            return False
        return group.run_once(matrices, outputs)


class _Group:
    """Meshes that are skinned in one way, in one kernel call."""

    def __init__(
        self,
        thing: Character | Mesh,
        skinning: str,
        members: tuple[int, ...] | None,
        influences: int | None,
        vertex_count: int,
    ) -> None:
        self.skinning, self.vertex_count, self.palette = skinning, vertex_count, palette_of(thing)
        self.dual = skinning != "linear"
        self.layout = layout_of(thing, members=members, influences=influences, lead_first=self.dual)
        self.pivots, self.used = bind_positions(self.palette), np.unique(self.layout.joints)
        self.blocks, self.targets = self.layout.block_count, sum(map(len, self.layout.targets))
        self.no_morphs = np.zeros(self.blocks + 1, np.int32)
        # Meshes that lack normals or tangents in a character that has some leave those rows zero.
        self.rows = np.unique(self.layout.rows)
        self._splits = FramePool(
            lambda: dual_quaternions.frame(pivots=self.pivots, used=self.used, scratch=np.empty(32))
        )
        self._pools: dict[tuple[str, int, bool], FramePool[CallFrame]] = {}
        self._apart: list[int] = []

    def _frames(self, skinning: str, vectors: int, morphs: bool) -> FramePool[CallFrame]:
        """Frames of the kernel for a way of skinning and outputs, with the layout in them."""
        key = (skinning, vectors, morphs)
        if key not in self._pools:
            layout = self.layout
            shared = {name: getattr(layout, name) for name in SkinWork._fields if hasattr(layout, name)}
            lent = dict.fromkeys(
                ("matrices", "stretch", "dual", "morph_weights", "out_p", "out_n", "out_t"), SCRATCH
            )
            sizes = {"P": len(self.palette.joints), "V": self.vertex_count, "targets": self.targets}
            work = SkinWork(
                **{**shared, **lent, **sizes, **({} if morphs else {"morph_start": self.no_morphs})}
            )
            kernel = skin_kernel(skinning, vectors)
            self._pools[key] = FramePool(lambda: kernel.frame(work=work, f0=0, f1=0, b0=0, b1=self.blocks))
        return self._pools[key]

    def run_once(self, matrices: Array, outputs: tuple[Array, ...]) -> bool:
        """One pose without morphs. Does nothing and returns False where arrays share memory."""
        frames = self._frames("linear", len(outputs) - 1, False)
        frame = frames.take()
        frame.lend("work.matrices", matrices)
        for name, array in zip(_OUTPUTS, outputs):
            frame.lend(name, array)
        words = frame.words
        # Arrays of the same sizes at the same places are as far apart as they were the last time.
        places = [words[at] for at in _PLACES[: len(outputs) + 1]]
        apart = places == self._apart or not _overlapping(matrices, *outputs)
        if apart:
            self._apart = places
            words[_RANGE], words[_RANGE + 1], words[_RANGE + 2], words[_RANGE + 3] = 0, 1, 0, self.blocks
            frame.run()
        frame.lent.clear()
        frames.give(frame)
        return apart

    def _split(self, frame: CallFrame, matrices: Array) -> list[tuple[int, int, str]]:
        """Matrices as dual quaternions and stretches, which the frame keeps. Returns the way for each run of poses: what
        a pose's vertices are must not depend on how other poses of the batch stretch."""
        F, P = matrices.shape[:2]
        if "dual" not in frame.kept or frame.kept["dual"].shape[0] != F:
            frame.sizes.clear()
            frame.put(
                dual=np.empty((F, P, 8), np.float32),
                stretch=np.empty((F, P, 12), np.float32),
                kinds=np.empty(F, np.int64),
            )
        frame.lend("matrices", matrices)
        frame.run()
        if self.skinning == "blended":
            return [(0, F, self.skinning)]
        kinds = frame.kept["kinds"]
        edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), F] if F > 1 else [0, F]
        return [(a, b, ("rigid", "uniform", "stretch")[kinds[a]]) for a, b in itertools.pairwise(edges)]

    def run(
        self, motion: PoseMatrices, p: Array, n: Array | None, t: Array | None, threads: int | None
    ) -> None:
        """Writes this group's rows of the outputs."""
        layout, inputs = self.layout, {"work.matrices": motion.matrices}
        F = len(motion.matrices)
        split, parts = None, [(0, F, self.skinning)]
        if self.dual:
            split = self._splits.take()
            parts = self._split(split, motion.matrices)
            inputs["work.dual"], inputs["work.stretch"] = split.kept["dual"], split.kept["stretch"]
        if self.targets and motion.morphs is not None:
            values = layout.target_weights(motion.morphs)
            if values.any():
                inputs["work.morph_weights"] = np.ascontiguousarray(values, np.float32)
        vectors = 0
        if n is not None:
            vectors = 1 + (t is not None and layout.has_tangents) if layout.has_normals else 0
            for unwritten, missing in ((n, vectors < 1), (t, vectors < 2)):
                if unwritten is not None and missing:
                    unwritten.reshape(-1, *unwritten.shape[-2:])[:, self.rows] = 0
        inputs["work.out_p"] = p
        if vectors > 0:
            inputs["work.out_n"] = n  # type: ignore[assignment]
        if vectors > 1:
            inputs["work.out_t"] = t  # type: ignore[assignment]

        for first, last, skinning in parts:
            frames = self._frames(skinning, vectors, "work.morph_weights" in inputs)
            self._run_part(frames, inputs, first, last, vectors, threads)
        if split is not None and F == 1:
            self._splits.give(split)

    def _run_part(
        self,
        frames: FramePool[CallFrame],
        inputs: dict[str, Array],
        first: int,
        last: int,
        vectors: int,
        threads: int | None,
    ) -> None:
        """Poses `first..last`, which one kernel skins, on as many threads as they are worth."""
        frame = frames.take()
        for name, array in inputs.items():
            frame.lend(name, array)
        words, count = frame.words, last - first
        words[_RANGE], words[_RANGE + 1], words[_RANGE + 2], words[_RANGE + 3] = first, last, 0, self.blocks
        seconds = count * self.blocks * SECONDS_PER_BLOCK * (1 + vectors)
        workers = 1 if worth(seconds, 2) == 1 else worth(seconds, thread_count(threads))
        if workers == 1:
            frame.run()
        else:
            # Poses are shared out where there are enough of them, else the blocks of each.
            by_pose = count >= 2 * workers
            job = Job(frame, *(("f0", "f1") if by_pose else ("b0", "b1")))
            begin, end = (first, last) if by_pose else (0, self.blocks)
            job.run(begin, end, step=max(1, (end - begin) // (CHUNKS * workers)), workers=workers)
        frames.give(frame)


def _overlapping(*arrays: Array) -> bool:
    """Whether any two of them share memory."""
    return any(shares_memory(a, b) for a, b in itertools.combinations(arrays, 2))


_OUTPUTS = ("work.out_p", "work.out_n", "work.out_t")
_OFFSETS = skin_kernel("linear", 0).offsets
_RANGE = _OFFSETS["f0"]
_PLACES = tuple(_OFFSETS[name] for name in ("work.matrices", *_OUTPUTS))
