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
from marrow.kernels.language.wgsl import WgslTranslator
from marrow.kernels.language.wgsl_values import WORLD, Value, WgslField, World
from marrow.kernels.pose_layout import PoseLayout, padded

__all__ = ["BATCH", "OUTPUTS", "RECORD", "TABLES", "PoseShader", "shader_text"]

BATCH = (
    "first_operation", "operations", "first_record", "first_vector", "count", "status_row", "palette_row", "morph_row", "pose_row",
    "model_row", "spare_0", "spare_1",
)  # fmt: skip
"""What a dispatch is told, as whole numbers: where in `program` its operations (and how many those are), records and vectors begin;
how many instances it has; the row of the first one in every output."""
RECORD = ("first", "last", "memory_row")
"""What it is told of each instance: which operations are its program, and its row in memory."""
TABLES = (
    "rules", "parents", "levels", "level_joints", "palette_joints", "ints", "clip_start", "clip_frames", "clip_rate", "masks",
    "floats", "inverse_bind",
)  # fmt: skip
"""What stays the same, in one buffer, one behind the other."""
OUTPUTS = {
    "status": ("status", "i32"), "palette": ("palettes", "vec4<f32>"), "morphs": ("morphs", "f32"), "pose": ("poses", "f32"),
    "model": ("models", "vec4<f32>"),
}  # fmt: skip
"""The buffers of results, and what is in them."""
_COLUMNS = {"code": (0, "i"), "argument": (1, "i"), "time": (2, "f"), "weight": (3, "f")}


@dataclass(frozen=True)
class PoseShader:
    """What a shader is written for: the sizes of a character and its tables, and what is wanted.

    `joints` of the layout's are evaluated, on `levels` levels of the hierarchy. `tables` are the sizes of `TABLES`. At most
    `depth` poses are stacked; `memory` and `vectors` floats are kept per instance. `banks` buffers of `bank_size` floats hold the
    clips. With `scratch` the stack lies in a buffer.
    """

    layout: PoseLayout
    joints: int
    palette: int
    tables: tuple[int, ...]
    levels: int
    depth: int
    memory: int
    vectors: int
    wanted: tuple[str, ...] = ("palette",)
    banks: int = 1
    bank_size: int = 0
    scratch: bool = False
    lanes: int = 64

    @property
    def room(self) -> int:
        """Floats of the stack, and of the matrices behind it."""
        return max(1, self.depth * self.layout.size + 16 * self.layout.joints)

    @property
    def bindings(self) -> list[str]:
        """The buffers it takes, in order."""
        banks = [f"bank_{k}" if k else "bank" for k in range(self.banks)]
        outputs = [OUTPUTS[name][0] for name in ("status", *self.wanted)]
        return ["batch", "program", *banks, "constants", "memory", *outputs, *["scratch"] * self.scratch]


def _world(shader: PoseShader) -> World:
    """What the kernels' functions find in the shader under the names of `PoseWork`."""

    def cast(letter: str, text: str) -> str:
        return f"bitcast<f32>({text})" if letter == "f" else text

    def table(name: str, letter: str) -> WgslField:
        begin = name.upper()
        return WgslField(letter, lambda i: cast(letter, f"constants[{begin} + {i}]"), (f"{begin}_COUNT",))

    def column(number: int, letter: str) -> tuple[str, Callable[[str], str]]:
        return letter, lambda i: cast(letter, f"program[batch.first_operation + 4 * {i} + {number}]")

    places = ("scratch[room + {}]", "scratch[room + MODEL + {}]", "stack[{}]", "stack[MODEL + {}]")
    stack, model = places[:2] if shader.scratch else places[2:]
    bank = "bank[{}]" if shader.banks == 1 else "clip_number({})"
    integers = ("rules", "parents", "palette_joints", "ints", "clip_start", "clip_frames")
    arrays = {
        "ops": WgslField(sizes=("batch.operations",), columns={n: column(*c) for n, c in _COLUMNS.items()}),
        "bank": WgslField("f", bank.format),
        "stack": WgslField("f", stack.format),
        "model": WgslField("f", model.format),
        "memory": WgslField("f", lambda i: f"memory[memory_row + {i}]", ("batch.count", "MEMORY")),
        "vectors": WgslField(
            "f", lambda i: f"bitcast<f32>(program[batch.first_vector + {i}])", ("batch.count", "VECTORS")
        ),
        **{name: table(name, "i") for name in integers},
        **{name: table(name, "f") for name in ("clip_rate", "masks", "floats", "inverse_bind")},
    }
    constants = {"Jp": "JP", "Mp": "MP", "lanes": "JOINT_LANES", "depth": "DEPTH", "wanted": "WANTED"}
    levels = ("LEVEL_COUNT", lambda i: f"constants[LEVELS + {i}]", lambda i: f"constants[LEVEL_JOINTS + {i}]")
    reserved = {"lane", "room", "stack", "memory_row", *shader.bindings}
    return World(arrays, constants, levels, frozenset(reserved))


def _constants(shader: PoseShader) -> list[str]:
    layout, at = shader.layout, 0
    sizes = {
        "LANES": shader.lanes, "JP": layout.joints, "MP": layout.morphs, "JOINT_LANES": padded(shader.joints),
        "JOINTS": shader.joints, "MORPHS": layout.M, "PALETTE": shader.palette, "DEPTH": shader.depth, "MEMORY": shader.memory,
        "VECTORS": shader.vectors, "LEVEL_COUNT": shader.levels, "WANTED": len(shader.wanted), "MODEL": shader.depth * layout.size,
        "ROOM": shader.room,
    }  # fmt: skip
    for name, size in zip(TABLES, shader.tables):
        sizes[name.upper()], sizes[f"{name.upper()}_COUNT"] = at, size
        at += size
    return [f"const {name}: i32 = {size};" for name, size in sizes.items()]


def _bindings(shader: PoseShader) -> list[str]:
    kinds = {"program": ("read", "i32"), "constants": ("read", "i32"), "memory": ("read_write", "f32"), "scratch": ("read_write", "f32")}
    kinds |= {name: ("read_write", kind) for name, kind in OUTPUTS.values()}
    lines = [f"struct Batch {{ {', '.join(f'{name}: i32' for name in BATCH)} }}"]
    for number, name in enumerate(shader.bindings):
        access, kind = kinds.get(name, ("read", "f32"))
        what = "uniform> batch: Batch" if name == "batch" else f"storage, {access}> {name}: array<{kind}>"
        lines.append(f"@group(0) @binding({number}) var<{what};")
    lines += [] if shader.scratch else ["var<workgroup> stack: array<f32, ROOM>;"]
    return [*lines, *(f"var<private> {name}: i32;" for name in ("lane", "room", "memory_row"))]


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
  room = n * ROOM;
  let record = batch.first_record + 3 * n;
  let first = program[record];
  memory_row = (program[record + 2] - n) * MEMORY;
  let wrong = interpret(n, first, program[record + 1]);
  if (lane == 0) { status[batch.status_row + n] = select(0, wrong - first + 1, wrong >= 0); }
  if (wrong >= 0) { return; }
{write}}"""


def _main(shader: PoseShader) -> str:
    # The matrices come last: they need the pose, and others may need what lies above it.
    rows = [f"  write_{name}(n);" for name in shader.wanted if name in ("pose", "morphs")]
    matrices = [f"  write_{name}(n);" for name in shader.wanted if name in ("palette", "model")]
    write = [*rows, *(["  model_matrices();", *matrices] if matrices else [])]
    return _MAIN.replace("{write}", "".join(f"{line}\n" for line in write))


@lru_cache(maxsize=32)
def shader_text(shader: PoseShader) -> str:
    """The shader as WGSL."""
    world = _world(shader)
    translator = WgslTranslator(world)
    work: Any = Value(WORLD)
    translator.function(
        pose_kernel.interpret, [work, *(Value(INTEGER, name) for name in ("n", "first", "last"))]
    )
    if {"palette", "model"} & set(shader.wanted):
        translator.function(local_matrices, [work])
    parts = [
        "// Pose programs: written by marrow.gpu.pose_shader from the records in marrow.kernels.operations.",
        *_constants(shader),
        *_bindings(shader),
        *_bank(shader),
        translator.text().rstrip(),
        *outputs_text(shader.wanted, world),
        _main(shader),
    ]
    return "\n".join(parts) + "\n"
