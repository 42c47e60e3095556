"""What swings on a character: the springs of its file, and those that a graph names."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.kernels.operations.springs_reference import SwingingJoint, TouchedCollider
from marrow.math import affine
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.nodes.springs import SpringChain, SpringCollider, Springs

__all__ = ["SpringSet", "chain_joints", "collider_of", "has_springs", "own_springs"]

Array = NDArray[Any]
STIFFEST = 1e4


@dataclass(frozen=True, eq=False)
class SpringSet:
    """Joints that swing and what they touch; `unused` says what of a file does not count, and why."""

    joints: tuple[SwingingJoint, ...]
    colliders: tuple[TouchedCollider, ...]
    unused: tuple[str, ...]


def has_springs(character: Character) -> bool:
    """Whether the character's file has springs that swing."""
    return bool(character.vrm and character.vrm.get("springBone")) and bool(own_springs(character).joints)


def own_springs(character: Character) -> SpringSet:
    """The springs of the character's file (`character.vrm["springBone"]`)."""
    found: SpringSet = derived(character, "springs", lambda: _read(character))
    return found


# -- the springs of a file ------------------------------------------------------------------------------------------


def _read(character: Character) -> SpringSet:
    said = _object((character.vrm or {}).get("springBone"))
    skeleton, unused = character.skeleton, list[str]()
    colliders: dict[int, int] = {}
    shapes: list[TouchedCollider] = []
    for k, item in enumerate(_list(said.get("colliders"))):
        shape = _collider(skeleton, _object(item))
        if shape is None:
            unused.append(f"collider {k} has no joint or no shape")
        else:
            colliders[k] = len(shapes)
            shapes.append(shape)
    groups = [
        [colliders[c] for c in _list(_object(g).get("colliders")) if isinstance(c, int) and c in colliders]
        for g in _list(said.get("colliderGroups"))
    ]
    joints: list[SwingingJoint] = []
    for k, item in enumerate(_list(said.get("springs"))):
        spring = _object(item)
        hits = tuple(
            c
            for g in _list(spring.get("colliderGroups"))
            if isinstance(g, int) and 0 <= g < len(groups)
            for c in groups[g]
        )
        found = _chain(skeleton, spring, hits)
        joints += found
        if not found:
            unused.append(f"spring {spring.get('name') or k!r} has no joint that swings")
    return SpringSet(tuple(joints), tuple(shapes), tuple(unused))


def _chain(skeleton: Skeleton, spring: dict[str, Any], hits: tuple[int, ...]) -> list[SwingingJoint]:
    """The joints of a spring, each with its tail: the next one, or a place behind the last."""
    given = [(_joint(skeleton, _object(j).get("node")), _object(j)) for j in _list(spring.get("joints"))]
    listed = [(j, settings) for j, settings in given if j >= 0]
    center = _joint(skeleton, spring.get("center"))
    end, out = _number(spring.get("end"), 0.0), []
    for k, (j, s) in enumerate(listed):
        if k + 1 < len(listed):
            if j not in skeleton.ancestors(listed[k + 1][0]):
                continue
            tail = tail_between(skeleton, j, listed[k + 1][0])
        elif end > 0:
            tail = tail_behind(skeleton, j, end)
        else:
            continue
        direction = _vector(s.get("gravityDir"), (0.0, -1.0, 0.0))
        out.append(
            SwingingJoint(
                j,
                tail,
                _rest(skeleton, j),
                _number(s.get("stiffness"), 1.0),
                min(max(_number(s.get("dragForce"), 0.5), 0.0), 1.0),
                _number(s.get("gravityPower"), 0.0) * direction,
                _number(s.get("hitRadius"), 0.0),
                math.pi,
                center,
                hits,
                str(spring.get("name") or skeleton.names[listed[0][0]]),
            )
        )
    return out


def _collider(skeleton: Skeleton, item: dict[str, Any]) -> TouchedCollider | None:
    """A collider; where both are given, the shape of the extended extension counts."""
    joint = _joint(skeleton, item.get("node"))
    extended = _object(_object(item.get("extensions")).get("VRMC_springBone_extended_collider"))
    shape = _object(extended.get("shape")) or _object(item.get("shape"))
    if joint < 0:
        return None
    for kind in ("sphere", "capsule", "plane"):
        if kind not in shape:
            continue
        said = _object(shape[kind])
        offset = _vector(said.get("offset"), (0.0, 0.0, 0.0))
        if kind == "plane":
            normal = _vector(said.get("normal"), (0.0, 0.0, 1.0))
            size = float(np.linalg.norm(normal))
            return TouchedCollider(joint, offset, normal / size, plane=True) if size > 0 else None
        way = _vector(said.get("tail"), (0.0, 0.0, 0.0)) - offset if kind == "capsule" else np.zeros(3)
        return TouchedCollider(
            joint, offset, way, _number(said.get("radius"), 0.0), bool(said.get("inside", False))
        )
    return None


def _joint(skeleton: Skeleton, named: Any) -> int:
    """A joint by name or index; -1 where there is none."""
    if isinstance(named, bool):
        return -1
    if isinstance(named, int):
        return named if 0 <= named < len(skeleton) else -1
    return skeleton.index(named) if isinstance(named, str) and named in skeleton.names else -1


def _rest(skeleton: Skeleton, j: int) -> Array:
    q = skeleton.rest.rotation[j].astype(np.float64)
    return np.asarray(q / np.linalg.norm(q))


def tail_between(skeleton: Skeleton, j: int, other: int) -> Array:
    """Where a joint further out is at rest, in the frame of a joint."""
    here, there = (skeleton.rest_model[k].astype(np.float64) for k in (j, other))
    if int(skeleton.parents[other]) == j:
        return skeleton.rest.translation[other].astype(np.float64)
    return np.asarray(affine.multiply(affine.invert(here), there)[:, 3])


def tail_behind(skeleton: Skeleton, j: int, end: float) -> Array:
    """A place behind a joint, on from where its parent is."""
    way = skeleton.rest.translation[j].astype(np.float64)
    size = float(np.linalg.norm(way))
    return end * way / size if size > 0 else np.zeros(3)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any, default: float) -> float:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return min(max(float(value), -STIFFEST), STIFFEST) if good else default


def _vector(value: Any, default: tuple[float, float, float]) -> Array:
    numbers = [_number(v, math.nan) for v in value] if isinstance(value, (list, tuple)) else []
    good = len(numbers) == 3 and all(math.isfinite(v) for v in numbers)
    return np.array(numbers if good else default, np.float64)


# -- springs that a graph names -------------------------------------------------------------------------------------


def collider_of(c: Compiler, given: SpringCollider, path: str) -> TouchedCollider:
    """A collider that a node describes."""
    joint = c.joint(given.joint, f"{path}.joint")
    _checked(f"{path}.radius", given.radius, 0.0, STIFFEST)
    offset = _numbers(f"{path}.offset", given.offset)
    if given.normal is not None:
        if given.tail is not None or given.inside or given.radius:
            raise ValidationError(f"{path}: a plane has a normal and an offset, and nothing else")
        normal = _numbers(f"{path}.normal", given.normal)
        size = float(np.linalg.norm(normal))
        if size < 1e-9:
            raise ValidationError(f"{path}.normal: expected a direction, got {given.normal}")
        return TouchedCollider(joint, offset, normal / size, plane=True)
    way = np.zeros(3) if given.tail is None else _numbers(f"{path}.tail", given.tail) - offset
    return TouchedCollider(joint, offset, way, given.radius, given.inside)


def chain_joints(
    c: Compiler, node: Springs, chain: SpringChain, colliders: int, path: str
) -> list[SwingingJoint]:
    """The joints of a chain that a node names."""
    skeleton = c.skeleton
    if not chain.joints:
        raise ValidationError(f"{path}.joints: expected at least one")
    listed = [c.joint(name, f"{path}.joints") for name in chain.joints]
    settings = {}
    for name, low, high in (
        ("stiffness", 0.0, STIFFEST), ("drag", 0.0, 1.0), ("gravity", -STIFFEST, STIFFEST), ("radius", 0.0, STIFFEST),
        ("limit", 0.0, math.pi + 1e-6),
    ):  # fmt: skip
        own = getattr(chain, name)
        where = f"{path}.{name}" if own is not None else f"{path.rpartition('.')[0]}.{name}"
        settings[name] = _checked(where, getattr(node, name) if own is None else own, low, high)
    end = _checked(f"{path}.end", chain.end, 0.0, STIFFEST)
    direction = _numbers(f"{path}.direction", chain.direction)
    center = c.joint(chain.center, f"{path}.center") if chain.center else -1
    hits = tuple(range(colliders)) if chain.colliders is None else chain.colliders
    for hit in hits:
        if not 0 <= hit < colliders:
            raise ValidationError(f"{path}.colliders: there is no collider {hit}: the node has {colliders}")
    if len(listed) == 1:
        pairs = _everything_below(skeleton, listed[0])
    else:
        pairs = []
        for a, b in itertools.pairwise(listed):
            if a not in skeleton.ancestors(b):
                names = skeleton.names
                raise ValidationError(
                    f"{path}.joints: {names[a]!r} must be above {names[b]!r}: list from the body outward"
                )
            pairs.append((a, tail_between(skeleton, a, b)))
    if end > 0:
        last = listed[-1:] if len(listed) > 1 else _tips(skeleton, listed[0])
        pairs += [(j, tail_behind(skeleton, j, end)) for j in last]
    if not pairs:
        raise ValidationError(
            f"{path}: {chain.joints[0]!r} has no joint below it to swing towards: say how far its tail is, with end="
        )
    return [
        SwingingJoint(
            j, tail, _rest(skeleton, j), settings["stiffness"], settings["drag"], settings["gravity"] * direction,
            settings["radius"], settings["limit"], center, hits, skeleton.names[listed[0]],
        )
        for j, tail in pairs
    ]  # fmt: skip


def _below(skeleton: Skeleton, j: int) -> list[int]:
    return [k for k in range(j, len(skeleton)) if k == j or j in skeleton.ancestors(k)]


def _everything_below(skeleton: Skeleton, j: int) -> list[tuple[int, Array]]:
    """A joint and all below it, each with its first child for a tail."""
    parents, out = skeleton.parents.tolist(), []
    for k in _below(skeleton, j):
        children = [n for n in range(k + 1, len(parents)) if parents[n] == k]
        if children:
            out.append((k, tail_between(skeleton, k, children[0])))
    return out


def _tips(skeleton: Skeleton, j: int) -> list[int]:
    parents = set(skeleton.parents.tolist())
    return [k for k in _below(skeleton, j) if k not in parents]


def _checked(path: str, value: float, low: float, high: float) -> float:
    if not (math.isfinite(value) and low <= value <= high):
        raise ValidationError(f"{path}: expected from {low:g} to {high:g}, got {value}")
    return value


def _numbers(path: str, value: tuple[float, float, float]) -> Array:
    if len(value) != 3 or not all(math.isfinite(v) for v in value):
        raise ValidationError(f"{path}: expected three numbers, got {value}")
    return np.array(value, np.float64)
