"""Meshes: primitives gathered into sections, skins resolved, morph channels numbered.

Every node with a mesh gives one `Mesh` per run of primitives with the same attributes. Nodes that share a
glTF mesh share its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.io.gltf import limits, notes
from marrow.io.gltf.context import Context
from marrow.io.gltf.extensions import hidden_nodes
from marrow.io.gltf.naming import UniqueNames, target_names
from marrow.io.gltf.notes import MeshNotes, PrimitiveNotes, SceneNotes
from marrow.io.gltf.primitives import (
    Delta,
    PrimitiveVertices,
    finite,
    read_triangles,
    read_vertices,
    smooth_normals,
)
from marrow.io.gltf.quantization import Box
from marrow.io.gltf.scene import Tree
from marrow.io.gltf.schema import MeshDef, MeshExtras
from marrow.io.gltf.skins import Skins, Weighting, settle_weights
from marrow.io.gltf.variants import read_mappings
from marrow.model import Mesh, MorphTarget, Section
from marrow.model._asset import twin
from marrow.model._validate import owned

__all__ = ["MorphChannels", "given_names", "read_channels", "read_meshes"]

Array = NDArray[Any]
# The material of a section, its name, and its materials by variant.
_Drawn = tuple[int | None, str, tuple[int | None, ...]]
_extras_decoder = msgspec.json.Decoder(MeshExtras)


@dataclass(slots=True)
class MorphChannels:
    """The morph channels of the skeleton, and what drives the targets of each mesh node."""

    names: list[str] = field(default_factory=list)
    rest: list[float] = field(default_factory=list)
    of_node: dict[int, list[int]] = field(default_factory=dict)
    full_weights: dict[int, list[float]] = field(default_factory=dict)
    target_names: dict[int, list[str]] = field(default_factory=dict)


def read_channels(ctx: Context, tree: Tree) -> MorphChannels:
    """One channel for each target of each node with a mesh, unless the file's notes say which targets share
    one."""
    out, names = MorphChannels(), UniqueNames()
    document = ctx.document
    for n in tree.mesh_nodes:
        node = document.nodes[n]
        mesh = ctx.pick(document.meshes, node.mesh or 0, "meshes", f"nodes[{n}]")
        count = max((len(p.targets or ()) for p in mesh.primitives), default=0)
        if not count:
            continue
        out.target_names[n] = given_names(ctx, n, count)
        weights = list(node.weights or mesh.weights or ())[:count]
        limits.limit(len(out.names) + count, limits.MAX_MORPHS, "morph targets", ctx.source.path)
        out.of_node[n] = list(range(len(out.names), len(out.names) + count))
        out.names += [names.claim(name) for name in out.target_names[n]]
        out.rest += weights + [0.0] * (count - len(weights))
    if tree.scene_notes.morphs is not None:
        _apply_notes(ctx, tree, out, tree.scene_notes)
    return out


def given_names(ctx: Context, n: int, count: int) -> list[str]:
    """The names of the morph targets of a node's mesh."""
    node = ctx.document.nodes[n]
    mesh = ctx.document.meshes[node.mesh or 0]
    return target_names(_given_target_names(mesh), count, mesh.name or node.name or f"mesh_{node.mesh}")


def _given_target_names(mesh: MeshDef) -> list[str] | None:
    if b"targetNames" not in bytes(mesh.extras):
        return None
    try:
        return _extras_decoder.decode(mesh.extras).targetNames
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def _apply_notes(ctx: Context, tree: Tree, out: MorphChannels, noted: SceneNotes) -> None:
    morphs, rest = noted.morphs or [], noted.rest or []
    limits.limit(len(morphs), limits.MAX_MORPHS, "morph channels", ctx.source.path)
    channels: dict[int, list[int]] = {}
    for n, natural in out.of_node.items():
        said = tree.notes[n].channels
        if said is None or len(said) != len(natural) or not all(0 <= c < len(morphs) for c in said):
            ctx.report.add(
                "dropped", f"nodes[{n}]", "marrow's notes on its morph channels do not fit its targets"
            )
            return
        channels[n] = said
        full = tree.notes[n].full_weights
        if full is not None and len(full) == len(said) and all(full):
            out.full_weights[n] = full
    out.names, out.of_node = list(morphs), channels
    out.rest = rest if len(rest) == len(morphs) else [0.0] * len(morphs)


@dataclass(slots=True)
class _Part:
    """One run of primitives of a glTF mesh, ready to become a `Mesh` under any node."""

    name: str
    vertices: PrimitiveVertices
    triangles: Array
    sections: tuple[Section, ...]
    skinning: str
    weighting: Weighting | None
    box: Box | None = None


def read_meshes(
    ctx: Context, tree: Tree, channels: MorphChannels
) -> tuple[tuple[Mesh, ...], tuple[int, ...]]:
    """The meshes in depth-first order of their nodes, and these."""
    skins = Skins(ctx, tree)
    parts: dict[int, list[_Part]] = {}
    made: dict[tuple[int, int, int | None], Mesh] = {}
    shapes: dict[tuple[int, int], Mesh] = {}
    found: list[tuple[int, Mesh, int]] = []
    document = ctx.document
    hidden = hidden_nodes(ctx)
    total = 0
    for n in tree.mesh_nodes:
        node, noted = document.nodes[n], tree.notes[n]
        index = node.mesh or 0
        if index not in parts:
            parts[index] = _read_parts(ctx, index, node.name)
        limits.limit(len(found) + len(parts[index]), limits.MAX_MESHES, "meshes", ctx.source.path)
        joint = tree.joint_of.get(n, -1)
        hung = noted.node if noted.node is not None and -1 <= noted.node < len(tree.nodes) else joint
        followed = joint if joint >= 0 else max(hung, 0)
        for p, part in enumerate(parts[index]):
            V = len(part.vertices.positions)
            if not V:
                ctx.report.add("dropped", part.name, "the mesh has no vertices")
                continue
            total += V
            limits.limit(total, limits.MAX_VERTICES, "vertices over all its nodes", ctx.source.path)
            key = (index, p, node.skin)
            mesh = made.get(key)
            if mesh is None:
                bound = skins.bind(node.skin, part.weighting, V, followed, f"nodes[{n}]")
                if part.box is not None:
                    bound["inverse_bind"] = owned(part.box.unfolded(bound["inverse_bind"], ctx.scale))
                like = shapes.get((index, p))
                if (
                    like is not None
                    and part.weighting is not None
                    and bound["joints"] is part.weighting.joints
                ):
                    # Another skin for what was checked with the first.
                    mesh = twin(like, joint_list=bound["joint_list"], inverse_bind=bound["inverse_bind"])
                else:
                    mesh = _build(part, bound)
                    if part.weighting is not None and bound["joints"] is part.weighting.joints:
                        shapes[index, p] = mesh
                made[key] = mesh
            changes: dict[str, Any] = {"node": hung, "visible": noted.visible and n not in hidden}
            if part.vertices.deltas and n in channels.of_node:
                changes["morph_targets"] = _targets(part, n, channels)
            changes |= skins.follow(node.skin, part.weighting, followed)
            # Its arrays were checked once; to check them again for each of a thousand nodes would be all that loading does.
            found.append((len(found) if noted.order is None else noted.order, twin(mesh, **changes), n))
    if any(tree.notes[n].order is not None for n in tree.mesh_nodes):
        found.sort(key=lambda item: item[0])
    return tuple(mesh for _, mesh, _ in found), tuple(n for _, _, n in found)


def _build(part: _Part, bound: dict[str, Any]) -> Mesh:
    v = part.vertices
    return Mesh(
        part.name,
        v.positions,
        part.triangles,
        normals=v.normals,
        tangents=v.tangents,
        uvs=tuple(v.uvs),
        colors=v.colors,
        sections=part.sections,
        skinning=part.skinning,  # type: ignore[arg-type]
        dual_quaternion_weights=v.dual_quaternion_weights,
        attributes=v.attributes,
        **bound,
    )


def _targets(part: _Part, n: int, channels: MorphChannels) -> tuple[MorphTarget, ...]:
    names, of_node, full = channels.target_names[n], channels.of_node[n], channels.full_weights.get(n)
    still = owned(np.zeros((len(part.vertices.positions), 3), np.float32))
    return tuple(
        MorphTarget(
            names[i],
            of_node[i],
            d.positions
            if d.positions is not None
            else still[: None if d.vertices is None else len(d.vertices)],
            d.normals,
            d.tangents,
            d.vertices,
            1.0 if full is None else full[i],
            d.attributes,
        )
        for i, d in enumerate(part.vertices.deltas)
    )


def _read_parts(ctx: Context, index: int, node_name: str | None) -> list[_Part]:
    mesh = ctx.document.meshes[index]
    name = mesh.name or node_name or f"mesh_{index}"
    place = f"meshes[{index}]"
    noted = notes.read(mesh.extras, MeshNotes, ctx.report, place)
    shared = noted.shared and all(
        p.attributes == mesh.primitives[0].attributes and p.targets == mesh.primitives[0].targets
        for p in mesh.primitives
    )
    blocks: list[tuple[PrimitiveVertices, Array, _Drawn]] = []
    for i, primitive in enumerate(mesh.primitives):
        where = f"{place}.primitives[{i}]"
        if primitive.material is not None:
            ctx.pick(ctx.document.materials, primitive.material, "materials", where)
        if shared and blocks:
            vertices, faces = blocks[0][0], None
        else:
            vertices, faces = read_vertices(ctx, primitive, where)
            if noted.uvs is not None:
                del vertices.uvs[max(noted.uvs, 0) :]
            vertices.normals = vertices.normals if noted.normals else None
            vertices.tangents = vertices.tangents if noted.tangents else None
        triangles = read_triangles(ctx, primitive, faces, len(vertices.positions), where)
        if vertices.normals is None and noted.normals and len(triangles):
            ctx.report.add("repaired", where, "it has no normals; smooth ones were computed")
            ctx.budget.charge(len(vertices.positions) * 12 + len(triangles) * 120, where)
            vertices.normals = smooth_normals(vertices.positions, triangles)
        title = notes.read(primitive.extras, PrimitiveNotes, ctx.report, where).name
        variants = read_mappings(ctx, primitive, where)
        blocks.append((vertices, triangles, (primitive.material, title, variants)))
    if shared:
        runs = [blocks] if blocks else []
    else:
        runs = [list(run) for _, run in groupby(blocks, key=lambda block: block[0].layout)]
    parts = [
        _gather(ctx, run, name if len(runs) == 1 else f"{name}_{r}", noted, shared, place)
        for r, run in enumerate(runs)
    ]
    if noted.sections is not None and len(parts) == 1:
        parts[0].sections = _noted_sections(ctx, noted.sections, parts[0], place)
    return parts


def _noted_sections(
    ctx: Context, found: list[tuple[int, int, int | None, str, list[int | None]]], part: _Part, place: str
) -> tuple[Section, ...]:
    """Sections as they were before they became primitives."""
    try:
        sections = tuple(Section(a, b, material, name, tuple(v)) for a, b, material, name, v in found)
    except ValidationError:  # numbers out of all proportion
        sections = ()
    materials, variants, F = len(ctx.document.materials), len(ctx.variants), len(part.triangles)
    fits = all(
        0 <= s.first <= s.first + s.count <= F
        and s.count >= 0
        and len(s.variants) in (0, variants)
        and all(m is None or 0 <= m < materials for m in (s.material, *s.variants))
        for s in sections
    )
    if not fits or not sections:
        ctx.report.add("dropped", place, "marrow's notes on its sections do not fit its primitives")
        return part.sections
    return sections


def _gather(
    ctx: Context,
    run: list[tuple[PrimitiveVertices, Array, _Drawn]],
    name: str,
    noted: MeshNotes,
    shared: bool,
    place: str,
) -> _Part:
    """Lays the primitives of a run end to end, each with its own range of vertices."""
    blocks = [run[0][0]] if shared else [v for v, _, _ in run]
    vertices = _joined(ctx, blocks, place)
    vertices.positions = finite(ctx, vertices.positions, name, "positions")
    for kind in ("normals", "tangents", "colors"):
        if (values := getattr(vertices, kind)) is not None:
            setattr(vertices, kind, finite(ctx, values, name, kind))
    vertices.uvs = [finite(ctx, uv, name, "texture coordinates") for uv in vertices.uvs]
    starts = np.cumsum([0] + [0 if shared else len(v.positions) for v, _, _ in run]).tolist()
    pieces, sections, first = [], [], 0
    for start, (_, triangles, drawn) in zip(starts, run):
        pieces.append(triangles + np.uint32(start) if start else triangles)
        sections.append(Section(first, len(triangles), *drawn))
        first += len(triangles)
    ctx.budget.charge(first * 12, place)
    joined = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    triangles = owned(joined.astype(np.uint32)) if joined.dtype != np.uint32 or len(pieces) > 1 else joined
    box = _box(noted)
    if box is not None:
        vertices.positions = owned(box.metres(vertices.positions))
        for delta in vertices.deltas:
            if delta.positions is not None:
                delta.positions = owned(delta.positions * np.float32(box.size))
    if ctx.scale != 1:
        vertices.positions = owned(vertices.positions * np.float32(ctx.scale))
        for delta in vertices.deltas:
            if delta.positions is not None:
                delta.positions = owned(delta.positions * np.float32(ctx.scale))
    skinning = noted.skinning if noted.skinning in ("linear", "dual_quaternion", "blended") else "linear"
    if skinning == "blended" and vertices.dual_quaternion_weights is None:
        skinning = "linear"
    weighting = settle_weights(ctx, vertices, name, least=noted.influences or 1, settled=noted.settled)
    return _Part(name, vertices, triangles, tuple(sections), skinning, weighting, box)


def _box(noted: MeshNotes) -> Box | None:
    """The cube that positions of a file of marrow's are fractions of."""
    given = noted.box
    if given is None or len(given) != 4 or not np.isfinite(given).all() or given[0] <= 0:
        return None
    return Box(given[0], np.array(given[1:]))


def _joined(ctx: Context, blocks: list[PrimitiveVertices], place: str) -> PrimitiveVertices:
    if len(blocks) == 1:
        return blocks[0]

    def join(pick: Callable[[PrimitiveVertices], Array | None]) -> Array | None:
        arrays = [a for a in map(pick, blocks) if a is not None]
        if len(arrays) < len(blocks):
            return None
        ctx.budget.charge(sum(a.nbytes for a in arrays), place)
        return owned(np.concatenate(arrays))

    first = blocks[0]
    K = max((b.weights.shape[1] for b in blocks if b.weights is not None), default=0)
    positions = join(lambda b: b.positions)
    assert positions is not None
    out = PrimitiveVertices(
        positions,
        join(lambda b: b.normals),
        join(lambda b: b.tangents),
        [uv for i in range(len(first.uvs)) if (uv := join(lambda b: b.uvs[i])) is not None],  # noqa: B023
        join(lambda b: b.colors),
        dual_quaternion_weights=join(lambda b: b.dual_quaternion_weights),
    )
    for name in first.attributes:
        joined = join(lambda b: b.attributes.get(name))  # noqa: B023
        if joined is not None:
            out.attributes[name] = joined
    if K:
        out.joints = join(lambda b: _widened(b.joints, len(b.positions), K, np.uint16))
        out.weights = join(lambda b: _widened(b.weights, len(b.positions), K, np.float32))
    count = max(len(b.deltas) for b in blocks)
    if any(len(b.deltas) != count for b in blocks):
        ctx.report.add("repaired", place, "its primitives have different numbers of morph targets")
    for t in range(count):
        out.deltas.append(_joined_delta(ctx, blocks, t, place))
    return out


def _widened(values: Array | None, V: int, K: int, dtype: Any) -> Array:
    """Influences with K columns: what a primitive does not have is joint 0 with no weight."""
    if values is not None and values.shape[1] == K:
        return values
    out = np.zeros((V, K), dtype)
    if values is not None:
        out[:, : values.shape[1]] = values
    return out


def _of_all_vertices(d: Delta, V: int) -> Delta:
    """A delta that names some vertices as one of all."""
    if d.vertices is None:
        return d

    def spread(values: Array | None) -> Array | None:
        if values is None:
            return None
        whole = np.zeros((V, *values.shape[1:]), np.float32)
        whole[d.vertices] = values
        return owned(whole)

    named = {name: spread(values) for name, values in d.attributes.items()}
    return Delta(spread(d.positions), spread(d.normals), spread(d.tangents), None, named)  # type: ignore[arg-type]


def _joined_attributes(
    ctx: Context, blocks: list[PrimitiveVertices], deltas: list[Delta], place: str
) -> dict[str, Array]:
    """What a target changes beside places and directions, for all vertices; zero where a primitive does not say it."""
    out = {}
    for name in dict.fromkeys(name for d in deltas for name in d.attributes):
        widths = {d.attributes[name].shape[1:] for d in deltas if name in d.attributes}
        if len(widths) > 1:
            ctx.report.add("dropped", name, f"{place}: its primitives have it in different sizes")
            continue
        (width,) = widths
        parts = [
            d.attributes.get(name, np.zeros((len(b.positions), *width), np.float32))
            for b, d in zip(blocks, deltas)
        ]
        ctx.budget.charge(sum(p.nbytes for p in parts), place)
        out[name] = owned(np.concatenate(parts))
    return out


def _joined_delta(ctx: Context, blocks: list[PrimitiveVertices], t: int, place: str) -> Delta:
    deltas = [b.deltas[t] if t < len(b.deltas) else Delta() for b in blocks]
    out = Delta()
    if any(d.attributes for d in deltas):
        deltas = [_of_all_vertices(d, len(b.positions)) for b, d in zip(blocks, deltas)]
        out.attributes = _joined_attributes(ctx, blocks, deltas, place)
    starts = np.cumsum([0, *(len(b.positions) for b in blocks)])
    if all(d.vertices is not None for d in deltas) and len({d.kinds for d in deltas}) == 1:
        ctx.budget.charge(sum(40 * len(d.vertices) for d in deltas if d.vertices is not None), place)
        out.vertices = np.concatenate([d.vertices + start for d, start in zip(deltas, starts)])
        for name in deltas[0].kinds:
            setattr(out, name, np.concatenate([getattr(d, name) for d in deltas]))
        return out
    for name in ("positions", "normals", "tangents"):
        if all(getattr(d, name) is None for d in deltas):
            continue
        V = int(starts[-1])
        ctx.budget.charge(V * 12, place)
        if all(d.vertices is None and getattr(d, name) is not None for d in deltas):
            setattr(out, name, owned(np.concatenate([getattr(d, name) for d in deltas])))
            continue
        whole, start = np.zeros((V, 3), np.float32), 0
        for block, d in zip(blocks, deltas):
            rows = whole[start : start + len(block.positions)]
            values = getattr(d, name)
            if values is not None:
                rows[slice(None) if d.vertices is None else d.vertices] = values
            start += len(block.positions)
        setattr(out, name, owned(whole))
    return out
