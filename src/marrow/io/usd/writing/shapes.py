"""Morph targets as blend shapes: one for each channel of a mesh, its other targets in-betweens of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.usd.notes import NAMESPACE, TargetNote
from marrow.io.usd.values import PrimNames, define, ints, vectors3
from marrow.io.usd.writing.skeleton import Channels
from marrow.model import Mesh, MorphTarget
from marrow.model.morph import DELTAS

__all__ = ["write_shapes"]

Array = NDArray[Any]
Deltas = dict[str, Array]


def write_shapes(
    stage: Any, prim: Any, api: Any, mesh: Mesh, channels: Channels, names: PrimNames, path: object
) -> list[TargetNote]:
    """Blend shapes below the prim of a mesh; where each target lies."""
    where = str(prim.GetPath())
    found: dict[int, TargetNote] = {}
    shapes: list[Any] = []
    tokens: dict[str, None] = {}
    wanted = _by_shape(mesh.morph_targets)
    titles = [names.of(channels.tokens[channel], "") for channel, _ in wanted]
    made = define(stage, where, [(title, "BlendShape") for title in titles])
    for (channel, targets), title, shape in zip(wanted, titles, made):
        token = channels.tokens[channel]
        notes = _write_shape(shape, mesh, targets, float(channels.full[channel]), path)
        for i, note in notes.items():
            note.shape = len(shapes)
            found[i] = note
        # A second shape of a channel is a target that never shows: nothing gives it a weight.
        tokens[token if token not in tokens else f"{title}_again"] = None
        shapes.append(shape.GetPath())
    if shapes:
        api.CreateBlendShapesAttr(list(tokens))
        api.CreateBlendShapeTargetsRel().SetTargets(shapes)
    return [found[i] for i in range(len(mesh.morph_targets))]


def _by_shape(
    targets: Sequence[MorphTarget],
) -> list[tuple[int, list[tuple[int, MorphTarget]]]]:
    """Targets by channel, in the order of their weights. Of two at one weight the second shows only beyond it: it gets a
    shape of its own, which keeps it."""
    rows: dict[tuple[int, int], dict[float, tuple[int, MorphTarget]]] = {}
    for i, target in enumerate(targets):
        copy = 0
        while target.full_weight in rows.get((target.channel, copy), {}):
            copy += 1
        rows.setdefault((target.channel, copy), {})[target.full_weight] = (i, target)
    return [(channel, [at[w] for w in sorted(at)]) for (channel, _), at in rows.items()]


def _write_shape(
    shape: Any, mesh: Mesh, targets: list[tuple[int, MorphTarget]], full: float, path: object
) -> dict[int, TargetNote]:
    from pxr import UsdSkel

    points = _points([t for _, t in targets])
    made = UsdSkel.BlendShape(shape)
    if points is not None:
        made.CreatePointIndicesAttr(ints(points))
    filled = {i: _deltas(t, points, mesh.vertex_count) for i, t in targets}
    for i, t in targets:
        if not all(np.isfinite(a).all() for a in filled[i].values()):
            raise FormatError(
                f"morph target {t.name!r} is not finite", path=path, place=f"mesh {mesh.name!r}"
            )
    main = next((i for i, t in targets if t.full_weight == full), None)
    stops = [(t.full_weight, filled[i]) for i, t in targets]
    _put(shape, made, "", filled[main] if main is not None else _extended(stops, full))
    notes, names = {}, PrimNames()
    for i, t in targets:
        between = ""
        if i != main:
            between = names.of(t.name, "")
            made.CreateInbetween(between).SetWeight(float(t.full_weight / full))
            _put(shape, made, between, filled[i])
        notes[i] = TargetNote(t.name, t.channel, t.full_weight, 0, between, _rows(t, points))
    return notes


def _points(targets: list[MorphTarget]) -> Array | None:
    """The points that a shape names, which its in-betweens share; None for all of them."""
    named = [t.vertices for t in targets if t.vertices is not None]
    if len(named) < len(targets):
        return None
    first = named[0].astype(np.int64)
    if len(first) == len(np.unique(first)) and all(np.array_equal(first, other) for other in named):
        return first if len(first) else np.zeros(1, np.int64)  # none would stand for all
    together = np.unique(np.concatenate(named)).astype(np.int64)
    return together if len(together) else np.zeros(1, np.int64)


def _rows(target: MorphTarget, points: Array | None) -> list[int] | None:
    """Which of the points of its shape a target names, where they are not just its own."""
    if target.vertices is None or (points is not None and np.array_equal(target.vertices, points)):
        return None
    named = np.unique(target.vertices).astype(np.int64)
    rows: list[int] = (named if points is None else np.searchsorted(points, named)).tolist()
    return rows


def _deltas(target: MorphTarget, points: Array | None, count: int) -> Deltas:
    found = {}
    for kind in DELTAS:
        values = getattr(target, kind)
        if values is None:
            continue
        if points is None or target.vertices is None or not np.array_equal(points, target.vertices):
            dense = np.asarray(target.dense(count, kind))
            values = dense if points is None else dense[points]
        found[kind] = np.asarray(values, np.float32)
    return found


def _extended(stops: list[tuple[float, Deltas]], full: float) -> Deltas:
    """The shape at the weight that USD calls 1, on the line through the last two stops; the mesh itself is one, at zero."""
    zero = {kind: np.zeros_like(values) for kind, values in stops[0][1].items()}
    (low, before), (high, last) = sorted([*stops, (0.0, zero)], key=lambda stop: stop[0])[-2:]
    along = (full - low) / (high - low)
    return {
        kind: (before[kind] + along * (last[kind].astype(np.float64) - before[kind])).astype(np.float32)
        for kind in last
        if kind in before
    }


def _put(shape: Any, made: Any, between: str, deltas: Deltas) -> None:
    """The deltas of a blend shape, or of one of its in-betweens."""
    from pxr import Sdf

    holder = made.GetInbetween(between) if between else None
    if holder is None:
        made.CreateOffsetsAttr(vectors3(deltas["positions"]))
    else:
        holder.SetOffsets(vectors3(deltas["positions"]))
    if "normals" in deltas:
        normals = vectors3(deltas["normals"])
        if holder is None:
            made.CreateNormalOffsetsAttr(normals)
        else:
            holder.CreateNormalOffsetsAttr(normals)
    if "tangents" in deltas:
        name = f"{NAMESPACE}tangentOffsets{between and f':{between}'}"
        kind = Sdf.ValueTypeNames.Vector3fArray
        shape.CreateAttribute(name, kind, True, Sdf.VariabilityUniform).Set(vectors3(deltas["tangents"]))
