"""The shaders that solve for whole bodies: the functions of `marrow.kernels.ik`, an instance to each invocation. There are
three, one for each part of an update (`PASSES`): in one, they take compilers many times as long.

16 instances are the lanes of a group, as on the CPU: the numbers of each array lie side by side for them, so that
neighbours read neighbours. All that a group needs lies in a buffer, `room` numbers for each group."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from marrow.kernels.ik.row_solver import IkProgress, IkRest, finish_row, solve_row, take_row
from marrow.kernels.ik.rows import IkRows
from marrow.kernels.ik.work import FACTORS, GOAL, LIMIT, MOMENTS, IkWork
from marrow.kernels.language.types import INTEGER, kind_of
from marrow.kernels.language.wgsl_printer import WgslPrinter
from marrow.kernels.language.wgsl_values import WgslField, World

__all__ = [
    "FLOATS",
    "INTEGERS",
    "LANES",
    "OWN",
    "PASSES",
    "TABLES",
    "WORK",
    "WORKGROUP",
    "bindings",
    "ik_shader_text",
]

LANES = 16
WORKGROUP = 32
BINDINGS = ("batch", "tables", "records", "memory", "scratch")
SIZES = ("nodes", "effectors", "joints_all", "turns", "takes", "steps", "over_floors")
"""How many nodes of the tree, effectors, joints of the skeleton, joints that turn, joints that are looked at, steps and
points over a floor there are."""
TABLES = {
    "joints": ("i", "nodes"), "parents": ("i", "nodes"), "flags": ("i", "nodes"), "stiffness": ("f", "nodes"),
    "above": ("f", "nodes"), "limits": ("f", "nodes", LIMIT), "effector_nodes": ("i", "effectors", 3),
    "effector_flags": ("i", "effectors"), "effector_points": ("f", "effectors", 8),
    "skeleton_parents": ("i", "joints_all"), "parts": ("i", "effectors"), "spaces": ("i", "effectors"),
    "offsets": ("f", "effectors", 10), "effector_joints": ("i", "effectors"), "points": ("f", "effectors", 3),
    "centres": ("i", "effectors"), "reaches": ("f", "effectors"), "strengths": ("f", "effectors", 4),
    "turning": ("i", "turns"), "used": ("i", "takes"), "fades": ("f", "steps"), "cares": ("f", "steps"),
    "tauts": ("f", "steps"), "floor_nodes": ("i", "over_floors"), "floor_points": ("f", "over_floors", 3),
}  # fmt: skip
"""What stays the same of a solver: letters and sizes."""
WORK: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("offset", "home_offset", "place"), ("nodes", 3)),
    **dict.fromkeys(("turn", "home_turn", "frame"), ("nodes", 4)),
    "moments": ("nodes", MOMENTS), "factors": ("nodes", FACTORS), "moved": ("", FACTORS), "twist": ("nodes", 6),
    "own": ("nodes", 9), "held": ("nodes", 2), "unit": ("nodes", 1), "goal": ("effectors", GOAL),
    **dict.fromkeys(("reachable", "point", "result"), ("effectors", 3)), "limb": ("effectors", 1), "energy": ("", 2),
    "grown": ("", 1), "plane": ("over_floors", 4), "floor_point": ("over_floors", 3),
}  # fmt: skip
"""Where the solver works: what there are so many numbers of, for each lane. The factors of the node that moves (`moved`)
lie behind those of all."""
OWN: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("translation", "scale", "out_translation"), ("joints_all", 3)),
    **dict.fromkeys(("rotation", "out_rotation"), ("joints_all", 4)), "goals": ("effectors", GOAL),
    "residuals": ("effectors", 3), "found_rotation": ("turns", 4), "found_translation": ("", 3),
    "progress": ("", 3), "before": ("", "state"),
}  # fmt: skip
"""The same of what the CPU has in arrays of all instances."""
INTEGERS = (
    "count", "room", "columns", "centre", "Jp", "at", "kept", "state", "mover", "keeps", "cold", "again", "tick", "ticks",
    "ticks_left", "holds",
    *SIZES,
    *(f"{name}_at" for name in (*TABLES, *WORK, *OWN)),
)  # fmt: skip
FLOATS = (
    "size", "bones", "damping", "turn_weight", "hips", "limit_weight", "floor_weight", "most_turn", "left", "jump",
    "body", "weight", "cold_inner",
)  # fmt: skip
"""What a dispatch is told: the instances of the batch, the numbers of a group and of a row of memory, and the fields of
the structs of the kernels."""
PASSES: dict[str, tuple[Callable[..., Any], tuple[type, ...], str]] = {
    "take": (take_row, (IkRows, IkWork, IkProgress), "lane"),
    "solve": (solve_row, (IkWork, IkProgress), ""),
    "finish": (finish_row, (IkRows, IkWork, IkRest, IkProgress), "lane"),
}
"""The function of each pass, its structs, and what it is handed besides."""
_RECORD = {"rows": ("i", 0), "stamps": ("i", 1), "since": ("f", 2), "weights": ("f", 3)}
"""What comes for each instance, all of them; then come their targets, then the planes of their floors."""


def _read(letter: str, text: str) -> str:
    return f"bitcast<f32>({text})" if letter == "f" else text


def _world() -> World:
    """What the kernels' functions find in the shader, under the names of their structs."""

    def table(name: str, letter: Any, *sizes: Any) -> WgslField:
        first = f"batch.{sizes[0]}"
        flat = name in ("limits", "effector_points")
        return WgslField(
            letter,
            lambda i: _read(letter, f"tables[batch.{name}_at + {i}]"),
            (first, *map(str, () if flat else sizes[1:])),
        )

    def own(name: str, first: str, width: Any) -> WgslField:
        sizes = (
            "1",
            *([f"batch.{first}"] if first else []),
            "batch.state" if width == "state" else str(width),
        )
        return WgslField("f", lambda i: f"scratch[room + batch.{name}_at + {LANES} * ({i}) + lane]", sizes)

    def record(letter: str, at: int) -> WgslField:
        return WgslField(letter, lambda i: _read(letter, f"records[record + {at}]"), ("1",))

    arrays = {name: table(name, *what) for name, what in TABLES.items()}
    arrays |= {
        name: WgslField("f", f"scratch[room + batch.{name}_at + {{}}]".format)
        for name in WORK
        if name != "moved"
    }
    arrays |= {name: own(name, *what) for name, what in OWN.items()}
    arrays |= {name: record(*what) for name, what in _RECORD.items()}
    arrays["targets"] = WgslField(
        "f",
        "bitcast<f32>(records[targets + {}])".format,
        ("1", "batch.effectors", "14"),
    )
    arrays["floors"] = WgslField(
        "f", "bitcast<f32>(records[planes + {}])".format, ("1", "batch.over_floors", "4")
    )
    arrays["memory"] = WgslField("f", "memory[{}]".format, ("batch.count", "batch.columns"))
    constants = {name: f"batch.{name}" for name in INTEGERS} | {
        name: f"real(batch.{name})" for name in FLOATS
    }
    reserved = frozenset(("lane", "room", "record", "targets", "planes", *BINDINGS))
    return World(arrays, constants, barrier="", reserved=reserved, lane="lane")


_MAIN = """@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) index: vec3<u32>) {
  let n = i32(index.x);
  if (n >= batch.count) { return; }
  lane = n % 16;
  room = n / 16 * batch.room;
  record = 4 * n;
  targets = 4 * batch.count + 14 * batch.effectors * n;
  planes = (4 + 14 * batch.effectors) * batch.count + 4 * batch.over_floors * n;
  {call};
}"""


def bindings(part: str) -> tuple[str, ...]:
    """The buffers that a pass takes."""
    return BINDINGS if IkRows in PASSES[part][1] else ("batch", "tables", "scratch")


@cache
def ik_shader_text(part: str, *, double: bool) -> str:
    """The shader of a pass as WGSL; poses are brought into lanes and back in float64 where `double`."""
    printer = WgslPrinter(_world())
    function, structs, given = PASSES[part]
    name = printer.root(function, [*map(kind_of, structs), *([INTEGER] if given else [])])
    members = [f"  {name}: i32,\n" for name in INTEGERS] + [f"  {name}: f32,\n" for name in FLOATS]
    lines = [
        "// Inverse kinematics of whole bodies: written by marrow.gpu.ik_shader from the kernels in marrow.kernels.ik.",
        f"alias real = {'f64' if double and IkRows in structs else 'f32'};",
        f"const WORKGROUP = {WORKGROUP};",
        f"struct Batch {{\n{''.join(members)}}}",
        "@group(0) @binding(0) var<uniform> batch: Batch;",
    ]
    kinds = {"memory": ("read_write", "f32"), "scratch": ("read_write", "f32")}
    for number, buffer in enumerate(bindings(part)[1:], 1):
        access, kind = kinds.get(buffer, ("read", "i32"))
        lines.append(f"@group(0) @binding({number}) var<storage, {access}> {buffer}: array<{kind}>;")
    lines += [f"var<private> {name}: i32;" for name in ("lane", "room", "record", "targets", "planes")]
    return "\n".join([*lines, printer.text().rstrip(), _MAIN.replace("{call}", f"{name}({given})")]) + "\n"
