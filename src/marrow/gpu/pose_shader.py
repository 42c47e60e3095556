"""The shaders that interpret pose programs: written from the records of the operations, by the kernels' own functions.

There are two. In the one, a workgroup runs the program of one instance, its invocations side by side over the joints.
Operations that look at a few joints and change them (limbs, feet, looks) would leave all but one of those idle: the
other shader runs them, an invocation for each instance. A program goes from one to the other and back; its stack of
poses lies in a buffer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from marrow.gpu.pose_outputs import MatrixWork, local_matrices, outputs_text
from marrow.gpu.pose_registers import BEFORE, INSTEAD, declarations, registers_text
from marrow.kernels import pose_programs as pose_kernel
from marrow.kernels.language.types import INTEGER, kind_of
from marrow.kernels.language.wgsl_printer import WgslPrinter
from marrow.kernels.language.wgsl_values import WgslField, World
from marrow.kernels.operations import OPERATIONS, PoseWork
from marrow.kernels.operations.constrain import CONSTRAIN
from marrow.kernels.operations.packed_joints import add_packed_joints
from marrow.kernels.operations.record import runs_alone
from marrow.kernels.operations.springs import SPRINGS
from marrow.kernels.operations.sums import add_packed

__all__ = ["ALONE", "BATCH", "OUTPUTS", "TABLES", "USUAL", "WANTED", "PoseShader", "shader_text"]

TABLES = (
    "rules", "parents", "levels", "level_joints", "ancestors", "palette_joints", "ints", "clip_start", "clip_frames",
    "clip_rate", "clip_packed", "masks", "floats", "inverse_bind",
)  # fmt: skip
"""What stays the same of a character, in `program`, one behind the other."""
BATCH = (
    "first_operation", "base", "operations", "first_record", "records", "first_vector", "count", "wanted", "status_row",
    "palette_row", "morphs_row", "pose_row", "model_row", "row", "morph_lanes", "lanes", "joints", "morphs", "palette",
    "depth", "memory", "vectors", "level_count", "rounds", "matrices", "room", *TABLES, "ints_count", "floats_count",
    "masks_count", "packed",
)  # fmt: skip
"""What a dispatch is told, as whole numbers. Where in `program` its operations (which of the programs' is the first,
and how many those are), records (likewise), vectors and tables begin; how many instances the batch has; what is wanted,
and the row of the first result in every output; the sizes of the character: numbers in a row of a pose (Jp), padded
morphs (Mp), lanes and joints that are evaluated, morphs, palette; the depth of the stack; floats of memory and vectors
per instance; levels of the hierarchy, and rounds to walk it; where matrices lie behind the stack, and how much room
both take; where packed clips begin."""
OUTPUTS = {
    "status": ("status", "i32"),
    "palette": ("palettes", "vec4<f32>"),
    "morphs": ("results", "f32"),
    "pose": ("results", "f32"),
    "model": ("results", "f32"),
}
"""The buffers of results, and what is in them. All but matrices for skinning share one, and are written one at a
time."""
WANTED = {
    "pose": pose_kernel.POSE, "model": pose_kernel.MODEL, "palette": pose_kernel.PALETTE, "morphs": pose_kernel.MORPHS,
}  # fmt: skip
ALONE = frozenset(o.code for o in OPERATIONS if runs_alone(o))
"""Operations that one invocation runs for an instance."""
COMPILED_AT_ONCE = ALONE - {CONSTRAIN.code}
"""Those that a shader for a software adapter has from the first of them on. Constraints are long, and only there where a
graph has some."""
USUAL = frozenset(range(len(OPERATIONS))) - ALONE - {SPRINGS.code}
"""Those that a workgroup runs, in every shader. Springs are long, and only there where something swings."""
_COLUMNS = {"code": (0, "i"), "argument": (1, "i"), "time": (2, "f"), "weight": (3, "f")}


@dataclass(frozen=True)
class PoseShader:
    """What a shader is written for; it serves every character.

    `lanes` invocations are a workgroup. `banks` buffers of `bank_size` floats hold the clips. Where each joint has a
    lane of its own (`jumps`), clips are summed up in registers and the hierarchy is walked in a few rounds, else level
    by level. It runs `operations`: such
    as run together, or such as run alone, an invocation for each instance; those compute in float64 where `double`.
    Clips may be `packed` only where it says so: that is a long piece of the shader."""

    lanes: int = 64
    banks: int = 1
    bank_size: int = 0
    jumps: bool = False
    operations: frozenset[int] = USUAL
    double: bool = False
    packed: bool = False

    @property
    def alone(self) -> bool:
        """Whether each invocation works for itself."""
        return bool(self.operations & ALONE)

    @property
    def bindings(self) -> list[str]:
        """The buffers it takes, in order."""
        if self.alone:
            return ["batch", "program", "memory", "status", "scratch"]
        banks = [f"bank_{k}" if k else "bank" for k in range(self.banks)]
        return ["batch", "program", *banks, "memory", "status", "scratch", "palettes", "results"]


def _world(shader: PoseShader) -> World:
    """What the kernels' functions find in the shader under the names of `PoseWork`."""

    def cast(letter: str, text: str) -> str:
        return f"bitcast<f32>({text})" if letter == "f" else text

    def table(name: str, letter: str, count: str = "") -> WgslField:
        return WgslField(letter, lambda i: cast(letter, f"program[batch.{name} + {i}]"), (f"batch.{count}",))

    def column(number: int, letter: str) -> tuple[str, Callable[[str], str]]:
        return letter, lambda i: cast(letter, f"program[batch.first_operation + 4 * {i} + {number}]")

    bank = "bank[{}]" if shader.banks == 1 else "clip_number({})"
    spare = WgslField("f", "scratch[room + batch.matrices + {}]".format)
    arrays = {
        "ops": WgslField(sizes=("batch.operations",), columns={n: column(*c) for n, c in _COLUMNS.items()}),
        "bank": WgslField("f", bank.format),
        "stack": WgslField("f", "scratch[room + {}]".format),
        # Room for an operation's own use: none but springs and constraints needs both.
        "local": WgslField("f", "scratch[room + batch.matrices + 16 * batch.row + {}]".format)
        if shader.operations & {SPRINGS.code, CONSTRAIN.code}
        else spare,
        "model": spare,
        "matrices": WgslField("f", "matrices[{}]".format) if shader.jumps else spare,
        "memory": WgslField("f", "memory[memory_row + {}]".format, ("batch.count", "batch.memory")),
        "vectors": WgslField(
            "f", "bitcast<f32>(program[batch.first_vector + {}])".format, ("batch.count", "batch.vectors")
        ),
        "parents": table("parents", "i", "joints"),
        "palette_joints": table("palette_joints", "i", "palette"),
        "ints": table("ints", "i", "ints_count"),
        "floats": table("floats", "f", "floats_count"),
        "masks": table("masks", "f", "masks_count"),
        **{
            name: table(name, "i") for name in ("rules", "clip_start", "clip_frames", "clip_packed", "packed")
        },
        **{name: table(name, "f") for name in ("clip_rate", "inverse_bind")},
    }
    constants = {"Jp": "row", "Mp": "morph_lanes", "lanes": "lanes", "depth": "depth"}
    names = {k: f"batch.{v}" for k, v in constants.items()} | {"wanted": "wanted"}
    names["matrix_row"] = "LANES" if shader.jumps else "batch.row"
    levels = (
        "batch.level_count",
        "program[batch.levels + {}]".format,
        "program[batch.level_joints + {}]".format,
    )
    left_out = frozenset(o.run for o in OPERATIONS if o.code not in shader.operations)
    if not shader.packed:
        left_out |= {add_packed}
    barrier = "" if shader.alone else "workgroupBarrier();\n  storageBarrier();"
    reserved = frozenset(("lane", "room", "wanted", "memory_row", "matrices", "summed", *shader.bindings))
    instead = {run: name for run, name in INSTEAD.items() if shader.jumps and run not in left_out}
    stand_ins = {add_packed: add_packed_joints}
    return World(
        arrays, names, levels, barrier, left_out, stand_ins, instead, BEFORE if instead else "", reserved
    )


def _declarations(shader: PoseShader) -> list[str]:
    kinds = {"program": ("read", "i32"), "memory": ("read_write", "f32"), "scratch": ("read_write", "f32")}
    kinds |= {name: ("read_write", kind) for name, kind in OUTPUTS.values()}
    members = "".join(f"  {name}: i32,\n" for name in BATCH)
    lines = [f"alias real = {'f64' if shader.double else 'f32'};", f"const LANES: i32 = {shader.lanes};"]
    lines.append(f"struct Batch {{\n{members}}}")
    for number, name in enumerate(shader.bindings):
        access, kind = kinds.get(name, ("read", "f32"))
        what = "uniform> batch: Batch" if name == "batch" else f"storage, {access}> {name}: array<{kind}>"
        lines.append(f"@group(0) @binding({number}) var<{what};")
    if shader.jumps:
        lines += ["var<workgroup> matrices: array<f32, 12 * LANES>;", *declarations()]
    return [*lines, *(f"var<private> {name}: i32;" for name in ("lane", "room", "wanted", "memory_row"))]


def _bank(shader: PoseShader) -> list[str]:
    """Clips that lie in several buffers."""
    if shader.banks == 1 or shader.alone:
        return []
    size = shader.bank_size
    lines = ["fn clip_number(i: i32) -> f32 {", f"  switch i / {size} {{"]
    lines += [f"    case {k}: {{ return bank_{k}[i - {k * size}]; }}" for k in range(1, shader.banks)]
    return [*lines, "    default: { return bank[i]; }", "  }", "}"]


_RUN = """fn run(record: i32) -> i32 {
  let n = program[record];
  let first = program[record + 1];
  let poses = program[record + 3];
  room = n * batch.room;
  memory_row = (program[record + 4] - n) * batch.memory;
  wanted = select(0, batch.wanted, program[record + 5] != 0);
  // A program that broke a rule before is not run any further.
  if (poses > 0 && status[batch.status_row + n] != 0) { return -1; }
  let wrong = interpret(n, first, program[record + 2], poses);{end}
  if (lane == 0 && (poses == 0 || wrong >= 0)) {
    status[batch.status_row + n] = select(0, batch.base + wrong + 1, wrong >= 0);
  }
  return select(n, -1, wrong >= 0);
}"""
_ALONE = """@compute @workgroup_size(LANES)
fn main(@builtin(global_invocation_id) index: vec3<u32>) {
  _ = arrayLength(&memory); // a buffer that no operation uses would have no place
  if (i32(index.x) < batch.records) { _ = run(batch.first_record + 6 * i32(index.x)); }
}"""
_TOGETHER = """@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  lane = i32(index);
  let n = run(batch.first_record + 6 * i32(group.x));
  if (n >= 0) { write_outputs(n); }
}"""


@lru_cache(maxsize=32)
def shader_text(shader: PoseShader) -> str:
    """The shader as WGSL."""
    world = _world(shader)
    printer = WgslPrinter(world)
    printer.root(pose_kernel.interpret, [kind_of(PoseWork), *[INTEGER] * 4])
    if not shader.alone:
        printer.root(local_matrices, [kind_of(MatrixWork)])
    sums = [registers_text(printer)] if world.instead else []
    parts = [
        "// Pose programs: written by marrow.gpu.pose_shader from the records in marrow.kernels.operations.",
        *_declarations(shader),
        *_bank(shader),
        *sums,
        printer.text().rstrip(),
        _RUN.replace("{end}", "\n  put_sum_down();" if sums else ""),
        *([_ALONE] if shader.alone else [outputs_text(world, jumps=shader.jumps), _TOGETHER]),
    ]
    return "\n".join(parts) + "\n"
