"""A `Character` as a USD stage: UsdSkel skeleton, skinned meshes, blend shapes, clips and preview materials.

All joints are one Skeleton below a SkelRoot. The first clip is bound to it; the others lie beside as
SkelAnimations, since a stage has one timeline. USD interpolates straight between samples, so clips are sampled at
one rate (`rate`, by default their own).
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, MissingExtraError, ValidationError
from marrow.io.usd.attributes import write_curves
from marrow.io.usd.write_materials import write_materials
from marrow.math import affine
from marrow.model import Character, Clip, Mesh, _validate
from marrow.printing import warn

__all__ = ["write"]

Array = NDArray[Any]
MAX_VALUES = 200_000_000


def write(character: Character, path: Path | str, *, rate: float | None = None) -> None:
    """Writes the stage (`.usda`, `.usdc` or `.usd`), its textures in a folder beside it."""
    try:
        from pxr import Tf, Usd, UsdGeom, UsdSkel
    except ImportError:
        raise MissingExtraError("usd-core", "usd", "writing USD files") from None
    if rate is not None:
        rate = _validate.frame_rate("save", rate)
    if not len(character.skeleton):
        raise ValidationError("save: a USD stage needs at least one joint, the character has none")
    target = Path(path)
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    names = _Names(Tf.MakeValidIdentifier)
    root = UsdSkel.Root.Define(stage, f"/{names.of(character.name or 'Character', '/')}")
    stage.SetDefaultPrim(root.GetPrim())
    top = str(root.GetPath())
    tokens = _joint_tokens(character, Tf.MakeValidIdentifier)
    binds = _bind_matrices(character)
    skeleton = UsdSkel.Skeleton.Define(stage, f"{top}/{names.of('Skeleton', top)}")
    skeleton.CreateJointsAttr(tokens)
    skeleton.CreateBindTransformsAttr(_matrices(binds))
    skeleton.CreateRestTransformsAttr(_matrices(_local_rest(character)))
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    textures = target.with_name(f"{target.stem}_textures")
    materials = write_materials(stage, top, character, textures, names)
    channels = [names.of(n, "channels") for n in character.skeleton.morph_names]
    for mesh in character.meshes:
        _write_mesh(stage, top, character, mesh, skeleton, binds, channels, materials, names)
    rates = [c.rate or c.key_rate for c in character.clips.values()]
    rate = float(rate or next((r for r in rates if r), 30.0))
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    for i, clip in enumerate(character.clips.values()):
        prim = _write_clip(stage, top, clip, tokens, channels, _full_weights(character), rate, names)
        if i == 0:
            UsdSkel.BindingAPI(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([prim.GetPath()])
    longest = max((c.duration for c in character.clips.values()), default=0.0)
    if character.clips:
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(math.ceil(longest * rate - 1e-3))
    _export(stage, target)


def _export(stage: Any, target: Path) -> None:
    """Writes the layer beside its place and moves it there."""
    from pxr import Tf

    draft = target.with_name(f".{target.stem}.{os.getpid()}.tmp{target.suffix}")
    try:
        if not target.parent.is_dir():
            raise FormatError(f"cannot be written: no folder {target.parent}", path=target)
        stage.GetRootLayer().Export(str(draft))
        os.replace(draft, target)
    except (OSError, Tf.ErrorException) as error:
        raise FormatError(f"cannot be written: {error}", path=target) from None
    finally:
        draft.unlink(missing_ok=True)


class _Names:
    """Names that USD takes, each once below its parent."""

    def __init__(self, valid: Any) -> None:
        self._valid, self._taken = valid, set()  # type: ignore[var-annotated]

    def of(self, name: str, parent: str) -> str:
        stem = unique = self._valid(name or "unnamed")
        n = 2
        while (parent, unique) in self._taken:
            unique, n = f"{stem}_{n}", n + 1
        self._taken.add((parent, unique))
        return unique


def _joint_tokens(character: Character, valid: Any) -> list[str]:
    """Joints as the paths USD knows them by."""
    names = _Names(valid)
    tokens: list[str] = []
    for name, parent in zip(character.skeleton.names, character.skeleton.parents.tolist()):
        above = tokens[parent] if parent >= 0 else ""
        own = names.of(name, above)
        tokens.append(f"{above}/{own}" if above else own)
    return tokens


def _local_rest(character: Character) -> Array:
    from marrow.math import transform

    rest = character.skeleton.rest
    return transform.compose(
        *(np.asarray(a, np.float64) for a in (rest.translation, rest.rotation, rest.scale))
    )


def _bind_matrices(character: Character) -> Array:
    """Where every joint stood when it was bound `(J, 3, 4)`; at rest for those no mesh uses."""
    skeleton = character.skeleton
    out = np.array(skeleton.rest_model, np.float64)
    known = np.zeros(len(skeleton), bool)
    for mesh in sorted(character.meshes, key=lambda m: -len(m.joint_list)):
        for joint, inverse in zip(mesh.joint_list.tolist(), mesh.inverse_bind.astype(np.float64)):
            bind = affine.invert(inverse)
            if not known[joint] and np.isfinite(bind).all() and len(mesh.joint_list) > 1:
                out[joint], known[joint] = bind, True
    return out


def _matrices(m: Array) -> Any:
    """Affine matrices `(n, 3, 4)` as USD has them: 4x4, for row vectors."""
    from pxr import Gf, Vt

    rows = affine.to_4x4(np.asarray(m, np.float64)).swapaxes(-1, -2)
    return Vt.Matrix4dArray([Gf.Matrix4d(*row.ravel().tolist()) for row in rows])


def _write_mesh(
    stage: Any,
    top: str,
    character: Character,
    mesh: Mesh,
    skeleton: Any,
    binds: Array,
    channels: list[str],
    materials: list[Any],
    names: _Names,
) -> None:
    from pxr import Gf, Sdf, UsdGeom, UsdShade, UsdSkel, Vt

    prim = UsdGeom.Mesh.Define(stage, f"{top}/{names.of(mesh.name, top)}")
    where = str(prim.GetPath())
    prim.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(mesh.positions)))
    prim.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(mesh.triangles), 3, np.int32)))
    prim.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(mesh.triangles.astype(np.int32).ravel()))
    prim.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    prim.CreateDoubleSidedAttr(True)
    if not mesh.visible:
        prim.CreateVisibilityAttr(UsdGeom.Tokens.invisible)
    if mesh.normals is not None:
        prim.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(mesh.normals)))
        prim.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    values = UsdGeom.PrimvarsAPI(prim)
    for i, uv in enumerate(mesh.uvs):
        name = "st" if i == 0 else f"st{i}"
        flipped = np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1).astype(np.float32)
        made = values.CreatePrimvar(name, Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex)
        made.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(flipped)))
    if mesh.colors is not None:
        prim.CreateDisplayColorAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(mesh.colors[:, :3])))
        prim.GetDisplayColorPrimvar().SetInterpolation(UsdGeom.Tokens.vertex)
    api = UsdSkel.BindingAPI.Apply(prim.GetPrim())
    api.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    order = mesh.joint_list[mesh.joints.astype(np.int64)].astype(np.int32)
    weights = np.where(mesh.weights > 0, mesh.weights, 0).astype(np.float32)
    indices = api.CreateJointIndicesPrimvar(False, order.shape[1])
    indices.Set(Vt.IntArray.FromNumpy(np.ascontiguousarray(order).ravel()))
    api.CreateJointWeightsPrimvar(False, order.shape[1]).Set(Vt.FloatArray.FromNumpy(weights.ravel()))
    geometry = _geometry_bind(mesh, binds)
    api.CreateGeomBindTransformAttr(Gf.Matrix4d(*affine.to_4x4(geometry).T.ravel().tolist()))
    if mesh.skinning != "linear":
        api.CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
    _write_shapes(stage, where, mesh, api, channels, names)
    for i, section in enumerate(mesh.sections):
        if section.material is None:
            continue
        material = materials[section.material]
        if len(mesh.sections) == 1:
            UsdShade.MaterialBindingAPI.Apply(prim.GetPrim()).Bind(material)
            continue
        faces = Vt.IntArray.FromNumpy(np.arange(section.first, section.first + section.count, dtype=np.int32))
        title = names.of(section.name or f"section_{i}", where)
        subset = UsdGeom.Subset.CreateGeomSubset(prim, title, UsdGeom.Tokens.face, faces, "materialBind")
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(material)


def _geometry_bind(mesh: Mesh, binds: Array) -> Array:
    """What brings the mesh to where it was bound, for all its joints together."""
    each = affine.multiply(binds[mesh.joint_list], mesh.inverse_bind.astype(np.float64))
    first = each[0]
    if np.abs(each - first).max() > 1e-4 * max(1.0, float(np.abs(first).max())):
        warn(
            f"mesh {mesh.name!r} was bound in another pose than the rest; USD has one bind pose for all",
            stacklevel=4,
        )
    return np.asarray(first)


def _full_weights(character: Character) -> Array:
    """The channel weight at which the main shape of each channel is fully on."""
    full = np.zeros(len(character.skeleton.morph_names))
    for mesh in character.meshes:
        for t in mesh.morph_targets:
            full[t.channel] = max(full[t.channel], abs(t.full_weight))
    return np.where(full > 0, full, 1.0)


def _write_shapes(stage: Any, where: str, mesh: Mesh, api: Any, channels: list[str], names: _Names) -> None:
    from pxr import UsdSkel, Vt

    by_channel: dict[int, list[Any]] = {}
    for t in mesh.morph_targets:
        by_channel.setdefault(t.channel, []).append(t)
    paths = []
    for channel, targets in by_channel.items():
        targets = sorted(targets, key=lambda t: t.full_weight)
        main = targets[-1]
        shape = UsdSkel.BlendShape.Define(stage, f"{where}/{names.of(channels[channel], where)}")
        paths.append(shape.GetPath())
        V = mesh.vertex_count
        shape.CreateOffsetsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(main.dense(V, "positions"))))
        if main.normals is not None:
            shape.CreateNormalOffsetsAttr(
                Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(main.dense(V, "normals")))
            )
        for i, t in enumerate(targets[:-1]):
            between = shape.CreateInbetween(f"between_{i}")
            between.SetWeight(float(t.full_weight / main.full_weight))
            between.SetOffsets(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(t.dense(V, "positions"))))
    if paths:
        api.CreateBlendShapesAttr([channels[c] for c in by_channel])
        api.CreateBlendShapeTargetsRel().SetTargets(paths)


def _write_clip(
    stage: Any,
    top: str,
    clip: Clip,
    tokens: list[str],
    channels: list[str],
    full: Array,
    rate: float,
    names: _Names,
) -> Any:
    from pxr import Gf, UsdSkel, Vt

    frames = math.ceil(clip.duration * rate - 1e-3) + 1
    if frames * len(tokens) * 10 > MAX_VALUES:
        raise ValidationError(
            f"save: clip {clip.name!r} has {frames} frames of {len(tokens)} joints; lower rate"
        )
    made = UsdSkel.Animation.Define(stage, f"{top}/{names.of(clip.name, top)}")
    made.CreateJointsAttr(tokens)
    translations, rotations, scales = (
        made.CreateTranslationsAttr(),
        made.CreateRotationsAttr(),
        made.CreateScalesAttr(),
    )
    moves = bool(len(channels)) and bool((clip.tracks.table["path"] == 3).any())
    if channels:
        made.CreateBlendShapesAttr(channels)
    weights = made.CreateBlendShapeWeightsAttr()
    for start in range(0, frames, 256):
        block = np.arange(start, min(start + 256, frames))
        pose = clip.sample(np.minimum(block / rate, clip.duration))
        for i, code in enumerate(block.tolist()):
            translations.Set(
                Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(pose.translation[i], np.float32)), code
            )
            turns = np.asarray(pose.rotation[i], np.float64)
            rotations.Set(Vt.QuatfArray([Gf.Quatf(w, x, y, z) for x, y, z, w in turns.tolist()]), code)
            scales.Set(Vt.Vec3hArray([Gf.Vec3h(*s) for s in np.asarray(pose.scale[i]).tolist()]), code)
            if moves or (channels and code == 0):
                values = np.asarray(pose.morphs[i], np.float64) / full
                weights.Set(Vt.FloatArray(values.tolist()), code)
    write_curves(made.GetPrim(), clip, rate)
    return made.GetPrim()
