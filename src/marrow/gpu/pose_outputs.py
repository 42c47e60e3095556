"""How the shader of pose programs ends: model-space matrices, palettes, poses, morph weights."""

from __future__ import annotations

from typing import Any, NamedTuple

from marrow.kernels.language.annotations import ANY, Out, f4
from marrow.kernels.language.lanes import block
from marrow.kernels.language.wgsl_values import World
from marrow.kernels.pose_programs import local_rows

__all__ = ["MatrixWork", "local_matrices", "outputs_text"]


class MatrixWork(NamedTuple):
    """What `local_matrices` works with: the pose on the stack, and where its matrices go, `matrix_row` numbers to a row."""

    stack: f4[ANY]
    matrices: Out[f4[ANY]]
    Jp: int
    lanes: int
    matrix_row: int


def _emit_local(e: Any, i: Any, Jp: Any, stack: Any, row: Any, matrices: Any) -> None:
    """The local matrix of a joint; each of its twelve numbers is in a row of joints."""
    pose = [e.load(stack, e.row(i, r, Jp)) for r in range(10)]
    rows = local_rows(e, pose[:3], pose[3:7], pose[7:])
    for k in range(12):
        e.store(matrices, e.row(i, k, row), rows[k // 4][k % 4])


local_matrix = block(_emit_local)


def local_matrices(work):  # type: ignore[no-untyped-def]
    local_matrix.each(0, work.lanes, 16, work.Jp, work.stack, work.matrix_row, work.matrices)


_MATRICES = """fn matrix_row(r: i32, j: i32) -> vec4<f32> {
  let at = 4 * r * ROW + j;
  return vec4<f32>({at}, {at + ROW}, {at + 2 * ROW}, {at + 3 * ROW});
}
fn put_row(r: i32, j: i32, row: vec4<f32>) {
  let at = 4 * r * ROW + j;
  {at} = row.x;
  {at + ROW} = row.y;
  {at + 2 * ROW} = row.z;
  {at + 3 * ROW} = row.w;
}
fn row_of_product(a: vec4<f32>, x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> vec4<f32> {
  return fma(vec4<f32>(a.z), z, fma(vec4<f32>(a.y), y, fma(vec4<f32>(a.x), x, vec4<f32>(0.0, 0.0, 0.0, a.w))));
}"""
# A joint's matrix takes in that of its parent, then that of the ancestor where the parent's ends: twice as far each
# time.
_JUMPS = """fn model_matrices() {
  local_matrices();
  let j = min(lane, batch.lanes - 1);
  var x = matrix_row(0, lane);
  var y = matrix_row(1, lane);
  var z = matrix_row(2, lane);
  for (var k = 0; k < batch.rounds; k++) {
    workgroupBarrier();
    let p = program[batch.ancestors + k * batch.lanes + j];
    if (p >= 0) {
      let a = row_of_product(matrix_row(0, p), x, y, z);
      let b = row_of_product(matrix_row(1, p), x, y, z);
      let c = row_of_product(matrix_row(2, p), x, y, z);
      x = a;
      y = b;
      z = c;
    }
    workgroupBarrier();
    put_row(0, lane, x);
    put_row(1, lane, y);
    put_row(2, lane, z);
  }
  workgroupBarrier();
}"""
_LEVELS = """fn model_matrices() {
  local_matrices();
  barrier();
  for (var level = 1; level < batch.level_count; level++) {
    for (var k = program[batch.levels + level] + lane; k < program[batch.levels + level + 1]; k += LANES) {
      let j = program[batch.level_joints + k];
      let p = program[batch.parents + j];
      let x = matrix_row(0, j);
      let y = matrix_row(1, j);
      let z = matrix_row(2, j);
      for (var r = 0; r < 3; r++) { put_row(r, j, row_of_product(matrix_row(r, p), x, y, z)); }
    }
    barrier();
  }
}"""
# Invocations write rows of matrices, neighbours next to each other: that is how memory likes it.
_WRITE = """fn inverse_bind_row(i: i32) -> vec4<f32> {
  let at = batch.inverse_bind + 4 * i;
  return bitcast<vec4<f32>>(vec4<i32>(program[at], program[at + 1], program[at + 2], program[at + 3]));
}
fn write_outputs(n: i32) {
  if ((wanted & 1) != 0) {
    let size = 10 * batch.row + batch.morph_lanes;
    for (var k = lane; k < size; k += LANES) { results[(batch.pose_row + n) * size + k] = scratch[room + k]; }
  }
  if ((wanted & 8) != 0) {
    for (var k = lane; k < batch.morphs; k += LANES) {
      results[(batch.morphs_row + n) * batch.morphs + k] = scratch[room + 10 * batch.row + k];
    }
  }
  if ((wanted & 6) != 0) { model_matrices(); }
  if ((wanted & 2) != 0) {
    for (var k = lane; k < 3 * batch.joints; k += LANES) {
      let row = matrix_row(k % 3, k / 3);
      let at = 4 * ((batch.model_row + n) * 3 * batch.joints + k);
      results[at] = row.x;
      results[at + 1] = row.y;
      results[at + 2] = row.z;
      results[at + 3] = row.w;
    }
  }
  if ((wanted & 4) != 0) {
    for (var k = lane; k < 3 * batch.palette; k += LANES) {
      let p = k / 3;
      let left = matrix_row(k - 3 * p, program[batch.palette_joints + p]);
      palettes[(batch.palette_row + n) * 3 * batch.palette + k] =
        row_of_product(left, inverse_bind_row(3 * p), inverse_bind_row(3 * p + 1), inverse_bind_row(3 * p + 2));
    }
  }
}"""


def outputs_text(world: World, *, jumps: bool) -> str:
    """The functions that write what is wanted (bits as the pose kernel has them)."""
    place = world.arrays["matrices"].place
    assert place is not None
    text = _MATRICES.replace("ROW", world.constants["matrix_row"])
    for k in range(4):
        at = "at" if k == 0 else f"at + {k} * {world.constants['matrix_row']}".replace("1 * ", "")
        text = text.replace(f"{{{at}}}", place(at))
    return "\n".join([text, _JUMPS if jumps else _LEVELS, _WRITE])
