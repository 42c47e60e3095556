"""`compile_graph`: checks a graph against a character and flattens it into tables.

Each node lays itself out (`Node.compile`); what they share is here. Every mistake is an error that names the node by its
path, such as `root.states.walk.source`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.compiled import (
    CompiledGraph,
    FunctionEntry,
    MachineEntry,
    MatchEntry,
    MontageEntry,
    ReachEntry,
    SlotEntry,
)
from marrow.graph.contacts import LANDING
from marrow.graph.description import Graph, normalized
from marrow.graph.montages import add_montages
from marrow.graph.nodes import ClipNode, Constrain, Node, RootMotion, Slot, Springs
from marrow.graph.nodes.base import DEEPEST
from marrow.graph.nodes.springs import swings
from marrow.graph.pose_program import Procedurals
from marrow.graph.root_tracks import (
    carried_by_hips,
    in_place,
    root_tracks,
    say_that_nothing_travels,
    travelling_joint,
)
from marrow.graph.root_transforms import WorldVector
from marrow.graph.shared_nodes import SharedNodes
from marrow.graph.spring_plan import SpringPlan
from marrow.graph.spring_sets import has_springs
from marrow.graph.sync_groups import knots
from marrow.graph.tables import Builder, Part, Place, Scope, named_joint, unknown
from marrow.graph.warp_windows import Warp, ways, windows
from marrow.graph.watched_states import watched_states
from marrow.kernels import control_tables as ct
from marrow.kernels.language.constants import Constants
from marrow.kernels.memory import readonly
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.limbs import HEADER
from marrow.kernels.pose_layout import padded
from marrow.model.character import Character
from marrow.model.clip import Clip

__all__ = ["Compiler", "check_standalone", "compile_graph"]

Array = NDArray[Any]
CONSTRAINTS = "character"
"""The path of the node that solves the constraints of the character."""
STEADY = 1.0
"""Seconds over which the travel of hips that are the root is evened out: about two steps."""
SPRINGS_PATH = "springs"
"""The path of springs that come with the character."""


def compile_graph(
    graph: Graph, character: Character, *, springs: bool = True, constraints: bool = True
) -> CompiledGraph:
    """Validates `graph` for `character` and lays it out for running. The constraints of the character come after it, unless
    they are switched off; then, with `springs`, those of the character's file swing in any graph that has no `Springs` of
    its own."""
    if not isinstance(character, Character):
        raise WrongTypeError(f"compile_graph: expected a Character, got {type(character).__name__}")
    return Compiler(normalized(graph), character, adds_springs=springs, constrained=constraints).compile()


def check_standalone(graph: Graph) -> None:
    """What can be checked without a character: a placeholder has every joint, clip and morph that the graph names."""
    from marrow.graph.placeholder import placeholder

    graph = normalized(graph)
    Compiler(graph, placeholder(graph), standalone=True).compile()


@dataclass
class Compiler:
    """Walks the tree once, parents before children."""

    graph: Graph
    character: Character
    standalone: bool = False
    """Whether the graph is only checked: the character is a placeholder."""
    adds_springs: bool = False
    """Whether springs of the character's file swing, where the graph says nothing of springs."""
    constrained: bool = False
    """Whether the constraints of the character are solved after the graph."""
    nodes: list[dict[str, int]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    leaves: list[dict[str, Any]] = field(default_factory=list)
    groups: dict[str, list[int]] = field(default_factory=dict)
    machines: dict[str, MachineEntry] = field(default_factory=dict)
    slots: dict[str, SlotEntry] = field(default_factory=dict)
    functions: list[FunctionEntry] = field(default_factory=list)
    matches: list[MatchEntry] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    named_joints: int = 0
    """One more than the highest joint that `ints` name."""
    floats: list[float] = field(default_factory=list)
    regions: int = 0
    memory: int = 0
    vectors: int = 0
    deepest: int = 1
    section: int = 0

    def __post_init__(self) -> None:
        self.skeleton = self.character.skeleton
        self.builder = Builder(self.skeleton, self.graph.parameters)
        self.bank = ClipBank.of(self.character)
        self.event_names = sorted({e.name for s in self.bank.sampled for e in s.events})
        self.root_joint, self.root_mode = 0, "none"
        self.root_axes: tuple[str, ...] = ()
        self.root_smooth = 0.0
        self.slot_machines: dict[str, int] = {}
        """Of slots that play by inertia, the machines that keep it."""
        self.slots_travel = False
        """Whether only what plays in slots travels."""
        self.names: dict[str, str] = {}
        self.keeps, self.mirrored = False, False
        self.header_column = -1
        self.world_vectors: list[WorldVector] = []
        self.warps: list[Warp] = []
        """What each row of that table says of clips."""
        self.reaches: list[ReachEntry] = []
        self.springs: dict[str, SpringPlan] = {}
        """What swings, by the paths of nodes."""
        self._pairs: dict[str, str] | None = None
        self._made_curves: dict[str, dict[int, tuple[list[float], list[float]]]] = {}
        self.curve_columns: dict[str, int] = {}
        self.played: list[str] = []
        self.saved: dict[str, int] = {}
        self.montages: dict[str, MontageEntry] = {}
        self.sections: list[tuple[float, float]] = []
        self.following: list[int] = []
        self.shared = SharedNodes(self.graph.root)
        self._places: dict[int, str] = {}
        self._expanding: list[Node] = []
        self._inside: list[int] = []

    # -- the tree -------------------------------------------------------------------------------------------------
    def compile(self) -> CompiledGraph:
        root, path = self.graph.root, "root"
        if isinstance(root, RootMotion) and root.joint is None and not self.skeleton.roots:
            root, path = root.source, "root.source"
        if isinstance(root, RootMotion):
            self.root_joint = (
                self.joint(root.joint, path) if root.joint is not None else travelling_joint(self.character)
            )
            self.root_mode, self.root_axes = root.mode, root.axes
            self.slots_travel = root.travel == "slots"
            root.check(path)
            hips = root.joint is None and carried_by_hips(self.skeleton, self.root_joint)
            self.root_smooth = root.smooth if root.smooth is not None else STEADY if hips else 0.0
            root, path = root.source, "root.source"
        if self.root_mode in ("extract", "drop"):
            self.bank = in_place(self.character, self.root_joint, self.root_axes, self.root_smooth)
        if self.constrained and self.character.constraints:
            root = ClipNode(root) if isinstance(root, str) else root
            self._places[id(root)] = path
            root, path = Constrain(root, self.character.constraints), CONSTRAINTS  # type: ignore[arg-type]
        if self.adds_springs and has_springs(self.character) and not swings(root):
            # Whatever the graph shows, and with the paths it has there.
            root = ClipNode(root) if isinstance(root, str) else root
            self._places[id(root)], path = path, SPRINGS_PATH
            root = Springs(root)
        part = self.visit(root, path, Scope(self.region()))
        self.shared.compile(self)
        add_montages(self, self.graph.montages, "", "montages")
        self._sync_groups()
        return self._finish(part)

    def region(self) -> int:
        """A new sum of poses."""
        self.regions += 1
        return self.regions - 1

    def keep(self, floats: int) -> int:
        """Room for what an instance keeps from one update to the next; returns where it begins."""
        self.memory += floats
        return self.memory - floats

    def keep_state(self, floats: int) -> int:
        """The same for what an operation keeps: programs must then run in every update."""
        self.keeps = True
        return self.keep(padded(floats))

    def header(self) -> int:
        """The column of the vectors where programs find which update it is and how model space has moved."""
        if self.header_column < 0:
            self.header_column = self.vectors
            self.vectors += HEADER
        return self.header_column

    def use_mirror(self, pairs: dict[str, str], path: str) -> None:
        """A graph has one mirror: what clips are in it is worked out once."""
        if self._pairs is not None and self._pairs != pairs:
            raise ValidationError(f"{path}.pairs: the mirrors of a graph have the same pairs")
        self._pairs = pairs

    def curve_column(self, name: str) -> int:
        """The column of the values where a curve is."""
        if name not in self.curve_columns:
            declared = self.builder.parameters.get(name)
            if declared is not None and declared.type == "curve":
                self.curve_columns[name] = declared.column
            else:
                self.curve_columns[name] = len(self.builder.values)
                self.builder.values.append(0.0)
        return self.curve_columns[name]

    def made_curve(self, name: str, keys: dict[int, tuple[list[float], list[float]]]) -> int:
        """A curve of clips (by their entries: times and values) that the graph makes for itself; returns its column."""
        if name not in self.curve_columns:
            self.curve_columns[name] = len(self.builder.values)
            self.builder.values.append(0.0)
            self._made_curves[name] = keys
        return self.curve_columns[name]

    def visit(self, node: Any, path: str, scope: Scope) -> Part:
        """Compiles a node and what is below it."""
        path = self._places.pop(id(node), path)
        if len(self._inside) > DEEPEST:
            raise ValidationError(f"{path}: more than {DEEPEST} nodes are nested in one another")
        if isinstance(node, str):
            node = ClipNode(node)
        row = dict.fromkeys(ct.NODE.names or (), 0)
        row.update(region=scope.region, store=-1, program=-1, function=-1)
        number = len(self.nodes)
        self.nodes.append(row)
        self.paths.append(path)
        if self.shared.is_use(node):
            row["end"] = number + 1
            return self.shared.use(self, node, Place(path, number, scope))
        if node.name and not isinstance(node, Slot):
            if node.name in self.names:
                raise ValidationError(
                    f"{path}.name: {self.names[node.name]} is called {node.name!r} already; names are unique"
                )
            self.names[node.name] = path
        self._inside.append(number)
        part = node.compile(self, Place(path, number, scope))
        self._inside.pop()
        row["end"] = len(self.nodes)
        return part

    def expanded(self, node: Node, at: Place) -> Part:
        """Compiles what a node says in other nodes, in its place."""
        if len(self._expanding) > DEEPEST or node in self._expanding:
            raise ValidationError(f"{at.path}: {type(node).__name__}.expand() leads back to itself")
        other = node.expand()
        if isinstance(other, str):
            other = ClipNode(other)
        if not isinstance(other, Node):
            raise WrongTypeError(
                f"{at.path}: {type(node).__name__}.expand() must return a node or the name of a clip, "
                f"got {type(other).__name__}"
            )
        # What was handed to the node keeps the path it has there.
        for below in node.children():
            if isinstance(below.node, Node):
                self._places.setdefault(id(below.node), at.path + below.place)
        self._expanding.append(node)
        try:
            return other.compile(self, at)
        finally:
            self._expanding.pop()

    def children(self, at: Place, inputs: list[tuple[Any, str, Scope]]) -> list[Part]:
        """Compiles the inputs of a node, each with its place (`.source`) and scope, and links them to it."""
        parts = [self.visit(node, at.path + place, scope) for node, place, scope in inputs]
        self.row(at, child=self.builder.link([p.node for p in parts]), count=len(parts))
        return parts

    def row(self, at: Place, **fields: int) -> None:
        """Fills in the record of a node."""
        self.nodes[at.number].update(fields)

    def summed(self, at: Place, parts: list[Part]) -> Part:
        """The part of a node whose pose is the sum of its inputs' poses."""
        several = len(parts) > 1
        depth = max(p.depth + (several and p.apart) for p in parts)
        return Part(at.number, depth, sum(p.length for p in parts), any(p.apart for p in parts))

    def passed(self, at: Place, part: Part) -> Part:
        """The part of a node that shows its only input as it is."""
        self.row(at, kind=ct.SPEED, ref=self.builder.value(1.0, at.path))
        return Part(at.number, part.depth, part.length, part.apart)

    # -- what nodes share -----------------------------------------------------------------------------------------
    def clip_entry(self, name: str, at: Place) -> int:
        """The bank's entry of a clip, which must be additive or not as its place demands."""
        if name not in self.bank.index:
            raise unknown("clip", name, self.bank.index, at.path)
        clip = self.character.clips[name]
        if clip.additive and not at.scope.additive:
            raise ValidationError(
                f"{at.path}: {name!r} is additive; it belongs in the addition of an Additive"
            )
        if at.scope.additive and not clip.additive:
            raise ValidationError(
                f"{at.path}: {name!r} is not additive; make it so with mw.additive(clip, reference)"
            )
        if name not in self.played:
            self.played.append(name)
        return self.bank.index[name]

    def joint(self, name: str, path: str) -> int:
        return named_joint(self.skeleton, name, path)

    def constants(self, record: Constants, **fields: Any) -> int:
        """Packs the constants of an operation; where they are. Every level of detail evaluates the joints they name."""
        self.named_joints = max(self.named_joints, *(j + 1 for j in record.joints_of(fields)), 0)
        return record.put(self.ints, self.floats, **fields)

    def leaf(self, at: Place, kind: int, **fields: Any) -> Part:
        """A clip or a pose."""
        row = {
            "loop": 1, "speed": 0, "group": -1, "knots": 0, "node": at.number, "match": 0, "matches": 0, "role": 0,
            "still": int(self.slots_travel), "start": 0.0,
            "mirrored": self.mirrored, **fields,
        }  # fmt: skip
        self.leaves.append(row)
        self.row(at, kind=kind, data=len(self.leaves) - 1)
        return Part(at.number, 1, 1)

    def inside(self, scope: Scope, sync: bool | str, path: str) -> Scope:
        """The scope of a blend's inputs: a sync group of its own, one with a name, or what is around it."""
        group = sync if isinstance(sync, str) else path if sync else scope.sync
        return Scope(scope.region, group, scope.additive)

    def layer_mask(
        self, joints: Array, morphs: Array, channels: Any, space: str, path: str
    ) -> tuple[int, int, float]:
        """The operation of a layer, its mask, and how much of the root's travel it covers."""
        if not channels:
            raise ValidationError(f"{path}.channels: expected some of translation, rotation, scale")
        whole = {"translation", "rotation"} <= set(channels) and len(joints) > 0
        root = float(joints[self.root_joint]) if whole else 0.0
        if len(set(channels)) == 3 and space == "local":
            return kernel.LAYER, self.builder.mask((joints, morphs)), root
        rows = [(joints * (name in channels), morphs) for name in ("translation", "rotation", "scale")]
        code = kernel.LAYER_MODEL if space == "model" else kernel.LAYER_CHANNELS
        return code, self.builder.mask(*rows), root

    @property
    def pose_size(self) -> int:
        """Floats of a pose in memory."""
        return self.bank.layout.size

    @property
    def inertia_size(self) -> int:
        """Floats of an inertialised transition in memory."""
        return self.bank.layout.inertia_size

    # -- the end --------------------------------------------------------------------------------------------------
    def _sync_groups(self) -> None:
        b = self.builder
        for members in self.groups.values():
            clips = [self._synced_clip(self.leaves[m]) for m in members]
            found = knots(clips)
            for member, times in zip(members, found):
                self.leaves[member].update(group=len(b.rows["groups"]), knots=b.number(times))
            nodes = [self.leaves[m]["node"] for m in members]
            b.add("groups", b.link(members), len(members), len(found[0]) - 1, min(nodes), max(nodes))

    def _synced_clip(self, leaf: dict[str, Any]) -> Clip:
        """The clip of a leaf, with the events it has where it is shown."""
        clip = self.bank.sampled[leaf["clip"] - 1].source
        if not leaf["mirrored"]:
            return clip
        swap = self._other_name
        return clip.replace(events=tuple(dataclasses.replace(e, name=swap(e.name)) for e in clip.events))

    def _other_name(self, name: str) -> str:
        """What an event, a curve or a joint is called in the mirror."""
        from marrow.motion.joint_names import other_side

        table = self._pairs or {}
        both = {**table, **{b: a for a, b in table.items()}}
        return both.get(name, other_side(name))

    def _finish(self, part: Part) -> CompiledGraph:
        b, bank = self.builder, self.bank
        # The last program of all gives the pose of the graph.
        main = 2 * len(self.functions) + 1
        for number, row in enumerate(self.nodes):
            if row["program"] < 0:
                row["program"] = main
            if row["kind"] in (ct.SPACE1, ct.SPACE2):
                row["flat"] = int(all(r["kind"] == ct.CLIP for r in self.nodes[number + 1 : row["end"]]))
        # Those of the mirror come last: rules have the numbers of the others.
        names = tuple(self.event_names)
        if self._pairs is not None:
            names += tuple(sorted({self._other_name(name) for name in names} - set(names)))
        clips = np.zeros(len(bank), ct.CLIP_ROW)
        clips["duration"], clips["rate"], clips["frames"] = bank.duration, bank.rate, bank.frames
        clips["root"] = -1
        clips["clip"] = clips["twin"] = np.arange(len(bank))
        events: list[tuple[float, float, int]] = []
        for k, sampled in enumerate(bank.sampled, 1):
            clips[k]["first_event"], clips[k]["events"] = len(events), len(sampled.events)
            clips[k]["windows"] = sum(e.duration > 0 for e in sampled.events)
            events += [(e.time, e.end, names.index(e.name)) for e in sampled.events]
        curves = self._curves(clips)
        roots = np.zeros((0, 7))
        if self.root_mode in ("extract", "keep"):
            roots, clips["root"] = root_tracks(
                ClipBank.of(self.character), self.root_joint, self.root_axes, self.root_smooth
            )
        if self.root_mode == "extract":
            say_that_nothing_travels(self.character, bank, (roots, clips["root"]), self.played)
        if self._pairs is not None:
            clips, roots = self._twins(clips, events, curves, roots, names)
        self.event_names = list(names)
        way = ways(roots) if self.warps else readonly(np.zeros(0))
        opened = windows(self, clips, way, events)
        tables = ct.GraphTables(
            nodes=_records(self.nodes, ct.NODE),
            links=readonly(np.array(b.links, np.int64)),
            numbers=readonly(np.array(b.numbers, np.float64)),
            constants=readonly(np.array(b.constants, np.float64)),
            shared=readonly(np.array(self.shared.roots, np.int64)),
            leaves=_records(self.leaves, ct.LEAF),
            groups=b.array("groups", ct.GROUP),
            machines=b.array("machines", ct.MACHINE_ROW),
            states=b.array("states", ct.STATE),
            transitions=b.array("transitions", ct.TRANSITION),
            rules=b.array("rules", ct.RULE),
            layers=b.array("layers", ct.LAYER_ROW),
            slots=b.array("slots", ct.SLOT_ROW),
            spaces=b.array("spaces", ct.SPACE),
            procedurals=b.array("procedurals", ct.PROCEDURAL_ROW),
            functions=b.array("functions", ct.FUNCTION_ROW),
            clips=readonly(clips),
            curves=readonly(np.array(curves, ct.CURVE_ROW)),
            curve_changes=b.array("curve_changes", ct.CURVE_CHANGE),
            columns=readonly(np.unique([c[0] for c in curves], return_index=True)[1].astype(np.int64)),
            events=readonly(np.array(events, ct.EVENT)),
            roots=readonly(roots),
            ways=way,
            warps=b.array("warps", ct.WARP_ROW),
            windows=opened,
            steerings=b.array("steerings", ct.STEERING_ROW),
            sections=readonly(np.array(self.sections, ct.SECTION)),
            parameters=b.array("parameters", ct.PARAMETER),
        )
        J, M = len(self.skeleton), len(self.skeleton.morph_names)
        return CompiledGraph(
            graph=self.graph,
            character=self.character,
            bank=bank,
            tables=tables._replace(states=readonly(watched_states(tables))),
            values=readonly(np.array(b.values, np.float64)),
            masks=readonly(np.array(b.masks, np.float32).reshape(len(b.masks), J + M)),
            procedurals=Procedurals(
                readonly(np.array(self.ints, np.int32)),
                readonly(np.array(self.floats, np.float32)),
                self.named_joints,
                bool(self.springs),
                any(row[0] == kernel.CONSTRAIN for row in b.rows["procedurals"]),
            ),
            parameters=b.parameters,
            machines=self.machines,
            slots=self.slots,
            montages=self.montages,
            following=readonly(np.array(self.following, np.int64)),
            saved=self.saved,
            functions=tuple(self.functions),
            paths=tuple(self.paths),
            names=self.names,
            event_names=names,
            curves=self.curve_columns,
            sums=self.regions,
            depth=max(self.deepest, part.depth) + 1,
            pose_depth=max(part.depth, 2) + 1,
            longest=part.length + 6,
            section=self.section,
            memory=self.memory,
            vectors=self.vectors,
            header=self.header_column,
            world_vectors=tuple(self.world_vectors),
            reaches=tuple(self.reaches),
            travels=self.root_mode == "extract",
            keeps=self.keeps,
            springs=self.springs,
            constrained=self.constrained,
            matches=tuple(self.matches),
        )

    def _curves(self, clips: Array) -> list[tuple[int, int, int, float]]:
        """The curves of all clips, each with a column of the values; those that the graph declares have theirs."""
        b = self.builder
        found: list[tuple[int, int, int, float]] = []
        for k, sampled in enumerate(self.bank.sampled, 1):
            clips[k]["first_curve"] = len(found)
            for curve in sampled.source.curves:
                column = self.curve_column(curve.name)
                keys = b.number([*curve.times.tolist(), *curve.values.tolist()])
                found.append((column, keys, len(curve.times), b.values[column]))
            for name, made in self._made_curves.items():
                if k in made:
                    times, values = made[k]
                    found.append((self.curve_columns[name], b.number([*times, *values]), len(times), 0.0))
            clips[k]["curves"] = len(found) - clips[k]["first_curve"]
        return found

    def _twins(
        self,
        clips: Array,
        events: list[tuple[float, float, int]],
        curves: list[tuple[int, int, int, float]],
        roots: Array,
        names: tuple[str, ...],
    ) -> tuple[Array, Array]:
        """Adds a row for every clip as it is in the mirror: other names of events and curves, travel reflected."""
        from marrow.motion.mirror import mirror_map

        C = len(clips)
        twins = clips.copy()
        twins["twin"] = np.arange(C)
        clips["twin"] = C + np.arange(C)
        columns = {column: name for name, column in self.curve_columns.items()}
        flip = mirror_map(self.skeleton, self._pairs or None).flip
        across = " lands x" if flip[0] > 0 else " lands z"
        for k in range(1, C):
            first, count = int(clips[k]["first_event"]), int(clips[k]["events"])
            twins[k]["first_event"] = len(events)
            events += [
                (t, end, names.index(self._other_name(names[e])))
                for t, end, e in events[first : first + count]
            ]
            first, count = int(clips[k]["first_curve"]), int(clips[k]["curves"])
            twins[k]["first_curve"] = len(curves)
            for column, keys, size, default in curves[first : first + count]:
                name = columns[column]
                if name.endswith(across) and name in self._made_curves:
                    times, values = self._made_curves[name][k]
                    keys = self.builder.number([*times, *(-v for v in values)])
                other = self.curve_columns.get(self._mirrored_curve(name), column)
                curves.append((other, keys, size, default))
        # A reflection S turns a motion (t, q) into (S t, S q S).
        reflected = roots.copy()
        if len(roots):
            reflected[:, :3] *= self.mirror_signs()
            reflected[:, 3:] *= flip
            twins["root"] = np.where(clips["root"] >= 0, clips["root"] + len(roots), -1)
        return np.concatenate([clips, twins]), np.concatenate([roots, reflected])

    def mirror_signs(self) -> Array:
        """What the mirror of the graph does to places in model space `(3,)`."""
        from marrow.motion.mirror import mirror_map

        return np.where(mirror_map(self.skeleton, self._pairs or None).flip[:3] > 0, -1.0, 1.0)

    def _mirrored_curve(self, name: str) -> str:
        for what in ("contact", *LANDING):
            if name.endswith(f" {what}") and name in self._made_curves:
                return f"{self._other_name(name.removesuffix(f' {what}'))} {what}"
        return self._other_name(name)


def _records(rows: list[dict[str, Any]], dtype: np.dtype[Any]) -> Array:
    return readonly(np.array([tuple(r[n] for n in dtype.names or ()) for r in rows], dtype))
