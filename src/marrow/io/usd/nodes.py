"""Prims and UsdSkel joints as one tree of joints, with their place at rest and their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.io.usd.composition import drawn_prims
from marrow.io.usd.notes import KEY, NAMESPACE, RigNotes, UsdPlacedNotes, noted_place
from marrow.io.usd.values import PrimNames, column_affine
from marrow.math import affine, quaternion, transform
from marrow.model import Pose, Skeleton, Socket, Track
from marrow.report import ReportBuilder

__all__ = ["Nodes", "UsdRig"]

Array = NDArray[Any]
MAX_NODES = 200_000


@dataclass(eq=False)
class UsdRig:
    """A UsdSkel skeleton: where its joints are among the nodes, their tokens and inverse bind matrices `(B, 3, 4)`; the
    morph channel of each blend shape, and the weight of the channel at which the shape is fully on, where that is not 1.

    In a stage of marrow's own, some joints stand in for others (see `writing.skeleton`): they are the same nodes.
    """

    joints: Array
    tokens: list[str]
    inverse_bind: Array
    animation: Any
    channels: dict[str, int] = field(default_factory=dict)
    full: dict[str, float] = field(default_factory=dict)
    notes: RigNotes | None = None


class Nodes:
    """The tree while it is gathered: names, parents and rest matrices, and the nodes of prims by path."""

    def __init__(self, path: Path, report: ReportBuilder, z_up: bool, own: bool = False) -> None:
        self.path, self.report, self.own = path, report, own
        self.names: list[str] = []
        self.parents: list[int] = []
        self.rest: list[Array] = []
        self.of_prim: dict[Any, int] = {}
        self.placed: dict[Any, UsdPlacedNotes] = {}  # cameras and lights that marrow put where a joint is
        self._exact: list[tuple[Array, list[Array | None]]] = []
        # (x, y, z) -> (x, z, -y), put in front of every root.
        self.upright = quaternion.from_axis_angle(np.array([1.0, 0.0, 0.0]), -np.pi / 2) if z_up else None

    def add(self, name: str, parent: int, local: Array) -> int:
        if len(self.names) >= MAX_NODES:
            raise ResourceLimitError(f"has more than {MAX_NODES} prims and joints", path=self.path)
        self.names.append(name)
        self.parents.append(parent)
        self.rest.append(local)
        return len(self.names) - 1

    def nearest(self, prim: Any) -> int:
        """The node of the prim, or of the closest one above it."""
        while prim and not prim.IsPseudoRoot():
            node = self.of_prim.get(prim.GetPath())
            if node is not None:
                return node
            prim = prim.GetParent()
        return -1

    def add_prims(self, stage: Any) -> None:
        """Every prim that can be placed, in the order of the stage."""
        from pxr import Usd, UsdGeom

        for prim in drawn_prims(stage):
            if not prim.IsA(UsdGeom.Xformable):
                continue
            place = UsdGeom.Xformable(prim)
            if self.own and (notes := noted_place(prim, self.report)) is not None:
                self.placed[prim.GetPath()] = notes
                continue
            if self.own and prim.HasCustomDataKey(KEY) and not place.GetXformOpOrderAttr().Get():
                continue  # it only carries what marrow wrote
            parent = -1 if place.GetResetXformStack() else self.nearest(prim.GetParent())
            local = column_affine(place.GetLocalTransformation(Usd.TimeCode.EarliestTime()))
            self.of_prim[prim.GetPath()] = self.add(prim.GetName(), parent, local)

    def add_rig(self, prim: Any, query: Any, animation: Any, notes: RigNotes | None) -> UsdRig:
        """The joints of a UsdSkel skeleton, below the node of its prim (of the instance, not of its
        prototype)."""
        tokens = [str(t) for t in query.GetJointOrder()]
        above = list(query.GetTopology().GetParentIndices())
        base = self.nearest(prim)
        bind, rest = self._poses(prim, query, len(tokens), above)
        shown = query.GetSkeleton().GetJointNamesAttr().Get()
        names = [str(n) for n in shown] if shown is not None else []
        count = len(tokens)
        if notes is not None:
            if _fits(notes, tokens, above):
                names, count = notes.names, notes.joints
            else:
                self.report.add(
                    "info", str(prim.GetPath()), "its joints are not those that marrow wrote any more"
                )
                notes = None
        if len(names) < count or (notes is None and len(set(names)) != count):
            names = [t.rsplit("/", 1)[-1] for t in tokens]
        joints = np.zeros(len(tokens), np.int32)
        inverse = affine.invert(bind)
        for i in _parents_first(above):
            parent_node = int(joints[above[i]]) if above[i] >= 0 else base
            if i < count:
                joints[i] = self.add(names[i], parent_node, rest[i])
            else:
                joints[i], inverse[i] = parent_node, affine.multiply(rest[i], inverse[i])
        if notes is not None:
            parts = (f"{NAMESPACE}rest:{name}" for name in ("translations", "rotations", "scales"))
            values = (prim.GetAttribute(name).Get() for name in parts)
            self._exact.append((joints[:count], [None if v is None else np.asarray(v) for v in values]))
        return UsdRig(joints, tokens, inverse, animation, notes=notes)

    def _poses(self, prim: Any, query: Any, count: int, above: list[int]) -> tuple[Array, Array]:
        """Bind matrices in the space of the skeleton and rest matrices below the parent, `(B, 3, 4)` each."""
        bind: Array | None = column_affine(np.array(query.GetJointWorldBindTransforms()).reshape(-1, 4, 4))
        local = query.GetSkeleton().GetRestTransformsAttr().Get()
        rest = column_affine(np.array(local).reshape(-1, 4, 4)) if local is not None else np.zeros((0, 3, 4))
        if bind is not None and len(bind) != count:
            if len(bind):
                self.report.add(
                    "repaired", str(prim.GetPath()), "bindTransforms do not match joints; rest was used"
                )
            bind = None
        if len(rest) != count:
            if bind is None:
                rest = affine.identity((count,), np.float64)
            else:
                parent = np.array([bind[p] if p >= 0 else affine.identity((), np.float64) for p in above])
                rest = affine.multiply(affine.invert(parent.reshape(-1, 3, 4)), bind)
            self.report.add(
                "repaired", str(prim.GetPath()), "has no usable restTransforms; the bind pose was used"
            )
        if bind is None:
            bind = np.array(rest)
            for i, p in enumerate(above):
                if 0 <= p < i:
                    bind[i] = affine.multiply(bind[p], rest[i])
        return bind, rest

    def skeleton(
        self,
        morph_names: Sequence[str],
        weights: Sequence[float] = (),
        sockets: Sequence[Socket] = (),
        humanoid: dict[str, int] | None = None,
    ) -> Skeleton:
        """The gathered tree, upright and with its rest matrices taken apart; `weights` of the first morphs at rest."""
        local = np.array(self.rest).reshape(-1, 3, 4)
        translation, rotation, scale = transform.decompose(local)
        sheared = np.abs(transform.compose(translation, rotation, scale) - local).max(axis=(1, 2))
        for node in np.flatnonzero(sheared > 1e-4 * (1 + np.abs(local[:, :, :3]).max(axis=(1, 2)))):
            self.report.add(
                "repaired", self.names[node], "its transform is sheared; the nearest without was used"
            )
        for joints, parts in self._exact:
            _set_exact(joints, parts, (translation, rotation, scale), local)
        if self.upright is not None:
            roots = np.array(self.parents) < 0
            translation[roots] = quaternion.rotate(self.upright, translation[roots])
            rotation[roots] = quaternion.multiply(self.upright, rotation[roots])
        morphs = np.zeros(len(morph_names), np.float32)
        morphs[: len(weights)] = weights
        t, r, size = (a.astype(np.float32) for a in (translation, rotation, scale))
        rest = Pose(t, r, size, morphs)
        return Skeleton(
            tuple(self.names),
            np.array(self.parents, np.int32),
            rest,
            tuple(morph_names),
            tuple(sockets),
            humanoid or {},
        )

    def track(self, node: int, kind: Any, times: Array, values: Array, held: bool) -> Track:
        """Keys of one node, upright where it is a root."""
        values = np.asarray(values, np.float64)
        if self.upright is not None and self.parents[node] < 0:
            if kind == "translation":
                values = quaternion.rotate(self.upright, values)
            elif kind == "rotation":
                values = quaternion.multiply(self.upright, values)
        return Track(node, kind, times, values.astype(np.float32), "step" if held else "linear")


def _fits(notes: RigNotes, tokens: list[str], above: list[int]) -> bool:
    """Whether the notes were written for a skeleton of these joints, with stand-ins after them."""
    count, names = notes.joints, PrimNames()
    own = [names.of(name, parent) for name, parent in zip(notes.names, above)]
    if any(token.rpartition("/")[2] != part for token, part in zip(tokens, own)):
        return False
    inside = all(0 <= s.joint < count for s in notes.sockets) and all(
        0 <= j < count for j in notes.humanoid.values()
    )
    return len(notes.names) == count <= len(above) and inside and all(0 <= p < count for p in above[count:])


def _set_exact(joints: Array, parts: list[Array | None], pose: Sequence[Array], local: Array) -> None:
    """Puts the numbers that matrices were made of in the place of those they came apart into, where they still fit."""
    made = [p[joints].copy() for p in pose]
    for k, part in enumerate(parts):
        if part is not None:
            if part.shape != made[k].shape:
                return
            made[k][:] = part
    wanted = local[joints]
    off = np.abs(transform.compose(*made) - wanted).max(axis=(1, 2))
    same = off <= 1e-6 * (np.abs(wanted).max(axis=(1, 2)) + 1e-12)
    for mine, found in zip(pose, made):
        mine[joints[same]] = found[same]


def _parents_first(parents: list[int]) -> list[int]:
    """An order in which every parent comes before its children (USD asks for it, files do not always
    comply)."""
    if all(p < i for i, p in enumerate(parents)):
        return list(range(len(parents)))
    children: dict[int, list[int]] = {}
    for i, p in enumerate(parents):
        children.setdefault(p, []).append(i)
    order, stack = [], list(reversed(children.get(-1, [])))
    while stack:
        i = stack.pop()
        order.append(i)
        stack += reversed(children.get(i, []))
    return order
