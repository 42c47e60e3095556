"""How a baked character lies in its file and in the driver's memory: all of it follows from the kernels' own descriptions.

The C driver (`runtime/c`) is compiled against a header that is made here: records as structs, the words of every
kernel's frame, and
which arrays of a file go where. What a kernel gained and the driver does not bind is an error when the header is made."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator

import numpy as np

from marrow.ik.plan import scratch
from marrow.kernels import catalogue, control_tables, pose_programs
from marrow.kernels.control_chunks import MOST_EVENTS
from marrow.kernels.control_weight_rules import RULE_REF
from marrow.kernels.foot_probes import SHAPE
from marrow.kernels.ik.row_solver import REACHED, TURNED
from marrow.kernels.ik.rows import GIVEN, REFS, TICK
from marrow.kernels.ik.work import GOAL, LIMIT
from marrow.kernels.joint_overrides import OVERRIDE_HEAD, OVERRIDE_JOINT
from marrow.kernels.language.kernel import KERNELS, Kernel
from marrow.kernels.language.types import ArrayKind
from marrow.kernels.moments import MOST_PARTS, PATH
from marrow.kernels.operations import CONSTANTS, OPERATION, OPERATIONS
from marrow.kernels.operations.footholds import LEG_VECTORS, PROBES
from marrow.kernels.operations.limbs import HEADER, TICKS
from marrow.kernels.operations.spring_set import LIMITS
from marrow.kernels.skinning import METHODS

__all__ = [
    "KERNELS_USED",
    "NAMES",
    "NOT_IN_PAGES",
    "SIZES",
    "array_leaves",
    "header",
    "layout_digest",
    "runtime_kernels",
]

VERSION = 1
"""Of the file's own form; what its arrays mean is in `layout_digest`."""
KERNELS_USED = (
    "update_graph",
    "gather_chunks",
    "run_programs",
    "write_root_vectors",
    "look_up_targets",
    "take_poses",
    "begin_again",
    "put_solved",
    "come_to_rest",
    "ik_solve",
    "foot_probes",
    "put_heights",
    "field_below",
    "ground_below",
    "override_joints",
    "check_record",
    "split_updates",
    "move_roots",
    "join_travel",
    "dual_quaternions",
    *(f"skin_linear_{vectors}" for vectors in range(3)),
    *(f"skin_{method}_2" for method in METHODS if method != "linear"),
)
"""The kernels that the driver calls. Of ways of skinning other than linear the one that writes everything: files stay
small, and
what an output is does not depend on which others are written."""
NOT_IN_PAGES = ("skin_linear_0", "skin_linear_1")
"""Kernels that modules for pages do without: pages skin on the GPU, and one kernel that writes everything is enough."""
SIZES = (
    "joints", "morphs", "row_joints", "row_morphs", "palette", "pose_size", "inertia_size", "memory", "vectors", "depth",
    "pose_depth", "longest", "section", "sums", "header", "travels", "keeps", "springs", "listens", "functions",
    "has_graph",
    "body", "addition", "vertices", "skins", "has_normals", "has_tangents", "override_width", "ik_steps", "placed",
)  # fmt: skip
"""Whole numbers of a baked character, in this order in its section `sizes`."""
NAMES = (
    "character", "graph", "joints", "morphs", "clips", "parameters", "machines", "machine_names", "states", "slots",
    "montages",
    "sections", "events", "curves", "nodes", "saved", "meshes", "overrides", "springs",
)  # fmt: skip
"""Lists of names, each a section `names.X`: UTF-8, every name with a NUL behind it."""
TABLES = {
    "sizes": ("i8", 1), "identity": ("u1", 1), "memory": ("f4", 1), "rest": ("f4", 1), "durations": ("f8", 1),
    "parents": ("i4", 1), "clip_flags": ("i8", 1), "parameter_places": ("i8", 2), "parameter_values": ("f8", 2),
    "machine_states": ("i8", 2), "slot_flags": ("i8", 1), "montage_places": ("i8", 2), "montage_values": ("f8", 2),
    "world_vectors": ("i8", 2), "curve_columns": ("i8", 1), "saved_places": ("i8", 1), "lasts": ("u1", 2),
    "lasting": ("i8", 1), "rest_model": ("f4", 2), "steps": ("i8", 2), "step_values": ("f8", 1),
    "override_joints": ("i4", 2),
    "override_places": ("i8", 2), "feet": ("i8", 1), "toes": ("i8", 1), "foot_shapes": ("f8", 2),
    "spring_chains": ("i8", 2), "spring_joints": ("i8", 2), "spring_values": ("f8", 2), "spring_winds": ("i8", 1),
}  # fmt: skip
"""The other sections: type and axes."""
STEPS = ("override", "ground", "ik")
"""What is done between programs, in the section `steps`: its kind, then four numbers that say what of it."""
IK_LEAVES = {
    "joints": ("i4", 1), "parents": ("i4", 1), "flags": ("i4", 1), "stiffness": ("f4", 1), "above": ("f4", 1),
    "limits": ("f4", 1), "effector_nodes": ("i4", 2), "effector_flags": ("i4", 1), "effector_points": ("f4", 1),
    "floor_nodes": ("i4", 1), "floor_points": ("f4", 2), "parts": ("i4", 1), "spaces": ("i4", 1), "offsets": ("f4", 2),
    "effector_joints": ("i4", 1), "points": ("f4", 2), "centres": ("i4", 1), "reaches": ("f4", 1), "strengths": ("f4", 2),
    "turning": ("i4", 1), "used": ("i4", 1), "refs": ("i4", 2), "floors": ("i4", 2), "cold": ("f4", 2), "warm": ("f4", 2),
    "whole": ("i8", 1), "numbers": ("f8", 1),
}  # fmt: skip
"""The sections `ik0.X`, `ik1.X`... of solvers in a graph: what `ik_solve` and `IkRows` have for good, where targets and
floors are found, what the solver is told for each step; whole numbers and others."""
IK_WHOLE = ("weight", "kept", "steps", "mover", "centre")
IK_NUMBERS = (
    "size", "bones", "damping", "turn_weight", "hips", "limit_weight", "floor_weight", "most_turn", "inner", "left", "jump",
)  # fmt: skip
LASTING = np.dtype([("told", "<i4"), ("back", "<i4"), ("inside", "<i4"), ("source", "<i4")])

_IK_ROWS = {f"work.{name}" for name in (
    "memory", "rows", "targets", "stamps", "since", "weights", "skeleton_parents", "parts", "spaces", "offsets",
    "effector_joints", "points", "centres", "reaches", "strengths", "turning", "used", "translation", "rotation", "scale",
    "goals", "out_translation", "out_rotation", "warm", "Jp", "at", "kept", "state", "mover", "keeps", "left", "jump",
    "ticks_left",
)}  # fmt: skip
IK_LANES = tuple(scratch(1, 1, 1))
"""The memory that the solver works in."""

# What the driver puts into frames by hand; everything else of these kernels is put in from the file, by name.
_BY_HAND = {
    "update_graph": {
        *(f"room.{name}" for name in control_tables.Workspace._fields), "dt", "seconds", "memory", "row", "moving",
        "travels",
        "step", "chunk", "first", "last", "kept.told",
    },
    "gather_chunks": {"chunks", "regions", "events", "told", "written", "first", "last"},
    "run_programs": {
        "work.before", "work.start", "work.end", "work.ops", "work.rules", "work.memory", "work.vectors", "work.stack",
        "work.local", "work.model", "work.out_pose", "work.out_model", "work.out_palette", "work.out_morphs",
        "work.instances", "work.Jp", "work.Mp", "work.lanes", "work.depth", "work.wanted", "n0", "n1",
    },
    "write_root_vectors": {
        "instances", "place", "placed", "values", "constants", "given", "vectors", "header",
    },
    "look_up_targets": {
        *(f"work.{name}" for name in ("instances", "values", "constants", "place", "refs", "parts", "spaces", "targets")),
        "first", "last",
    },
    "ik_rows": {*_IK_ROWS, "first", "last"},
    "come_to_rest": {
        *_IK_ROWS, "seconds", "first", "last",
        *(f"rest.{name}" for name in (
            "found_rotation", "found_translation", "found_residuals", "residuals", "body", "holds", "weight",
        )),
    },
    "ik_solve": {
        *(f"work.{name}" for name in (
            "joints", "parents", "flags", "stiffness", "above", "limits", "effector_nodes", "effector_flags",
            "effector_points", "floor_nodes", "floor_points", "translation", "rotation", "scale", "goals", "floors",
            "out_translation", "out_rotation", "residuals", "fades", "cares", "tauts", *IK_LANES, "centre", "size", "bones",
            "damping", "turn_weight", "hips", "limit_weight", "floor_weight", "most_turn", "inner",
        )),
        "first", "last",
    },
    "foot_probes": {
        "memory", "parents", "instances", "places", "vectors", "feet", "toes", "shapes", "points", "owners", "top", "first",
        "header", "Jp",
    },
    "put_heights": {"heights", "points", "owners", "vectors"},
    "field_below": {"field", "points", "heights", "normals", "hit", "x", "z", "spacing", "above", "depth"},
    "ground_below": {
        "boxes", "corners", "points", "heights", "normals", "hit", "nodes", "leaf", "above", "depth", "start", "stop",
    },
    "override_joints": {
        "memory", "parents", "rows", "told", "whose", "joints", "first", "top", "Jp", "offset", "model",
    },
    "check_record": {"words", "frames", "groups", "morph_groups"},
    "split_updates": {"instances", "place", "shown_at", "path", "dt", "seconds", "parts"},
    "move_roots": {"place", "ended", "own", "path", "parts", "part", "roots", "before"},
    "join_travel": {"travel", "parts", "part", "total"},
    "dual_quaternions": {"matrices", "pivots", "used", "dual", "stretch", "kinds", "scratch"},
    "skin": {
        "work.matrices", "work.stretch", "work.dual", "work.morph_weights", "work.out_p", "work.out_n", "work.out_t",
        "work.P",
        "work.V", "work.targets", "f0", "f1", "b0", "b1",
    },
}  # fmt: skip
_ROOMS = {
    "counters", "passed", "work", "visited", "open", "shown", "grouped", "sums", "members", "stack", "gaps", "motion",
    "outer",
    "steering", "programs", "travel", "vectors", "events", "starts", "ends", "operations", "chunks", "regions",
}  # fmt: skip
_KEPT = {
    "instances", "values", "goals", "leaves", "groups", "machines", "shares", "slots", "voices", "functions", "travel",
    "told",
}  # fmt: skip


def runtime_kernels() -> list[Kernel]:
    """The kernels that the driver calls, each looked at."""
    catalogue.kernels()
    found = [KERNELS[name] for name in KERNELS_USED]
    fields = {
        name.removeprefix("room.") for name in KERNELS["update_graph"].leaves if name.startswith("room.")
    }
    kept = {name.removeprefix("kept.") for name in KERNELS["update_graph"].leaves if name.startswith("kept.")}
    problems = [f"update_graph: room.{n}" for n in fields ^ _ROOMS] + [
        f"update_graph: kept.{n}" for n in kept ^ _KEPT
    ]
    for kernel in found:
        family = _family(kernel.name)
        by_hand = _BY_HAND[family]
        problems += [f"{kernel.name}: {name}" for name in by_hand - set(kernel.leaves)]
        rest = {name: kind for name, kind in kernel.leaves.items() if name not in by_hand}
        problems += [
            f"{kernel.name}: {n}"
            for n, k in rest.items()
            if family not in _FROM_FILES or not isinstance(k, ArrayKind) or k.ndim > 2
        ]
    if problems:
        raise ValueError(
            "the driver in runtime/c does not know what to do with these arguments of kernels: "
            + ", ".join(sorted(problems))
        )
    return found


_FROM_FILES = ("update_graph", "run_programs", "skin")
"""Whose other arguments are sections of files."""
_SAME_FRAMES = {"take_poses": "ik_rows", "begin_again": "ik_rows", "put_solved": "ik_rows"}


def _family(kernel: str) -> str:
    """Kernels whose frames are alike."""
    return "skin" if kernel.startswith("skin_") else _SAME_FRAMES.get(kernel, kernel)


def array_leaves(prefix: str) -> dict[str, tuple[int, ArrayKind]]:
    """The arrays that come from the file for frames: their sections' names, the word where each begins, and their
    kind. `prefix` is
    `graph`, `state`, `kept` (as many rows of `state`), `pose` or `skin`."""
    kernel = KERNELS[{"pose": "run_programs", "skin": "skin_linear_0"}.get(prefix, "update_graph")]
    inside, by_hand = {"pose": "work", "skin": "work"}.get(prefix, prefix), _BY_HAND[_family(kernel.name)]
    return {
        f"{prefix}.{name.partition('.')[2]}": (kernel.offsets[name], kind)
        for name, kind in kernel.leaves.items()
        if name.startswith(inside + ".") and name not in by_hand and isinstance(kind, ArrayKind)
    }


def _records() -> dict[str, np.dtype]:  # type: ignore[type-arg]
    """The records of the control kernel, and of pose operations, by what they are called."""
    rows = ("NODE", "LEAF", "GROUP", "STATE", "TRANSITION", "RULE", "SPACE", "EVENT", "SECTION", "PARAMETER")
    found = {
        name.lower() + ("_row" if name in rows else ""): value
        for name, value in vars(control_tables).items()
        if isinstance(value, np.dtype) and value.names and name.isupper()
    }
    return {**found, "operation": OPERATION, "lasting": LASTING}


_TYPES = {"f8": "double", "f4": "float", "i8": "int64_t", "i4": "int32_t", "u1": "uint8_t"}


def _called(field: str) -> str:
    """What a field is called in C."""
    return f"{field}_" if field in ("default", "register", "switch", "double", "long", "short") else field


def _structs() -> Iterator[str]:
    for name, dtype in sorted(_records().items()):
        assert dtype.fields is not None
        fields = "".join(
            f" {_TYPES[field.str[1:]]} {_called(key)};"
            for key, (field, *_) in ((k, dtype.fields[k]) for k in dtype.names or ())
        )
        yield f"typedef struct {{{fields} }} mrw_{name};"
        yield f'_Static_assert(sizeof(mrw_{name}) == {dtype.itemsize}, "mrw_{name}");'
        for key in dtype.names or ():
            at = dtype.fields[key][1]
            yield f'_Static_assert(offsetof(mrw_{name}, {_called(key)}) == {at}, "mrw_{name}.{key}");'


def _constants() -> Iterator[str]:
    from marrow.graph.animator.steps import LONGEST_STEP
    from marrow.graph.control import LONG_STEP
    from marrow.graph.control_pass import MOST_TOLD
    from marrow.graph.ground_mesh import LEAF
    from marrow.graph.ik_steps import MOST_TICKS
    from marrow.graph.lasting_events import JUST_NOW
    from marrow.graph.program_buffers import SECTIONS
    from marrow.graph.slot_control import FASTEST
    from marrow.graph.spring_plan import UNLIMITED
    from marrow.graph.spring_sets import STIFFEST

    whole = {
        name: value
        for name, value in vars(control_tables).items()
        if isinstance(value, int) and not isinstance(value, bool) and name.isupper()
    }
    whole |= {f"WANT_{n}": getattr(pose_programs, n) for n in ("POSE", "MODEL", "PALETTE", "MORPHS")}
    whole |= {
        "RULE_REF": RULE_REF,
        "MOST_EVENTS": MOST_EVENTS,
        "MOST_TOLD": MOST_TOLD,
        "SECTIONS": SECTIONS,
        "HEADER": HEADER,
        "PROBES": PROBES,
        "LEG_VECTORS": LEG_VECTORS,
        "FOOT_SHAPE": SHAPE,
        "IK_GIVEN": GIVEN,
        "IK_GOAL": GOAL,
        "IK_LIMIT": LIMIT,
        "IK_REFS": REFS,
        "IK_MOST_TICKS": MOST_TICKS,
        "OVERRIDE_HEAD": OVERRIDE_HEAD,
        "OVERRIDE_JOINT": OVERRIDE_JOINT,
        "GROUND_LEAF": LEAF,
        "PATH": PATH,
        "SPRING_LIMITS": LIMITS,
        "MOST_PARTS": MOST_PARTS,
    }
    for name, value in whole.items():
        yield f"#define MRW_{name} {value}"
    numbers = {
        "LONG_STEP": LONG_STEP, "LONGEST_STEP": LONGEST_STEP, "FASTEST": FASTEST,
        "JUST_NOW": JUST_NOW, "IK_TICK": TICK, "IK_REACHED": REACHED, "IK_TURNED": TURNED,
        "SPRING_UNLIMITED": UNLIMITED, "SPRING_STIFFEST": STIFFEST, "SPRING_TICKS": TICKS,
    }  # fmt: skip
    for name, number in numbers.items():
        yield f"#define MRW_{name} {float(number)!r}"


def _frames() -> Iterator[str]:
    seen: dict[str, Kernel] = {}
    for kernel in runtime_kernels():
        called = _family(kernel.name)
        first = seen.setdefault(called, kernel)
        if kernel is not first:
            if kernel.offsets != first.offsets:
                raise ValueError(f"{kernel.name} has another frame than {first.name}")
            continue
        if called == "come_to_rest":
            same = {n: at for n, at in kernel.offsets.items() if n.startswith("work.")}
            if same != {n: at for n, at in seen["ik_rows"].offsets.items() if n.startswith("work.")}:
                raise ValueError("come_to_rest has other rows than take_poses")
        words = [f"AT_{called}_{name.replace('.', '_')} = {at}" for name, at in kernel.offsets.items()]
        words += [f"AT_{called}_results = {kernel.results}", f"WORDS_{called} = {max(kernel.size, 1)}"]
        yield f"enum {{ {', '.join(words)} }};"


def _leaf_tables() -> Iterator[str]:
    yield "typedef struct { const char *name; int32_t word, item, axes; int32_t row; } mrw_leaf;"
    state = [name.removeprefix("state.") for name in array_leaves("state")]
    for prefix in ("graph", "state", "kept", "pose", "skin"):
        leaves = array_leaves(prefix)
        rows = []
        for name, (word, kind) in leaves.items():
            row = state.index(name.removeprefix("kept.")) if prefix == "kept" else -1
            rows.append(f'{{"{name}", {word}, {kind.dtype.itemsize}, {kind.ndim}, {row}}}')
        short = ", ".join(f"{prefix.upper()}_{name.partition('.')[2]}" for name in leaves)
        yield f"enum {{ {short}, {prefix.upper()}_LEAVES }};"
        yield f"static const mrw_leaf mrw_{prefix}_leaves[] = {{ {', '.join(rows)} }};"


def _floats() -> Iterator[str]:
    """Where in the records of graphs and of instances numbers lie that must be numbers."""
    yield "typedef struct { int32_t leaf, offset; } mrw_float;"
    for prefix in ("graph", "state"):
        places = []
        for k, (_, kind) in enumerate(array_leaves(prefix).values()):
            fields = {"": (kind.dtype, 0)} if kind.dtype.names is None else kind.dtype.fields or {}
            places += [f"{{{k}, {at}}}" for dtype, at, *_ in fields.values() if dtype == np.float64]
        yield f"static const mrw_float mrw_{prefix}_floats[] = {{ {', '.join(places)} }};"


def _operations() -> Iterator[str]:
    kinds = ["none", "clip", "mask", "channel masks", "pose memory", "inertia memory"]
    names = ", ".join("LIMIT_" + k.replace(" ", "_").upper() for k in (*kinds, "constants"))
    yield f"enum {{ {names} }};"
    numbers = {record: k for k, record in enumerate(CONSTANTS, 1)}
    rows = []
    for o in OPERATIONS:
        named = numbers.get(o.argument, 0) if not isinstance(o.argument, str) else 0  # type: ignore[call-overload]
        limit = len(kinds) if named else kinds.index(o.names)
        rows.append(f"{{{limit}, {o.pops}, {o.pushes - o.pops}, {named}}}")
    yield f"static const int32_t mrw_operations[{len(rows)}][4] = {{ {', '.join(rows)} }};"
    yield f"#define MRW_OPERATIONS {len(rows)}"


def _body() -> str:
    lines = [*_structs(), *_constants(), *_frames(), *_leaf_tables(), *_floats(), *_operations()]
    lines.append(f"enum {{ {', '.join('SIZE_' + s for s in SIZES)}, MRW_SIZES }};")
    lines.append(f"enum {{ {', '.join('NAMES_' + s for s in NAMES)}, MRW_NAME_LISTS }};")
    lines.append(
        f"static const char *const mrw_name_lists[] = {{ {', '.join(f'{chr(34)}names.{s}{chr(34)}' for s in NAMES)} }};"
    )
    tables = [f'{{"{n}", -1, {np.dtype(t).itemsize}, {a}, -1}}' for n, (t, a) in TABLES.items()]
    lines.append(f"enum {{ {', '.join('TABLE_' + n for n in TABLES)}, MRW_TABLES }};")
    lines.append(f"static const mrw_leaf mrw_tables[] = {{ {', '.join(tables)} }};")
    leaves = [f'{{"ik0.{n}", -1, {np.dtype(t).itemsize}, {a}, -1}}' for n, (t, a) in IK_LEAVES.items()]
    lines.append(f"enum {{ {', '.join('IK_' + n for n in IK_LEAVES)}, IK_LEAVES }};")
    lines.append(f"static const mrw_leaf mrw_ik_leaves[] = {{ {', '.join(leaves)} }};")
    for prefix, names in (("IKW_", IK_WHOLE), ("IKN_", IK_NUMBERS), ("STEP_", STEPS)):
        lines.append(f"enum {{ {', '.join(prefix + n for n in names)}, {prefix}COUNT }};")
    lines += _lanes()
    entries = ", ".join(f"void (*{name})(void *)" for name in KERNELS_USED)
    lines.append(f"typedef struct {{ {entries.replace(',', ';')}; }} mrw_kernels;")
    return "\n".join(lines)


def _lanes() -> Iterator[str]:
    """The solver's own memory: for each array, floats for each node, effector, floor, and beside them."""
    rows = []
    for name in IK_LANES:
        sizes = [len(scratch(*counts)[name]) for counts in ((1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2))]
        each = [size - sizes[0] for size in sizes[1:]]
        rows.append(f"{{AT_ik_solve_work_{name}, {', '.join(map(str, [*each, sizes[0] - sum(each)]))}}}")
    yield f"static const int32_t mrw_ik_lanes[][5] = {{ {', '.join(rows)} }};"


@functools.cache
def layout_digest() -> int:
    """A number of 64 bits that is another when anything in a file means something else."""
    constants = [
        (r.name, [(n, f.letter, f.width, f.each, f.rule) for n, f in r.fields.items()]) for r in CONSTANTS
    ]
    description = f"{VERSION} {_body()} {constants} {[(o.name, o.code, o.names) for o in OPERATIONS]}"
    return int.from_bytes(hashlib.blake2b(description.encode(), digest_size=8).digest(), "little")


def header() -> str:
    """The C header that the driver is compiled against."""
    lines = [
        "/* Made by marrow.runtime.layout from the kernels' descriptions. */",
        "#ifndef MARROW_LAYOUT_H",
        "#define MARROW_LAYOUT_H",
        "#include <stddef.h>",
        "#include <stdint.h>",
        f"#define MRW_VERSION {VERSION}",
        f"#define MRW_LAYOUT 0x{layout_digest():016x}ULL",
        _body(),
        "#endif",
    ]
    return "\n".join(lines) + "\n"
