"""Constraints of an FBX file as those of a character, as far as they say the same.

The pose that a file rests in is one in which its constraints hold. A constraint is taken over only where it leaves
that pose as it is: what marrow would do otherwise than the program that wrote it is left out, and said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from marrow.errors import MarrowError
from marrow.graph.constrained_poses import constrained_poses
from marrow.io.constraint_reading import fitting_constraints
from marrow.io.fbx.plain_scene import PlainConstraint
from marrow.model import Character, Skeleton
from marrow.model.constraints import AimAt, Constraint, CopyTransform
from marrow.report import ReportBuilder

__all__ = ["read_constraints"]

NEAR, TURN = 1e-3, 1e-2
"""How far a joint may be from where it rests: a share of the rig's size, and radians."""
_MOST = 1000


def read_constraints(
    given: list[PlainConstraint], skeleton: Skeleton, joint_of: Mapping[int, int], report: ReportBuilder
) -> tuple[Constraint, ...]:
    """The constraints that can be said in marrow's words; one line for the others."""
    counts = Counter(skeleton.names)
    found: list[Constraint] = []
    lost: Counter[str] = Counter()
    for one in given[:_MOST]:
        good = next((c for c in _candidates(one, skeleton, joint_of, counts) if _holds(c, skeleton)), None)
        if good is None:
            lost[one.type_name or one.kind] += 1
        else:
            found.append(good)
    if len(given) > _MOST:
        lost["more"] += len(given) - _MOST
    if lost:
        told = ", ".join(f"{n} {kind}" for kind, n in sorted(lost.items()))
        report.add(
            "dropped",
            "constraints",
            f"{lost.total()} were left out ({told}); what they move stays where the file has it",
        )
    return fitting_constraints(found, skeleton, report)


def _candidates(
    one: PlainConstraint, skeleton: Skeleton, joint_of: Mapping[int, int], counts: Counter[str]
) -> Iterator[Constraint]:
    """What a constraint may mean, the likeliest first."""

    def called(node: int) -> str | int | None:
        j = joint_of.get(node)
        return None if j is None else skeleton.names[j] if counts[skeleton.names[j]] == 1 else j

    joint = called(one.node)
    shares = {called(node): share for node, share in one.targets}
    weight = one.weight if one.weight is not None else -1.0
    if joint is None or not shares or None in shares or not one.active or not 0 <= weight <= 1:
        return
    if any(share is None or not share >= 0 for share in shares.values()) or len(shares) < len(one.targets):
        return
    if len(shares) == 1:
        sources: str | int | dict[str, float] = next(iter(shares))  # type: ignore[assignment]
    elif all(isinstance(name, str) for name in shares):
        sources = {str(name): float(share or 0.0) for name, share in shares.items()}
    else:
        return
    channel = {"position": 0, "rotation": 1, "scale": 2, "aim": 1, "parent": 0}.get(one.kind)
    if channel is None:
        return
    axes = "".join(axis for axis, on in zip("xyz", one.axes[channel]) if on)
    name, whole = one.name, axes == "xyz"
    if one.kind == "aim" and whole:
        way, up = tuple(float(v or 0.0) for v in one.aim), tuple(float(v or 0.0) for v in one.up_axis)
        plain = {"axis": way, "up_axis": up, "weight": weight, "name": name}
        above = called(one.up_node)
        if one.up_kind == "to_node" and above is not None:
            yield AimAt(joint, sources, up_source=above, **plain)  # type: ignore[arg-type]
        elif one.up_kind in ("scene", "vector"):
            yield AimAt(joint, sources, up=(0.0, 1.0, 0.0), **plain)  # type: ignore[arg-type]
        elif one.up_kind == "none":
            yield AimAt(joint, sources, **plain)  # type: ignore[arg-type]
    elif one.kind == "parent" and whole and all(one.axes[1]):
        yield CopyTransform(
            joint,
            sources,
            ("translation", "rotation"),
            space="model",
            keep_offset=True,
            weight=weight,
            name=name,
        )
    elif one.kind in ("position", "rotation", "scale") and axes and (whole or one.kind != "rotation"):
        what = "translation" if one.kind == "position" else one.kind
        yield CopyTransform(joint, sources, (what,), axes, space="model", weight=weight, name=name)  # type: ignore[arg-type]


def _holds(constraint: Constraint, skeleton: Skeleton) -> bool:
    """Whether it leaves the rest pose as it is."""
    try:
        whole = constraint.replace(weight=1.0)
        after = constrained_poses(Character(skeleton, constraints=(whole,)), skeleton.rest)
    except MarrowError:
        return False
    rest = skeleton.rest
    size = max(float(np.ptp(skeleton.rest_model[..., 3], axis=0).max(initial=0.0)), 1e-6)
    moved = float(np.abs(after.translation - rest.translation).max(initial=0.0))
    turned = 2 * np.arccos(np.clip(np.abs((after.rotation * rest.rotation).sum(-1)), 0, 1)).max(initial=0.0)
    scaled = float(np.abs(after.scale - rest.scale).max(initial=0.0))
    return moved < NEAR * size and bool(turned < TURN) and scaled < NEAR
