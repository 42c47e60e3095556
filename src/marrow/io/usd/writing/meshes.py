"""Meshes: surfaces as Mesh prims, vertices without triangles as Points, both bound to the skeleton.

A mesh that is there several times is written once; the others inherit from it, and say only what they hang on.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.losses import Losses
from marrow.io.usd.notes import NAMESPACE, TargetNote, UsdMeshNotes, put
from marrow.io.usd.values import PrimNames, define, floats, ints, matrix, vectors2, vectors3, vectors4
from marrow.io.usd.writing.shapes import write_shapes
from marrow.io.usd.writing.skeleton import Binding, Channels
from marrow.model import Character, Mesh, Section

__all__ = ["MeshWriter", "uv_name"]

Array = NDArray[Any]


def uv_name(number: int) -> str:
    """What the UV sets are called."""
    return "st" if number == 0 else f"st{number}"


class MeshWriter:
    """Writes the meshes of a character below `top`; `losses` hears what USD cannot say."""

    def __init__(
        self,
        stage: Any,
        top: str,
        character: Character,
        binding: Binding,
        tokens: list[str],
        channels: Channels,
        materials: list[Any],
        names: PrimNames,
        path: object,
        losses: Losses,
    ) -> None:
        self.stage, self.top, self.character, self.binding = stage, top, character, binding
        self.tokens, self.channels, self.materials, self.names = tokens, channels, materials, names
        self.path, self.losses = path, losses
        self._written: dict[tuple[Any, ...], tuple[Any, list[TargetNote]]] = {}
        self._digests: dict[int, bytes] = {}

    def write(self, skeleton: Any) -> None:
        """All meshes, bound to the skeleton."""
        meshes = self.character.meshes
        kinds = ["Mesh" if len(m.triangles) else "Points" for m in meshes]
        titles = [self.names.of(m.name, self.top) for m in meshes]
        for number, prim in enumerate(define(self.stage, self.top, list(zip(titles, kinds)))):
            self._write(prim, number, skeleton)

    def _write(self, prim: Any, number: int, skeleton: Any) -> None:
        from pxr import UsdSkel

        mesh = self.character.meshes[number]
        key = self._fingerprint(mesh)
        if key in self._written:
            first, targets = self._written[key]
            prim.GetInherits().AddInherit(first)
            api = UsdSkel.BindingAPI(prim)
        else:
            api = UsdSkel.BindingAPI.Apply(prim)
            api.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
            targets = self._geometry(prim, mesh, api)
            self._written[key] = prim.GetPath(), targets
        self._bind(prim, number, api)
        notes = UsdMeshNotes(
            mesh.name,
            mesh.node,
            [(s.first, s.count, s.material, s.name) for s in mesh.sections],
            {i: list(s.variants) for i, s in enumerate(mesh.sections) if s.variants},
            targets,
            mesh.skinning,
        )
        put(prim, notes, self.path)
        if prim.GetName() != mesh.name and mesh.name:
            prim.SetDisplayName(mesh.name)

    def _fingerprint(self, mesh: Mesh) -> tuple[Any, ...]:
        """The same for meshes that differ at most in their names and in what they hang on."""
        arrays = [mesh.positions, mesh.triangles, mesh.joints, mesh.weights, mesh.normals, mesh.tangents]
        arrays += [mesh.colors, mesh.dual_quaternion_weights, *mesh.uvs]
        for t in mesh.morph_targets:
            arrays += [t.positions, t.normals, t.tangents, t.vertices]
        named = tuple((t.name, t.channel, t.full_weight) for t in mesh.morph_targets)
        return (mesh.sections, mesh.skinning, mesh.visible, named, *map(self._digest, arrays))

    def _digest(self, array: Array | None) -> bytes:
        if array is None:
            return b""
        if id(array) not in self._digests:  # the character holds it: nothing else gets its number
            digest = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=20)
            digest.update(np.ascontiguousarray(array).data if array.size else b"")
            self._digests[id(array)] = digest.digest()
        return self._digests[id(array)]

    def _check(self, values: Array | None, mesh: Mesh, field: str) -> None:
        if values is not None and not np.isfinite(values).all():
            raise FormatError(
                f"its {field} are not all finite numbers", path=self.path, place=f"mesh {mesh.name!r}"
            )

    def _geometry(self, prim: Any, mesh: Mesh, api: Any) -> list[TargetNote]:
        """All that does not depend on what the mesh hangs on."""
        from pxr import Sdf, UsdGeom, UsdSkel

        for field in ("positions", "normals", "tangents", "colors", "dual_quaternion_weights"):
            self._check(getattr(mesh, field), mesh, field)
        for uv in mesh.uvs:
            self._check(uv, mesh, "uvs")
        kinds, vertex, names = Sdf.ValueTypeNames, UsdGeom.Tokens.vertex, PrimNames()
        points = UsdGeom.PointBased(prim)
        points.CreatePointsAttr(vectors3(mesh.positions))
        if len(mesh.triangles):
            self._surface(UsdGeom.Mesh(prim), mesh, names)
        else:
            size = float(np.ptp(mesh.positions, axis=0).max(initial=0)) if mesh.vertex_count else 0.0
            UsdGeom.Points(prim).CreateWidthsAttr(floats([size / 100 or 0.01]))
            UsdGeom.Points(prim).SetWidthsInterpolation(UsdGeom.Tokens.constant)
            self._materials(prim, mesh, names)
        if not mesh.visible:
            points.CreateVisibilityAttr(UsdGeom.Tokens.invisible)
        if mesh.normals is not None:
            points.CreateNormalsAttr(vectors3(mesh.normals))
            points.SetNormalsInterpolation(vertex)
        values = UsdGeom.PrimvarsAPI(prim)
        for i, uv in enumerate(mesh.uvs):
            flipped = np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1)  # USD's V points up the image
            values.CreatePrimvar(uv_name(i), kinds.TexCoord2fArray, vertex).Set(vectors2(flipped))
        if mesh.tangents is not None:
            values.CreatePrimvar("tangents", kinds.Float4Array, vertex).Set(vectors4(mesh.tangents))
        if mesh.colors is not None:
            points.CreateDisplayColorAttr(vectors3(mesh.colors[:, :3]))
            points.GetDisplayColorPrimvar().SetInterpolation(vertex)
            if (mesh.colors[:, 3] != 1).any():
                points.CreateDisplayOpacityAttr(floats(mesh.colors[:, 3]))
                points.GetDisplayOpacityPrimvar().SetInterpolation(vertex)
        width = max(mesh.influences, 1)
        api.CreateJointIndicesPrimvar(False, width).Set(ints(mesh.joints.astype(np.int64)))
        api.CreateJointWeightsPrimvar(False, width).Set(floats(mesh.weights))
        if mesh.skinning != "linear":
            api.CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
        if mesh.dual_quaternion_weights is not None:
            name = f"{NAMESPACE}dualQuaternionWeights"
            prim.CreateAttribute(name, kinds.FloatArray, True).Set(floats(mesh.dual_quaternion_weights))
            if mesh.skinning == "blended":
                self.losses.add(
                    f"mesh {mesh.name!r}",
                    "it blends linear and dual-quaternion skinning; other programs skin it by dual quaternions alone",
                )
        return write_shapes(self.stage, prim, api, mesh, self.channels, names, self.path)

    def _surface(self, made: Any, mesh: Mesh, names: PrimNames) -> None:
        from pxr import UsdGeom

        made.CreateFaceVertexCountsAttr(ints(np.full(len(mesh.triangles), 3)))
        made.CreateFaceVertexIndicesAttr(ints(mesh.triangles.astype(np.int64)))
        made.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        used = [self.character.materials[s.material] for s in mesh.sections if s.material is not None]
        made.CreateDoubleSidedAttr(not used or any(m.double_sided for m in used))
        self._materials(made.GetPrim(), mesh, names)

    def _materials(self, prim: Any, mesh: Mesh, names: PrimNames) -> None:
        """Binds the materials: to the prim where it has one for all, to sets of faces otherwise."""
        from pxr import UsdGeom, UsdShade

        sections = bound_sections(mesh)
        if sections and sections[0].count == len(mesh.triangles):
            UsdShade.MaterialBindingAPI.Apply(prim).Bind(self.materials[sections[0].material])  # type: ignore[index]
            return
        taken = np.zeros(len(mesh.triangles), bool)
        for i, section in enumerate(sections):
            faces = np.arange(section.first, section.first + section.count)
            free = faces[~taken[faces]]
            if len(free) < len(faces):
                self.losses.add(
                    f"mesh {mesh.name!r}", "some triangles have two materials; other programs show the first"
                )
            if not len(free):
                continue
            taken[free] = True
            title = names.of(section.name or f"section_{i}", "")
            subset = UsdGeom.Subset.CreateGeomSubset(
                UsdGeom.Imageable(prim), title, UsdGeom.Tokens.face, ints(free),
                UsdShade.Tokens.materialBind, UsdGeom.Tokens.nonOverlapping,
            )  # fmt: skip
            UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(self.materials[section.material])  # type: ignore[index]

    def _bind(self, prim: Any, number: int, api: Any) -> None:
        """What the mesh hangs on."""
        from pxr import Sdf

        mesh, numbers = self.character.meshes[number], self.binding.joints[number]
        api.CreateJointsAttr([self.tokens[n] for n in numbers.tolist()])
        api.CreateGeomBindTransformAttr(matrix(self.binding.geometry[number]))
        inherits = bool(prim.GetInherits().GetAllDirectInherits())
        if inherits or self.binding.inverse_bind(number).tobytes() != mesh.inverse_bind.tobytes():
            # Products of rounded matrices are not quite what they were made of.
            kind = Sdf.ValueTypeNames.FloatArray
            exact = prim.CreateAttribute(f"{NAMESPACE}inverseBind", kind, True, Sdf.VariabilityUniform)
            exact.Set(floats(mesh.inverse_bind))


def bound_sections(mesh: Mesh) -> list[Section]:
    """The sections of which USD hears."""
    return [s for s in mesh.sections if s.material is not None and (s.count or not len(mesh.triangles))]
