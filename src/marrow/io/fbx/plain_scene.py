"""An FBX scene as plain data, as the reader's process hands it over (`scene_walk`): a typed document, and arrays.

Nodes are known by their index, elements (nodes, meshes, morph channels) also by a number of ufbx's. In the document an
array is the index of its block. Nothing of it is trusted: it is what a program made of a file that may be hostile, so a
number that points outside is a `FormatError`.
"""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.fbx.blocks import LENGTHS

__all__ = [
    "Attribute",
    "PlainBasis",
    "PlainCage",
    "PlainCamera",
    "PlainChannel",
    "PlainCluster",
    "PlainConstraint",
    "PlainDocument",
    "PlainGroup",
    "PlainLight",
    "PlainMaterial",
    "PlainMesh",
    "PlainNode",
    "PlainNurbs",
    "PlainScene",
    "PlainShape",
    "PlainSkin",
    "PlainStack",
    "PlainTexture",
    "Slot",
    "parse_answer",
]

Array = NDArray[Any]
Attribute = tuple[int, int]
"""Values, and the index of the value at each corner."""
Slot = tuple[list[float | None] | None, int, bool]
"""The value (None: there is none), the texture (-1: there is none) and whether that is enabled."""
KEYS = {
    width: np.dtype([("time", np.float64), ("value", np.float64, width), ("flags", np.uint32, 2)])
    for width in (3, 4)
}


class PlainCamera(msgspec.Struct):
    """A camera: what it sees across and up (degrees, or metres), near and far (metres), lens (mm) and film (inches)."""

    element: int
    name: str = ""
    orthographic: bool = False
    fov: tuple[float | None, float | None] = (None, None)
    size: tuple[float | None, float | None] = (None, None)
    aspect: float | None = None
    near: float | None = None
    far: float | None = None
    focal: float | None = None
    film: tuple[float | None, float | None] = (None, None)


class PlainLight(msgspec.Struct):
    """A light; `inner` and `outer` are whole angles of its cone, in degrees."""

    element: int
    name: str = ""
    kind: str = "point"
    color: tuple[float | None, float | None, float | None] = (1.0, 1.0, 1.0)
    intensity: float | None = 1.0
    inner: float | None = None
    outer: float | None = None
    decay: str = ""
    shines: bool = True
    shadows: bool = True


class PlainNode(msgspec.Struct):
    """A node. `pivots`: its rotation pivot, scaling offset and scaling pivot, where one of them is not zero. `plain`: its
    angles, and what goes before and after them, where pre-rotation and the like are switched off (`rotation_space`).
    `matrices`: geometry to node, and node to world, where it has a mesh. `own`: properties that artists gave it."""

    name: str
    element: int
    parent: int = -1
    root: bool = False
    scale_helper: bool = False
    geometry_helper: bool = False
    compensates: bool = False
    visible: bool = True
    scaled_by_helper: bool = False
    inherits: bool = False
    pivots: int = -1
    plain: int = -1
    mesh: int = -1
    matrices: int = -1
    materials: list[int] = []
    camera: PlainCamera | None = None
    light: PlainLight | None = None
    own: dict[str, Any] = {}

    @property
    def is_helper(self) -> bool:
        """Whether ufbx put the node below another, for a scale or a geometry transform that is not handed on."""
        return self.scale_helper or self.geometry_helper


class PlainCluster(msgspec.Struct, array_like=True):
    """A joint's hold on vertices. `matrices`: geometry to bone, bind to world, mesh node to bone."""

    node: int
    vertices: int
    weights: int
    matrices: int


class PlainSkin(msgspec.Struct):
    method: int
    dq_vertices: int
    dq_weights: int
    clusters: list[PlainCluster]


class PlainShape(msgspec.Struct):
    """A target of a morph channel."""

    full_weight: float | None
    name: str
    vertices: int
    positions: int
    normals: int
    weights: int


class PlainChannel(msgspec.Struct):
    element: int
    name: str
    weight: float | None
    keyframes: list[PlainShape]


class PlainCage(msgspec.Struct):
    """How a mesh is subdivided: whether its author saw it so (`smooth`), how often, ufbx's numbers of what is sharp at
    borders, edges by
    their corners and how sharp they and points are, from 0 to 1."""

    smooth: bool
    levels: int
    boundary: int
    uv_boundary: int
    edges: int
    edge_crease: int
    point_crease: Attribute | None = None


class PlainBasis(msgspec.Struct):
    """One direction of a NURBS surface; `topology` as ufbx numbers it: open, periodic, closed."""

    order: int
    topology: int
    knots: int


class PlainNurbs(msgspec.Struct):
    """A NURBS surface: `points` with their weights, `across` in a row and `down` rows; into how many parts a span is
    cut."""

    points: int
    across: int
    down: int
    cuts_u: int
    cuts_v: int
    flipped: bool
    u: PlainBasis
    v: PlainBasis


class PlainMesh(msgspec.Struct):
    """A mesh: `positions` of its points, the point at each of its `corners`, `polygons` as first corner and count."""

    name: str
    element: int
    points: int
    faces: int
    indices: int
    positions: int
    corners: int
    polygons: int
    face_materials: int
    holes: int = -1
    normals: Attribute | None = None
    tangents: Attribute | None = None
    bitangents: Attribute | None = None
    colors: Attribute | None = None
    uvs: list[Attribute] = []
    skins: list[PlainSkin] = []
    channels: list[PlainChannel] = []
    caches: list[tuple[str, list[str]]] = []
    cage: PlainCage | None = None
    nurbs: PlainNurbs | None = None


class PlainMaterial(msgspec.Struct):
    """A material. One that marrow wrote has a note, and its textures `by_property`."""

    name: str
    pbr: dict[str, Slot]
    fbx: dict[str, Slot]
    double_sided: bool
    note: str = ""
    by_property: dict[str, int] = {}


class PlainTexture(msgspec.Struct):
    element: int
    name: str
    has_file: bool
    file: int
    wrap_u: int
    wrap_v: int
    names: list[str]
    content: int = -1
    uv_transform: int = -1
    layers: list[int] = []


class PlainGroup(msgspec.Struct):
    """A LOD group: the nodes below each of its levels."""

    name: str
    levels: list[list[int]]
    distances: list[float | None]
    relative: bool


class PlainStack(msgspec.Struct):
    """An animation stack. `animated` are all properties it has a say in, `keyed` those with keys.

    A row of `nodes` is a node, the keys of its translation, rotation and scale, and where it turns plainly the angles at
    its rotation's keys; of `sampled` a node, times, and its transform at each; of `properties` an element, a name, keys,
    and for a morph that goes on beyond its keys its times and values over the whole stack (-1: it does not). One without
    `step` was not baked."""

    name: str
    animated: list[tuple[int, str]]
    keyed: list[tuple[int, str]]
    begin: float = 0.0
    end: float = 0.0
    step: float = 0.0
    sampled: list[tuple[int, int, int]] = []
    nodes: list[list[int]] = []
    properties: list[tuple[int, str, int, int]] = []


class PlainConstraint(msgspec.Struct):
    """A constraint: its kind, the nodes it moves and looks at (by index, -1: none; each with its share), which axes
    of translation, rotation and scale it moves, and how it aims."""

    name: str = ""
    kind: str = ""
    type_name: str = ""
    node: int = -1
    targets: list[tuple[int, float | None]] = []
    weight: float | None = None
    active: bool = True
    axes: tuple[tuple[bool, bool, bool], tuple[bool, bool, bool], tuple[bool, bool, bool]] = (
        (False, False, False),
    ) * 3
    aim: tuple[float | None, float | None, float | None] = (None, None, None)
    up_axis: tuple[float | None, float | None, float | None] = (None, None, None)
    up_kind: str = ""
    up_node: int = -1


class PlainDocument(msgspec.Struct):
    """The whole scene. `error` and `said` stand alone, where ufbx could not read the file."""

    blocks: list[int]
    error: str = ""
    said: str = ""
    warnings: list[tuple[str, int]] = []
    unread: dict[str, int] = {}
    smooth: int = 0
    unit: float | None = None
    mirrored: bool = False
    application: str = ""
    rate: float | None = None
    nodes: list[PlainNode] = []
    rest: int = -1
    meshes: dict[int, PlainMesh] = {}
    materials: list[PlainMaterial] = []
    textures: list[PlainTexture] = []
    groups: list[PlainGroup] = []
    constraints: list[PlainConstraint] = []
    stacks: list[PlainStack] = []
    own: list[tuple[int, str, int]] = []


class PlainScene:
    """A scene: its document, and the arrays in its blocks."""

    def __init__(self, document: PlainDocument, data: memoryview) -> None:
        self.document = document
        ends = np.cumsum([size + -size % 8 for size in document.blocks], dtype=np.int64).tolist()
        if (ends[-1] if ends else 0) != len(data) or min(document.blocks, default=0) < 0:
            raise FormatError("the FBX reader gave no whole answer: its blocks do not fit")
        self._blocks = [
            data[end - size - -size % 8 : end - -size % 8] for end, size in zip(ends, document.blocks)
        ]

    def bytes_at(self, block: int) -> memoryview:
        """The bytes of a block; none for one below zero."""
        if block < 0:
            return memoryview(b"")
        return self._blocks[block]

    def reals(self, block: int, *shape: int) -> Array:
        """A block of float64, in rows of `shape`."""
        return self._array(block, np.dtype(np.float64)).reshape(-1, *shape)

    def integers(self, block: int) -> Array:
        """A block of uint32."""
        return self._array(block, np.dtype(np.uint32))

    def keys(self, block: int, width: int) -> Array:
        """Baked keys: `time`, `value` and `flags`."""
        return self._array(block, KEYS[width])

    def matrices(self, block: int) -> Array:
        """Matrices `(n, 3, 4)`."""
        return self.reals(block, 4, 3).transpose(0, 2, 1)

    def _array(self, block: int, dtype: np.dtype[Any]) -> Array:
        return np.frombuffer(self.bytes_at(block), dtype)


_DECODER = msgspec.json.Decoder(PlainDocument)


def parse_answer(answer: bytes | bytearray) -> PlainScene:
    """The scene in an answer of the reader's."""
    view = memoryview(answer)
    try:
        text, rest = LENGTHS.unpack_from(view)
        begin = LENGTHS.size + text
        document = _DECODER.decode(view[LENGTHS.size : begin])
    except (ValueError, struct.error, msgspec.MsgspecError) as error:
        raise FormatError(f"the FBX reader gave no whole answer: {error}") from None
    if document.error:
        return PlainScene(document, view[:0])
    return PlainScene(document, view[begin : begin + rest])
