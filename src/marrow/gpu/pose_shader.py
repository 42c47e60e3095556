"""The shader that interprets pose programs: written from the records of the operations, by the kernels' own functions.

One workgroup runs the program of one instance, its invocations side by side over the joints. The stack of poses lies in the
workgroup's memory, or where that is too small in a part of a buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from marrow.gpu.pose_outputs import local_matrices, outputs_text
from marrow.kernels import program as pose_kernel
from marrow.kernels.language.kinds import INTEGER
from marrow.kernels.language.wgsl import WgslTranslator, runs_together
from marrow.kernels.language.wgsl_values import WORLD, Value, WgslField, World
from marrow.kernels.operations import OPERATIONS

__all__ = ["ALONE", "BATCH", "OUTPUTS", "RECORD", "TABLES", "WANTED", "PoseShader", "shader_text"]

TABLES = (
    "rules", "parents", "levels", "level_joints", "palette_joints", "ints", "clip_start", "clip_frames", "clip_rate", "masks",
    "floats", "inverse_bind",
)  # fmt: skip
"""What stays the same of a character, in `program`, one behind the other."""
BATCH = (
    "first_operation", "operations", "first_record", "first_vector", "count", "wanted", "status_row", "palette_row", "morphs_row",
    "pose_row", "model_row", "row", "morph_lanes", "lanes", "joints", "morphs", "palette", "depth", "memory", "vectors", "level_count",
    "matrices", "room", *TABLES, "ints_count", "floats_count", "masks_count",
)  # fmt: skip
"""What a dispatch is told, as whole numbers. Where in `program` its operations (and how many those are), records, vectors and
tables begin; how many instances it has; what is wanted, and the row of the first result in every output; the sizes of the
character: numbers in a row of a pose (Jp), padded morphs (Mp), lanes and joints that are evaluated, morphs, palette; the
depth of the stack, and where the matrices behind it begin; floats of memory and vectors per instance."""
RECORD = ("first", "last", "memory_row")
"""What it is told of each instance: which operations are its program, and its row in memory."""
OUTPUTS = {
    "status": ("status", "i32"), "palette": ("palettes", "vec4<f32>"), "morphs": ("morphs", "f32"), "pose": ("results", "f32"),
    "model": ("results", "f32"),
}  # fmt: skip
"""The buffers of results, and what is in them: poses and model-space matrices, which are looked at now and then, share one."""
WANTED = {"pose": pose_kernel.POSE, "model": pose_kernel.MODEL, "palette": pose_kernel.PALETTE, "morphs": 8}
ALONE = frozenset(o.code for o in OPERATIONS if not runs_together(o.run))
"""Operations that one invocation of a workgroup runs."""
_COLUMNS = {"code": (0, "i"), "argument": (1, "i"), "time": (2, "f"), "weight": (3, "f")}


@dataclass(frozen=True)
class PoseShader:
    """What a shader is written for; it serves every character.

    `room` floats of a workgroup's memory hold the stack and the matrices behind it; with 0 they lie in a buffer. `banks` buffers of
    `bank_size` floats hold the clips. `lanes` invocations work on an instance. Of the operations that one invocation runs, which
    are long, it has those whose codes are in `alone`.
    """

    room: int
    lanes: int = 64
    banks: int = 1
    bank_size: int = 0
    alone: frozenset[int] = ALONE

    @property
    def bindings(self) -> list[str]:
        """The buffers it takes, in order."""
        banks = [f"bank_{k}" if k else "bank" for k in range(self.banks)]
        outputs = ["status", "palettes", "morphs", "results"]
        return ["batch", "program", *banks, "memory", *outputs, *["scratch"] * (not self.room)]


def _world(shader: PoseShader) -> World:
    """What the kernels' functions find in the shader under the names of `PoseWork`."""

    def cast(letter: str, text: str) -> str:
        return f"bitcast<f32>({text})" if letter == "f" else text

    def table(name: str, letter: str, count: str = "") -> WgslField:
        return WgslField(letter, lambda i: cast(letter, f"program[batch.{name} + {i}]"), (f"batch.{count}",))

    def column(number: int, letter: str) -> tuple[str, Callable[[str], str]]:
        return letter, lambda i: cast(letter, f"program[batch.first_operation + 4 * {i} + {number}]")

    stack = "stack[{}]" if shader.room else "scratch[room + {}]"
    bank = "bank[{}]" if shader.banks == 1 else "clip_number({})"
    arrays = {
        "ops": WgslField(sizes=("batch.operations",), columns={n: column(*c) for n, c in _COLUMNS.items()}),
        "bank": WgslField("f", bank.format),
        "stack": WgslField("f", stack.format),
        # Room for an operation's own use: none needs both.
        **dict.fromkeys(("local", "model"), WgslField("f", lambda i: stack.format(f"batch.matrices + {i}"))),
        "memory": WgslField("f", lambda i: f"memory[memory_row + {i}]", ("batch.count", "batch.memory")),
        "vectors": WgslField(
            "f",
            lambda i: f"bitcast<f32>(program[batch.first_vector + {i}])",
            ("batch.count", "batch.vectors"),
        ),
        "parents": table("parents", "i", "joints"),
        "palette_joints": table("palette_joints", "i", "palette"),
        "ints": table("ints", "i", "ints_count"),
        "floats": table("floats", "f", "floats_count"),
        **{name: table(name, "i") for name in ("rules", "clip_start", "clip_frames")},
        "masks": table("masks", "f", "masks_count"),
        **{name: table(name, "f") for name in ("clip_rate", "inverse_bind")},
    }
    constants = {"Jp": "row", "Mp": "morph_lanes", "lanes": "lanes", "depth": "depth", "wanted": "wanted"}
    levels = (
        "batch.level_count",
        lambda i: f"program[batch.levels + {i}]",
        lambda i: f"program[batch.level_joints + {i}]",
    )
    reserved = {"lane", "room", "stack", "memory_row", *shader.bindings}
    # A barrier for buffers is dear: it waits until the whole GPU can see what was written.
    barrier = "workgroupBarrier();" if shader.room else "workgroupBarrier(); storageBarrier();"
    left_out = frozenset(OPERATIONS[code].run for code in ALONE - shader.alone)
    names = {k: f"batch.{v}" for k, v in constants.items()}
    return World(arrays, names, levels, barrier, left_out, frozenset(reserved))


def _bindings(shader: PoseShader) -> list[str]:
    kinds = {"program": ("read", "i32"), "memory": ("read_write", "f32"), "scratch": ("read_write", "f32")}
    kinds |= {name: ("read_write", kind) for name, kind in OUTPUTS.values()}
    members = "".join(f"  {name}: i32,\n" for name in BATCH)
    lines = [f"const LANES: i32 = {shader.lanes};", f"struct Batch {{\n{members}}}"]
    for number, name in enumerate(shader.bindings):
        access, kind = kinds.get(name, ("read", "f32"))
        what = "uniform> batch: Batch" if name == "batch" else f"storage, {access}> {name}: array<{kind}>"
        lines.append(f"@group(0) @binding({number}) var<{what};")
    if shader.room:
        lines.append(f"var<workgroup> stack: array<f32, {shader.room}>;")
    privates = ["lane", "memory_row", *["room"] * (not shader.room)]
    return [*lines, *(f"var<private> {name}: i32;" for name in privates)]


def _bank(shader: PoseShader) -> list[str]:
    """Clips that lie in several buffers."""
    if shader.banks == 1:
        return []
    size = shader.bank_size
    lines = ["fn clip_number(i: i32) -> f32 {", f"  switch i / {size} {{"]
    lines += [f"    case {k}: {{ return bank_{k}[i - {k * size}]; }}" for k in range(1, shader.banks)]
    return [*lines, "    default: { return bank[i]; }", "  }", "}"]


_MAIN = """@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let n = i32(group.x);
  lane = i32(index);
  let record = batch.first_record + 3 * n;
  let first = program[record];
  memory_row = (program[record + 2] - n) * batch.memory;
  let wrong = interpret(n, first, program[record + 1]);
  if (lane == 0) { status[batch.status_row + n] = select(0, wrong - first + 1, wrong >= 0); }
  if (wrong < 0) { write_outputs(n); }
}"""


@lru_cache(maxsize=16)
def shader_text(shader: PoseShader) -> str:
    """The shader as WGSL."""
    world = _world(shader)
    translator = WgslTranslator(world)
    work: Any = Value(WORLD)
    translator.function(
        pose_kernel.interpret, [work, *(Value(INTEGER, name) for name in ("n", "first", "last"))]
    )
    translator.function(local_matrices, [work])
    main = _MAIN if shader.room else _MAIN.replace("  let record", "  room = n * batch.room;\n  let record")
    parts = [
        "// Pose programs: written by marrow.gpu.pose_shader from the records in marrow.kernels.operations.",
        *_bindings(shader),
        *_bank(shader),
        translator.text().rstrip(),
        outputs_text(world),
        main,
    ]
    return "\n".join(parts) + "\n"
