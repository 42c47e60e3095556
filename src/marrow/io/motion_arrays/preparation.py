"""Key points made ready: gaps filled, up, hand and unit told, feet on the ground. What was done is in the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.motion.point_layouts import NEEDED
from marrow.motion.sizes import metres
from marrow.report import ReportBuilder

__all__ = ["UPRIGHT", "body_lines", "filled", "grounded", "told_unit", "told_up"]

Array = NDArray[Any]
UPRIGHT: dict[str, Array] = {
    "y": np.eye(3),
    "-y": np.diag([1.0, -1.0, -1.0]),
    "z": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "-z": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
    "x": np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]),
    "-x": np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
}
"""Rotations that take an axis up to +Y."""
SURE = 0.75
HIGH = 0.1
"""Metres off the ground from which feet are brought to it."""


def filled(
    names: Sequence[str], places: Array, sure: Array, path: Path, report: ReportBuilder
) -> tuple[tuple[str, ...], Array]:
    """Points without gaps: what is missing in some frames lies between those before and after; points that are never seen
    are left out."""
    seen = sure > 0
    never = [k for k in range(len(names)) if not seen[:, k].any()]
    needed = [names[k].replace("_", " ") for k in never if names[k] in NEEDED]
    if needed:
        raise FormatError(f"{', '.join(needed[:4])}: missing in every frame", path=path)
    if never:
        report.add(
            "dropped",
            "points",
            f"{', '.join(names[k].replace('_', ' ') for k in never)}: missing in every frame",
        )
    kept = [k for k in range(len(names)) if k not in never]
    out, seen = np.array(places[:, kept], np.float64), seen[:, kept]
    gaps = int((~seen).sum())
    if gaps:
        at = np.arange(len(out))
        for k in np.flatnonzero(~seen.all(axis=0)):
            good = seen[:, k]
            for c in range(3):
                out[~good, k, c] = np.interp(at[~good], at[good], out[good, k, c])
        worst = int(np.argmin(seen.mean(axis=0)))
        share = float(1 - seen[:, worst].mean())
        report.add(
            "warning" if share > 0.5 else "repaired", "points",
            f"{gaps} places are missing ({gaps / seen.size:.1%}) and were taken from the frames around; most of them "
            f"{names[kept[worst]].replace('_', ' ')}, in {share:.0%} of the frames",
        )  # fmt: skip
    if np.abs(out).max(initial=0) > 1e9:
        raise FormatError("a place is too large to be one", path=path)
    return tuple(names[k] for k in kept), out


def body_lines(names: Sequence[str], points: Array) -> tuple[Array, Array]:
    """The way up the trunk and the way to the left, `(T, 3)` each."""
    at = {name: points[:, k] for k, name in enumerate(names)}
    hips, shoulders = (0.5 * (at[f"left_{w}"] + at[f"right_{w}"]) for w in ("hip", "shoulder"))
    left = at["left_hip"] - at["right_hip"] + at["left_shoulder"] - at["right_shoulder"]
    return shoulders - hips, left


def told_up(names: Sequence[str], points: Array, given: str | None, report: ReportBuilder) -> Array:
    """The rotation (or mirror) that makes Y up of what the points have, `(3, 3)`."""
    trunk, left = body_lines(names, points)
    if given is not None:
        axis, told = given.lstrip("+"), "as it was said"
    else:
        axis, told = _up_axis(names, points, trunk)
        if not axis:
            axis = "y"
            report.add(
                "warning",
                "up",
                "which axis is up cannot be told, the body is seldom upright: Y was taken; up='z' says another",
            )
            told = "assumed"
    turn = UPRIGHT[axis]
    report.add("info", "up", f"{axis} is up ({told})" + ("" if axis == "y" else "; it was turned to Y up"))
    ahead = _ahead(names, points)
    if ahead is not None:
        hand = float(np.median(np.sign(np.einsum("tc,tc->t", np.cross(left, trunk), ahead))))
        if hand < 0:
            turn = np.diag([1.0, 1.0, -1.0]) @ turn
            report.add(
                "repaired", "axes",
                "its axes are those of a left hand, told by feet and face on the wrong side of the body: it was mirrored",
            )  # fmt: skip
    return turn


def _up_axis(names: Sequence[str], points: Array, trunk: Array) -> tuple[str, str]:
    at = {name: points[:, k] for k, name in enumerate(names)}
    legs = sum(at[f"{s}_hip"] - at[f"{s}_ankle"] for s in ("left", "right"))
    found = []
    for way in (trunk, legs):
        unit = way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-12)  # type: ignore[union-attr, operator]
        middle = np.median(unit, axis=0)
        k = int(np.argmax(np.abs(middle)))
        found.append(("-" if middle[k] < 0 else "") + "xyz"[k] if abs(middle[k]) > SURE else "")
    if found[0] and found[0] == found[1]:
        return found[0], "told by trunk and legs"
    if found[1] or found[0]:
        return (found[1] or found[0], "told by legs") if not (found[0] and found[1]) else ("", "")
    return "", ""


def _ahead(names: Sequence[str], points: Array) -> Array | None:
    """Where the body looks, as feet and face tell."""
    at = {name: points[:, k] for k, name in enumerate(names)}
    ways = []
    for side in ("left", "right"):
        toe = next((at[f"{side}_{t}"] for t in ("big_toe", "foot") if f"{side}_{t}" in at), None)
        if toe is not None:
            ways.append(toe - at.get(f"{side}_heel", at[f"{side}_ankle"]))
    if "nose" in at and "left_ear" in at and "right_ear" in at:
        ways.append(2 * (at["nose"] - 0.5 * (at["left_ear"] + at["right_ear"])))
    if not ways:  # knees bend backwards: they lie ahead of the line from hip to ankle
        for side in ("left", "right"):
            hip, knee, ankle = (at[f"{side}_{w}"] for w in ("hip", "knee", "ankle"))
            bow = knee - 0.5 * (hip + ankle)
            if np.median(np.linalg.norm(bow, axis=-1)) < 0.05 * np.median(
                np.linalg.norm(hip - ankle, axis=-1)
            ):
                return None
            ways.append(bow)
    return np.asarray(sum(ways))


def told_unit(names: Sequence[str], points: Array, given: float | None, report: ReportBuilder) -> float:
    """Metres per unit."""
    at = {name: points[:, k] for k, name in enumerate(names)}

    def far(a: str, b: str) -> float:
        return float(np.median(np.linalg.norm(at[a] - at[b], axis=-1)))

    legs = 0.5 * sum(far(f"{s}_hip", f"{s}_knee") + far(f"{s}_knee", f"{s}_ankle") for s in ("left", "right"))
    height = 2.1 * legs
    if given is not None:
        report.add("info", "units", f"a unit is {given:.4g} m, as the file says")
        return given
    unit = metres(height)
    report.add(
        "info",
        "units",
        f"a unit is {unit:.4g} m, told by the size of the body"
        + ("" if unit == 1 else ": metres were made of them"),
    )
    return unit


def grounded(names: Sequence[str], points: Array, report: ReportBuilder) -> Array:
    """The move `(3,)` that puts feet on the ground: recordings that count from the hips, or from a camera, are lifted."""
    feet = [k for k, name in enumerate(names) if name.endswith(("ankle", "foot", "heel", "toe"))]
    heel = any(names[k].endswith(("heel", "toe", "foot")) for k in feet)
    low = float(np.percentile(points[:, feet, 1].min(axis=1), 5)) - (0.02 if heel else 0.08)
    if abs(low) < HIGH:
        return np.zeros(3)
    report.add(
        "info", "ground", f"it was moved by {-low:+.3g} m, so that its feet stand on the ground (y = 0)"
    )
    return np.array([0.0, -low, 0.0])
