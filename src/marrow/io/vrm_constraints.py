"""VRM's node constraints (roll, aim, rotation) and marrow's: each is one of the other's words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from marrow.model.constraints import AimAt, Constraint, CopyTransform

__all__ = ["constraint_to_vrm", "constraints_from_vrm"]

AXES = {
    f"{side}{name}": tuple(sign * float(k == d) for k in range(3))
    for side, sign in (("Positive", 1.0), ("Negative", -1.0))
    for d, name in enumerate("XYZ")
}


def constraints_from_vrm(data: Mapping[str, Any], lost: Callable[[str], None]) -> tuple[Constraint, ...]:
    """The constraints of `VRMC_node_constraint` by joint, whose sources are joints; `lost` is told of those that make
    no sense."""
    made: list[Constraint] = []
    for name, item in data.items():
        joint = item.get("node", name) if isinstance(item, dict) else name
        found = _read(joint, item) if isinstance(item, dict) else None
        if found is None:
            lost(f"a constraint of {name!r} that is no roll, aim or rotation")
        else:
            made.append(found)
    return tuple(made)


def _read(joint: Any, item: dict[str, Any]) -> Constraint | None:
    for kind in ("roll", "aim", "rotation"):
        body = item.get(kind)
        if not isinstance(body, dict) or not isinstance(body.get("source"), (str, int)):
            continue
        source, weight = body["source"], body.get("weight", 1.0)
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not math.isfinite(weight):
            return None
        weight = min(max(float(weight), 0.0), 1.0)
        if kind == "rotation":
            return CopyTransform(joint, source, ("rotation",), over="rest", weight=weight)
        if kind == "roll" and body.get("rollAxis") in ("X", "Y", "Z"):
            return CopyTransform(
                joint,
                source,
                ("rotation",),
                body["rollAxis"].lower(),
                frame="parent",
                over="rest",
                weight=weight,
            )
        if kind == "aim" and body.get("aimAxis") in AXES:
            return AimAt(joint, source, axis=AXES[body["aimAxis"]], over="rest", weight=weight)  # type: ignore[arg-type]
    return None


def constraint_to_vrm(constraint: Constraint) -> dict[str, Any] | None:
    """What `VRMC_node_constraint` says of a constraint, its source a joint; None where VRM has no words for it."""
    c = constraint
    source = getattr(c, "sources", None)
    if not isinstance(source, (str, int)) or isinstance(c.weight, str):
        return None
    if isinstance(c, AimAt):
        axis = next((name for name, way in AXES.items() if way == c.axis), None)
        plain = AimAt(c.joint, source, axis=c.axis, over="rest", weight=c.weight, name=c.name)
        if axis is None or c != plain:
            return None
        return {"aim": {"source": source, "aimAxis": axis, "weight": c.weight}}
    if not isinstance(c, CopyTransform):
        return None
    plain_copy = CopyTransform(c.joint, source, ("rotation",), over="rest", weight=c.weight, name=c.name)
    if c == plain_copy:
        return {"rotation": {"source": source, "weight": c.weight}}
    if len(c.axes) == 1 and c == plain_copy.replace(axes=c.axes, frame="parent"):
        return {"roll": {"source": source, "rollAxis": c.axes.upper(), "weight": c.weight}}
    return None
