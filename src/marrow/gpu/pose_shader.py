"""The shader that interprets pose programs: written from the records of the operations, by the kernels' own functions.

One workgroup runs the program of one instance, its invocations side by side over the joints. The stack of poses lies in the
workgroup's memory, or where that is too small in a part of a buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marrow.kernels import program as pose_kernel
from marrow.kernels.language.kinds import INTEGER
from marrow.kernels.language.lanes import block
from marrow.kernels.language.wgsl import WgslTranslator
from marrow.kernels.language.wgsl_values import WORLD, Value, WgslField, World
from marrow.kernels.pose_layout import PoseLayout

__all__ = ["HEADER", "PoseShader", "shader_text"]

HEADER = (
    "count",
    "operations",
    "first_operation",
    "vectors",
    "memory_row",
    "palette_row",
    "morph_row",
    "pose_row",
    "model_row",
)
"""The whole numbers at the beginning of what is handed over for a batch of instances: how many there are, how many operations,
where those and the vectors begin, and the row of the first instance in memory and in every output. Then, for each instance and one
more, where its program begins; the operations; the vectors."""
TABLES = ("rules", "parents", "levels", "level_joints", "palette_joints", "ints", "clip_start", "clip_frames", "clip_rate", "masks",
          "floats", "inverse_bind")  # fmt: skip
"""What stays the same, in one buffer, one behind the other."""
OUTPUTS = {
    "palette": ("palettes", "vec4<f32>"),
    "morphs": ("morphs", "f32"),
    "pose": ("poses", "f32"),
    "model": ("models", "vec4<f32>"),
}


@dataclass(frozen=True)
class PoseShader:
    """What a shader is written for: the sizes of a character and its tables, and what is wanted.

    `tables` are the sizes of `TABLES`, `depth` poses are stacked at most, `memory` and `vectors` floats are kept per instance;
    `banks` buffers hold the clips, `bank_size` floats each. With `scratch` the stack lies in a buffer.
    """

    layout: PoseLayout
    palette: int
    tables: tuple[int, ...]
    depth: int
    memory: int
    vectors: int
    levels: int
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
        outputs = [OUTPUTS[name][0] for name in self.wanted]
        return ["program", *banks, "constants", "memory", "status", *outputs, *["scratch"] * self.scratch]


def _emit_local(e: Any, i: Any, Jp: Any, stack: Any, model: Any) -> None:
    """The local matrix of a joint, its twelve numbers a row of joints each."""
    pose = [e.load(stack, e.row(i, r, Jp)) for r in range(10)]
    rows = pose_kernel.local_rows(e, pose[:3], pose[3:7], pose[7:])
    for k in range(12):
        e.store(model, e.row(i, k, Jp), rows[k // 4][k % 4])


local_matrix = block(_emit_local)


def local_matrices(work):  # type: ignore[no-untyped-def]
    local_matrix.each(0, work.Jp, 16, work.Jp, work.stack, work.model)


def _world(shader: PoseShader) -> World:
    def table(name: str, letter: str, *sizes: Any) -> WgslField:
        begin, cast = name.upper(), "bitcast<f32>({})" if letter == "f" else "{}"
        return WgslField(
            letter, lambda i: cast.format(f"constants[{begin} + {i}]"), sizes or (f"{begin}_COUNT",)
        )

    def program(column: int, letter: str) -> tuple[str, Callable[[str], str]]:
        cast = "bitcast<f32>({})" if letter == "f" else "{}"
        return letter, lambda i: cast.format(f"program[first_operation + 4 * ({i}) + {column}]")

    stack = "scratch[room + {}]" if shader.scratch else "stack[{}]"
    model = "scratch[room + MODEL + {}]" if shader.scratch else "stack[MODEL + {}]"
    bank = "bank[{}]" if shader.banks == 1 else "clip_number({})"
    arrays = {
        "ops": WgslField(sizes=("operations",), columns={"code": program(0, "i"), "argument": program(1, "i"), "time": program(2, "f"), "weight": program(3, "f")}),
        "bank": WgslField("f", bank.format),
        "stack": WgslField("f", stack.format),
        "model": WgslField("f", model.format),
        "memory": WgslField("f", lambda i: f"memory[memory_row + {i}]", ("count", "MEMORY")),
        "vectors": WgslField("f", lambda i: f"bitcast<f32>(program[vectors + {i}])", ("count", "VECTORS")),
        **{name: table(name, "i") for name in ("rules", "parents", "palette_joints", "ints", "clip_start", "clip_frames")},
        **{name: table(name, "f") for name in ("clip_rate", "masks", "floats", "inverse_bind")},
    }  # fmt: skip
    constants = {"Jp": "JP", "Mp": "MP", "depth": "DEPTH", "wanted": "WANTED"}
    levels = ("LEVEL_COUNT", lambda i: f"constants[LEVELS + {i}]", lambda i: f"constants[LEVEL_JOINTS + {i}]")
    return World(arrays, constants, levels)


def _constants(shader: PoseShader) -> list[str]:
    layout, lines, at = shader.layout, [], 0
    sizes = {
        "LANES": shader.lanes, "JP": layout.joints, "MP": layout.morphs, "MORPHS": layout.M, "JOINTS": layout.J, "PALETTE": shader.palette,
        "DEPTH": shader.depth, "MEMORY": shader.memory, "VECTORS": shader.vectors, "LEVEL_COUNT": shader.levels,
        "WANTED": len(shader.wanted), "MODEL": shader.depth * layout.size, "ROOM": shader.room, "BANK_SIZE": shader.bank_size,
    }  # fmt: skip
    for name, size in zip(TABLES, shader.tables):
        sizes[name.upper()], sizes[f"{name.upper()}_COUNT"] = at, size
        at += size
    lines += [f"const {name}: i32 = {size};" for name, size in sizes.items()]
    return lines


def _bindings(shader: PoseShader) -> list[str]:
    kinds = {"program": ("read", "i32"), "constants": ("read", "i32"), "memory": ("read_write", "f32"), "status": ("read_write", "i32"),
             "scratch": ("read_write", "f32")}  # fmt: skip
    kinds |= {name: ("read_write", kind) for name, kind in OUTPUTS.values()}
    lines = []
    for number, name in enumerate(shader.bindings):
        access, kind = kinds.get(name, ("read", "f32"))
        lines.append(f"@group(0) @binding({number}) var<storage, {access}> {name}: array<{kind}>;")
    if not shader.scratch:
        lines.append("var<workgroup> stack: array<f32, ROOM>;")
    names = ["lane", "room", *HEADER]
    return [*lines, *(f"var<private> {name}: i32;" for name in names)]


def _bank(shader: PoseShader) -> list[str]:
    """Clips that lie in several buffers."""
    if shader.banks == 1:
        return []
    lines = ["fn clip_number(i: i32) -> f32 {", "  switch i / BANK_SIZE {"]
    lines += [f"    case {k}: {{ return bank_{k}[i - {k} * BANK_SIZE]; }}" for k in range(1, shader.banks)]
    return [*lines, "    default: { return bank[i]; }", "  }", "}"]


_MATRICES = """fn chained(r: i32, j: i32) -> vec4<f32> {
  let at = 4 * r * JP + j;
  return vec4<f32>({0}, {1}, {2}, {3});
}
// Row `r` of the product of two matrices, from that row of the left one.
fn row_of_product(a: vec4<f32>, x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> vec4<f32> {
  return fma(vec4<f32>(a.z), z, fma(vec4<f32>(a.y), y, fma(vec4<f32>(a.x), x, vec4<f32>(0.0, 0.0, 0.0, a.w))));
}
fn model_matrices() {
  local_matrices();
  barrier();
  for (var level = 1; level < LEVEL_COUNT; level++) {
    for (var k = constants[LEVELS + level] + lane; k < constants[LEVELS + level + 1]; k += LANES) {
      let j = constants[LEVEL_JOINTS + k];
      let p = constants[PARENTS + j];
      let x = chained(0, j);
      let y = chained(1, j);
      let z = chained(2, j);
      for (var r = 0; r < 3; r++) {
        let row = row_of_product(chained(r, p), x, y, z);
        let at = 4 * r * JP + j;
        {0} = row.x;
        {1} = row.y;
        {2} = row.z;
        {3} = row.w;
      }
    }
    barrier();
  }
}"""
_WRITE = {
    "palette": """fn inverse_bind_row(i: i32) -> vec4<f32> {
  let at = INVERSE_BIND + 4 * i;
  return bitcast<vec4<f32>>(vec4<i32>(constants[at], constants[at + 1], constants[at + 2], constants[at + 3]));
}
fn write_palette(n: i32) {
  for (var k = lane; k < 3 * PALETTE; k += LANES) {
    let p = k / 3;
    let left = chained(k - 3 * p, constants[PALETTE_JOINTS + p]);
    let right = 3 * p;
    palettes[(palette_row + n) * 3 * PALETTE + k] =
      row_of_product(left, inverse_bind_row(right), inverse_bind_row(right + 1), inverse_bind_row(right + 2));
  }
}""",
    "model": """fn write_model(n: i32) {
  for (var k = lane; k < 3 * JOINTS; k += LANES) {
    models[(model_row + n) * 3 * JOINTS + k] = chained(k % 3, k / 3);
  }
}""",
    "morphs": """fn write_morphs(n: i32) {
  for (var k = lane; k < MORPHS; k += LANES) { morphs[(morph_row + n) * MORPHS + k] = {stack}; }
}""",
    "pose": """fn write_pose(n: i32) {
  for (var k = lane; k < 10 * JP + MP; k += LANES) { poses[(pose_row + n) * (10 * JP + MP) + k] = {stack}; }
}""",
}
_MAIN = """@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  let n = i32(group.x);
  lane = i32(index);
{header}
  let first = program[{start} + n];
  let wrong = interpret(n, first, program[{start} + n + 1]);
  if (lane == 0) { status[n] = select(0, wrong - first + 1, wrong >= 0); }
  if (wrong >= 0) { return; }
{write}}"""


def _outputs(shader: PoseShader, world: World) -> list[str]:
    texts = []
    if {"palette", "model"} & set(shader.wanted):
        place = world.arrays["model"].place
        assert place is not None
        text = _MATRICES
        for k in range(4):
            text = text.replace(f"{{{k}}}", place(f"at + {k} * JP" if k else "at"))
        texts.append(text)
    stack = world.arrays["stack"].place
    assert stack is not None
    for name in shader.wanted:
        place = {"morphs": "10 * JP + k", "pose": "k"}.get(name, "")
        texts.append(_WRITE[name].replace("{stack}", stack(place)))
    return texts


def _main(shader: PoseShader) -> str:
    header = [f"  {name} = program[{k}];" for k, name in enumerate(HEADER)]
    header += ["  memory_row = memory_row * MEMORY;"]
    header += ["  room = i32(group.x) * ROOM;"] * shader.scratch
    calls = {
        "palette": "write_palette(n);",
        "model": "write_model(n);",
        "morphs": "write_morphs(n);",
        "pose": "write_pose(n);",
    }
    # Pose and morphs first: matrices need the stack no more.
    write = [f"  {calls[name]}" for name in shader.wanted if name in ("pose", "morphs")]
    matrices = [f"  {calls[name]}" for name in shader.wanted if name in ("palette", "model")]
    write += ["  model_matrices();", *matrices] if matrices else []
    text = _MAIN.replace("{header}", "\n".join(header)).replace("{start}", str(len(HEADER)))
    return text.replace("{write}", "".join(f"{line}\n" for line in write))


def shader_text(shader: PoseShader) -> str:
    """The shader as WGSL."""
    world = _world(shader)
    translator = WgslTranslator(world)
    work = Value(WORLD)
    translator.function(
        pose_kernel.interpret, [work, *(Value(INTEGER, name) for name in ("n", "first", "last"))]
    )
    if {"palette", "model"} & set(shader.wanted):
        translator.function(local_matrices, [work])
    parts = [
        "// Pose programs, written by marrow.gpu.pose_shader from marrow.kernels.operations.",
        *_constants(shader), *_bindings(shader), *_bank(shader), translator.text().rstrip(), *_outputs(shader, world), _main(shader),
    ]  # fmt: skip
    return "\n".join(parts) + "\n"
