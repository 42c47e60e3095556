"""Skin weights put in order, and the joints and inverse bind matrices each skin gives a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.gltf.context import Context
from marrow.io.gltf.primitives import PrimitiveVertices
from marrow.io.gltf.scene import Tree
from marrow.math import affine
from marrow.model import normalize_weights
from marrow.model._validate import owned
from marrow.model.mesh import WEIGHT_SUM_TOLERANCE

__all__ = ["Skins", "Weighting", "settle_weights"]

Array = NDArray[Any]
# What float32 rounding leaves of a sum of one: such weights stay as they are.
EXACT_SUM = 1e-7
# More than any rounding of floats: worth a line in the report.
WORTH_REPORTING = 1e-4


@dataclass(slots=True)
class Weighting:
    """Joints `(V, K)` of a skin and weights `(V, K)` that sum to one; `bare` are the vertices that had
    none."""

    joints: Array
    weights: Array
    bare: Array | None
    top: int


def settle_weights(
    ctx: Context, vertices: PrimitiveVertices, name: str, *, least: int = 1, settled: bool = False
) -> Weighting | None:
    """Weights that sum to one, without the columns nobody uses beyond the `least`; None for a mesh without weights.
    `settled`: they are right already, as near to one as any mesh must be."""
    joints, weights = vertices.joints, vertices.weights
    if joints is None or weights is None or not len(weights):
        return None
    bare: Array | None = None
    total = weights[:, 0].astype(np.float64)
    for column in weights.T[1:]:
        total += column
    off = np.abs(total - 1)
    wrong = ~(off <= (WEIGHT_SUM_TOLERANCE if settled else EXACT_SUM))
    if float(weights.min()) < 0:
        wrong |= (weights < 0).any(axis=1)
    if wrong.any():
        mended, none = normalize_weights(weights.astype(np.float64))
        weights = np.where(wrong[:, None], mended, weights)
        if none.any():
            bare = np.flatnonzero(none)
            ctx.report.add(
                "repaired", name, f"{len(bare)} vertices have no weights; they follow the mesh's node"
            )
        far = np.flatnonzero(~(off <= WORTH_REPORTING) & ~none)
        if len(far):
            worst = float(total[far[np.argmax(np.where(np.isfinite(off[far]), off[far], np.inf))]])
            ctx.report.add(
                "repaired", name, f"the weights of {len(far)} vertices did not sum to 1 (worst: {worst:.4g})"
            )
    K = weights.shape[1]
    while max(least, 1) < K and not weights[:, K - 1].any():
        K -= 1
    if weights.shape[1] > K:
        joints, weights = joints[:, :K], np.ascontiguousarray(weights[:, :K])
    top = int(joints.max())
    joints = joints.astype(np.uint32 if joints.dtype == np.uint32 and top > 0xFFFF else np.uint16)
    return Weighting(joints, weights, bare, top)


class Skins:
    """The skins of a file as the fields of a `Mesh`."""

    def __init__(self, ctx: Context, tree: Tree) -> None:
        self._ctx, self._tree = ctx, tree
        self._lists: dict[int, tuple[Array, Array]] = {}

    def bind(
        self, skin: int | None, weighting: Weighting | None, V: int, joint: int, place: str
    ) -> dict[str, Any]:
        """The `joints`, `weights`, `joint_list` and `inverse_bind` of a mesh whose node is, or hangs on,
        `joint`."""
        if skin is None or weighting is None:
            if weighting is not None:
                self._ctx.report.add(
                    "warning", place, "its mesh has weights but it has no skin; it moves as a whole"
                )
            elif skin is not None:
                self._ctx.report.add(
                    "warning", place, "its mesh has no weights for its skin; it moves as a whole"
                )
            self._ctx.budget.charge(V * 6, place)
            return {
                "joints": owned(np.zeros((V, 1), np.uint16)),
                "weights": owned(np.ones((V, 1), np.float32)),
                "joint_list": owned(np.array([joint], np.int32)),
                "inverse_bind": owned(affine.identity((1,))),
            }
        joint_list, inverse_bind = self.list(skin)
        B = len(joint_list)
        joints = weighting.joints
        if weighting.top >= B:
            # Exporters leave anything in the joints of zero weights.
            joints = np.where(weighting.weights > 0, joints, 0)
            if int(joints.max()) >= B:
                raise self._ctx.refuse(
                    f"joint {joints.max()} is out of range for a skin of {B} joints", place
                )
        if weighting.bare is not None:
            joints = joints.copy()
            joints[weighting.bare, 0] = B
            inverse_bind = owned(np.concatenate([inverse_bind, affine.identity((1,))]))
        fields = {"joints": owned(joints), "weights": weighting.weights, "inverse_bind": inverse_bind}
        return fields | {"joint_list": joint_list} | self.follow(skin, weighting, joint)

    def follow(self, skin: int | None, weighting: Weighting | None, joint: int) -> dict[str, Any]:
        """What of `bind` depends on the node: the joint that rigid meshes and unweighted vertices follow."""
        if skin is None or weighting is None:
            return {"joint_list": owned(np.array([joint], np.int32))}
        if weighting.bare is not None:
            self._ctx.budget.charge(self.list(skin)[0].nbytes, f"skins[{skin}]")
            return {"joint_list": owned(np.append(self.list(skin)[0], np.int32(joint)))}
        return {}

    def list(self, skin: int) -> tuple[Array, Array]:
        """The skeleton joints `(B,)` and inverse bind matrices `(B, 3, 4)` of a skin."""
        if skin not in self._lists:
            self._lists[skin] = self._read(skin)
        return self._lists[skin]

    def _read(self, index: int) -> tuple[Array, Array]:
        ctx, place = self._ctx, f"skins[{index}]"
        skin = ctx.document.skins[index]
        B = len(skin.joints)
        if not B:
            raise ctx.refuse("has no joints", place)
        missing = next((n for n in skin.joints if n not in self._tree.joint_of), None)
        if missing is not None:
            raise ctx.refuse(f"node {missing} is not part of the skeleton", place)
        joints = owned(np.array([self._tree.joint_of[n] for n in skin.joints], np.int32))
        if skin.inverseBindMatrices is None:
            return joints, owned(affine.identity((B,)))
        columns = ctx.accessors.floats(skin.inverseBindMatrices, "MAT4")
        if len(columns) < B:
            raise ctx.refuse(f"has {B} joints and {len(columns)} inverse bind matrices", place)
        matrices = affine.from_4x4(columns[:B].reshape(B, 4, 4).swapaxes(1, 2))
        inverse_bind = np.array(matrices, np.float32)
        if not np.isfinite(inverse_bind).all():
            raise ctx.refuse("an inverse bind matrix is not finite", place)
        inverse_bind[..., 3] *= np.float32(ctx.scale)
        return joints, owned(inverse_bind)
