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
fn floor_rest(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  let r = a % b;
  return select(r, r + b, r != 0 && ((r < 0) != (b < 0)));
}
fn rotate(a_size: i32, v_at: i32, v_size: i32, p: i32, r: i32) {
  var t: real;
  let theta = (real(horn[5 * r]) - real(horn[5 * p])) / (2.0 * real(horn[4 * p + r]));
  if (abs(theta) > 1000000000000000.0) {
    t = 0.5 / abs(theta);
  } else {
    t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0));
  }
  if (theta < 0.0) {
    t = -t;
  }
  let c = 1.0 / sqrt(t * t + 1.0);
  let s = t * c;
  var x = real(horn[p]);
  var y = real(horn[r]);
  horn[p] = f32(c * x - s * y);
  horn[r] = f32(s * x + c * y);
  x = real(horn[4 + p]);
  y = real(horn[4 + r]);
  horn[4 + p] = f32(c * x - s * y);
  horn[4 + r] = f32(s * x + c * y);
  x = real(horn[8 + p]);
  y = real(horn[8 + r]);
  horn[8 + p] = f32(c * x - s * y);
  horn[8 + r] = f32(s * x + c * y);
  x = real(horn[12 + p]);
  y = real(horn[12 + r]);
  horn[12 + p] = f32(c * x - s * y);
  horn[12 + r] = f32(s * x + c * y);
  x = real(horn[4 * p]);
  y = real(horn[4 * r]);
  horn[4 * p] = f32(c * x - s * y);
  horn[4 * r] = f32(s * x + c * y);
  x = real(horn[4 * p + 1]);
  y = real(horn[4 * r + 1]);
  horn[4 * p + 1] = f32(c * x - s * y);
  horn[4 * r + 1] = f32(s * x + c * y);
  x = real(horn[4 * p + 2]);
  y = real(horn[4 * r + 2]);
  horn[4 * p + 2] = f32(c * x - s * y);
  horn[4 * r + 2] = f32(s * x + c * y);
  x = real(horn[4 * p + 3]);
  y = real(horn[4 * r + 3]);
  horn[4 * p + 3] = f32(c * x - s * y);
  horn[4 * r + 3] = f32(s * x + c * y);
  x = real(horn[v_at + p]);
  y = real(horn[v_at + r]);
  horn[v_at + p] = f32(c * x - s * y);
  horn[v_at + r] = f32(s * x + c * y);
  x = real(horn[v_at + 4 + p]);
  y = real(horn[v_at + 4 + r]);
  horn[v_at + 4 + p] = f32(c * x - s * y);
  horn[v_at + 4 + r] = f32(s * x + c * y);
  x = real(horn[v_at + 8 + p]);
  y = real(horn[v_at + 8 + r]);
  horn[v_at + 8 + p] = f32(c * x - s * y);
  horn[v_at + 8 + r] = f32(s * x + c * y);
  x = real(horn[v_at + 12 + p]);
  y = real(horn[v_at + 12 + r]);
  horn[v_at + 12 + p] = f32(c * x - s * y);
  horn[v_at + 12 + r] = f32(s * x + c * y);
}
fn nearest_rotation(m: array<real, 9>, enough: real, least: real) -> vec4<real> {
  var i: i32;
  let a_size = 16;
  let v_size = 16;
  horn[0] = f32(m[0] - m[4] - m[8]);
  horn[5] = f32(m[4] - m[0] - m[8]);
  horn[10] = f32(m[8] - m[0] - m[4]);
  horn[15] = f32(m[0] + m[4] + m[8]);
  let t_1 = m[1] + m[3];
  horn[1] = f32(t_1);
  horn[4] = f32(t_1);
  let t_2 = m[2] + m[6];
  horn[2] = f32(t_2);
  horn[8] = f32(t_2);
  let t_3 = m[5] + m[7];
  horn[6] = f32(t_3);
  horn[9] = f32(t_3);
  let t_4 = m[7] - m[5];
  horn[3] = f32(t_4);
  horn[12] = f32(t_4);
  let t_5 = m[2] - m[6];
  horn[7] = f32(t_5);
  horn[13] = f32(t_5);
  let t_6 = m[3] - m[1];
  horn[11] = f32(t_6);
  horn[14] = f32(t_6);
  for (var t1 = 0; t1 < 16; t1++) {
    i = t1;
    horn[16 + i] = f32(select(real(0.0), real(1.0), floor_rest(i, 5) == 0));
  }
  for (var n_ = 0; n_ < 24; n_++) {
    var off: real = 0.0;
    var size: real = 0.0;
    size = size + real(horn[0]) * real(horn[0]);
    size = size + real(horn[5]) * real(horn[5]);
    off = off + real(horn[4]) * real(horn[4]);
    size = size + real(horn[10]) * real(horn[10]);
    off = off + real(horn[8]) * real(horn[8]);
    off = off + real(horn[9]) * real(horn[9]);
    size = size + real(horn[15]) * real(horn[15]);
    off = off + real(horn[12]) * real(horn[12]);
    off = off + real(horn[13]) * real(horn[13]);
    off = off + real(horn[14]) * real(horn[14]);
    i = 3;
    if (!(off > enough * size)) {
      break;
    }
    if (!(abs(real(horn[1])) <= least)) {
      rotate(a_size, 16, v_size, 0, 1);
    }
    if (!(abs(real(horn[2])) <= least)) {
      rotate(a_size, 16, v_size, 0, 2);
    }
    if (!(abs(real(horn[3])) <= least)) {
      rotate(a_size, 16, v_size, 0, 3);
    }
    if (!(abs(real(horn[6])) <= least)) {
      rotate(a_size, 16, v_size, 1, 2);
    }
    if (!(abs(real(horn[7])) <= least)) {
      rotate(a_size, 16, v_size, 1, 3);
    }
    if (!(abs(real(horn[11])) <= least)) {
      rotate(a_size, 16, v_size, 2, 3);
    }
  }
  var best = 3;
  if (real(horn[0]) > real(horn[5 * best])) {
    best = 0;
  }
  if (real(horn[5]) > real(horn[5 * best])) {
    best = 1;
  }
  if (real(horn[10]) > real(horn[5 * best])) {
    best = 2;
  }
  i = 2;
  return vec4<real>(real(horn[16 + best]), real(horn[16 + 4 + best]), real(horn[16 + 8 + best]), real(horn[16 + 12 + best]));
}
fn nearest_rotation_float32(m: array<real, 9>) -> vec4<real> {
  return nearest_rotation(m, 1e-16, 1e-30);
}
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
