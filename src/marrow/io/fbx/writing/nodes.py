"""Joints and meshes as nodes of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.eulers import ORDERS, degrees
from marrow.io.fbx.writing.properties import Properties
from marrow.io.fbx.writing.records import FbxRecord
from marrow.io.fbx.writing.rig import FbxRig, Placed
from marrow.math import transform
from marrow.model import Character

__all__ = ["Names", "Turning", "put_place", "write_joints", "write_model"]

Array = NDArray[Any]
_AFFINE_INHERITANCE = 1  # RSrs: a child's matrix is its parent's times its own, scale and all


class Names:
    """Names that are in use once; programs find nodes by them."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        self.changed: list[str] = []

    def of(self, wanted: str, number: int = 0) -> str:
        wanted = wanted.replace("\0", "")
        name = stem = wanted or f"node_{number}"
        while name in self._taken:
            self._next[stem] = self._next.get(stem, 0) + 1
            name = f"{stem}_{self._next[stem]}"
        self._taken.add(name)
        if name != wanted:
            self.changed.append(wanted)
        return name


@dataclass
class Turning:
    """How joints turn: what comes before their curves (`before (J, 4)`, the identity for joints that no curve turns and
    that are no bones), and the `order (J,)` of the angles."""

    before: Array
    order: Array


def write_model(
    document: FbxDocument, name: str, kind: str, *, visible: bool = True
) -> tuple[int, FbxRecord, Properties]:
    """A node of the scene, without a place yet."""
    number, record = document.object("Model", name, kind)
    record.add("Version", np.int32(232))
    props = Properties(record)
    props.enum("InheritType", _AFFINE_INHERITANCE)
    props.integer("DefaultAttributeIndex", 0)
    if not visible:
        props.visibility(0.0)
    record.add("Shading", True)
    record.add("Culling", "CullingOff")
    return number, record, props


def put_place(props: Properties, document: FbxDocument, matrix: Array) -> None:
    """The place of a node that no curve moves."""
    t, r, s = transform.decompose(matrix)
    props.local("Lcl Translation", t * document.space.scale)
    props.local("Lcl Rotation", degrees(r[None], 0)[0])
    props.local("Lcl Scaling", s)


def write_joints(
    document: FbxDocument,
    character: Character,
    rig: FbxRig,
    turning: Turning,
    names: Names,
    carried: Mapping[int, str],
) -> tuple[list[int], list[Properties | None]]:
    """A node for every joint; their numbers (0 for one that is left out), and their properties. Those of `carried` are
    cameras and lights, whose attributes come later."""
    skeleton, scale = character.skeleton, document.space.scale
    rest = skeleton.rest
    holds: dict[int, Placed] = {one.own: one for one in rig.placed if one.own >= 0}
    numbers = [0] * len(skeleton)
    all_props: list[Properties | None] = [None] * len(skeleton)
    before = degrees(turning.before, 0)
    identity = np.array([0.0, 0.0, 0.0, 1.0])
    whole = degrees(np.asarray(rest.rotation, np.float64), 0)
    for j in _by_generation(skeleton.parents.tolist()):
        if rig.left_out[j]:
            continue
        name = skeleton.names[j]
        kind = "Mesh" if j in holds else "LimbNode" if rig.bones[j] else carried.get(j, "Null")
        visible = holds[j].mesh.visible if j in holds else True
        unique = names.of(name, j)
        number, _, props = write_model(document, unique, kind, visible=visible)
        turned = not np.array_equal(turning.before[j], identity)
        props.enum("RotationOrder", ORDERS[turning.order[j]][0])
        props.flag("RotationActive", True)
        if turned:
            props.vector("PreRotation", before[j])
        props.local("Lcl Translation", rest.translation[j].astype(np.float64) * scale)
        props.local("Lcl Rotation", np.zeros(3) if turned else whole[j])
        props.local("Lcl Scaling", rest.scale[j])
        parent = int(skeleton.parents[j])
        document.connect(number, numbers[parent] if parent >= 0 else 0)
        if kind in ("LimbNode", "Null"):
            _attribute(document, unique, kind, number)
        numbers[j], all_props[j] = number, props
    return numbers, all_props


def _by_generation(parents: list[int]) -> list[int]:
    """Joints as readers sort them: roots, then their children, then theirs. In that order they come back as they were."""
    children: dict[int, list[int]] = {}
    for j, p in enumerate(parents):
        children.setdefault(p, []).append(j)
    order = list(children.get(-1, ()))
    for j in order:
        order += children.get(j, ())
    return order


def _attribute(document: FbxDocument, name: str, kind: str, model: int) -> None:
    number, record = document.object("NodeAttribute", name, kind)
    if kind == "LimbNode":
        Properties(record).number("Size", document.space.scale * 0.05)
    record.add("TypeFlags", "Skeleton" if kind == "LimbNode" else kind)
    document.connect(number, model)
