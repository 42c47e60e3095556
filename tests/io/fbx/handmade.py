"""FBX files written by hand: an ASCII file of a few objects, small enough to know every number in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

SECOND = 46186158000  # of FBX time


def numbers(values: Sequence[float]) -> str:
    return f"*{len(values)} {{ a: {','.join(f'{v:.9g}' for v in values)} }}"


def property70(name: str, kind: str, *values: float) -> str:
    return f'P: "{name}", "{kind}", "", "A",{",".join(f"{v:.9g}" for v in values)}'


@dataclass
class Fbx:
    """Objects and connections; `text()` is the file. Units are metres (`unit` in centimetres), Y up."""

    unit: float = 100.0
    fps_mode: int = 6  # 30 frames a second
    up: int = 1
    application: str = ""
    objects: list[str] = field(default_factory=list)
    connections: list[str] = field(default_factory=list)
    _last: int = 1000

    def add(self, kind: str, name: str, sub: str, body: str = "") -> int:
        self._last += 1
        self.objects.append(f'{kind}: {self._last}, "{name}", "{sub}" {{ {body}\n}}')
        return self._last

    def connect(self, child: int, parent: int, prop: str = "") -> None:
        self.connections.append(
            f'C: "OP",{child},{parent}, "{prop}"' if prop else f'C: "OO",{child},{parent}'
        )

    def node(
        self, name: str, kind: str, parent: int = 0, extra: Sequence[str] = (), **trs: Sequence[float]
    ) -> int:
        names = {"t": "Lcl Translation", "r": "Lcl Rotation", "s": "Lcl Scaling"}
        rows = [*(property70(names[k], names[k], *v) for k, v in trs.items()), *extra]
        body = "\nVersion: 232\nProperties70:  {\n" + "\n".join(rows) + "\n}"
        number = self.add("Model", f"Model::{name}", kind, body)
        if kind == "LimbNode":
            attribute = self.add("NodeAttribute", f"NodeAttribute::{name}", kind, '\nTypeFlags: "Skeleton"')
            self.connect(attribute, number)
        self.connect(number, parent)
        return number

    def mesh(
        self, node: int, points: Sequence[float], polygons: Sequence[Sequence[int]], extra: str = ""
    ) -> int:
        indices = [i if k < len(p) - 1 else ~i for p in polygons for k, i in enumerate(p)]
        body = f"\nVertices: {numbers(points)}\nPolygonVertexIndex: {numbers(indices)}"
        body += f"\nGeometryVersion: 124{extra}"
        number = self.add("Geometry", "Geometry::", "Mesh", body)
        self.connect(number, node)
        return number

    def skin(
        self,
        geometry: int,
        clusters: Sequence[tuple[int, dict[int, float], Sequence[float]]],
        method: str = "Linear",
    ) -> int:
        """Clusters are (bone, weights by control point, where the bone stood at binding)."""
        number = self.add("Deformer", "Deformer::", "Skin", f'\nVersion: 101\nSkinningType: "{method}"')
        self.connect(number, geometry)
        for bone, weights, (x, y, z) in clusters:
            body = f"\nVersion: 100\nIndexes: {numbers(list(weights))}"
            body += f"\nWeights: {numbers(list(weights.values()))}"
            body += f"\nTransform: {numbers([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, -z, 1])}"
            body += f"\nTransformLink: {numbers([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1])}"
            cluster = self.add("Deformer", "SubDeformer::", "Cluster", body)
            self.connect(cluster, number)
            self.connect(bone, cluster)
        return number

    def blend_shape(
        self,
        geometry: int,
        name: str,
        shapes: Sequence[tuple[float, dict[int, Sequence[float]]]],
        percent: float,
    ) -> int:
        """A channel at `percent` with in-between shapes, each (full weight, offset by control point)."""
        deformer = self.add("Deformer", "Deformer::", "BlendShape", "\nVersion: 100")
        self.connect(deformer, geometry)
        full = numbers([weight for weight, _ in shapes])
        channel = self.add(
            "Deformer",
            f"SubDeformer::{name}",
            "BlendShapeChannel",
            f"\nVersion: 100\nDeformPercent: {percent}\nFullWeights: {full}",
        )
        self.connect(channel, deformer)
        for _, offsets in shapes:
            flat = [c for offset in offsets.values() for c in offset]
            body = f"\nVersion: 100\nIndexes: {numbers(list(offsets))}\nVertices: {numbers(flat)}"
            shape = self.add("Geometry", f"Geometry::{name}", "Shape", body)
            self.connect(shape, channel)
        return channel

    def stack(self, name: str, begin: float, end: float) -> int:
        """An animation stack with one layer; the layer's number."""
        rows = [f'P: "LocalStart", "KTime", "Time", "",{int(begin * SECOND)}']
        rows.append(f'P: "LocalStop", "KTime", "Time", "",{int(end * SECOND)}')
        body = "\nProperties70:  {\n" + "\n".join(rows) + "\n}"
        stack = self.add("AnimationStack", f"AnimStack::{name}", "", body)
        layer = self.add("AnimationLayer", "AnimLayer::Base", "")
        self.connect(layer, stack)
        return layer

    def curve(
        self,
        layer: int,
        target: int,
        prop: str,
        axis: str,
        keys: Sequence[tuple[float, float]],
        kind: str = "linear",
        beyond: str = "",
    ) -> None:
        """Keys are (time, value); `beyond` is how the curve goes on after the last: A, K, M or R."""
        flags = {"step": 2, "linear": 4, "cubic": 8 | 0x400}[kind]
        value = self.add(
            "AnimationCurveNode",
            f"AnimCurveNode::{prop}",
            "",
            f"\nProperties70:  {{\n{property70(axis, 'Number', keys[0][1])}\n}}",
        )
        self.connect(value, layer)
        self.connect(value, target, prop)
        body = f"\nDefault: 0\nKeyVer: 4008\nKeyTime: {numbers([])}"
        times = f"*{len(keys)} {{ a: {','.join(str(int(t * SECOND)) for t, _ in keys)} }}"
        body = body.replace(numbers([]), times)
        body += f"\nKeyValueFloat: {numbers([v for _, v in keys])}\nKeyAttrFlags: {numbers([flags])}"
        body += f"\nKeyAttrDataFloat: {numbers([0, 0, 0, 0])}\nKeyAttrRefCount: {numbers([len(keys)])}"
        if beyond:
            body += f"\nPost-Extrapolation:  {{\nType: {beyond}\nRepetition: -1\n}}"
        curve = self.add("AnimationCurve", "AnimCurve::", "", body)
        self.connect(curve, value, axis)

    def _scene_info(self) -> str:
        if not self.application:
            return ""
        row = f'P: "Original|ApplicationName", "KString", "", "", "{self.application}"'
        return f'SceneInfo: "SceneInfo::GlobalInfo", "UserData" {{\nProperties70:  {{\n{row}\n}}\n}}\n'

    def text(self) -> bytes:
        settings = "\n".join(
            [
                f'P: "UpAxis", "int", "Integer", "",{self.up}',
                'P: "UpAxisSign", "int", "Integer", "",1',
                f'P: "FrontAxis", "int", "Integer", "",{3 - self.up if self.up else 2}',
                f'P: "FrontAxisSign", "int", "Integer", "",{1 if self.up == 1 else -1}',
                'P: "CoordAxis", "int", "Integer", "",0',
                'P: "CoordAxisSign", "int", "Integer", "",1',
                f'P: "UnitScaleFactor", "double", "Number", "",{self.unit}',
                f'P: "TimeMode", "enum", "", "",{self.fps_mode}',
            ]
        )
        parts = [
            "; FBX 7.4.0 project file",
            f"FBXHeaderExtension:  {{\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n{self._scene_info()}}}",
            f"GlobalSettings:  {{\nVersion: 1000\nProperties70:  {{\n{settings}\n}}\n}}",
            "Objects:  {\n" + "\n".join(self.objects) + "\n}",
            "Connections:  {\n" + "\n".join(self.connections) + "\n}",
        ]
        return ("\n".join(parts) + "\n").encode()


SQUARE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]


def flag() -> Fbx:
    """A square on two joints: `low` at the origin holds its lower edge, `high` at (0, 1, 0) its upper one.

    In the stack `Wave` (seconds 1 to 2), `high` turns 90 degrees about Z at constant speed.
    """
    fbx = Fbx()
    low = fbx.node("low", "LimbNode", t=(0, 0, 0))
    high = fbx.node("high", "LimbNode", low, t=(0, 1, 0))
    cloth = fbx.node("cloth", "Mesh")
    geometry = fbx.mesh(cloth, SQUARE, [[0, 1, 2, 3]])
    fbx.skin(geometry, [(low, {0: 1.0, 1: 1.0}, (0, 0, 0)), (high, {2: 1.0, 3: 1.0}, (0, 1, 0))])
    layer = fbx.stack("Wave", 1.0, 2.0)
    fbx.curve(layer, high, "Lcl Rotation", "d|Z", [(1.0, 0.0), (2.0, 90.0)])
    return fbx
