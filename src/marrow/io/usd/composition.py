"""What is done to a stage before it is read, in its session layer alone: variants are chosen, point instancers become
prims that inherit from their prototypes, and boxes, spheres and their kind become meshes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError
from marrow.io.robots.shapes import surface_of
from marrow.io.usd.values import ints, vectors3
from marrow.report import ReportBuilder

__all__ = ["INSTANCES", "choose_variants", "drawn_prims", "with_instances", "with_shapes"]

Array = NDArray[Any]
INSTANCES = "marrow_instances"
MOST_INSTANCES = 10_000
MOST_SAMPLES = 100_000
MOST_SETS = 200
_SHAPES = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone", "Plane", "Cylinder_1", "Capsule_1")


def drawn_prims(stage: Any) -> Iterator[Any]:
    """All prims in the order of the stage, but for the prototypes below point instancers."""
    from pxr import Usd, UsdGeom

    walk = iter(Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()))
    for prim in walk:
        above = prim.GetParent()
        if above and above.IsA(UsdGeom.PointInstancer) and prim.GetName() != INSTANCES:
            walk.PruneChildren()
            continue
        yield prim


def choose_variants(stage: Any, wanted: Sequence[str], report: ReportBuilder) -> None:
    """Selects `wanted` variants (`red`, or `look=red` where several sets have one of that name), and says what there is."""
    from pxr import Usd

    left = dict.fromkeys(wanted)
    known: dict[str, None] = {}
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        for _ in range(8):  # a variant may bring others
            changed = False
            for prim, name, group in _variant_sets(stage):
                names = list(group.GetVariantNames())
                known.update(dict.fromkeys(f"{name}={n}" for n in names))
                for text in wanted:
                    of, _, which = text.rpartition("=")
                    if which not in names or (of and of not in (name, f"{prim.GetPath()}:{name}")):
                        continue
                    left.pop(text, None)
                    if group.GetVariantSelection() != which:
                        group.SetVariantSelection(which)
                        changed = True
            if not changed:
                break
    if left:
        raise UnknownNameError("variant", next(iter(left)), list(known))
    for prim, name, group in _variant_sets(stage):
        others = [n for n in group.GetVariantNames() if n != group.GetVariantSelection()]
        if others:
            more = ", ".join(others[:12]) + (", ..." if len(others) > 12 else "")
            chosen = group.GetVariantSelection() or "none"
            report.add("info", str(prim.GetPath()), f"its variant {name!r} is {chosen}; there is also {more}")


def _variant_sets(stage: Any) -> list[tuple[Any, str, Any]]:
    found = []
    for prim in stage.Traverse():
        if prim.HasVariantSets():
            sets = prim.GetVariantSets()
            found += [(prim, str(name), sets.GetVariantSet(name)) for name in sets.GetNames()]
        if len(found) >= MOST_SETS:
            break
    return found


def _opened_up(stage: Any, prim: Any) -> Any:
    """The prim outside of instances, whose insides are shared and cannot be changed."""
    path = prim.GetPath()
    for _ in range(64):
        prim = stage.GetPrimAtPath(path)
        if not prim or not prim.IsInstanceProxy():
            break
        above = prim
        while above.IsInstanceProxy():
            above = above.GetParent()
        above.SetInstanceable(False)
    return prim


def with_instances(stage: Any, report: ReportBuilder) -> None:
    """Puts what point instancers place onto the stage: a prim each, which inherits from its prototype."""
    from pxr import Sdf, Usd, UsdGeom

    everything = Usd.TraverseInstanceProxies()
    found = [
        p.GetPath() for p in Usd.PrimRange(stage.GetPseudoRoot(), everything) if p.IsA(UsdGeom.PointInstancer)
    ]
    room = MOST_INSTANCES
    layer = stage.GetSessionLayer()
    with Usd.EditContext(stage, layer):
        for path in reversed(found):  # those inside of others first
            prim = _opened_up(stage, stage.GetPrimAtPath(path))
            if not prim:
                continue
            instancer = UsdGeom.PointInstancer(prim)
            prototypes = instancer.GetPrototypesRel().GetForwardedTargets()
            first = Usd.TimeCode.EarliestTime()
            indices = list(instancer.GetProtoIndicesAttr().Get(first) or [])
            mask = list(instancer.ComputeMaskAtTime(first) or [])
            codes = _codes(instancer)
            codes = codes if len(codes) * len(indices) <= MOST_SAMPLES else codes[:1]
            rows = {code: _places(instancer, code, len(indices)) for code in codes or [first]}
            if not indices or any(row is None for row in rows.values()):
                report.add(
                    "dropped", str(path), "places nothing: its indices and positions do not fit together"
                )
                continue
            shown = [
                i
                for i, p in enumerate(indices)
                if 0 <= p < len(prototypes)
                and (i >= len(mask) or mask[i])
                and stage.GetPrimAtPath(prototypes[p])
            ]
            if len(shown) > room:
                report.add(
                    "dropped",
                    str(path),
                    f"{len(shown) - room} of {len(shown)} instances: marrow places {MOST_INSTANCES}",
                )
                shown = shown[:room]
            room -= len(shown)
            group = Sdf.CreatePrimInLayer(layer, f"{path}/{INSTANCES}")
            group.specifier, group.typeName = Sdf.SpecifierDef, "Xform"
            with Sdf.ChangeBlock():
                for i in shown:
                    spec = Sdf.PrimSpec(group, f"{prototypes[indices[i]].name}_{i}", Sdf.SpecifierDef)
                    spec.typeName = "Xform"
                    inner = Sdf.PrimSpec(spec, prototypes[indices[i]].name, Sdf.SpecifierDef)
                    inner.inheritPathList.Prepend(prototypes[indices[i]])
                    place = Sdf.AttributeSpec(spec, "xformOp:transform", Sdf.ValueTypeNames.Matrix4d)
                    if len(rows) == 1:
                        place.default = next(iter(rows.values()))[i]
                    else:
                        for code, row in rows.items():
                            layer.SetTimeSample(place.path, code, row[i])
                    order = Sdf.AttributeSpec(
                        spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform
                    )
                    order.default = ["xformOp:transform"]
            report.add(
                "info",
                str(path),
                f"{len(shown)} instances of {len(prototypes)} prototypes are prims of their own",
            )


def _codes(instancer: Any) -> list[float]:
    found: set[float] = set()
    for attribute in (
        instancer.GetPositionsAttr(),
        instancer.GetOrientationsAttr(),
        instancer.GetScalesAttr(),
    ):
        found.update(attribute.GetTimeSamples() if attribute.GetNumTimeSamples() > 1 else ())
    return sorted(found)


def _places(instancer: Any, code: Any, count: int) -> Any:
    from pxr import UsdGeom

    made = instancer.ComputeInstanceTransformsAtTime(
        code, code, UsdGeom.PointInstancer.ExcludeProtoXform, UsdGeom.PointInstancer.IgnoreMask
    )
    return made if made is not None and len(made) == count else None


def with_shapes(stage: Any, report: ReportBuilder) -> None:
    """Makes meshes of boxes, spheres, cylinders, capsules, cones and planes."""
    from pxr import Sdf, Usd

    found = [(p.GetPath(), str(p.GetTypeName())) for p in drawn_prims(stage) if p.GetTypeName() in _SHAPES]
    found += [
        (p.GetPath(), str(p.GetTypeName()))
        for p in Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate)
        if p.GetTypeName() in _SHAPES and (p.GetPath(), str(p.GetTypeName())) not in set(found)
    ]
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        for path, kind in found[: 10 * MOST_INSTANCES]:
            prim = _opened_up(stage, stage.GetPrimAtPath(path))
            made = _surface(prim, kind) if prim else None
            if made is None:
                continue
            points, normals, triangles = made
            prim.SetTypeName("Mesh")
            kinds = Sdf.ValueTypeNames
            for name, kind_of, value in (
                ("points", kinds.Point3fArray, vectors3(points)),
                ("normals", kinds.Normal3fArray, vectors3(normals)),
                ("faceVertexIndices", kinds.IntArray, ints(triangles)),
                ("faceVertexCounts", kinds.IntArray, ints(np.full(len(triangles), 3))),
            ):
                prim.CreateAttribute(name, kind_of, custom=False).Set(value)
            prim.CreateAttribute("subdivisionScheme", kinds.Token, False, Sdf.VariabilityUniform).Set("none")
            report.add("info", str(path), "the shape is read as a mesh")


def _surface(prim: Any, kind: str) -> tuple[Array, Array, Array] | None:
    from pxr import Usd

    def number(name: str, default: float) -> float:
        value = prim.GetAttribute(name).Get(Usd.TimeCode.EarliestTime()) if prim.HasAttribute(name) else None
        return float(value) if isinstance(value, (int, float)) and 0 < value < 1e12 else default

    shape = kind.removesuffix("_1")
    if shape == "Cube":
        made = surface_of("box", np.full(3, number("size", 2.0) / 2))
    elif shape == "Sphere":
        made = surface_of("sphere", np.array([number("radius", 1.0)]))
    elif shape == "Plane":
        x, y = number("width", 2.0) / 2, number("length", 2.0) / 2
        corners = np.array([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0]])
        made = corners, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]])
    else:
        bottom = (
            number("radiusBottom", number("radius", 1.0)) if kind.endswith("_1") else number("radius", 1.0)
        )
        high = number("height", 1.0 if shape == "Capsule" else 2.0) / 2
        made = surface_of("capsule" if shape == "Capsule" else "cylinder", np.array([bottom, high]))
        if shape == "Cone":
            made = _cone(bottom, high)
    points, normals, triangles = made
    if shape not in ("Cube", "Sphere"):
        axis = str(prim.GetAttribute("axis").Get() or "Z") if prim.HasAttribute("axis") else "Z"
        turn = {"X": [2, 0, 1], "Y": [1, 2, 0]}.get(axis, [0, 1, 2])  # where z, x, y of the shape come to lie
        points, normals = points[:, turn], normals[:, turn]
    return points, normals, triangles


def _cone(radius: float, half: float) -> tuple[Array, Array, Array]:
    around = np.arange(16) * (2 * np.pi / 16)
    ring = np.stack([np.cos(around), np.sin(around), np.zeros(16)], -1)
    low = ring * radius - [0, 0, half]
    tip = np.tile([0.0, 0.0, half], (16, 1))
    slope = ring * (2 * half) + [0, 0, radius]
    slope /= np.linalg.norm(slope, axis=1, keepdims=True)
    k = np.arange(16)
    side = np.stack([k, (k + 1) % 16, k + 16], -1)
    fan = np.array([(32, 32 + b + 1, 32 + b) for b in range(1, 15)])
    points = np.concatenate([low, tip, low])
    normals = np.concatenate([slope, slope, np.tile([0.0, 0.0, -1.0], (16, 1))])
    return points, normals, np.concatenate([side, fan])
