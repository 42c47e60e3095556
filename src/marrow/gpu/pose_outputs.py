"""How the shader of pose programs ends: model-space matrices level by level of the hierarchy, palettes, poses, morph weights."""

from __future__ import annotations

from collections.abc import Sequence
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
_MATRICES = """fn matrix_row(r: i32, j: i32) -> vec4<f32> {
  let at = 4 * r * JP + j;
  return vec4<f32>({0}, {1}, {2}, {3});
}
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
      let x = matrix_row(0, j);
      let y = matrix_row(1, j);
      let z = matrix_row(2, j);
      for (var r = 0; r < 3; r++) {
        let row = row_of_product(matrix_row(r, p), x, y, z);
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
    let left = matrix_row(k - 3 * p, constants[PALETTE_JOINTS + p]);
    palettes[(batch.palette_row + n) * 3 * PALETTE + k] =
      row_of_product(left, inverse_bind_row(3 * p), inverse_bind_row(3 * p + 1), inverse_bind_row(3 * p + 2));
  }
}""",
    "model": """fn write_model(n: i32) {
  for (var k = lane; k < 3 * JOINTS; k += LANES) {
    models[(batch.model_row + n) * 3 * JOINTS + k] = matrix_row(k % 3, k / 3);
  }
}""",
    "morphs": """fn write_morphs(n: i32) {
  for (var k = lane; k < MORPHS; k += LANES) { morphs[(batch.morph_row + n) * MORPHS + k] = {10 * JP + k}; }
}""",
    "pose": """fn write_pose(n: i32) {
  for (var k = lane; k < 10 * JP + MP; k += LANES) { poses[(batch.pose_row + n) * (10 * JP + MP) + k] = {k}; }
}""",
}


def outputs_text(wanted: Sequence[str], world: World) -> list[str]:
    """The functions that write what is wanted."""
    stack, model = world.arrays["stack"].place, world.arrays["model"].place
    assert stack is not None
    assert model is not None
    texts = []
    if {"palette", "model"} & set(wanted):
        text = _MATRICES
        for k in range(4):
            text = text.replace(f"{{{k}}}", model(f"at + {k} * JP" if k else "at"))
        texts.append(text)
    for name in wanted:
        text = _WRITE[name]
        for place in ("10 * JP + k", "k"):
            text = text.replace(f"{{{place}}}", stack(place))
        texts.append(text)
    return texts
