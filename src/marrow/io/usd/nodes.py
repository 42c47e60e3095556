"""Prims and UsdSkel joints as one tree of joints, with their place at rest and their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.math import affine, quaternion, transform
from marrow.model import Pose, Skeleton, Track
from marrow.report import ReportBuilder

__all__ = ["Nodes", "Rig", "column_affine"]

Array = NDArray[Any]
MAX_NODES = 65_535


@dataclass(eq=False)
class Rig:
    """A UsdSkel skeleton: where its joints are among the nodes, their tokens and bind matrices `(B, 3,
    4)`."""

    joints: Array
    tokens: list[str]
    bind: Array
    animation: Any
    channels: dict[str, int] = field(default_factory=dict)


class Nodes:
    """The tree while it is gathered: names, parents and rest matrices, and the nodes of prims by path."""

    def __init__(self, path: Path, report: ReportBuilder, z_up: bool) -> None:
        self.path, self.report = path, report
        self.names: list[str] = []
        self.parents: list[int] = []
        self.rest: list[Array] = []
        self.of_prim: dict[str, int] = {}
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
            node = self.of_prim.get(str(prim.GetPath()))
            if node is not None:
                return node
            prim = prim.GetParent()
        return -1

    def add_prims(self, stage: Any) -> None:
        """Every prim that can be placed, in the order of the stage."""
        from pxr import Usd, UsdGeom

        for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
            if not prim.IsA(UsdGeom.Xformable):
                continue
            place = UsdGeom.Xformable(prim)
            parent = -1 if place.GetResetXformStack() else self.nearest(prim.GetParent())
            local = column_affine(place.GetLocalTransformation(Usd.TimeCode.EarliestTime()))
            self.of_prim[str(prim.GetPath())] = self.add(prim.GetName(), parent, local)

    def add_rig(self, prim: Any, query: Any, animation: Any) -> Rig:
        """The joints of a UsdSkel skeleton, below the node of its prim (of the instance, not of its
        prototype)."""
        tokens = [str(t) for t in query.GetJointOrder()]
        above = list(query.GetTopology().GetParentIndices())
        base = self.nearest(prim)
        bind: Array | None = column_affine(np.array(query.GetJointWorldBindTransforms()).reshape(-1, 4, 4))
        local = query.GetSkeleton().GetRestTransformsAttr().Get()
        rest = column_affine(np.array(local).reshape(-1, 4, 4)) if local is not None else np.zeros((0, 3, 4))
        if bind is not None and len(bind) != len(tokens):
            if len(bind):
                self.report.add(
                    "repaired", str(prim.GetPath()), "bindTransforms do not match joints; rest was used"
                )
            bind = None
        if len(rest) != len(tokens):
            if bind is None:
                rest = affine.identity((len(tokens),), np.float64)
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
        shown = query.GetSkeleton().GetJointNamesAttr().Get()
        names = [str(n) for n in shown] if shown is not None else []
        if len(set(names)) != len(tokens):
            names = [t.rsplit("/", 1)[-1] for t in tokens]
        joints = np.zeros(len(tokens), np.int32)
        for i in _parents_first(above):
            parent_node = int(joints[above[i]]) if above[i] >= 0 else base
            joints[i] = self.add(names[i], parent_node, rest[i])
        return Rig(joints, tokens, bind, animation)

    def skeleton(self, morph_names: Sequence[str]) -> Skeleton:
        """The gathered tree, upright and with its rest matrices taken apart."""
        local = np.array(self.rest).reshape(-1, 3, 4)
        translation, rotation, scale = transform.decompose(local)
        sheared = np.abs(transform.compose(translation, rotation, scale) - local).max(axis=(1, 2))
        for node in np.flatnonzero(sheared > 1e-4 * (1 + np.abs(local[:, :, :3]).max(axis=(1, 2)))):
            self.report.add(
                "repaired", self.names[node], "its transform is sheared; the nearest without was used"
            )
        if self.upright is not None:
            roots = np.array(self.parents) < 0
            translation[roots] = quaternion.rotate(self.upright, translation[roots])
            rotation[roots] = quaternion.multiply(self.upright, rotation[roots])
        rest = Pose(*(a.astype(np.float32) for a in (translation, rotation, scale)))
        return Skeleton(tuple(self.names), np.array(self.parents, np.int32), rest, tuple(morph_names))

    def track(self, node: int, kind: Any, times: Array, values: Array, held: bool) -> Track:
        """Keys of one node, upright where it is a root."""
        values = np.asarray(values, np.float64)
        if self.upright is not None and self.parents[node] < 0:
            if kind == "translation":
                values = quaternion.rotate(self.upright, values)
            elif kind == "rotation":
                values = quaternion.multiply(self.upright, values)
        return Track(node, kind, times, values.astype(np.float32), "step" if held else "linear")


def column_affine(matrices: Any) -> Array:
    """USD's 4x4 for row vectors as marrow's `(..., 3, 4)` for column vectors."""
    return affine.from_4x4(np.swapaxes(np.asarray(matrices, np.float64), -1, -2))


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
