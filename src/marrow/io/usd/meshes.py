"""USD meshes as triangles with one vertex per distinct corner, their skin weights and blend shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.usd.materials import UsdMaterials
from marrow.io.usd.nodes import Nodes, UsdRig
from marrow.io.usd.notes import UsdMeshNotes, take
from marrow.io.usd.own_meshes import ChangedStage, read_own_mesh
from marrow.io.usd.polygons import Polygons
from marrow.io.usd.values import column_affine
from marrow.math import affine
from marrow.model import Mesh, MorphTarget, Section, normalize_weights
from marrow.report import ReportBuilder

__all__ = ["MeshReader"]

Array = NDArray[Any]
MAX_INFLUENCES = 1024


class MeshReader:
    """Reads mesh prims one by one; collects the morph channels they ask for in `morph_names`, and the prims whose points
    change over time in `moving`, with the point each vertex was made of."""

    def __init__(self, nodes: Nodes, materials: UsdMaterials, report: ReportBuilder) -> None:
        self.nodes, self.materials, self.report = nodes, materials, report
        self.morph_names: list[str] = []
        self.moving: dict[str, Array] = {}

    def read_own(self, prim: Any, rig: UsdRig) -> Mesh | None:
        """The mesh of a prim that marrow wrote; None for others, and where somebody changed it."""
        notes = take(prim, UsdMeshNotes, self.report)
        if notes is None:
            return None
        try:
            return read_own_mesh(prim, notes, rig, self.materials)
        except ChangedStage:
            self.report.add(
                "info", str(prim.GetPath()), "was changed since marrow wrote it; it is read as any other mesh"
            )
            return None

    def read(self, prim: Any, rig: UsdRig | None, skinning: Any) -> Mesh | None:
        """The mesh of a prim; None, with a line in the report, when it has no surface."""
        from pxr import UsdGeom

        where = str(prim.GetPath())
        polygons = Polygons.of(prim, self.nodes.path, self.report)
        if polygons is None:
            return None
        triangles, sections = self._sections(prim, polygons)
        node = self.nodes.nearest(prim)
        influences = self._influences(prim, rig, skinning, polygons, node)
        targets = self._targets(rig, skinning, polygons, where) if rig is not None else ()
        if UsdGeom.PointBased(prim).GetPointsAttr().GetNumTimeSamples() > 1:
            if rig is not None and skinning is not None and (skinning.HasJointInfluences() or targets):
                self.report.add(
                    "dropped", where, "it has a skin and points that change over time: the first are kept"
                )
            else:
                self.moving[where] = polygons.vertex_points
        image = UsdGeom.Imageable(prim)
        shown = image.ComputeVisibility() != UsdGeom.Tokens.invisible
        shown &= image.ComputePurpose() in (UsdGeom.Tokens.default_, UsdGeom.Tokens.render)
        dual = skinning is not None and str(skinning.GetSkinningMethod()) == "dualQuaternion"
        return Mesh(
            prim.GetName(),
            polygons.positions,
            triangles,
            **influences,
            normals=polygons.normals,
            uvs=tuple(polygons.uvs.values()),
            colors=polygons.colors,
            sections=sections,
            morph_targets=targets,
            skinning="dual_quaternion" if dual else "linear",
            node=node,
            visible=bool(shown),
        )

    def _sections(self, prim: Any, polygons: Polygons) -> tuple[Array, tuple[Section, ...]]:
        """Triangles in the order of the material subsets, those of the whole mesh's own material last."""
        from pxr import UsdGeom, UsdShade

        uv_names = list(polygons.uvs)
        face_count = len(polygons.counts)
        owner = np.full(face_count, -1)
        subsets = [
            s
            for s in UsdGeom.Subset.GetGeomSubsets(UsdGeom.Imageable(prim), UsdGeom.Tokens.face)
            if str(s.GetFamilyNameAttr().Get() or "") in ("", str(UsdShade.Tokens.materialBind))
        ]
        for i, subset in enumerate(subsets):
            faces = np.asarray(subset.GetIndicesAttr().Get() or [], np.int64)
            faces = faces[(faces >= 0) & (faces < face_count)]
            owner[faces[owner[faces] < 0]] = i
        of_triangle = owner[polygons.triangle_faces]
        order, sections, first = [], [], 0
        for i, holder in [*enumerate(subsets), (-1, None)]:
            members = np.flatnonzero(of_triangle == i)
            if not len(members):
                continue
            bearer = holder.GetPrim() if holder is not None else prim
            material = self.materials.bound_to(bearer, uv_names)
            if material is None and holder is not None:
                material = self.materials.bound_to(prim, uv_names)
            if material is None and polygons.flat_color is not None:
                material = self.materials.plain(polygons.flat_color)
            name = bearer.GetName() if holder is not None else ""
            sections.append(Section(first, len(members), material, name))
            order.append(members)
            first += len(members)
        triangles = polygons.triangles[np.concatenate(order)] if order else polygons.triangles
        return triangles, tuple(sections)

    def _influences(
        self, prim: Any, rig: UsdRig | None, skinning: Any, polygons: Polygons, node: int
    ) -> dict[str, Any]:
        points = polygons.point_count
        rigid: dict[str, Array] = {
            "joints": np.zeros((len(polygons.positions), 1), np.uint16),
            "weights": np.ones((len(polygons.positions), 1), np.float32),
            "joint_list": np.array([node], np.int32),
            "inverse_bind": affine.identity((1,)),
        }
        if rig is None or skinning is None or not skinning.HasJointInfluences():
            return rigid
        where = str(prim.GetPath())
        width = int(skinning.GetNumInfluencesPerComponent())
        indices = np.asarray(skinning.GetJointIndicesPrimvar().ComputeFlattened(), np.int64)
        weights = np.asarray(skinning.GetJointWeightsPrimvar().ComputeFlattened(), np.float64)
        if not 0 < width <= MAX_INFLUENCES:
            raise ResourceLimitError(f"has {width} influences per point", path=self.nodes.path, place=where)
        if skinning.IsRigidlyDeformed():
            indices, weights = np.tile(indices[:width], points), np.tile(weights[:width], points)
        if len(indices) != points * width or len(weights) != points * width:
            raise FormatError(
                f"jointIndices ({len(indices)}) and jointWeights ({len(weights)}) do not give {width} "
                f"influences to each of {points} points",
                path=self.nodes.path,
                place=where,
            )
        indices, weights = indices.reshape(points, width), weights.reshape(points, width)
        own_order = skinning.GetJointOrder()
        tokens = [str(t) for t in own_order] if own_order else rig.tokens
        row = {token: i for i, token in enumerate(rig.tokens)}
        to_rig = np.array([row.get(t, -1) for t in tokens], np.int64)
        inside = (indices >= 0) & (indices < len(to_rig))
        target = (
            np.where(inside, to_rig[np.where(inside, indices, 0)], -1) if len(to_rig) else indices * 0 - 1
        )
        lost = (target < 0) & (weights != 0)
        if lost.any():
            self.report.add(
                "repaired", where, f"{int(lost.sum())} influences of joints that do not exist were dropped"
            )
        weights = np.where(target < 0, 0, weights)
        self._report_sums(weights, where)
        weights, bare = normalize_weights(weights)
        used = np.unique(target[(weights > 0) & (target >= 0)])
        if not len(used):
            return rigid
        local = np.searchsorted(used, np.where(target < 0, used[0], target))
        local = np.where(weights > 0, np.minimum(local, len(used) - 1), 0)
        bind = affine.multiply(rig.inverse_bind[used], column_affine(skinning.GetGeomBindTransform()))
        if not np.isfinite(bind).all():
            raise FormatError(
                "has a bind transform that cannot be inverted", path=self.nodes.path, place=where
            )
        joint_list = rig.joints[used]
        if bare.any():
            local[bare, 0] = len(used)
            joint_list = np.append(joint_list, node).astype(np.int32)
            bind = np.concatenate([bind, affine.identity((1,), np.float64)])
        vertex = polygons.vertex_points
        return {
            "joints": local[vertex].astype(np.uint16),
            "weights": weights[vertex],
            "joint_list": joint_list,
            "inverse_bind": bind.astype(np.float32),
        }

    def _report_sums(self, weights: Array, where: str) -> None:
        total = np.where(np.isfinite(weights) & (weights > 0), weights, 0).sum(axis=1)
        bare = total <= 0
        off = ~bare & (np.abs(total - 1) > 1e-3)
        if off.any():
            worst = total[off][np.argmax(np.abs(total[off] - 1))]
            self.report.add(
                "repaired", where, f"weights of {int(off.sum())} points did not sum to 1 (worst: {worst:.4g})"
            )
        if bare.any():
            self.report.add(
                "repaired", where, f"{int(bare.sum())} points without weights follow the mesh's own prim"
            )

    def _targets(self, rig: UsdRig, skinning: Any, polygons: Polygons, where: str) -> tuple[MorphTarget, ...]:
        from pxr import UsdSkel

        if skinning is None or not skinning.HasBlendShapes():
            return ()
        stage = skinning.GetPrim().GetStage()
        tokens = [str(t) for t in skinning.GetBlendShapeOrder() or []]
        paths = skinning.GetBlendShapeTargetsRel().GetForwardedTargets()
        if len(tokens) != len(paths):
            self.report.add("dropped", where, f"{len(tokens)} blend shapes are named, {len(paths)} are bound")
        targets: list[MorphTarget] = []
        for token, path in zip(tokens, paths):
            shape = UsdSkel.BlendShape(stage.GetPrimAtPath(path))
            if not shape:
                self.report.add("dropped", where, f"blend shape {token!r} does not exist")
                continue
            indices = shape.GetPointIndicesAttr().Get()
            steps = [(1.0, token, shape.GetOffsetsAttr().Get(), shape.GetNormalOffsetsAttr().Get())]
            for between in shape.GetInbetweens():
                weight = between.GetWeight()
                if weight is None or weight in (0.0, 1.0):
                    self.report.add(
                        "dropped", str(path), f"in-between {between.GetAttr().GetBaseName()!r} has no weight"
                    )
                    continue
                name = f"{token}_{between.GetAttr().GetBaseName()}"
                steps.append((float(weight), name, between.GetOffsets(), between.GetNormalOffsets()))
            for weight, name, offsets, normals in steps:
                target = self._target(
                    rig, token, name, weight, indices, offsets, normals, polygons, str(path)
                )
                if target is not None:
                    targets.append(target)
        return tuple(targets)

    def _target(
        self,
        rig: UsdRig,
        token: str,
        name: str,
        weight: float,
        indices: Any,
        offsets: Any,
        normals: Any,
        polygons: Polygons,
        where: str,
    ) -> MorphTarget | None:
        moved = _per_point(offsets, indices, polygons.point_count)
        if moved is None:
            self.report.add("dropped", where, "offsets and pointIndices do not fit the mesh")
            return None
        turned = _per_point(normals, indices, polygons.point_count) if polygons.normals is not None else None
        positions = moved[polygons.vertex_points]
        changed = positions.any(axis=1)
        if turned is not None:
            turned = turned[polygons.vertex_points]
            changed |= turned.any(axis=1)
        vertices = np.flatnonzero(changed)
        return MorphTarget(
            name,
            self._channel(rig, token),
            positions[vertices],
            None if turned is None else turned[vertices],
            vertices=vertices.astype(np.uint32),
            full_weight=weight * rig.full.get(token, 1.0),
        )

    def _channel(self, rig: UsdRig, token: str) -> int:
        """The morph channel of a blend shape of this rig; another rig's shape of that name has its own."""
        if token not in rig.channels:
            name, n = token, 2
            while name in self.morph_names:
                name, n = f"{token}_{n}", n + 1
            rig.channels[token] = len(self.morph_names)
            self.morph_names.append(name)
        return rig.channels[token]


def _per_point(values: Any, indices: Any, count: int) -> Array | None:
    """Sparse or dense offsets for every point `(P, 3)`; None where they do not fit or are not there."""
    if values is None or not len(values):
        return None
    rows = np.asarray(values, np.float32)
    out = np.zeros((count, 3), np.float32)
    if indices is None or not len(indices):
        if len(rows) != count:
            return None
        out[:] = rows
    else:
        at = np.asarray(indices, np.int64)
        if len(at) != len(rows) or at.min() < 0 or at.max() >= count:
            return None
        out[at] = rows
    return out if np.isfinite(out).all() else None
