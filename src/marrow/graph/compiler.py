"""`compile_graph`: checks a graph against a character and flattens it into tables.

Every mistake is an error that names the node by its path, such as `root.states.walk.source`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import REST, ClipBank
from marrow.errors import ValidationError
from marrow.graph import nodes
from marrow.graph.compile_machine import compile_machine, compile_switch
from marrow.graph.compile_procedural import compile_look_at, compile_two_bone
from marrow.graph.compiled import CompiledGraph, MachineEntry, SlotEntry
from marrow.graph.description import Graph
from marrow.graph.program import Procedurals
from marrow.graph.sync import knots
from marrow.graph.tables import Builder, Part, Scope, unknown
from marrow.graph.travel import in_place, root_tracks
from marrow.graph.triangulation import triangulate
from marrow.kernels import control_tables as ct
from marrow.kernels.memory import readonly
from marrow.kernels.operations import codes as kernel
from marrow.model.character import Character

__all__ = ["Compiler", "check_alone", "compile_graph", "normalized"]

Array = NDArray[Any]
DEEPEST = 100


def normalized(graph: Graph) -> Graph:
    """The graph with every field of its declared type, NumPy numbers turned into Python's."""
    if not isinstance(graph, Graph):
        raise ValidationError(f"expected a Graph, got {type(graph).__name__}")
    try:
        plain = msgspec.to_builtins(graph, enc_hook=lambda value: value.tolist())
        return msgspec.convert(plain, Graph, strict=True)
    except RecursionError:
        raise ValidationError("root: the graph contains itself, or is nested too deep") from None
    except (msgspec.ValidationError, AttributeError, TypeError) as error:
        message, _, place = str(error).partition(" - at `$")
        raise ValidationError(f"{place.strip('`.') or 'root'}: {message}") from None


def compile_graph(graph: Graph, character: Character) -> CompiledGraph:
    """Validates `graph` for `character` and lays it out for running."""
    if not isinstance(character, Character):
        raise ValidationError(f"compile_graph: expected a Character, got {type(character).__name__}")
    return Compiler(normalized(graph), character).compile()


def check_alone(graph: Graph) -> None:
    """What can be checked without a character: a stand-in with every joint, clip and morph that the graph names."""
    from marrow.graph.standin import stand_in

    graph = normalized(graph)
    compile_graph(graph, stand_in(graph))


@dataclass
class Compiler:
    """Walks the tree once, parents before children."""

    graph: Graph
    character: Character
    nodes: list[dict[str, int]] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    leaves: list[dict[str, Any]] = field(default_factory=list)
    groups: dict[str, list[int]] = field(default_factory=dict)
    machines: dict[str, MachineEntry] = field(default_factory=dict)
    slots: dict[str, SlotEntry] = field(default_factory=dict)
    ints: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    regions: int = 0
    memory: int = 0
    vectors: int = 0

    def __post_init__(self) -> None:
        self.skeleton = self.character.skeleton
        self.builder = Builder(self.skeleton, self.graph.parameters)
        self.bank = ClipBank.of(self.character)
        self.inertia_size = self.bank.layout.inertia_size
        self.root_joint, self.root_mode = 0, "none"

    # -- the tree -------------------------------------------------------------------------------------------------
    def compile(self) -> CompiledGraph:
        root, path = self.graph.root, "root"
        if isinstance(root, nodes.RootMotion):
            if root.joint is not None and root.joint not in self.skeleton:
                raise unknown("joint", root.joint, self.skeleton.names, path)
            self.root_joint = (
                self.skeleton.index(root.joint) if root.joint is not None else self.skeleton.roots[0]
            )
            self.root_mode = root.mode
            root, path = root.source, "root.source"
        if self.root_mode in ("extract", "drop"):
            self.bank = in_place(self.character, self.root_joint)
        part = self.visit(root, path, Scope(self.region()))
        self._sync_groups()
        return self._finish(part)

    def region(self) -> int:
        self.regions += 1
        return self.regions - 1

    def visit(self, node: Any, path: str, scope: Scope) -> Part:
        """Compiles a node and what is below it."""
        if path.count(".") > DEEPEST:
            raise ValidationError(f"{path}: nested too deep")
        if isinstance(node, str):
            node = nodes.ClipNode(node)
        row = dict.fromkeys(ct.NODE.names or (), 0)
        row["region"], row["post_begin"] = scope.region, len(self.order)
        number = len(self.nodes)
        self.nodes.append(row)
        part: Part = _COMPILE[type(node)](self, node, path, scope, number)
        row["end"], row["post"] = len(self.nodes), len(self.order)
        self.order.append(number)
        return part

    def children(self, number: int, inputs: list[tuple[Any, str, Scope]]) -> list[Part]:
        """Compiles the inputs of a node and links them to it."""
        parts = [self.visit(*i) for i in inputs]
        self.nodes[number].update(child=self.builder.link([p.node for p in parts]), count=len(parts))
        return parts

    def summed(self, number: int, parts: list[Part]) -> Part:
        """The part of a node whose pose is the sum of its inputs' poses."""
        several = len(parts) > 1
        depth = max(p.depth + (several and p.apart) for p in parts)
        return Part(number, depth, sum(p.length for p in parts), any(p.apart for p in parts))

    # -- leaves ---------------------------------------------------------------------------------------------------
    def clip_entry(self, name: str, path: str, additive: bool) -> int:
        """The bank's entry of a clip, which must be additive or not as its place demands."""
        if name not in self.bank.index:
            raise unknown("clip", name, self.bank.index, path)
        clip = self.character.clips[name]
        if clip.additive and not additive:
            raise ValidationError(f"{path}: {name!r} is additive; it belongs in the addition of an Additive")
        if additive and not clip.additive:
            raise ValidationError(
                f"{path}: {name!r} is not additive; make it so with mw.additive(clip, reference)"
            )
        return self.bank.index[name]

    def leaf(self, number: int, kind: int, **fields: Any) -> Part:
        row = {
            "loop": 1,
            "rate": 0,
            "group": -1,
            "knots": 0,
            "time": 0,
            "fresh": 0,
            "node": number,
            "start": 0.0,
            **fields,
        }
        self.leaves.append(row)
        self.nodes[number].update(kind=kind, data=len(self.leaves) - 1)
        return Part(number, 1, 1)

    # -- the end --------------------------------------------------------------------------------------------------
    def _sync_groups(self) -> None:
        b = self.builder
        for members in self.groups.values():
            clips = [self.bank.sampled[self.leaves[m]["clip"] - 1].source for m in members]
            found = knots(clips)
            for member, times in zip(members, found):
                self.leaves[member].update(group=len(b.rows["groups"]), knots=b.number(times))
            b.add("groups", b.link(members), len(members), len(found[0]) - 1, b.column(0.0), b.column(0.0))

    def _finish(self, part: Part) -> CompiledGraph:
        b, bank = self.builder, self.bank
        names = tuple(sorted({e.name for s in bank.sampled for e in s.events}))
        clips = np.zeros(len(bank), ct.CLIP_ROW)
        clips["duration"], clips["rate"], clips["frames"], clips["root"] = (
            bank.duration,
            bank.rate,
            bank.frames,
            -1,
        )
        events: list[tuple[float, int]] = []
        for k, sampled in enumerate(bank.sampled, 1):
            clips[k]["first_event"], clips[k]["events"] = len(events), len(sampled.events)
            events += [(e.time, names.index(e.name)) for e in sampled.events]
        roots = np.zeros((0, 7))
        if self.root_mode in ("extract", "keep"):
            roots, clips["root"] = root_tracks(ClipBank.of(self.character), self.root_joint)
        tables = ct.Tables(
            nodes=_records(self.nodes, ct.NODE),
            links=readonly(np.array(b.links, np.int64)),
            numbers=readonly(np.array(b.numbers, np.float64)),
            order=readonly(np.array(self.order, np.int64)),
            leaves=_records(self.leaves, ct.LEAF),
            groups=b.array("groups", ct.GROUP),
            machines=b.array("machines", ct.MACHINE_ROW),
            states=b.array("states", ct.STATE),
            transitions=b.array("transitions", ct.TRANSITION),
            conditions=b.array("conditions", ct.CONDITION),
            layers=b.array("layers", ct.LAYER_ROW),
            slots=b.array("slots", ct.SLOT_ROW),
            spaces=b.array("spaces", ct.SPACE),
            procedurals=b.array("procedurals", ct.PROCEDURAL),
            clips=readonly(clips),
            events=readonly(np.array(events, ct.EVENT)),
            roots=readonly(roots),
            parameters=b.array("parameters", ct.PARAMETER),
        )
        J, M = len(self.skeleton), len(self.skeleton.morph_names)
        return CompiledGraph(
            self.graph,
            self.character,
            bank,
            tables,
            readonly(np.array(b.initial, np.float64)),
            np.array(b.masks, np.float32).reshape(-1, J + M),
            Procedurals(readonly(np.array(self.ints, np.int32)), readonly(np.array(self.floats, np.float32))),
            b.parameters,
            self.machines,
            self.slots,
            names,
            self.regions,
            max(part.depth, 1) + 1,
            part.length + 4,
            self.memory,
            self.vectors,
        )


def _records(rows: list[dict[str, Any]], dtype: np.dtype[Any]) -> Array:
    return readonly(np.array([tuple(r[n] for n in dtype.names or ()) for r in rows], dtype))


def _positive(value: float, path: str) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise ValidationError(f"{path}: expected zero or more, got {value}")
    return value


# -- one function per node --------------------------------------------------------------------------------------------


def _clip(c: Compiler, node: nodes.ClipNode, path: str, scope: Scope, number: int) -> Part:
    entry = c.clip_entry(node.clip, path, scope.additive)
    duration = float(c.bank.duration[entry])
    if not 0 <= node.start <= duration:
        raise ValidationError(f"{path}.start: {node.clip!r} has {duration:g} seconds, got {node.start}")
    part = c.leaf(
        number,
        ct.CLIP,
        clip=entry,
        loop=int(node.loop),
        rate=c.builder.value(node.rate, f"{path}.rate"),
        time=c.builder.column(node.start),
        fresh=c.builder.column(1.0),
        start=node.start,
    )
    group = node.sync if isinstance(node.sync, str) else scope.sync if node.sync else None
    if isinstance(node.sync, str) and not node.loop:
        raise ValidationError(f"{path}.sync: a clip that plays once cannot keep in step with others")
    if group is not None and node.loop and duration > 0:
        c.groups.setdefault(group, []).append(len(c.leaves) - 1)
    return part


def _pose(c: Compiler, node: nodes.PoseNode, path: str, scope: Scope, number: int) -> Part:
    if node.clip is None:
        if scope.additive:
            raise ValidationError(f"{path}: the rest pose is not a difference; name an additive clip")
        return c.leaf(number, ct.POSE, clip=REST)
    entry = c.clip_entry(node.clip, path, scope.additive)
    if not 0 <= node.time <= float(c.bank.duration[entry]):
        raise ValidationError(
            f"{path}.time: {node.clip!r} has {c.bank.duration[entry]:g} seconds, got {node.time}"
        )
    return c.leaf(number, ct.POSE, clip=entry, start=node.time)


def _synced(scope: Scope, sync: bool | str, path: str) -> Scope:
    """The scope of a blend's inputs: a group of its own, one with a name, or what is around it."""
    group = sync if isinstance(sync, str) else path if sync else scope.sync
    return Scope(scope.region, group, scope.additive)


def _blend(c: Compiler, node: nodes.Blend, path: str, scope: Scope, number: int) -> Part:
    count = len(node.inputs)
    if not count:
        raise ValidationError(f"{path}.inputs: a blend needs at least one")
    pair = count == 2 and len(node.weights) == 1
    if len(node.weights) != count and not pair:
        raise ValidationError(
            f"{path}.weights: expected one for each of the {count} inputs, got {len(node.weights)}"
        )
    refs = [c.builder.value(w, f"{path}.weights[{k}]") for k, w in enumerate(node.weights)]
    for k, w in enumerate(node.weights):
        if not isinstance(w, str):
            _positive(w, f"{path}.weights[{k}]")
    inside = _synced(scope, node.sync, path)
    parts = c.children(number, [(n, f"{path}.inputs[{k}]", inside) for k, n in enumerate(node.inputs)])
    c.nodes[number].update(
        kind=ct.LERP if pair else ct.BLEND, ref=refs[0], data=0 if pair else c.builder.link(refs)
    )
    return c.summed(number, parts)


def _blend_space_1d(c: Compiler, node: nodes.BlendSpace1D, path: str, scope: Scope, number: int) -> Part:
    points = _points(node.points, path)
    inside = _synced(scope if node.sync else Scope(scope.region, None, scope.additive), node.sync, path)
    order = np.argsort([p.at for p in points], kind="stable")
    parts = c.children(number, [(points[k].source, f"{path}.points[{k}].source", inside) for k in order])
    first = c.builder.number([points[k].at for k in order])
    space = c.builder.add("spaces", first, len(points), 0, 0, 0, 0, 0)
    c.nodes[number].update(kind=ct.SPACE1, data=space, ref=c.builder.value(node.x, f"{path}.x"))
    return c.summed(number, parts)


def _points(points: Any, path: str) -> Any:
    if not points:
        raise ValidationError(f"{path}.points: a blend space needs at least one")
    places = np.array([np.atleast_1d(p.at) for p in points], np.float64)
    if not np.isfinite(places).all():
        raise ValidationError(f"{path}.points: places must be finite")
    near = 1e-9 * max(1.0, float(np.ptp(places, axis=0).max()))
    for k in range(len(points)):
        same = np.flatnonzero((np.abs(places[:k] - places[k]) <= near).all(axis=1))
        if len(same):
            raise ValidationError(
                f"{path}.points[{k}] is at the same place as points[{same[0]}]: {points[k].at}"
            )
    return points


def _blend_space_2d(c: Compiler, node: nodes.BlendSpace2D, path: str, scope: Scope, number: int) -> Part:
    points = _points(node.points, path)
    inside = _synced(scope if node.sync else Scope(scope.region, None, scope.additive), node.sync, path)
    # In the order of their places, so that the order they are written in says nothing.
    order = sorted(range(len(points)), key=lambda k: points[k].at)
    parts = c.children(number, [(points[k].source, f"{path}.points[{k}].source", inside) for k in order])
    places = np.array([points[k].at for k in order], np.float64)
    joined = triangulate(places)
    b = c.builder
    inverse = []
    for t in joined.triangles:
        p, q, r = places[t]
        edges = np.linalg.inv(np.column_stack([q - p, r - p]))
        inverse += [*p, *edges.ravel()]
    space = b.add(
        "spaces", b.number(places.ravel().tolist()), len(points), b.link(joined.triangles.ravel().tolist()),
        len(joined.triangles), b.link(joined.edges.ravel().tolist()), len(joined.edges), b.number(inverse),
    )  # fmt: skip
    c.nodes[number].update(
        kind=ct.SPACE2, data=space, ref=b.value(node.x, f"{path}.x"), ref2=b.value(node.y, f"{path}.y")
    )
    return c.summed(number, parts)


def _speed(c: Compiler, node: nodes.Speed, path: str, scope: Scope, number: int) -> Part:
    parts = c.children(number, [(node.source, f"{path}.source", scope)])
    c.nodes[number].update(kind=ct.SPEED, ref=c.builder.value(node.rate, f"{path}.rate"))
    return c.summed(number, parts)


def _morph_mask(c: Compiler, morphs: tuple[str, ...], path: str) -> Array:
    out = np.zeros(len(c.skeleton.morph_names), np.float32)
    for name in morphs:
        if name not in c.skeleton.morph_names:
            raise unknown("morph", name, c.skeleton.morph_names, path)
        out[c.skeleton.morph_index(name)] = 1
    return out


def _layer_mask(
    c: Compiler, joints: Array, morphs: Array, channels: Any, space: str, path: str
) -> tuple[int, int, float]:
    """The operation of a layer, its mask, and how much of the root's travel it covers."""
    if not channels:
        raise ValidationError(f"{path}.channels: expected some of translation, rotation, scale")
    root = float(joints[c.root_joint]) if {"translation", "rotation"} <= set(channels) else 0.0
    if len(set(channels)) == 3 and space == "local":
        return kernel.LAYER, c.builder.mask((joints, morphs)), root
    rows = [(joints * (name in channels), morphs) for name in ("translation", "rotation", "scale")]
    return kernel.LAYER_MODEL if space == "model" else kernel.LAYER_CHANNELS, c.builder.mask(*rows), root


def _layer(c: Compiler, node: nodes.LayerBlend, path: str, scope: Scope, number: int) -> Part:
    if not node.joints and not node.mask:
        raise ValidationError(f"{path}: a layer needs joints or a mask that say where it lies")
    if scope.additive:
        raise ValidationError(f"{path}: differences cannot be layered; use joints or mask of the Additive")
    joints = c.builder.joint_mask(node.joints, node.mask, node.depth_falloff, path)
    code, mask, root = _layer_mask(
        c, joints, _morph_mask(c, node.morphs, path), node.channels, node.space, path
    )
    base, over = c.children(
        number,
        [
            (node.base, f"{path}.base", Scope(c.region(), scope.sync)),
            (node.overlay, f"{path}.overlay", Scope(c.region())),
        ],
    )
    layer = c.builder.add("layers", code, mask, root)
    c.nodes[number].update(kind=ct.LAYER, data=layer, ref=c.builder.value(node.weight, f"{path}.weight"))
    return Part(number, max(base.depth, 1 + over.depth), base.length + over.length + 2, True)


def _additive(c: Compiler, node: nodes.Additive, path: str, scope: Scope, number: int) -> Part:
    if scope.additive:
        raise ValidationError(f"{path}: differences cannot be added to differences")
    J, M = len(c.skeleton), len(c.skeleton.morph_names)
    limited = bool(node.joints or node.mask)
    joints = (
        c.builder.joint_mask(node.joints, node.mask, node.depth_falloff, path)
        if limited
        else np.ones(J, np.float32)
    )
    mask = c.builder.mask((joints, np.ones(M, np.float32)))
    base, over = c.children(
        number,
        [
            (node.base, f"{path}.base", Scope(c.region(), scope.sync)),
            (node.addition, f"{path}.addition", Scope(c.region(), None, True)),
        ],
    )
    layer = c.builder.add("layers", kernel.ADD, mask, 0.0)
    c.nodes[number].update(kind=ct.ADDITIVE, data=layer, ref=c.builder.value(node.weight, f"{path}.weight"))
    return Part(number, max(base.depth, 1 + over.depth), base.length + over.length + 2, True)


def _slot(c: Compiler, node: nodes.Slot, path: str, scope: Scope, number: int) -> Part:
    if not node.name or node.name in c.slots:
        raise ValidationError(f"{path}.name: expected a name no other slot has, got {node.name!r}")
    if scope.additive:
        raise ValidationError(f"{path}: a slot plays over a pose, not over differences")
    J, M = len(c.skeleton), len(c.skeleton.morph_names)
    if node.joints or node.mask:
        joints = c.builder.joint_mask(node.joints, node.mask, node.depth_falloff, path)
        morphs = _morph_mask(c, node.morphs, path)
    else:
        joints, morphs = np.ones(J, np.float32), np.ones(M, np.float32)
    code, mask, root = _layer_mask(c, joints, morphs, node.channels, "local", path)
    if node.additive:
        code, mask, root = kernel.ADD, c.builder.mask((joints, np.ones(M, np.float32))), 0.0
    at = c.builder.column(*[0.0] * ct.SLOT_COLUMNS)
    c.slots[node.name] = SlotEntry(at, node.additive)
    (base,) = c.children(number, [(node.source, f"{path}.source", Scope(c.region(), scope.sync))])
    c.nodes[number].update(kind=ct.SLOT, data=c.builder.add("slots", number, at, code, mask, root))
    return Part(number, max(base.depth, 2), base.length + ct.VOICES + 2, True)


def _root_motion(c: Compiler, node: nodes.RootMotion, path: str, scope: Scope, number: int) -> Part:
    raise ValidationError(f"{path}: RootMotion belongs at the root of the graph")


_COMPILE: dict[type, Any] = {
    nodes.ClipNode: _clip,
    nodes.PoseNode: _pose,
    nodes.Blend: _blend,
    nodes.BlendSpace1D: _blend_space_1d,
    nodes.BlendSpace2D: _blend_space_2d,
    nodes.Speed: _speed,
    nodes.LayerBlend: _layer,
    nodes.Additive: _additive,
    nodes.Slot: _slot,
    nodes.StateMachine: compile_machine,
    nodes.Switch: compile_switch,
    nodes.TwoBoneIK: compile_two_bone,
    nodes.LookAt: compile_look_at,
    nodes.RootMotion: _root_motion,
}
