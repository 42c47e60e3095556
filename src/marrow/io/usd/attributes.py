"""Attributes of a stage's prims that artists added and keyed: curves of clips.

An attribute is a curve by its name, without `userProperties:`; where several prims have one of that name, by the
prim's name too (`hand.grip`). One with three numbers is three curves (`tint.x`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from marrow.io.usd.motion import key_codes
from marrow.io.usd.stage import StageFacts
from marrow.io.usd.writing.clips import CURVE_PREFIX
from marrow.model import Curve
from marrow.report import ReportBuilder

__all__ = ["attribute_curves", "keyed_attributes"]

_TYPES = ("bool", "int", "uint", "int64", "half", "float", "double")
_VECTORS = ("float3", "double3", "half3", "vector3f", "vector3d", "color3f", "color3d", "point3f", "point3d")


def keyed_attributes(stage: Any) -> list[Any]:
    """The attributes that are no part of a prim's own kind and change over time."""
    from pxr import Usd

    found = []
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        for attribute in prim.GetAuthoredAttributes():
            kind = str(attribute.GetTypeName())
            if attribute.IsCustom() and attribute.GetNumTimeSamples() > 1 and kind in (*_TYPES, *_VECTORS):
                found.append(attribute)
    return found


def attribute_curves(
    attributes: Iterable[Any], facts: StageFacts, report: ReportBuilder
) -> tuple[Curve, ...]:
    """Curves of the attributes that are not the same all the time."""
    attributes = list(attributes)

    def plain(attribute: Any) -> str:
        return str(attribute.GetDisplayName() or attribute.GetName().removeprefix(CURVE_PREFIX))

    shared = Counter(plain(a) for a in attributes)
    found: dict[str, Curve] = {}
    for attribute in attributes:
        codes = key_codes(attribute.GetTimeSamples(), facts)
        values = np.array([np.asarray(attribute.Get(code), np.float64).reshape(-1) for code in codes])
        if values.ndim != 2 or not np.isfinite(values).all():
            report.add("dropped", str(attribute.GetPath()), "it holds numbers that are not finite")
            continue
        times = np.array([facts.seconds(code) for code in codes], np.float64)
        if facts.held:
            # Each sample holds until just before the next.
            just = np.nextafter(times[1:].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
            times, values = np.sort(np.concatenate([times, just])), np.repeat(values, 2, axis=0)[:-1]
        name = plain(attribute)
        name = name if shared[name] == 1 else f"{attribute.GetPrim().GetName()}.{name}"
        for k in range(values.shape[1]):
            if len(codes) > 1 and (values[:, k] != values[0, k]).any():
                called = name if values.shape[1] == 1 else f"{name}.{'xyz'[k]}"
                found.setdefault(called, Curve(called, times, values[:, k]))
    return tuple(found.values())
