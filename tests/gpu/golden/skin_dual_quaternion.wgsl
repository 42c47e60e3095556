struct SkinPart {
  first: u32,        // vertex of the surface where this part begins
  count: u32,        // vertices of this part
  vertices: u32,     // vertices of the whole surface
  palette: u32,      // entries of a palette
  targets: u32,      // morph targets of the whole surface
  records: u32,      // element of skin_mesh where the vertices begin
  morphs: u32,       // word (a quarter of an element) where their morph lists begin
  table: u32,        // word where their table of joints begins
  entry: u32,        // first of the entries to work on
  entry_count: u32,  // how many
  batch: u32,        // how many of them an invocation does
  first_target: u32, // number of the part's first morph target
  unused: vec4u,
}

struct Skinned { position: vec3f, normal: vec3f, tangent: vec4f }

struct SkinVertex {
  position: vec3f, normal: vec3f, tangent: vec4f, share: f32,
  at: u32, joints: vec4u, weights: vec4f, morphs: vec2u,
}

struct SkinRows { x: vec4f, y: vec4f, z: vec4f }

struct SkinDual { real: vec4f, dual: vec4f }

@group(0) @binding(0) var<uniform> part: SkinPart;
@group(0) @binding(1) var<storage, read> skin_mesh: array<vec4u>;
@group(0) @binding(2) var<storage, read> skin_duals: array<vec4f>;

fn skin_word(i: u32) -> u32 { return skin_mesh[i / 4u][i % 4u]; }


fn skin_vertex(number: u32) -> SkinVertex {
  var v: SkinVertex;
  let at = part.records + number * 4u;
  let q0 = skin_mesh[at + 0u];
  let q1 = skin_mesh[at + 1u];
  let q2 = skin_mesh[at + 2u];
  let q3 = skin_mesh[at + 3u];
  v.position = bitcast<vec3f>(vec3u(q0.x, q0.y, q0.z));
  v.normal = bitcast<vec3f>(vec3u(q0.w, q1.x, q1.y));
  v.tangent = bitcast<vec4f>(vec4u(q1.z, q1.w, q2.x, q2.y));
  v.joints = vec4u(q2.z & 0xffffu, q2.z >> 16u, q2.w & 0xffffu, q2.w >> 16u);
  v.weights = vec4f(unpack2x16unorm(q3.x), unpack2x16unorm(q3.y));
  return v;
}

fn skin_blend_duals(v: SkinVertex, rows: vec4u) -> SkinDual {
  let b = rows.z * (1u + part.palette * 5u) + 1u;
  let lead = skin_duals[b + v.joints.x * 2u];
  var r = SkinDual(vec4f(0.0), vec4f(0.0));
  var q: vec4f;
  var s: f32;
  let j = v.joints;
  let w = v.weights;
  q = skin_duals[b + j.x * 2u];
  s = select(w.x, -w.x, dot(lead, q) < 0.0);
  r = SkinDual(r.real + s * q, r.dual + s * skin_duals[b + j.x * 2u + 1u]);
  q = skin_duals[b + j.y * 2u];
  s = select(w.y, -w.y, dot(lead, q) < 0.0);
  r = SkinDual(r.real + s * q, r.dual + s * skin_duals[b + j.y * 2u + 1u]);
  q = skin_duals[b + j.z * 2u];
  s = select(w.z, -w.z, dot(lead, q) < 0.0);
  r = SkinDual(r.real + s * q, r.dual + s * skin_duals[b + j.z * 2u + 1u]);
  q = skin_duals[b + j.w * 2u];
  s = select(w.w, -w.w, dot(lead, q) < 0.0);
  r = SkinDual(r.real + s * q, r.dual + s * skin_duals[b + j.w * 2u + 1u]);
  return r;
}

fn skin_blend_stretch(v: SkinVertex, rows: vec4u) -> SkinRows {
  let b = rows.z * (1u + part.palette * 5u) + 1u + part.palette * 2u;
  var r = SkinRows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
  let j = v.joints;
  let w = v.weights;
  r = SkinRows(r.x + w.x * skin_duals[b + j.x * 3u], r.y + w.x * skin_duals[b + j.x * 3u + 1u], r.z + w.x * skin_duals[b + j.x * 3u + 2u]);
  r = SkinRows(r.x + w.y * skin_duals[b + j.y * 3u], r.y + w.y * skin_duals[b + j.y * 3u + 1u], r.z + w.y * skin_duals[b + j.y * 3u + 2u]);
  r = SkinRows(r.x + w.z * skin_duals[b + j.z * 3u], r.y + w.z * skin_duals[b + j.z * 3u + 1u], r.z + w.z * skin_duals[b + j.z * 3u + 2u]);
  r = SkinRows(r.x + w.w * skin_duals[b + j.w * 3u], r.y + w.w * skin_duals[b + j.w * 3u + 1u], r.z + w.w * skin_duals[b + j.w * 3u + 2u]);
  return r;
}

fn skin_rigid(v: SkinVertex, d: SkinDual) -> Skinned {
  var r: Skinned;
  let x1 = 2.0 / fma(d.real.w, d.real.w, fma(d.real.z, d.real.z, fma(d.real.y, d.real.y, d.real.x * d.real.x)));
  let x2 = fma(-d.real.z, v.position.y, fma(d.real.y, v.position.z, fma(d.real.w, v.position.x, d.dual.x)));
  let x3 = fma(-d.real.x, v.position.z, fma(d.real.z, v.position.x, fma(d.real.w, v.position.y, d.dual.y)));
  let x4 = fma(-d.real.y, v.position.x, fma(d.real.x, v.position.y, fma(d.real.w, v.position.z, d.dual.z)));
  let x5 = fma(-d.real.z, v.normal.y, fma(d.real.y, v.normal.z, d.real.w * v.normal.x));
  let x6 = fma(-d.real.x, v.normal.z, fma(d.real.z, v.normal.x, d.real.w * v.normal.y));
  let x7 = fma(-d.real.y, v.normal.x, fma(d.real.x, v.normal.y, d.real.w * v.normal.z));
  let x8 = fma(x1, fma(-d.real.z, x6, d.real.y * x7), v.normal.x);
  let x9 = fma(x1, fma(-d.real.x, x7, d.real.z * x5), v.normal.y);
  let x10 = fma(x1, fma(-d.real.y, x5, d.real.x * x6), v.normal.z);
  let x11 = fma(x10, x10, fma(x9, x9, x8 * x8));
  let x12 = select(1.0 / sqrt(x11), 0.0, x11 == 0.0);
  let x13 = x8 * x12;
  let x14 = x9 * x12;
  let x15 = x10 * x12;
  let x16 = fma(-d.real.z, v.tangent.y, fma(d.real.y, v.tangent.z, d.real.w * v.tangent.x));
  let x17 = fma(-d.real.x, v.tangent.z, fma(d.real.z, v.tangent.x, d.real.w * v.tangent.y));
  let x18 = fma(-d.real.y, v.tangent.x, fma(d.real.x, v.tangent.y, d.real.w * v.tangent.z));
  let x19 = fma(x1, fma(-d.real.z, x17, d.real.y * x18), v.tangent.x);
  let x20 = fma(x1, fma(-d.real.x, x18, d.real.z * x16), v.tangent.y);
  let x21 = fma(x1, fma(-d.real.y, x16, d.real.x * x17), v.tangent.z);
  let x22 = fma(x15, x21, fma(x14, x20, x13 * x19));
  let x23 = fma(-x13, x22, x19);
  let x24 = fma(-x14, x22, x20);
  let x25 = fma(-x15, x22, x21);
  let x26 = fma(x25, x25, fma(x24, x24, x23 * x23));
  let x27 = select(1.0 / sqrt(x26), 0.0, x26 == 0.0);
  r.tangent.w = v.tangent.w;
  r.position.x = fma(x1, fma(-d.real.z, x3, fma(d.real.y, x4, fma(-d.dual.w, d.real.x, d.real.w * d.dual.x))), v.position.x);
  r.position.y = fma(x1, fma(-d.real.x, x4, fma(d.real.z, x2, fma(-d.dual.w, d.real.y, d.real.w * d.dual.y))), v.position.y);
  r.position.z = fma(x1, fma(-d.real.y, x2, fma(d.real.x, x3, fma(-d.dual.w, d.real.z, d.real.w * d.dual.z))), v.position.z);
  r.normal.x = x13;
  r.normal.y = x14;
  r.normal.z = x15;
  r.tangent.x = x23 * x27;
  r.tangent.y = x24 * x27;
  r.tangent.z = x25 * x27;
  return r;
}

fn skin_stretch(v: SkinVertex, d: SkinDual, s: SkinRows) -> Skinned {
  var r: Skinned;
  let x1 = 2.0 / fma(d.real.w, d.real.w, fma(d.real.z, d.real.z, fma(d.real.y, d.real.y, d.real.x * d.real.x)));
  let x2 = x1 * d.real.x;
  let x3 = x1 * d.real.y;
  let x4 = x1 * d.real.z;
  let x5 = d.real.x * x2;
  let x6 = d.real.y * x3;
  let x7 = d.real.z * x4;
  let x8 = d.real.x * x3;
  let x9 = d.real.x * x4;
  let x10 = d.real.y * x4;
  let x11 = d.real.w * x2;
  let x12 = d.real.w * x3;
  let x13 = d.real.w * x4;
  let x14 = 1.0 - (x6 + x7);
  let x15 = x8 - x13;
  let x16 = x9 + x12;
  let x17 = x8 + x13;
  let x18 = 1.0 - (x5 + x7);
  let x19 = x10 - x11;
  let x20 = x9 - x12;
  let x21 = x10 + x11;
  let x22 = 1.0 - (x5 + x6);
  let x23 = fma(x16, s.z.x, fma(x15, s.y.x, x14 * s.x.x));
  let x24 = fma(x16, s.z.y, fma(x15, s.y.y, x14 * s.x.y));
  let x25 = fma(x16, s.z.z, fma(x15, s.y.z, x14 * s.x.z));
  let x26 = fma(x19, s.z.x, fma(x18, s.y.x, x17 * s.x.x));
  let x27 = fma(x19, s.z.y, fma(x18, s.y.y, x17 * s.x.y));
  let x28 = fma(x19, s.z.z, fma(x18, s.y.z, x17 * s.x.z));
  let x29 = fma(x22, s.z.x, fma(x21, s.y.x, x20 * s.x.x));
  let x30 = fma(x22, s.z.y, fma(x21, s.y.y, x20 * s.x.y));
  let x31 = fma(x22, s.z.z, fma(x21, s.y.z, x20 * s.x.z));
  let x32 = fma(-x28, x30, x27 * x31);
  let x33 = fma(-x26, x31, x28 * x29);
  let x34 = fma(-x27, x29, x26 * x30);
  let x35 = fma(x25, x34, fma(x24, x33, x23 * x32)) < 0.0;
  let x36 = fma(x34, v.normal.z, fma(x33, v.normal.y, x32 * v.normal.x));
  let x37 = select(x36, -x36, x35);
  let x38 = fma(fma(-x30, x23, x29 * x24), v.normal.z, fma(fma(-x29, x25, x31 * x23), v.normal.y, fma(-x31, x24, x30 * x25) * v.normal.x));
  let x39 = select(x38, -x38, x35);
  let x40 = fma(fma(-x24, x26, x23 * x27), v.normal.z, fma(fma(-x23, x28, x25 * x26), v.normal.y, fma(-x25, x27, x24 * x28) * v.normal.x));
  let x41 = select(x40, -x40, x35);
  let x42 = fma(x41, x41, fma(x39, x39, x37 * x37));
  let x43 = select(1.0 / sqrt(x42), 0.0, x42 == 0.0);
  let x44 = x37 * x43;
  let x45 = x39 * x43;
  let x46 = x41 * x43;
  let x47 = fma(x25, v.tangent.z, fma(x24, v.tangent.y, x23 * v.tangent.x));
  let x48 = fma(x28, v.tangent.z, fma(x27, v.tangent.y, x26 * v.tangent.x));
  let x49 = fma(x31, v.tangent.z, fma(x30, v.tangent.y, x29 * v.tangent.x));
  let x50 = fma(x46, x49, fma(x45, x48, x44 * x47));
  let x51 = fma(-x44, x50, x47);
  let x52 = fma(-x45, x50, x48);
  let x53 = fma(-x46, x50, x49);
  let x54 = fma(x53, x53, fma(x52, x52, x51 * x51));
  let x55 = select(1.0 / sqrt(x54), 0.0, x54 == 0.0);
  r.tangent.w = select(v.tangent.w, -v.tangent.w, x35);
  r.position.x = fma(x25, v.position.z, fma(x24, v.position.y, fma(x23, v.position.x, fma(x16, s.z.w, fma(x15, s.y.w, fma(x14, s.x.w, x1 * fma(-d.real.z, d.dual.y, fma(d.real.y, d.dual.z, fma(-d.dual.w, d.real.x, d.real.w * d.dual.x)))))))));
  r.position.y = fma(x28, v.position.z, fma(x27, v.position.y, fma(x26, v.position.x, fma(x19, s.z.w, fma(x18, s.y.w, fma(x17, s.x.w, x1 * fma(-d.real.x, d.dual.z, fma(d.real.z, d.dual.x, fma(-d.dual.w, d.real.y, d.real.w * d.dual.y)))))))));
  r.position.z = fma(x31, v.position.z, fma(x30, v.position.y, fma(x29, v.position.x, fma(x22, s.z.w, fma(x21, s.y.w, fma(x20, s.x.w, x1 * fma(-d.real.y, d.dual.x, fma(d.real.x, d.dual.y, fma(-d.dual.w, d.real.z, d.real.w * d.dual.z)))))))));
  r.normal.x = x44;
  r.normal.y = x45;
  r.normal.z = x46;
  r.tangent.x = x51 * x55;
  r.tangent.y = x52 * x55;
  r.tangent.z = x53 * x55;
  return r;
}

fn skin_carried(vertex: SkinVertex, rows: vec4u) -> Skinned {
  let v = vertex;
  let d = skin_blend_duals(v, rows);
  if (skin_duals[rows.z * (1u + part.palette * 5u)].x == 0.0) { return skin_rigid(v, d); }
  return skin_stretch(v, d, skin_blend_stretch(v, rows));
}

fn skin(vertex: u32, row: u32) -> Skinned {
  return skin_carried(skin_vertex(vertex), vec4u(row));
}

@group(0) @binding(3) var<storage, read> entries: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> positions: array<f32>;
@group(0) @binding(5) var<storage, read_write> normals: array<f32>;
@group(0) @binding(6) var<storage, read_write> tangents: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= part.count) { return; }
  let vertex = skin_vertex(id.x);
  let first = id.y * part.batch;
  let last = min(first + part.batch, part.entry_count);
  for (var k = first; k < last; k++) {
    let rows = entries[part.entry + k];
    let s = skin_carried(vertex, rows);
    let at = rows.y * part.vertices + part.first + id.x;
    positions[at * 3u + 0u] = s.position.x;
    positions[at * 3u + 1u] = s.position.y;
    positions[at * 3u + 2u] = s.position.z;
    normals[at * 3u + 0u] = s.normal.x;
    normals[at * 3u + 1u] = s.normal.y;
    normals[at * 3u + 2u] = s.normal.z;
    tangents[at * 4u + 0u] = s.tangent.x;
    tangents[at * 4u + 1u] = s.tangent.y;
    tangents[at * 4u + 2u] = s.tangent.z;
    tangents[at * 4u + 3u] = s.tangent.w;
  }
}
