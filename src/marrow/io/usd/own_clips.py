"""Clips that marrow wrote: the samples that were keys of each track, with the interpolation they had."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError, ValidationError
from marrow.io.usd.nodes import UsdRig
from marrow.io.usd.notes import NAMESPACE, UsdClipNotes
from marrow.io.usd.own_meshes import ChangedStage
from marrow.io.usd.writing.clips import check_of
from marrow.io.usd.writing.samples import MAX_VALUES
from marrow.model import Clip, Curve, Event, Skeleton, Track
from marrow.model.clip import INTERPOLATIONS, PATH_WIDTH, PATHS

__all__ = ["read_own_clip"]

Array = NDArray[Any]


def read_own_clip(
    prim: Any, notes: UsdClipNotes, rig: UsdRig, skeleton: Skeleton, codes_per_second: float, path: object
) -> Clip:
    """The clip of a SkelAnimation with notes; `ChangedStage` where they do not fit it any more."""
    from pxr import UsdSkel

    made = UsdSkel.Animation(prim)
    tokens = [str(t) for t in made.GetJointsAttr().Get() or []]
    shapes = [str(t) for t in made.GetBlendShapesAttr().Get() or []]
    row = {token: i for i, token in enumerate(rig.tokens)}
    joints = {row.get(t, -1): i for i, t in enumerate(tokens)}
    morphs = {rig.channels.get(t, -1): i for i, t in enumerate(shapes)}
    attributes = (
        made.GetTranslationsAttr(), made.GetRotationsAttr(), made.GetScalesAttr(), made.GetBlendShapeWeightsAttr(),
    )  # fmt: skip
    sampled = [
        _samples(
            a, len(shapes if p == 3 else tokens), PATH_WIDTH[p], np.float16 if p == 2 else np.float32, path
        )
        for p, a in enumerate(attributes)
    ]
    if check_of(sampled) != notes.check:
        raise ChangedStage
    exact = prim.GetAttribute(f"{NAMESPACE}scales")
    if exact:
        codes, values = _samples(exact, len(tokens), 3, np.float32, path)
        near = np.abs(values - sampled[2][1].astype(np.float32)) <= 1e-3 * np.abs(values) + 1e-7
        if not np.array_equal(codes, sampled[2][0]) or not near.all():
            raise ChangedStage
        sampled[2] = codes, values
    full = np.array([rig.full.get(t, 1.0) for t in shapes], np.float32)
    sampled[3] = sampled[3][0], sampled[3][1] * full[:, None]
    tangents = np.asarray(prim.GetAttribute(f"{NAMESPACE}tangents").Get() or [], np.float32)
    tracks, used = [], 0
    try:
        for target, p, kind, number in notes.tracks:
            codes, values = sampled[p]
            rows = np.arange(len(codes)) if number < 0 else np.asarray(notes.keys[number], np.int64)
            keys = values[rows, (morphs if p == 3 else joints)[target]]
            if INTERPOLATIONS[kind] == "cubic":
                shape = (len(rows), 2, PATH_WIDTH[p])
                sides = tangents[used : used + int(np.prod(shape))].reshape(shape)
                used += int(np.prod(shape))
                keys = np.stack([sides[:, 0], keys, sides[:, 1]], axis=1)
            node = target if p == 3 else int(rig.joints[target])
            times = _seconds(codes[rows], codes_per_second)
            tracks.append(Track(node, PATHS[p], times, keys, INTERPOLATIONS[kind]))
        return Clip(
            notes.name,
            skeleton,
            tracks,  # type: ignore[arg-type]
            notes.duration,
            tuple(Event(*event) for event in notes.events),
            notes.rate,
            notes.additive,
            notes.start,
            tuple(_curve(prim, *c, codes_per_second) for c in notes.curves),
        )
    except (ValidationError, IndexError, KeyError, ValueError):
        raise ChangedStage from None


def _samples(attribute: Any, width: int, size: int, dtype: Any, path: object) -> tuple[Array, Array]:
    """Codes and values `(S, width, size)` of an attribute; one row where it does not change."""
    codes = np.array(attribute.GetTimeSamples(), np.float64)
    if len(codes) * width * size > 2 * MAX_VALUES:
        raise ResourceLimitError(
            f"has more than {2 * MAX_VALUES} numbers", path=path, place=str(attribute.GetPath())
        )
    values = np.empty((max(len(codes), 1), width, size), dtype)
    for i in range(len(values)):
        found = attribute.Get(codes[i]) if len(codes) else attribute.Get()
        found = np.asarray(found if found is not None else [])
        if found.size != width * size:
            raise ChangedStage
        values[i] = found.reshape(width, size)
    return codes, values


def _seconds(codes: Array, codes_per_second: float) -> Array:
    """Time codes in seconds; an instant before zero is zero."""
    return (codes / codes_per_second).astype(np.float32) + np.float32(0)


def _curve(prim: Any, name: str, attribute: str, codes_per_second: float) -> Curve:
    found = prim.GetAttribute(attribute)
    codes = found.GetTimeSamples() if found else []
    values = [found.Get(code) for code in codes]
    if not values or not all(isinstance(v, float) for v in values):
        raise ChangedStage
    return Curve(name, _seconds(np.array(codes), codes_per_second), np.array(values))
