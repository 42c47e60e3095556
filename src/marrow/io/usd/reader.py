"""Reads a USD stage into a `Character`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.constraint_reading import constraints_from_data, fitting_constraints
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.io.usd.cameras import PlacedPrims
from marrow.io.usd.clips import read_clips, settled
from marrow.io.usd.composition import choose_variants, drawn_prims, with_instances, with_shapes
from marrow.io.usd.materials import UsdMaterials
from marrow.io.usd.meshes import MeshReader
from marrow.io.usd.motion import vertex_motion
from marrow.io.usd.nodes import Nodes, UsdRig
from marrow.io.usd.notes import RigNotes, RootNotes, is_own, take
from marrow.io.usd.stage import facts_of, opened
from marrow.io.vertex_motion import with_vertex_motion
from marrow.model import Character, Mesh, Skeleton, Socket
from marrow.report import ReportBuilder

__all__ = ["read_stage"]


def read_stage(source: Source, options: LoadOptions) -> Character:
    """Everything on the stage that can be placed, skinned, drawn or played."""
    report = ReportBuilder()
    with opened(source, report) as stage:
        character = _character(stage, source, options, report)
    unit = character[1] * (options.scale if options.scale is not None else 1.0)
    return scaled(character[0], unit).replace(report=report.build())


def _character(
    stage: Any, source: Source, options: LoadOptions, report: ReportBuilder
) -> tuple[Character, float]:
    """The character in the stage's own unit, and that unit in metres."""
    from pxr import UsdGeom

    unit = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not 0 < unit < math.inf:
        raise FormatError(
            f"metersPerUnit is {unit}", path=source.path, remedy="pass scale= and correct the file"
        )
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        report.add("info", "stage", "has no metersPerUnit: centimetres, as USD prescribes")
    z_up = UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z
    own = is_own(stage, report)
    choose_variants(stage, options.variants, report)
    if not own:
        with_instances(stage, report)
        with_shapes(stage, report)
    nodes = Nodes(source.path, report, z_up, own and not z_up)
    nodes.add_prims(stage)
    found = _Found(nodes, stage)
    if not nodes.names and found.root is None:
        raise FormatError("has nothing that can be placed: no Xform, mesh or skeleton", path=source.path)
    notes = found.root[1] if found.root is not None else RootNotes()
    materials = UsdMaterials(source, report)
    if found.root is not None:
        materials.add_own(*found.root)
    reader = MeshReader(nodes, materials, report)
    rig = found.own_rig
    if rig is not None and rig.notes is not None:
        reader.morph_names += [name for name, *_ in rig.notes.morphs]
    meshes, number_of = _meshes(found, reader, report)
    rigs = list(found.rigs.values())
    skeleton = _skeleton(nodes, reader.morph_names, rig)
    moving = {path: UsdGeom.PointBased(stage.GetPrimAtPath(path)).GetPointsAttr() for path in reader.moving}
    facts = settled(stage, nodes, rigs, list(moving.values()), facts_of(stage))
    placed = PlacedPrims(stage, nodes, rig)
    clips = read_clips(stage, nodes, rigs, skeleton, facts, options.rate, placed.curves(facts), report)
    character = Character(
        skeleton,
        tuple(meshes),
        clips,  # type: ignore[arg-type]
        tuple(materials.materials),
        tuple(materials.pictures.images),
        notes.name if found.root is not None else source.path.stem,
        extras=notes.extras,
        variants=tuple(notes.variants),
        vrm=notes.vrm,
        cameras=tuple(placed.cameras),
        lights=tuple(placed.lights),
        constraints=fitting_constraints(constraints_from_data(notes.constraints, report), skeleton, report),
    )
    motions = []
    for path, points in moving.items():
        motion = vertex_motion(points, reader.moving[path], number_of[path], facts, nodes, report)
        motions += [] if motion is None else [motion]
    character = with_vertex_motion(character, motions)
    report.extend(character.report)
    return character, unit


class _Found:
    """What is on the stage: skeletons by path (their joints are added to the nodes), prims with points and how each is
    skinned, and the SkelRoot of a character that marrow wrote, with its notes."""

    def __init__(self, nodes: Nodes, stage: Any) -> None:
        from pxr import Usd, UsdGeom, UsdSkel

        self.nodes, self.report = nodes, nodes.report
        self.rigs: dict[str, UsdRig] = {}
        self.prims: list[Any] = []
        self.skinning: dict[str, tuple[str, Any]] = {}
        self.root: tuple[Any, RootNotes] | None = None
        self.own_rig: UsdRig | None = None
        cache, everything = UsdSkel.Cache(), Usd.TraverseInstanceProxies()
        for prim in drawn_prims(stage):
            if prim.IsA(UsdSkel.Root):
                notes = take(prim, RootNotes, self.report) if nodes.own and self.root is None else None
                self.root = (prim, notes) if notes is not None else self.root
                cache.Populate(UsdSkel.Root(prim), everything)
                for binding in cache.ComputeSkelBindings(UsdSkel.Root(prim), everything):
                    for target in binding.GetSkinningTargets():
                        where = str(binding.GetSkeleton().GetPath())
                        self.skinning[str(target.GetPrim().GetPath())] = (where, target)
            elif prim.IsA(UsdSkel.Skeleton):
                self._add_rig(prim, cache.GetSkelQuery(UsdSkel.Skeleton(prim)))
            elif any(prim.IsA(kind) for kind in (UsdGeom.Mesh, UsdGeom.Points, UsdGeom.BasisCurves)):
                self.prims.append(prim)
            elif prim.IsA(UsdGeom.Gprim):
                self.report.add(
                    "dropped", str(prim.GetPath()), f"marrow does not read {prim.GetTypeName()} prims"
                )

    def _add_rig(self, prim: Any, query: Any) -> None:
        from pxr import UsdSkel

        own = self.root is not None and self.own_rig is None
        notes = take(prim, RigNotes, self.report) if own else None
        animation = UsdSkel.BindingAPI(prim).GetInheritedAnimationSource()
        if query:
            rig = self.nodes.add_rig(prim, query, animation, notes)
        elif notes is not None and not notes.joints:
            rig = UsdRig(np.zeros(0, np.int32), [], np.zeros((0, 3, 4)), animation, notes=notes)
        else:
            self.report.add("dropped", str(prim.GetPath()), "is not a valid skeleton")
            return
        self.rigs[str(prim.GetPath())] = rig
        if rig.notes is not None:
            self.own_rig = rig
            for i, (_, token, full, _) in enumerate(rig.notes.morphs):
                rig.channels[token], rig.full[token] = i, full


def _meshes(found: _Found, reader: MeshReader, report: ReportBuilder) -> tuple[list[Mesh], dict[str, int]]:
    """The meshes, and the number of each by the path of its prim."""
    from pxr import UsdSkel

    meshes: list[Mesh] = []
    number_of: dict[str, int] = {}
    for prim in found.prims:
        path = str(prim.GetPath())
        skeleton_path, skinning = found.skinning.get(path, (None, None))
        rig = found.rigs.get(skeleton_path) if skeleton_path else None
        mesh = reader.read_own(prim, found.own_rig) if found.own_rig is not None else None
        if mesh is None:
            if skeleton_path is None and UsdSkel.BindingAPI(prim).GetJointIndicesPrimvar().HasValue():
                report.add("warning", path, "has weights but no skeleton below a SkelRoot; it is rigid")
            try:
                mesh = reader.read(prim, rig, skinning)
            except (FormatError, TypeError, ValueError) as error:
                if len(found.prims) == 1 or isinstance(error, ResourceLimitError):
                    raise
                report.add("dropped", path, f"its surface cannot be read: {_why(error)}")
        if mesh is not None:
            number_of[path] = len(meshes)
            meshes.append(mesh)
    return meshes, number_of


def _why(error: Exception) -> str:
    return error.message if isinstance(error, FormatError) else f"its values do not fit together ({error})"


def _skeleton(nodes: Nodes, morph_names: list[str], rig: UsdRig | None) -> Skeleton:
    """The skeleton, with what the notes of marrow's own rig say of it."""
    if rig is None or rig.notes is None:
        return nodes.skeleton(morph_names)
    sockets = [
        Socket(
            s.name,
            int(rig.joints[s.joint]),
            *(np.array(a, np.float32) for a in (s.translation, s.rotation, s.scale)),
        )
        for s in rig.notes.sockets
    ]
    humanoid = {bone: int(rig.joints[j]) for bone, j in rig.notes.humanoid.items()}
    return nodes.skeleton(morph_names, [weight for *_, weight in rig.notes.morphs], sockets, humanoid)
