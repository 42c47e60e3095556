"""Nodes that work on a finished pose: their joints found, their constants laid out for `kernels.procedural`."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.nodes import LookAt, TwoBoneIK
from marrow.graph.tables import Part, Scope, unknown
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import codes as kernel
from marrow.math import quaternion, transform

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["compile_look_at", "compile_two_bone"]


def _joint(c: Compiler, name: str, path: str) -> int:
    if name not in c.skeleton:
        raise unknown("joint", name, c.skeleton.names, path)
    return c.skeleton.index(name)


def _finish(
    c: Compiler,
    node: TwoBoneIK | LookAt,
    path: str,
    scope: Scope,
    number: int,
    *,
    kind: int,
    code: int,
    at: int,
    refs: list[int],
) -> Part:
    """The rows of a node whose constants lie from `at` on, and what is below it."""
    if scope.additive:
        raise ValidationError(f"{path}: it works on poses, not on differences")
    row = c.builder.add("procedurals", code, at, c.builder.link(refs), len(refs), c.vectors)
    c.vectors += len(refs)
    (base,) = c.children(number, [(node.source, f"{path}.source", Scope(c.region(), scope.sync))])
    c.nodes[number].update(kind=kind, data=row, ref=c.builder.value(node.weight, f"{path}.weight"))
    return Part(number, base.depth, base.length + 2, True)


def compile_two_bone(c: Compiler, node: TwoBoneIK, path: str, scope: Scope, number: int) -> Part:
    skeleton = c.skeleton
    tip = _joint(c, node.tip, f"{path}.tip")
    above = skeleton.ancestors(tip)
    chosen = []
    for field, given, rest in (("mid", node.mid, above), ("upper", node.upper, above[1:])):
        if given is not None:
            chosen.append(_joint(c, given, f"{path}.{field}"))
        elif rest:
            chosen.append(rest[0] if field == "mid" else skeleton.ancestors(chosen[0])[0])
        else:
            raise ValidationError(f"{path}.tip: {node.tip!r} has fewer than two joints above it")
    mid, upper = chosen
    if mid not in above or upper not in skeleton.ancestors(mid):
        raise ValidationError(f"{path}: expected upper above mid above tip in the skeleton")
    low, high = (math.radians(v) for v in node.bend)
    if not 0 <= low < high <= math.pi + 1e-6:
        raise ValidationError(f"{path}.bend: expected 0 <= least < most <= 180 degrees, got {node.bend}")
    if not 1 <= node.stretch <= 10:
        raise ValidationError(f"{path}.stretch: expected a factor from 1 to 10, got {node.stretch}")
    target = c.builder.vector(node.target, f"{path}.target")
    pole = c.builder.vector(node.pole if node.pole is not None else (0.0, 0.0, 0.0), f"{path}.pole")
    at = len(c.ints)
    c.ints += [upper, mid, tip, c.vectors, len(c.floats)]
    c.floats += [low, high, node.stretch, float(node.keep_rotation), float(node.pole is not None)]
    c.floats += _bow(c, upper, mid, tip)
    return _finish(c, node, path, scope, number, kind=ct.IK, code=kernel.REACH, at=at, refs=target + pole)


def _bow(c: Compiler, upper: int, mid: int, tip: int) -> list[float]:
    """The way the limb bends in the rest pose, in the frame of its upper joint: elbow off the line from end to end."""
    rest = c.skeleton.rest_model.astype(np.float64)
    a, b, t = rest[upper, :, 3], rest[mid, :, 3], rest[tip, :, 3]
    line = t - a
    bow = (b - a) - line * (float((b - a) @ line) / max(float(line @ line), 1e-12))
    if np.linalg.norm(bow) < 1e-4 * np.linalg.norm(b - a):
        # Straight as built: legs bend forward, and that is as good a guess as any.
        bow = np.array([0.0, 0.0, 1.0])
    _, rotation, _ = transform.decompose(rest[upper])
    own = quaternion.rotate(quaternion.conjugate(rotation), bow)
    return [float(v) for v in own / np.linalg.norm(own)]


def compile_look_at(c: Compiler, node: LookAt, path: str, scope: Scope, number: int) -> Part:
    if not node.joints:
        raise ValidationError(f"{path}.joints: expected at least one")
    joints = [_joint(c, name, f"{path}.joints") for name in node.joints]
    for a, b in itertools.pairwise(joints):
        if a not in c.skeleton.ancestors(b):
            names = c.skeleton.names
            raise ValidationError(
                f"{path}.joints: {names[a]!r} must be above {names[b]!r}: list from the body outward"
            )
    shares = list(node.joints.values())
    if not all(0 <= s <= 1 for s in shares):
        raise ValidationError(f"{path}.joints: shares must be from 0 to 1, got {shares}")
    limit = math.radians(node.limit)
    if not 0 <= limit <= math.pi + 1e-6:
        raise ValidationError(f"{path}.limit: expected 0 to 180 degrees, got {node.limit}")
    if node.axis is None:
        _, rotation, _ = transform.decompose(c.skeleton.rest_model[joints[-1]].astype(np.float64))
        axis = quaternion.rotate(quaternion.conjugate(rotation), np.array([0.0, 0.0, 1.0]))
    else:
        axis = np.array(node.axis, np.float64)
        if not np.isfinite(axis).all() or np.linalg.norm(axis) < 1e-9:
            raise ValidationError(f"{path}.axis: expected a direction, got {node.axis}")
        axis = axis / np.linalg.norm(axis)
    target = c.builder.vector(node.target, f"{path}.target")
    at = len(c.ints)
    c.ints += [len(joints), c.vectors, len(c.floats), *joints]
    c.floats += [*(float(v) for v in axis), limit, *shares]
    return _finish(c, node, path, scope, number, kind=ct.LOOK, code=kernel.LOOK, at=at, refs=target)
