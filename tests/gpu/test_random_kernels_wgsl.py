"""Random kernels as WGSL, on the GPU: exactly what machine code gives, in all that the language promises for shaders."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from compiling import MachineCode, bits, copied
from marrow.gpu.buffers import Buffer
from marrow.kernels.language.kernel import CallFrame
from marrow.kernels.language.types import kind_of
from marrow.kernels.language.wgsl_printer import WgslPrinter
from marrow.kernels.language.wgsl_values import WgslField, World
from random_kernels import TEXTS, Shared, random_kernel, random_work

SEEDS = range(14)
"""Drivers take a third of a second to compile each."""
SHADER = """alias real = f32;
@group(0) @binding(0) var<storage, read> xs: array<f32>;
@group(0) @binding(1) var<storage, read> is: array<i32>;
@group(0) @binding(2) var<storage, read_write> os: array<f32>;
@group(0) @binding(3) var<storage, read_write> ps: array<i32>;
@group(0) @binding(4) var<storage, read_write> returned: array<vec2<i32>>;
var<private> row: i32;
{functions}
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3<u32>) {{
  row = 8 * i32(group.x);
  if (arrayLength(&xs) + arrayLength(&is) + arrayLength(&os) + arrayLength(&ps) == 0u) {{ return; }}
  switch i32(group.x) {{
{cases}
    default: {{}}
  }}
}}
"""


def shader(functions):
    """All kernels in one shader; workgroup k runs the k-th on the k-th row of every array."""
    arrays = {
        "x": WgslField("f", "xs[row + {}]".format, (8,)),
        "i": WgslField("i", "is[row + {}]".format, (8,)),
        "o": WgslField("f", "os[row + {}]".format, (8,)),
        "p": WgslField("i", "ps[row + {}]".format, (8,)),
    }
    printer = WgslPrinter(World(arrays, {}, barrier="", reserved=frozenset(["xs", "is", "os", "ps", "row"])))
    names = [printer.root(f, [kind_of(Shared)]) for f in functions]
    cases = "\n".join(f"    case {k}: {{ returned[{k}] = {name}(); }}" for k, name in enumerate(names))
    return SHADER.format(functions=printer.text(), cases=cases)


def run(device, functions, works):
    """What the shader leaves in `o` and `p`, and what its functions return."""
    pipeline = device.compute_pipeline(shader(functions), label="random kernels")
    arrays = [np.concatenate(column) for column in zip(*works)]
    buffers = [Buffer.of(device, a) for a in [*arrays, np.zeros((len(works), 2), np.int32)]]
    group = device.bind(pipeline, [b.raw for b in buffers])
    encoder = device.raw.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, group)
    compute.dispatch_workgroups(len(works))
    compute.end()
    device.submit([encoder.finish()])
    return (
        buffers[2].numpy(np.float32, (len(works), 8)),
        buffers[3].numpy(np.int32, (len(works), 8)),
        buffers[4].numpy(np.int32, (len(works), 2)),
    )


def test_random_kernels_give_the_same_bits_as_machine_code_and_as_wgsl(device):
    kernels = [random_kernel(seed, shared=True, size=2) for seed in SEEDS]
    machine, rng = MachineCode(kernels), np.random.default_rng(0)
    works = [random_work(rng, shared=True) for _ in kernels]
    o, p, returned = run(device, [k.function for k in kernels], works)
    for n, (kernel, work) in enumerate(zip(kernels, works)):
        frame = CallFrame(kernel)
        mine = copied(work)
        frame.put(work=mine)
        machine.run(frame)
        said = f"{kernel.name}: {mine.o} {o[n]} {mine.p} {p[n]}\n{TEXTS[kernel.name]}"
        # Zeros have no sign here: WGSL leaves that open.
        assert bits(mine.o + 0.0) == bits(o[n] + 0.0), said
        assert bits(mine.p) == bits(p[n]), said
        assert list(frame.words[kernel.results : kernel.size]) == returned[n].tolist(), said


def count_down(work):
    m = work.i[0]
    rounds = 0
    for _ in range(m):
        m = m - 1
        rounds += 1
    work.p[0] = rounds
    return rounds, m


def test_the_bounds_of_a_range_are_evaluated_once(device):
    work = random_work(np.random.default_rng(0), shared=True)
    work.i[0] = 7
    _, p, returned = run(device, [count_down], [work])
    assert p[0, 0] == 7
    assert returned[0].tolist() == [7, 0]


def counted(p):
    p[0] += 1
    return p[0]


def in_order(work):
    """What stands on the left is evaluated first, also where the right needs statements in a shader."""
    i, p = work.i, work.p
    p[1] = p[0] * 100 + (counted(p) if i[0] > 0 else 7)
    p[2] = p[0] * 100 + counted(p)
    a = p[0] > 5 and counted(p) > 0
    b = p[0] < 5 or (counted(p) if i[0] > 0 else 7) > 0
    p[3], p[4] = p[4] + 1, p[3] + 2
    if not a and b:
        p[5] = p[0]
    return p[1], p[2]


def test_expressions_are_evaluated_from_left_to_right(device):
    work = random_work(np.random.default_rng(0), shared=True)
    work.i[0] = 7
    _, p, returned = run(device, [in_order], [work])
    assert p[0].tolist() == [2, 1, 102, 1, 2, 2, 0, 0]
    assert returned[0].tolist() == [1, 102]
