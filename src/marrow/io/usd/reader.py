"""Reads a USD stage into a `Character`."""

from __future__ import annotations

import math
from typing import Any

from marrow.errors import FormatError
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.io.usd.attributes import attribute_curves, keyed_attributes
from marrow.io.usd.materials import Materials
from marrow.io.usd.meshes import MeshReader
from marrow.io.usd.motion import animation_tracks, prim_tracks, unbound_animations, vertex_motion
from marrow.io.usd.nodes import Nodes, Rig
from marrow.io.usd.stage import StageFacts, facts_of, opened
from marrow.io.vertex_motion import with_vertex_motion
from marrow.model import Character, Clip, Curve, Mesh, Skeleton, Track
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
    from pxr import Usd, UsdGeom, UsdSkel

    unit = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not 0 < unit < math.inf:
        raise FormatError(
            f"metersPerUnit is {unit}", path=source.path, remedy="pass scale= and correct the file"
        )
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        report.add("info", "stage", "has no metersPerUnit: centimetres, as USD prescribes")
    z_up = UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z
    nodes = Nodes(source.path, report, z_up)
    nodes.add_prims(stage)
    cache = UsdSkel.Cache()
    rigs: dict[str, Rig] = {}
    mesh_prims, rig_of = [], {}
    everything = Usd.TraverseInstanceProxies()
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), everything):
        if prim.IsA(UsdSkel.Root):
            cache.Populate(UsdSkel.Root(prim), everything)
            for binding in cache.ComputeSkelBindings(UsdSkel.Root(prim), everything):
                for target in binding.GetSkinningTargets():
                    rig_of[str(target.GetPrim().GetPath())] = (str(binding.GetSkeleton().GetPath()), target)
        elif prim.IsA(UsdSkel.Skeleton):
            query = cache.GetSkelQuery(UsdSkel.Skeleton(prim))
            if query:
                animation = UsdSkel.BindingAPI(prim).GetInheritedAnimationSource()
                rigs[str(prim.GetPath())] = nodes.add_rig(prim, query, animation)
            else:
                report.add("dropped", str(prim.GetPath()), "is not a valid skeleton")
        elif prim.IsA(UsdGeom.Mesh):
            mesh_prims.append(prim)
        elif prim.IsA(UsdGeom.Gprim) or prim.IsA(UsdGeom.PointInstancer):
            report.add("dropped", str(prim.GetPath()), f"marrow does not read {prim.GetTypeName()} prims")
    if not nodes.names:
        raise FormatError("has nothing that can be placed: no Xform, mesh or skeleton", path=source.path)
    materials = Materials(source, report)
    reader = MeshReader(nodes, materials, report)
    meshes: list[Mesh] = []
    number_of: dict[str, int] = {}
    for prim in mesh_prims:
        skeleton_path, skinning = rig_of.get(str(prim.GetPath()), (None, None))
        if skeleton_path is None and UsdSkel.BindingAPI(prim).GetJointIndicesPrimvar().HasValue():
            report.add(
                "warning", str(prim.GetPath()), "has weights but no skeleton below a SkelRoot; it is rigid"
            )
        mesh = reader.read(prim, rigs.get(skeleton_path) if skeleton_path else None, skinning)
        if mesh is not None:
            number_of[str(prim.GetPath())] = len(meshes)
            meshes.append(mesh)
    skeleton = nodes.skeleton(reader.morph_names)
    moving = {path: UsdGeom.Mesh(stage.GetPrimAtPath(path)).GetPointsAttr() for path in reader.moving}
    facts = _settled(stage, nodes, list(rigs.values()), list(moving.values()), facts_of(stage))
    clips = _clips(stage, nodes, list(rigs.values()), skeleton, facts, options.rate, report)
    character = Character(
        skeleton,
        tuple(meshes),
        clips,  # type: ignore[arg-type]
        tuple(materials.materials),
        tuple(materials.images),
        name=source.path.stem,
    )
    motions = []
    for path, points in moving.items():
        motion = vertex_motion(points, reader.moving[path], number_of[path], facts, nodes, report)
        motions += [] if motion is None else [motion]
    character = with_vertex_motion(character, motions)
    report.extend(character.report)
    return character, unit


def _clips(
    stage: Any,
    nodes: Nodes,
    rigs: list[Rig],
    skeleton: Skeleton,
    facts: StageFacts,
    fps: float | None,
    report: ReportBuilder,
) -> list[Clip]:
    """The stage's timeline, and one clip more for each animation that waits beside it."""
    bound = {str(r.animation.GetPath()): r.animation for r in rigs if r.animation}
    waiting = unbound_animations(stage, set(bound), rigs)
    timeline = prim_tracks(stage, nodes, facts, fps)
    for rig in rigs:
        if rig.animation:
            timeline += animation_tracks(rig.animation, rig, nodes, facts, report)
    keyed, beside = keyed_attributes(stage), {str(p.GetPath()) for p, _ in waiting}
    on_timeline = [a for a in keyed if str(a.GetPrim().GetPath()) not in beside]
    found: list[tuple[str, list[Track], tuple[Curve, ...]]] = []
    names = [prim.GetName() for prim in bound.values()]
    curves = attribute_curves(on_timeline, facts, report)
    found.append((names[0] if len(names) == 1 else "clip_0", timeline, curves))
    for prim, rig in waiting:
        curves = attribute_curves([a for a in keyed if a.GetPrim() == prim], facts, report)
        found.append((prim.GetName(), animation_tracks(prim, rig, nodes, facts, report), curves))
    clips: dict[str, Clip] = {}
    for name, tracks, curves in found:
        if not tracks and not curves:
            continue
        unique, n = name, 2
        while unique in clips:
            unique, n = f"{name}_{n}", n + 1
        if unique != name:
            report.add("repaired", "clips", f"a second clip called {name!r} is now {unique!r}")
        clip = Clip(unique, skeleton, tracks, rate=facts.codes_per_second)  # type: ignore[arg-type]
        last = max((float(c.times[-1]) for c in curves), default=0.0)
        clips[unique] = clip.replace(curves=curves, duration=max(clip.duration, last)) if curves else clip
    return list(clips.values())


def _settled(stage: Any, nodes: Nodes, rigs: list[Rig], points: list[Any], facts: StageFacts) -> StageFacts:
    """Timing; a stage that does not say where it begins does so at its first sample."""
    from pxr import UsdGeom, UsdSkel

    if facts.begin is not None:
        return facts
    bound = {str(r.animation.GetPath()): r.animation for r in rigs if r.animation}
    waiting = [prim for prim, _ in unbound_animations(stage, set(bound), rigs)]
    first = [attribute.GetTimeSamples()[0] for attribute in points]
    for prim in [*bound.values(), *waiting]:
        source = UsdSkel.Animation(prim)
        for attribute in (
            source.GetTranslationsAttr(),
            source.GetRotationsAttr(),
            source.GetScalesAttr(),
            source.GetBlendShapeWeightsAttr(),
        ):
            first += attribute.GetTimeSamples()[:1]
    for path in nodes.of_prim:
        first += UsdGeom.Xformable(stage.GetPrimAtPath(path)).GetTimeSamples()[:1]
    return StageFacts(min(first, default=0.0), None, facts.codes_per_second, facts.held)
