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
@group(0) @binding(2) var<storage, read> skin_matrices: array<vec4f>;
@group(0) @binding(3) var<storage, read> skin_duals: array<vec4f>;
@group(0) @binding(4) var<storage, read> skin_morphs: array<f32>;

fn skin_word(i: u32) -> u32 { return skin_mesh[i / 4u][i % 4u]; }

// Unit vectors as two 16-bit numbers (octahedral); 0x8000 twice is the zero vector.
// The handedness of a tangent is the last bit of y.
fn skin_pack(v: vec3f) -> u32 {
  let size = abs(v.x) + abs(v.y) + abs(v.z);
  if (size == 0.0) { return 0x80008000u; }
  let n = v / size;
  let folded = (1.0 - abs(n.yx)) * select(vec2f(-1.0), vec2f(1.0), n.xy >= vec2f(0.0));
  return pack2x16snorm(select(n.xy, folded, n.z < 0.0));
}

fn skin_unpack(code: u32) -> vec3f {
  let e = unpack2x16snorm(code);
  let z = 1.0 - abs(e.x) - abs(e.y);
  let xy = e - max(-z, 0.0) * select(vec2f(-1.0), vec2f(1.0), e >= vec2f(0.0));
  return select(normalize(vec3f(xy, z)), vec3f(0.0), (code & 0xfffeffffu) == 0x80008000u);
}

fn skin_pack_tangent(t: vec4f) -> u32 {
  return (skin_pack(t.xyz) & 0xfffeffffu) | select(0u, 0x10000u, t.w < 0.0);
}

fn skin_unpack_tangent(code: u32) -> vec4f {
  return vec4f(skin_unpack(code & 0xfffeffffu), select(1.0, -1.0, (code & 0x10000u) != 0u));
}

fn skin_listed(j: vec4u) -> vec4u {
  let t = part.table;
  return vec4u(skin_word(t + j.x), skin_word(t + j.y), skin_word(t + j.z), skin_word(t + j.w));
}

fn skin_joints(at: u32) -> vec4u { return skin_listed(unpack4xU8(skin_word(at + 0u))); }

fn skin_weights(at: u32) -> vec4f { return unpack4x8unorm(skin_word(at + 0u)); }

fn skin_vertex(number: u32) -> SkinVertex {
  var v: SkinVertex;
  let at = part.records + number * 3u;
  let q0 = skin_mesh[at + 0u];
  let q1 = skin_mesh[at + 1u];
  let q2 = skin_mesh[at + 2u];
  v.position = bitcast<vec3f>(vec3u(q0.x, q0.y, q0.z));
  v.normal = skin_unpack(q0.w);
  v.tangent = skin_unpack_tangent(q1.x);
  v.share = bitcast<f32>(q1.y);
  v.at = at * 4u + 6u;
  v.joints = skin_listed(unpack4xU8(q1.z));
  v.weights = unpack4x8unorm(q1.w);
  v.morphs = vec2u(skin_word(part.morphs + number), skin_word(part.morphs + number + 1u));
  return v;
}

// A target that is off changes nothing, even where its deltas are not numbers.
fn skin_morphed(vertex: SkinVertex, row: u32) -> SkinVertex {
  var v = vertex;
  let weights = row * part.targets + part.first_target;
  for (var e = v.morphs.x; e < v.morphs.y; e += 3u) {
    let w = skin_morphs[weights + skin_mesh[e].x];
    if (w != 0.0) {
      v.position += w * bitcast<vec3f>(skin_mesh[e].yzw);
      v.normal += w * bitcast<vec3f>(skin_mesh[e + 1u].xyz);
      v.tangent += w * bitcast<vec4f>(skin_mesh[e + 2u]);
    }
  }
  return v;
}

fn skin_blend_matrices(v: SkinVertex, rows: vec4u) -> SkinRows {
  let b = rows.x * part.palette * 3u;
  var r = SkinRows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
  var j = v.joints;
  var w = v.weights;
  for (var g = 1u; ; g++) {
    r = SkinRows(r.x + w.x * skin_matrices[b + j.x * 3u], r.y + w.x * skin_matrices[b + j.x * 3u + 1u], r.z + w.x * skin_matrices[b + j.x * 3u + 2u]);
    r = SkinRows(r.x + w.y * skin_matrices[b + j.y * 3u], r.y + w.y * skin_matrices[b + j.y * 3u + 1u], r.z + w.y * skin_matrices[b + j.y * 3u + 2u]);
    r = SkinRows(r.x + w.z * skin_matrices[b + j.z * 3u], r.y + w.z * skin_matrices[b + j.z * 3u + 1u], r.z + w.z * skin_matrices[b + j.z * 3u + 2u]);
    r = SkinRows(r.x + w.w * skin_matrices[b + j.w * 3u], r.y + w.w * skin_matrices[b + j.w * 3u + 1u], r.z + w.w * skin_matrices[b + j.w * 3u + 2u]);
    if (g == 2u) { break; }
    j = skin_joints(v.at + g * 2u);
    w = skin_weights(v.at + g * 2u + 1u);
    if (w.x == 0.0) { break; }
  }
  return r;
}

fn skin_blend_duals(v: SkinVertex, rows: vec4u) -> SkinDual {
  let b = rows.z * (1u + part.palette * 5u) + 1u;
  let lead = skin_duals[b + v.joints.x * 2u];
  var r = SkinDual(vec4f(0.0), vec4f(0.0));
  var q: vec4f;
  var s: f32;
  var j = v.joints;
  var w = v.weights;
  for (var g = 1u; ; g++) {
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
    if (g == 2u) { break; }
    j = skin_joints(v.at + g * 2u);
    w = skin_weights(v.at + g * 2u + 1u);
    if (w.x == 0.0) { break; }
  }
  return r;
}

fn skin_blend_stretch(v: SkinVertex, rows: vec4u) -> SkinRows {
  let b = rows.z * (1u + part.palette * 5u) + 1u + part.palette * 2u;
  var r = SkinRows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
  var j = v.joints;
  var w = v.weights;
  for (var g = 1u; ; g++) {
    r = SkinRows(r.x + w.x * skin_duals[b + j.x * 3u], r.y + w.x * skin_duals[b + j.x * 3u + 1u], r.z + w.x * skin_duals[b + j.x * 3u + 2u]);
    r = SkinRows(r.x + w.y * skin_duals[b + j.y * 3u], r.y + w.y * skin_duals[b + j.y * 3u + 1u], r.z + w.y * skin_duals[b + j.y * 3u + 2u]);
    r = SkinRows(r.x + w.z * skin_duals[b + j.z * 3u], r.y + w.z * skin_duals[b + j.z * 3u + 1u], r.z + w.z * skin_duals[b + j.z * 3u + 2u]);
    r = SkinRows(r.x + w.w * skin_duals[b + j.w * 3u], r.y + w.w * skin_duals[b + j.w * 3u + 1u], r.z + w.w * skin_duals[b + j.w * 3u + 2u]);
    if (g == 2u) { break; }
    j = skin_joints(v.at + g * 2u);
    w = skin_weights(v.at + g * 2u + 1u);
    if (w.x == 0.0) { break; }
  }
  return r;
}

fn skin_blended(v: SkinVertex, d: SkinDual, s: SkinRows, m: SkinRows) -> Skinned {
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
  let x23 = v.share;
  let x24 = 1.0 - x23;
  let x25 = fma(x23, fma(x16, s.z.x, fma(x15, s.y.x, x14 * s.x.x)), x24 * m.x.x);
  let x26 = fma(x23, fma(x16, s.z.y, fma(x15, s.y.y, x14 * s.x.y)), x24 * m.x.y);
  let x27 = fma(x23, fma(x16, s.z.z, fma(x15, s.y.z, x14 * s.x.z)), x24 * m.x.z);
  let x28 = fma(x23, fma(x19, s.z.x, fma(x18, s.y.x, x17 * s.x.x)), x24 * m.y.x);
  let x29 = fma(x23, fma(x19, s.z.y, fma(x18, s.y.y, x17 * s.x.y)), x24 * m.y.y);
  let x30 = fma(x23, fma(x19, s.z.z, fma(x18, s.y.z, x17 * s.x.z)), x24 * m.y.z);
  let x31 = fma(x23, fma(x22, s.z.x, fma(x21, s.y.x, x20 * s.x.x)), x24 * m.z.x);
  let x32 = fma(x23, fma(x22, s.z.y, fma(x21, s.y.y, x20 * s.x.y)), x24 * m.z.y);
  let x33 = fma(x23, fma(x22, s.z.z, fma(x21, s.y.z, x20 * s.x.z)), x24 * m.z.z);
  let x34 = fma(-x30, x32, x29 * x33);
  let x35 = fma(-x28, x33, x30 * x31);
  let x36 = fma(-x29, x31, x28 * x32);
  let x37 = fma(x27, x36, fma(x26, x35, x25 * x34)) < 0.0;
  let x38 = fma(x36, v.normal.z, fma(x35, v.normal.y, x34 * v.normal.x));
  let x39 = select(x38, -x38, x37);
  let x40 = fma(fma(-x32, x25, x31 * x26), v.normal.z, fma(fma(-x31, x27, x33 * x25), v.normal.y, fma(-x33, x26, x32 * x27) * v.normal.x));
  let x41 = select(x40, -x40, x37);
  let x42 = fma(fma(-x26, x28, x25 * x29), v.normal.z, fma(fma(-x25, x30, x27 * x28), v.normal.y, fma(-x27, x29, x26 * x30) * v.normal.x));
  let x43 = select(x42, -x42, x37);
  let x44 = fma(x43, x43, fma(x41, x41, x39 * x39));
  let x45 = select(1.0 / sqrt(x44), 0.0, x44 == 0.0);
  let x46 = x39 * x45;
  let x47 = x41 * x45;
  let x48 = x43 * x45;
  let x49 = fma(x27, v.tangent.z, fma(x26, v.tangent.y, x25 * v.tangent.x));
  let x50 = fma(x30, v.tangent.z, fma(x29, v.tangent.y, x28 * v.tangent.x));
  let x51 = fma(x33, v.tangent.z, fma(x32, v.tangent.y, x31 * v.tangent.x));
  let x52 = fma(x48, x51, fma(x47, x50, x46 * x49));
  let x53 = fma(-x46, x52, x49);
  let x54 = fma(-x47, x52, x50);
  let x55 = fma(-x48, x52, x51);
  let x56 = fma(x55, x55, fma(x54, x54, x53 * x53));
  let x57 = select(1.0 / sqrt(x56), 0.0, x56 == 0.0);
  r.tangent.w = select(v.tangent.w, -v.tangent.w, x37);
  r.position.x = fma(x27, v.position.z, fma(x26, v.position.y, fma(x25, v.position.x, fma(x23, fma(x16, s.z.w, fma(x15, s.y.w, fma(x14, s.x.w, x1 * fma(-d.real.z, d.dual.y, fma(d.real.y, d.dual.z, fma(-d.dual.w, d.real.x, d.real.w * d.dual.x)))))), x24 * m.x.w))));
  r.position.y = fma(x30, v.position.z, fma(x29, v.position.y, fma(x28, v.position.x, fma(x23, fma(x19, s.z.w, fma(x18, s.y.w, fma(x17, s.x.w, x1 * fma(-d.real.x, d.dual.z, fma(d.real.z, d.dual.x, fma(-d.dual.w, d.real.y, d.real.w * d.dual.y)))))), x24 * m.y.w))));
  r.position.z = fma(x33, v.position.z, fma(x32, v.position.y, fma(x31, v.position.x, fma(x23, fma(x22, s.z.w, fma(x21, s.y.w, fma(x20, s.x.w, x1 * fma(-d.real.y, d.dual.x, fma(d.real.x, d.dual.y, fma(-d.dual.w, d.real.z, d.real.w * d.dual.z)))))), x24 * m.z.w))));
  r.normal.x = x46;
  r.normal.y = x47;
  r.normal.z = x48;
  r.tangent.x = x53 * x57;
  r.tangent.y = x54 * x57;
  r.tangent.z = x55 * x57;
  return r;
}

fn skin_carried(vertex: SkinVertex, rows: vec4u) -> Skinned {
  let v = skin_morphed(vertex, rows.w);
  let d = skin_blend_duals(v, rows);
  return skin_blended(v, d, skin_blend_stretch(v, rows), skin_blend_matrices(v, rows));
}

fn skin(vertex: u32, row: u32) -> Skinned {
  return skin_carried(skin_vertex(vertex), vec4u(row));
}

@group(0) @binding(5) var<storage, read> entries: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> positions: array<f32>;
@group(0) @binding(7) var<storage, read_write> normals: array<u32>;
@group(0) @binding(8) var<storage, read_write> tangents: array<u32>;

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
    normals[at] = skin_pack(s.normal);
    tangents[at] = skin_pack_tangent(s.tangent);
  }
}
