"""The stage's timeline as a clip: UsdSkel animations and prims that move.

USD interpolates joint rotations by slerp and everything else straight, as a linear track does, so the samples
become keys as they are. Only Euler angles of animated prims, which USD interpolates one by one, are sampled
at every frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.io.usd.nodes import Nodes, UsdRig
from marrow.io.usd.stage import StageFacts
from marrow.io.usd.values import column_affine
from marrow.io.vertex_motion import VertexMotion
from marrow.math import quaternion, transform
from marrow.model import Track
from marrow.report import ReportBuilder

__all__ = ["animation_tracks", "key_codes", "prim_tracks", "unbound_animations", "vertex_motion"]

Array = NDArray[Any]
MAX_KEYS = 20_000_000
MAX_CACHE_BYTES = 1 << 30


def prim_tracks(stage: Any, nodes: Nodes, facts: StageFacts, rate: float | None) -> list[Track]:
    """Keys of the prims whose place changes over time."""
    from pxr import UsdGeom

    tracks: list[Track] = []
    for path, node in nodes.of_prim.items():
        place = UsdGeom.Xformable(stage.GetPrimAtPath(path))
        if not place.TransformMightBeTimeVarying():
            continue
        codes = key_codes(place.GetTimeSamples(), facts)
        if len(codes) > 1 and not facts.held and any(map(_is_euler, place.GetOrderedXformOps())):
            step = facts.codes_per_second / (rate or max(30.0, facts.codes_per_second))
            count = (codes[-1] - codes[0]) / step
            _check_count(count, nodes.path)
            codes = np.unique([*codes, *(codes[0] + np.arange(int(count) + 1) * step)]).tolist()
        _check_count(len(codes), nodes.path)
        matrices = column_affine(np.array([place.GetLocalTransformation(code) for code in codes]))
        times = _seconds(codes, facts)
        for kind, values in zip(("translation", "rotation", "scale"), transform.decompose(matrices)):
            if np.ptp(values, axis=0).max(initial=0) > 0:
                tracks.append(nodes.track(node, kind, times, values, facts.held))
    return tracks


def animation_tracks(
    animation: Any, rig: UsdRig, nodes: Nodes, facts: StageFacts, report: ReportBuilder
) -> list[Track]:
    """Keys a UsdSkel animation gives to the joints and blend shapes of a rig."""
    from pxr import UsdSkel

    source = UsdSkel.Animation(animation)
    where = str(animation.GetPath())
    tokens = [str(t) for t in source.GetJointsAttr().Get() or []]
    known = {token: int(joint) for token, joint in zip(rig.tokens, rig.joints)}
    if rig.notes is not None:  # those after them stand in for others
        known = dict(list(known.items())[: rig.notes.joints])
    strangers = [t for t in tokens if t not in known]
    if strangers:
        report.add(
            "dropped", where, f"animates {len(strangers)} joints the skeleton has not: {strangers[0]!r}..."
        )
    tracks: list[Track] = []
    for kind, attribute in (
        ("translation", source.GetTranslationsAttr()),
        ("rotation", source.GetRotationsAttr()),
        ("scale", source.GetScalesAttr()),
    ):
        times, values = _sampled(attribute, len(tokens), facts, where, report, nodes.path)
        if kind == "rotation" and len(times):
            values = quaternion.normalize(values)
        for i, token in enumerate(tokens if len(times) else ()):
            if token in known:
                tracks.append(nodes.track(known[token], kind, times, values[:, i], facts.held))
    shapes = [str(t) for t in source.GetBlendShapesAttr().Get() or []]
    times, values = _sampled(source.GetBlendShapeWeightsAttr(), len(shapes), facts, where, report, nodes.path)
    for i, token in enumerate(shapes if len(times) else ()):
        if token in rig.channels:
            tracks.append(
                Track(
                    rig.channels[token],
                    "morph",
                    times,
                    values[:, i, None] * rig.full.get(token, 1.0),
                    "step" if facts.held else "linear",
                )
            )
    return tracks


def vertex_motion(
    attribute: Any, vertex_points: Array, mesh: int, facts: StageFacts, nodes: Nodes, report: ReportBuilder
) -> VertexMotion | None:
    """The points of a mesh that change over time; None, with a line in the report, where they cannot be kept."""
    where, count = str(attribute.GetPrim().GetPath()), int(vertex_points.max(initial=-1)) + 1
    codes = key_codes(attribute.GetTimeSamples(), facts)
    if len(codes) * len(vertex_points) * 12 > MAX_CACHE_BYTES:
        raise ResourceLimitError(
            f"has {len(codes)} samples of {len(vertex_points)} vertices; marrow reads {MAX_CACHE_BYTES >> 20} MiB of them",
            path=nodes.path,
            place=where,
        )
    rows = []
    for code in codes:
        points = np.asarray(attribute.Get(code), np.float32).reshape(-1, 3)
        if len(points) < count or not np.isfinite(points).all():
            report.add(
                "dropped",
                where,
                f"its points at {code:g} do not fit the mesh; those of the first time are kept",
            )
            return None
        rows.append(points[vertex_points])
    times = _seconds(codes, facts).astype(np.float64)
    if facts.held:
        # Each sample holds until just before the next.
        just = np.nextafter(times[1:].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
        times = np.sort(np.concatenate([times, just]))
        rows = [row for row in rows for _ in (0, 1)][:-1]
    return VertexMotion(mesh, times, np.stack(rows)) if rows else None


def unbound_animations(stage: Any, bound: set[Any], rigs: Sequence[UsdRig]) -> list[tuple[Any, UsdRig]]:
    """Animations that no skeleton names, with the rig whose joints they fit: more clips for it."""
    from pxr import Usd, UsdSkel

    found = []
    of_rig = [(set(r.tokens), r) for r in rigs]
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        if prim.IsA(UsdSkel.Animation) and prim.GetPath() not in bound:
            tokens = {str(t) for t in UsdSkel.Animation(prim).GetJointsAttr().Get() or []}
            fitting = next((r for names, r in of_rig if tokens and tokens <= names), None)
            if fitting is not None:
                found.append((prim, fitting))
    return found


def key_codes(samples: Sequence[float], facts: StageFacts) -> list[float]:
    """The time codes to key: the samples inside the stage's range, with its ends where samples lie
    outside."""
    codes = [float(c) for c in samples]
    begin = facts.begin if facts.begin is not None else -np.inf
    end = facts.end if facts.end is not None else np.inf
    inside = [c for c in codes if begin <= c <= end]
    if codes and codes[0] < begin and (not inside or inside[0] > begin):
        inside.insert(0, begin)
    if codes and codes[-1] > end and (not inside or inside[-1] < end):
        inside.append(end)
    return inside


def _sampled(
    attribute: Any, width: int, facts: StageFacts, where: str, report: ReportBuilder, path: Path
) -> tuple[Array, Array]:
    """Times in seconds `(T,)` and values `(T, width, ...)`; nothing where the attribute has no value."""
    nothing = np.zeros(0, np.float32), np.zeros(0, np.float32)
    if not attribute or not attribute.HasValue() or not width:
        return nothing
    codes = key_codes(attribute.GetTimeSamples(), facts)
    read: Callable[[float], Any] = attribute.Get
    if not codes:
        codes, read = [facts.begin or 0.0], lambda _: attribute.Get()
    _check_count(len(codes) * width, path)
    rows = [np.asarray(read(code)) for code in codes]
    if any(len(row) != width for row in rows):
        report.add("dropped", where, f"{attribute.GetName()} does not have {width} values in every sample")
        return nothing
    values = np.array(rows, np.float64)
    if not np.isfinite(values).all():
        report.add("dropped", where, f"{attribute.GetName()} holds numbers that are not finite")
        return nothing
    return _seconds(codes, facts), values


def _seconds(codes: Sequence[float], facts: StageFacts) -> Array:
    return np.array([facts.seconds(code) for code in codes], np.float32)


def _is_euler(op: Any) -> bool:
    return "rotate" in op.GetOpType().displayName.lower() and op.MightBeTimeVarying()


def _check_count(count: float, path: Path) -> None:
    if count > MAX_KEYS:
        raise ResourceLimitError(f"has more than {MAX_KEYS} keys", path=path)
