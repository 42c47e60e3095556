"""Characters and graphs as plain data for the page: what `/api/character` answers."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["CharacterInfo", "DrawingInfo", "GraphInfo", "Info"]

Vec2 = tuple[float, float]
Vec3 = tuple[float, float, float]
Vec4 = tuple[float, float, float, float]
Dtype = Literal["float32", "uint32", "uint16", "uint8"]


class Info(msgspec.Struct, frozen=True):
    """Plain data sent as JSON."""


class JointInfo(Info, frozen=True):
    """A joint: its parent (-1 for a root) and rest transform relative to it. A `helper` belongs to the tool that wrote
    the file (cameras, lights): it is no part of the body and is not drawn."""

    name: str
    parent: int
    translation: Vec3
    rotation: Vec4
    scale: Vec3
    helper: bool


class SocketInfo(Info, frozen=True):
    """A named place on a joint."""

    name: str
    joint: int
    translation: Vec3
    rotation: Vec4
    scale: Vec3


class TextureInfo(Info, frozen=True):
    """How an image is looked up; `image` is the number in `/api/image/{slot}/{image}`."""

    image: int
    uv_set: int
    wrap_u: Literal["repeat", "clamp", "mirror"]
    wrap_v: Literal["repeat", "clamp", "mirror"]
    mag_filter: Literal["nearest", "linear"] | None
    min_filter: str | None
    offset: Vec2
    rotation: float
    scale: Vec2


class MaterialInfo(Info, frozen=True):
    """A metallic-roughness material as in glTF; colours are linear."""

    name: str
    base_color: Vec4
    metallic: float
    roughness: float
    emissive: Vec3
    base_color_texture: TextureInfo | None
    metallic_roughness_texture: TextureInfo | None
    normal_texture: TextureInfo | None
    normal_scale: float
    occlusion_texture: TextureInfo | None
    occlusion_strength: float
    emissive_texture: TextureInfo | None
    alpha_mode: Literal["opaque", "mask", "blend"]
    alpha_cutoff: float
    double_sided: bool
    unlit: bool


class BufferInfo(Info, frozen=True):
    """An array in the blob of `/api/character/{slot}/buffers`: byte offset (a multiple of 16), type and
    shape."""

    offset: int
    dtype: Dtype
    shape: list[int]


class SectionInfo(Info, frozen=True):
    """A run of triangles with one material: `first` and `count` in triangles; `material` -1 for none."""

    first: int
    count: int
    material: int
    name: str


class MorphTargetInfo(Info, frozen=True):
    """A morph target; `weight` is its place among the M morph weights of a frame."""

    name: str
    weight: int


class MeshInfo(Info, frozen=True):
    """A mesh and where its arrays lie.

    `buffers` always has `positions (V, 3)`, `triangles (F, 3)`, `joints (V, K)` (palette entries) and
    `weights (V, K)`, strongest first and padded with zeros; and where the mesh has them `normals (V, 3)`,
    `tangents (V, 4)`, `uv0`, `uv1`... `(V, 2)`, `colors (V, 4)`, `dual_quaternion_weights (V,)`,
    `morph_positions`, `morph_normals` and `morph_tangents` `(T, V, 3)`.
    """

    name: str
    vertices: int
    triangles: int
    influences: int
    sections: list[SectionInfo]
    morph_targets: list[MorphTargetInfo]
    skinning: Literal["linear", "dual_quaternion", "blended"]
    visible: bool
    buffers: dict[str, BufferInfo]


class EventInfo(Info, frozen=True):
    """Something that happens at a moment of a clip, or for `duration` seconds from then on."""

    time: float
    name: str
    duration: float
    payload: str


class ClipInfo(Info, frozen=True):
    """A clip; `rate` is its frames per second, for stepping; `joints` are those it moves. `label` is its name without
    what the names of all clips begin with."""

    name: str
    label: str
    duration: float
    rate: float
    events: list[EventInfo]
    additive: bool
    joints: list[int]


class ReportLine(Info, frozen=True):
    """What the importer had to say."""

    kind: Literal["info", "repaired", "dropped", "warning"]
    place: str
    message: str


# -- graphs --------------------------------------------------------------------------------------------------
class ParameterInfo(Info, frozen=True):
    """A parameter; `range` is what a slider should span."""

    name: str
    type: Literal["float", "bool", "trigger", "vector"]
    default: bool | float | Vec3
    range: Vec2
    smoothing: float


class NodeInfo(Info, frozen=True):
    """A node of the graph by its `path`; `parent` is None for the root, `role` says what it is to its parent.

    `details` are its own settings in words; `parameters` the ones it reads.
    """

    path: str
    kind: str
    title: str
    parent: str | None
    role: str
    clip: str | None
    details: dict[str, str]
    parameters: list[str]


class TransitionInfo(Info, frozen=True):
    """A transition of a machine; `source` may be `*`."""

    source: str
    to: str
    when: list[str]
    seconds: float
    blend: Literal["fade", "inertia"]


class MachineInfo(Info, frozen=True):
    """A state machine: its node's path, its states and where each one's node is."""

    path: str
    states: list[str]
    nodes: list[str]
    initial: str
    transitions: list[TransitionInfo]


class SpacePoint(Info, frozen=True):
    """A point of a blend space (`y` is 0 on a line) and the path of the node it shows."""

    x: float
    y: float
    label: str
    node: str


class BlendSpaceInfo(Info, frozen=True):
    """A blend space: parameters of its axes (None: a constant), points, triangles between them."""

    path: str
    x: str | None
    y: str | None
    points: list[SpacePoint]
    triangles: list[tuple[int, int, int]]


class MaskInfo(Info, frozen=True):
    """How much of each joint a layer takes, `(J,)`."""

    path: str
    weights: list[float]


class GraphInfo(Info, frozen=True):
    """A graph, laid out for drawing."""

    name: str
    parameters: list[ParameterInfo]
    nodes: list[NodeInfo]
    machines: list[MachineInfo]
    blend_spaces: list[BlendSpaceInfo]
    masks: list[MaskInfo]


class LevelInfo(Info, frozen=True):
    """A level of detail after the first: what is drawn, and its figures. An instance at this level is sent the matrices
    of the first `entries` entries of the palette; `stand_in (P,)` among `buffers` says which of those to take for each.
    `error` and `mean_error` are in metres, None where nobody measured."""

    meshes: list[MeshInfo]
    joints: int
    entries: int
    vertices: int
    triangles: int
    influences: int
    error: float | None
    mean_error: float | None
    buffers: dict[str, BufferInfo]


class HiddenInfo(Info, frozen=True):
    """Something of the file that is not shown: a mesh or a joint, by its number there, and `why`."""

    kind: Literal["mesh", "joint"]
    name: str
    index: int
    why: str


class ViewInfo(Info, frozen=True):
    """A view that can be asked for (`SetViews`): what it shows, what may (`[COUNT]`) or must (`JOINT`) follow its name, and
    the key that switches it, "" for none."""

    name: str
    meaning: str
    argument: str
    key: str


class ConstraintInfo(Info, frozen=True):
    """A constraint of the character: what it does, to which joints (or which channel), what it looks at, and its weight."""

    kind: str
    name: str
    moves: list[str]
    reads: list[str]
    weight: str


class CharacterInfo(Info, frozen=True):
    """`/api/character/{slot}`: everything about a character but its arrays.

    `bounds` are those of what is shown; `facing` is how far it looks away from +Z, towards +X, in radians (0 where that is
    not known): the camera begins in front of it. Where there is no graph, `graph_offer` says what its clips would make
    (`ReadyGraph`), None where they make none, and `graph_hint` how to get one.

    `buffers` of the character itself: `inverse_bind (P, 3, 4)`, `palette_joints (P,)`, and `bind_positions
    (P, 3)`, the point a palette entry's scale is applied about in dual-quaternion skinning. The model-space
    matrix of a joint is its palette matrix times the inverse of its `inverse_bind`; the first J palette
    entries are the J joints. `views` can be drawn of it. `handles` are the joints that have one where joints are held
    (`SetEffector`): hips, head, hands and feet, where they are known.
    """

    name: str
    slot: int
    joints: list[JointInfo]
    sockets: list[SocketInfo]
    morphs: list[str]
    materials: list[MaterialInfo]
    images: int
    meshes: list[MeshInfo]
    clips: list[ClipInfo]
    constraints: list[ConstraintInfo]
    report: list[ReportLine]
    palette: int
    morph_weights: int
    vertices: int
    triangles: int
    bounds: tuple[Vec3, Vec3]
    facing: float
    buffers: dict[str, BufferInfo]
    buffer_bytes: int
    levels: list[LevelInfo]
    graph: GraphInfo | None
    graph_offer: str | None
    graph_hint: str
    hidden: list[HiddenInfo]
    views: list[ViewInfo]
    handles: list[int]


# -- drawings ------------------------------------------------------------------------------------------------
class LabelInfo(Info, frozen=True):
    """Words at a place of the world. The array `label_at (L, 5)` has, row by row, where that is, a rank and a length: where
    there is no room for all, those of higher rank are kept; where the length, in metres, is seen smaller than letters are,
    there is none. Colours are sRGB, 0 to 1."""

    text: str
    color: Vec3


class LegendInfo(Info, frozen=True):
    """What colours mean: a bar through the colours of `ramp`, evenly spaced, from `low` to `high`, or named `entries`."""

    title: str
    low: str
    high: str
    ramp: list[Vec3]
    entries: list[tuple[str, Vec3]]


class SurfaceLinesInfo(Info, frozen=True):
    """Lines on the surface of `instances` at a level, the k-th of the text: from vertex to vertex (`surface{k}_start` and
    `surface{k}_end (L,)`), or `length` metres `along` the "normal" of their start; vertices are numbered
    through all meshes. `surface{k}_color` is `(L, 4)`, or `(1, 4)` where all have one."""

    level: int
    along: str
    length: float
    width: float
    hidden: float
    instances: list[int]


class PaintInfo(Info, frozen=True):
    """How the surface of a level is coloured, the k-th of the text: "vertices" by `paint{k} (V, 3)`, `(1, 3)` where all
    have one, or `(N, V, 3)` for the `instances` named; "checker" by texture coordinates; "normals" by where it faces.
    `strength` mixes it with the material's colour, `lit` lets light fall on it."""

    level: int
    mode: Literal["vertices", "checker", "normals"]
    strength: float
    lit: bool
    instances: list[int]


class DrawingText(Info, frozen=True):
    """What views draw over an actor. Lines of the world are the arrays `line_start` and `line_end (L, 3)`, `line_color
    (L, 4)`, `line_width (L, 2)` in pixels at a picture 720 high, `line_hidden (L,)`: how much of their opacity is left
    behind a surface; a line of no length is a round point. `ghosts` is the number of rows in `ghost_matrices (G, P, 3,
    4)`, `ghost_morphs (G, M)`, `ghost_placements (G, 3, 4)` and `ghost_colors (G, 4)`."""

    labels: list[LabelInfo]
    legends: list[LegendInfo]
    notes: list[str]
    surface: list[SurfaceLinesInfo]
    paints: list[PaintInfo]
    ghosts: int


class DrawingInfo(Info, frozen=True):
    """The text of a binary message with a drawing: what has changed. `text` None, and arrays that are not named, are as
    they were."""

    text: DrawingText | None
    arrays: dict[str, BufferInfo]
