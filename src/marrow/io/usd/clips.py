"""The clips of a stage: those that marrow wrote, the timeline, and animations that wait beside it."""

from __future__ import annotations

from typing import Any

from marrow.io.usd.attributes import attribute_curves, keyed_attributes
from marrow.io.usd.motion import animation_tracks, prim_tracks, unbound_animations
from marrow.io.usd.nodes import Nodes, UsdRig
from marrow.io.usd.notes import UsdClipNotes, take
from marrow.io.usd.own_clips import read_own_clip
from marrow.io.usd.own_meshes import ChangedStage
from marrow.io.usd.stage import StageFacts
from marrow.model import Clip, Curve, Skeleton, Track
from marrow.report import ReportBuilder

__all__ = ["read_clips", "settled"]


def read_clips(
    stage: Any,
    nodes: Nodes,
    rigs: list[UsdRig],
    skeleton: Skeleton,
    facts: StageFacts,
    rate: float | None,
    placed: tuple[Curve, ...],
    report: ReportBuilder,
) -> list[Clip]:
    """The stage's timeline, and one clip more for each animation that waits beside it. `placed`: curves of cameras and
    lights."""
    known = _own_clips(stage, nodes, rigs, skeleton, facts, report)
    bound = {r.animation.GetPath(): r.animation for r in rigs if r.animation}
    waiting = unbound_animations(stage, {*bound, *known}, rigs)
    timeline = prim_tracks(stage, nodes, facts, rate)
    for rig in rigs:
        if rig.animation and rig.animation.GetPath() not in known:
            timeline += animation_tracks(rig.animation, rig, nodes, facts, report)
    aside = {*known, *(p.GetPath() for p, _ in waiting)}
    keyed = keyed_attributes(stage)
    on_timeline = [a for a in keyed if a.GetPrim().GetPath() not in aside]
    found: list[tuple[str, list[Track], tuple[Curve, ...]]] = []
    names = [prim.GetName() for path, prim in bound.items() if path not in known]
    curves = (*attribute_curves(on_timeline, facts, report), *placed)
    found.append((names[0] if len(names) == 1 else "clip_0", timeline, curves))
    for prim, rig in waiting:
        curves = attribute_curves([a for a in keyed if a.GetPrim() == prim], facts, report)
        found.append((prim.GetName(), animation_tracks(prim, rig, nodes, facts, report), curves))
    made = [clip for clip in known.values() if clip is not None]
    for name, tracks, curves in found:
        if tracks or curves:
            clip = Clip(name, skeleton, tracks, rate=facts.codes_per_second)  # type: ignore[arg-type]
            last = max((float(c.times[-1]) for c in curves), default=0.0)
            clip = clip.replace(curves=curves, duration=max(clip.duration, last)) if curves else clip
            made.append(clip)
    return _named_apart(made, report)


def _own_clips(
    stage: Any, nodes: Nodes, rigs: list[UsdRig], skeleton: Skeleton, facts: StageFacts, report: ReportBuilder
) -> dict[Any, Clip | None]:
    """Clips that marrow wrote, by the paths of their prims; None where a prim only holds the weights at rest."""
    from pxr import Usd, UsdSkel

    rig = next((r for r in rigs if r.notes is not None), None)
    if not nodes.own or rig is None:
        return {}
    out: dict[Any, Clip | None] = {}
    for prim in Usd.PrimRange(stage.GetPseudoRoot()):
        notes = take(prim, UsdClipNotes, report) if prim.IsA(UsdSkel.Animation) else None
        if notes is None:
            continue
        if notes.rest:
            out[prim.GetPath()] = None
            continue
        try:
            out[prim.GetPath()] = read_own_clip(
                prim, notes, rig, skeleton, facts.codes_per_second, nodes.path
            )
        except ChangedStage:
            report.add(
                "info",
                str(prim.GetPath()),
                "was changed since marrow wrote it; it is read as any other animation",
            )
    return out


def _named_apart(clips: list[Clip], report: ReportBuilder) -> list[Clip]:
    out: dict[str, Clip] = {}
    for clip in clips:
        unique, n = clip.name, 2
        while unique in out:
            unique, n = f"{clip.name}_{n}", n + 1
        if unique != clip.name:
            report.add("repaired", "clips", f"a second clip called {clip.name!r} is now {unique!r}")
            clip = clip.replace(name=unique)
        out[unique] = clip
    return list(out.values())


def settled(stage: Any, nodes: Nodes, rigs: list[UsdRig], points: list[Any], facts: StageFacts) -> StageFacts:
    """Timing; a stage that does not say where it begins does so at its first sample."""
    from pxr import UsdGeom, UsdSkel

    if facts.begin is not None:
        return facts
    bound = {r.animation.GetPath(): r.animation for r in rigs if r.animation}
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
