"""How the shader of pose programs ends: model-space matrices level by level of the hierarchy, palettes, poses, morph weights."""

from __future__ import annotations

from typing import Any

from marrow.kernels.language.lanes import block
from marrow.kernels.language.wgsl_values import World
from marrow.kernels.program import local_rows

__all__ = ["local_matrices", "outputs_text"]


def _emit_local(e: Any, i: Any, Jp: Any, stack: Any, model: Any) -> None:
    """The local matrix of a joint; each of its twelve numbers is in a row of joints."""
    pose = [e.load(stack, e.row(i, r, Jp)) for r in range(10)]
    rows = local_rows(e, pose[:3], pose[3:7], pose[7:])
    for k in range(12):
        e.store(model, e.row(i, k, Jp), rows[k // 4][k % 4])


local_matrix = block(_emit_local)


def local_matrices(work):  # type: ignore[no-untyped-def]
    local_matrix.each(0, work.lanes, 16, work.Jp, work.stack, work.model)


# Invocations write rows of matrices, neighbours next to each other: that is how memory likes it.
_OUTPUTS = """fn matrix_row(r: i32, j: i32) -> vec4<f32> {
  let at = 4 * r * batch.row + j;
  return vec4<f32>({0}, {1}, {2}, {3});
}
fn row_of_product(a: vec4<f32>, x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> vec4<f32> {
  return fma(vec4<f32>(a.z), z, fma(vec4<f32>(a.y), y, fma(vec4<f32>(a.x), x, vec4<f32>(0.0, 0.0, 0.0, a.w))));
}
fn model_matrices() {
  local_matrices();
  barrier();
  for (var level = 1; level < batch.level_count; level++) {
    for (var k = program[batch.levels + level] + lane; k < program[batch.levels + level + 1]; k += LANES) {
      let j = program[batch.level_joints + k];
      let p = program[batch.parents + j];
      let x = matrix_row(0, j);
      let y = matrix_row(1, j);
      let z = matrix_row(2, j);
      for (var r = 0; r < 3; r++) {
        let row = row_of_product(matrix_row(r, p), x, y, z);
        let at = 4 * r * batch.row + j;
        {0} = row.x;
        {1} = row.y;
        {2} = row.z;
        {3} = row.w;
      }
    }
    barrier();
  }
}
fn inverse_bind_row(i: i32) -> vec4<f32> {
  let at = batch.inverse_bind + 4 * i;
  return bitcast<vec4<f32>>(vec4<i32>(program[at], program[at + 1], program[at + 2], program[at + 3]));
}
fn write_outputs(n: i32) {
  if ((batch.wanted & 1) != 0) {
    let size = 10 * batch.row + batch.morph_lanes;
    for (var k = lane; k < size; k += LANES) { results[(batch.pose_row + n) * size + k] = {k}; }
  }
  if ((batch.wanted & 8) != 0) {
    for (var k = lane; k < batch.morphs; k += LANES) {
      morphs[(batch.morphs_row + n) * batch.morphs + k] = {10 * batch.row + k};
    }
  }
  if ((batch.wanted & 6) != 0) { model_matrices(); }
  if ((batch.wanted & 2) != 0) {
    for (var k = lane; k < 12 * batch.joints; k += LANES) {
      let c = k % 12;
      let at = c * batch.row + k / 12;
      results[(batch.model_row + n) * 12 * batch.joints + k] = {0};
    }
  }
  if ((batch.wanted & 4) != 0) {
    for (var k = lane; k < 3 * batch.palette; k += LANES) {
      let p = k / 3;
      let left = matrix_row(k - 3 * p, program[batch.palette_joints + p]);
      palettes[(batch.palette_row + n) * 3 * batch.palette + k] =
        row_of_product(left, inverse_bind_row(3 * p), inverse_bind_row(3 * p + 1), inverse_bind_row(3 * p + 2));
    }
  }
}"""


def outputs_text(world: World) -> str:
    """The functions that write what is wanted: bits of `batch.wanted` as the pose kernel has them, and 8 for morph weights."""
    stack, model = world.arrays["stack"].place, world.arrays["model"].place
    assert stack is not None
    assert model is not None
    text = _OUTPUTS
    for k in range(4):
        text = text.replace(f"{{{k}}}", model(f"at + {k} * batch.row" if k else "at"))
    for place in ("10 * batch.row + k", "k"):
        text = text.replace(f"{{{place}}}", stack(place))
    return text
