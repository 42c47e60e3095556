"""Small passes before skinning: morph channels to target weights, and matrices to dual quaternions with stretches."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.language.types import FLOAT, TupleKind, kind_of
from marrow.kernels.language.wgsl_printer import WgslPrinter
from marrow.kernels.language.wgsl_values import WgslField, World
from marrow.kernels.polar import NearestWork, nearest_rotation_float32
from marrow.model.character import Character

__all__ = ["MORPH_WEIGHTS", "SPLIT_WORKGROUP", "split_source", "target_table"]

Array = NDArray[Any]
SPLIT_WORKGROUP = 64

MORPH_WEIGHTS = """\
// How far each morph target is on: its channel's weight along the lines through zero and every target's full weight.
struct Sizes { rows: u32, channels: u32, targets: u32, first: u32, first_out: u32 }
struct Target {
  channel: u32,  // of the pose
  kind: u32,     // 1: one of several on its channel; 2: no stop before this one; 4: none behind; 8, 16: next to such
  before: f32, own: f32, behind: f32,
}
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> table: array<Target>;
@group(0) @binding(2) var<storage, read> channels: array<f32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= sizes.targets || id.y >= sizes.rows) { return; }
  let t = table[id.x];
  let w = channels[(sizes.first + id.y) * sizes.channels + t.channel];
  var on = 0.0;
  if ((t.kind & 1u) == 0u) {
    on = select(w / t.own, w, t.own == 1.0);
  } else {
    // Rising from the stop before, falling to the one behind; the first and the last line go on for ever.
    let rises = (t.kind & 2u) == 0u && (w >= t.before || (t.kind & 8u) != 0u) && (w < t.own || (t.kind & 4u) != 0u);
    let falls = (t.kind & 4u) == 0u && (w < t.behind || (t.kind & 16u) != 0u) && (w >= t.own || (t.kind & 2u) != 0u);
    on = select(on, (w - t.before) / (t.own - t.before), rises);
    on = select(on, 1.0 - (w - t.own) / (t.behind - t.own), falls);
  }
  weights[(sizes.first_out + id.y) * sizes.targets + id.x] = on;
}
"""


def target_table(character: Character) -> Array:
    """The table `MORPH_WEIGHTS` reads, `(targets, 5)` words, over all meshes. In-betweens are those of one mesh."""
    rows = []
    for mesh in character.meshes:
        stops: dict[int, list[tuple[float, int]]] = {}
        for i, target in enumerate(mesh.morph_targets):
            stops.setdefault(target.channel, [(0.0, -1)]).append((target.full_weight, i))
        for i, target in enumerate(mesh.morph_targets):
            own, full = sorted(stops[target.channel]), target.full_weight
            if len(own) == 2:
                rows.append((target.channel, 0, 0.0, full, 0.0))
                continue
            at, last = own.index((full, i)), len(own) - 1
            before, behind = own[max(at - 1, 0)][0], own[min(at + 1, last)][0]
            kind = 1 | 2 * (at == 0) | 4 * (at == last) | 8 * (at == 1) | 16 * (at == last - 1)
            rows.append((target.channel, kind, before, full, behind))
    out = np.zeros((len(rows), 5), np.uint32)
    for i, (channel, kind, *numbers) in enumerate(rows):
        out[i, :2], out[i, 2:] = (channel, kind), np.array(numbers, np.float32).view(np.uint32)
    return out


_SPLIT = """\
// Palette matrices as unit dual quaternions and stretches about the joints' bind positions: `dual_quaternions` of the
// CPU's kernels. A row of `duals`: (kind, scale that all share, 0, 0), then two vectors for each joint, then three.
struct Sizes { rows: u32, palette: u32, used: u32, first: u32, first_dual: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> matrices: array<vec4f>;
@group(0) @binding(2) var<storage, read> pivots: array<vec4f>;  // w: whether any vertex uses the joint
@group(0) @binding(3) var<storage, read> which: array<vec2u>;   // row of matrices, row of duals
@group(0) @binding(4) var<storage, read_write> duals: array<vec4f>;

var<workgroup> shared_scale: atomic<u32>;
var<workgroup> kind: atomic<u32>;

// The nearest rotation, written from `marrow.kernels.polar`.
alias real = f32;
var<private> horn: array<f32, 32>;
$NEAREST_ROTATION
fn determinant3(x: vec3f, y: vec3f, z: vec3f) -> f32 { return dot(x, cross(y, z)); }

// The largest number of a matrix; 1 for none: what is divided by it can be squared without leaving the range of floats.
fn largest(x: vec3f, y: vec3f, z: vec3f) -> f32 {
  let m = max(max(abs(x), abs(y)), abs(z));
  let size = max(max(m.x, m.y), m.z);
  return select(1.0, size, size > 0.0);
}

// The mean square of the lengths of the columns, and how far the matrix is from turning and scaling all ways alike.
fn likeness(x: vec3f, y: vec3f, z: vec3f) -> vec2f {
  let a = vec3f(x.x, y.x, z.x);
  let b = vec3f(x.y, y.y, z.y);
  let c = vec3f(x.z, y.z, z.z);
  let own = vec3f(dot(a, a), dot(b, b), dot(c, c));
  let square = (own.x + own.y + own.z) / 3.0;
  let off = abs(own - square);
  let cross_terms = abs(vec3f(dot(a, b), dot(a, c), dot(b, c)));
  return vec2f(square, max(max(max(off.x, off.y), off.z), max(max(cross_terms.x, cross_terms.y), cross_terms.z)));
}

// The quaternion of a rotation, its largest component first.
fn shepperd(x: vec3f, y: vec3f, z: vec3f) -> vec4f {
  let tr = x.x + y.y + z.z;
  var q: vec4f;
  if (tr >= x.x && tr >= y.y && tr >= z.z) { q = vec4f(z.y - y.z, x.z - z.x, y.x - x.y, 1.0 + tr); }
  else if (x.x >= y.y && x.x >= z.z) { q = vec4f(1.0 + x.x - y.y - z.z, x.y + y.x, x.z + z.x, z.y - y.z); }
  else if (y.y >= z.z) { q = vec4f(x.y + y.x, 1.0 - x.x + y.y - z.z, y.z + z.y, x.z - z.x); }
  else { q = vec4f(x.z + z.x, y.z + z.y, 1.0 - x.x - y.y + z.z, y.x - x.y); }
  return normalize(q);
}

fn turned(q: vec4f, v: vec3f) -> vec3f { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let row = which[sizes.first + group.x];
  let base = row.x * sizes.palette * 3u;
  let out = row.y * (1u + sizes.palette * 5u);
  // Whether all joints that are used share a scale: the first one's.
  let f = base + sizes.used * 3u;
  let unit = largest(matrices[f].xyz, matrices[f + 1u].xyz, matrices[f + 2u].xyz);
  let square = likeness(matrices[f].xyz / unit, matrices[f + 1u].xyz / unit, matrices[f + 2u].xyz / unit).x;
  if (lane == 0u) { atomicStore(&shared_scale, 1u); atomicStore(&kind, 0u); }
  workgroupBarrier();
  for (var p = lane; p < sizes.palette; p += 64u) {
    if (pivots[p].w != 0.0) {
      let m = base + p * 3u;
      let x = matrices[m].xyz / unit;
      let y = matrices[m + 1u].xyz / unit;
      let z = matrices[m + 2u].xyz / unit;
      let like = likeness(x, y, z);
      if (!(determinant3(x, y, z) > 0.0 && like.y + abs(like.x - square) <= 1e-4 * square)) {
        atomicStore(&shared_scale, 0u);
      }
    }
  }
  workgroupBarrier();
  var sigma = 1.0;
  let whole_scale = unit * sqrt(square);
  if (atomicLoad(&shared_scale) == 1u && abs(whole_scale - 1.0) > 1e-5) { sigma = whole_scale; }
  for (var p = lane; p < sizes.palette; p += 64u) {
    let m = base + p * 3u;
    var x = matrices[m].xyz / sigma;
    var y = matrices[m + 1u].xyz / sigma;
    var z = matrices[m + 2u].xyz / sigma;
    let place = sigma * pivots[p].xyz;
    let size = largest(x, y, z);
    let like = likeness(x / size, y / size, z / size);
    let volume = determinant3(x / size, y / size, z / size);
    var q: vec4f;
    var sx: vec3f;
    var sy: vec3f;
    var sz: vec3f;
    if (volume > 0.0 && like.y < 4e-6 * like.x) {
      let length = size * sqrt(like.x);
      let scale = select(length, 1.0, abs(length - 1.0) < 2e-6);
      q = shepperd(x / scale, y / scale, z / scale);
      sx = vec3f(scale, 0.0, 0.0);
      sy = vec3f(0.0, scale, 0.0);
      sz = vec3f(0.0, 0.0, scale);
      if (sigma * scale != 1.0) { atomicStore(&kind, 1u); }
    } else {
      let turn = select(1.0, -1.0, volume < 0.0) / size;
      let u = turn * x;
      let v = turn * y;
      let w = turn * z;
      q = normalize(nearest_rotation_float32(array<real, 9>(u.x, u.y, u.z, v.x, v.y, v.z, w.x, w.y, w.z)));
      // What is left when the turn is taken back, made symmetric.
      let back = vec4f(-q.xyz, q.w);
      let cx = turned(back, vec3f(x.x, y.x, z.x));
      let cy = turned(back, vec3f(x.y, y.y, z.y));
      let cz = turned(back, vec3f(x.z, y.z, z.z));
      sx = vec3f(cx.x, cy.x, cz.x);
      sy = vec3f(cy.x, cy.y, cz.y);
      sz = vec3f(cz.x, cz.y, cz.z);
      atomicStore(&kind, 1u);
    }
    let offset = place - vec3f(dot(sx, place), dot(sy, place), dot(sz, place));
    let t = vec3f(matrices[m].w, matrices[m + 1u].w, matrices[m + 2u].w) - turned(q, offset);
    let d = out + 1u + p * 2u;
    duals[d] = q;
    duals[d + 1u] = 0.5 * vec4f(t * q.w + cross(t, q.xyz), -dot(t, q.xyz));
    let s = out + 1u + sizes.palette * 2u + p * 3u;
    duals[s] = vec4f(sigma * sx, offset.x);
    duals[s + 1u] = vec4f(sigma * sy, offset.y);
    duals[s + 2u] = vec4f(sigma * sz, offset.z);
  }
  workgroupBarrier();
  if (lane == 0u) { duals[out] = vec4f(f32(atomicLoad(&kind)), sigma, 0.0, 0.0); }
}
"""


@cache
def split_source() -> str:
    """The shader that splits matrices."""
    printer = WgslPrinter(World({"horn": WgslField("f", "horn[{}]".format, ("32",))}, {}, barrier=""))
    printer.root(nearest_rotation_float32, [kind_of(NearestWork), TupleKind((FLOAT,) * 9)])
    return _SPLIT.replace("$NEAREST_ROTATION\n", printer.text())
