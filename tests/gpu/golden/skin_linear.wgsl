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
  v.joints = unpack4xU8(q2.z);
  v.weights = bitcast<vec4f>(vec4u(q2.w, q3.x, q3.y, q3.z));
  return v;
}

fn skin_blend_matrices(v: SkinVertex, rows: vec4u) -> SkinRows {
  let b = rows.x * part.palette * 3u;
  var r = SkinRows(vec4f(0.0), vec4f(0.0), vec4f(0.0));
  let j = v.joints;
  let w = v.weights;
  r = SkinRows(r.x + w.x * skin_matrices[b + j.x * 3u], r.y + w.x * skin_matrices[b + j.x * 3u + 1u], r.z + w.x * skin_matrices[b + j.x * 3u + 2u]);
  r = SkinRows(r.x + w.y * skin_matrices[b + j.y * 3u], r.y + w.y * skin_matrices[b + j.y * 3u + 1u], r.z + w.y * skin_matrices[b + j.y * 3u + 2u]);
  r = SkinRows(r.x + w.z * skin_matrices[b + j.z * 3u], r.y + w.z * skin_matrices[b + j.z * 3u + 1u], r.z + w.z * skin_matrices[b + j.z * 3u + 2u]);
  r = SkinRows(r.x + w.w * skin_matrices[b + j.w * 3u], r.y + w.w * skin_matrices[b + j.w * 3u + 1u], r.z + w.w * skin_matrices[b + j.w * 3u + 2u]);
  return r;
}

fn skin_linear(v: SkinVertex, m: SkinRows) -> Skinned {
  var r: Skinned;
  let x1 = fma(-m.y.z, m.z.y, m.y.y * m.z.z);
  let x2 = fma(-m.y.x, m.z.z, m.y.z * m.z.x);
  let x3 = fma(-m.y.y, m.z.x, m.y.x * m.z.y);
  let x4 = fma(m.x.z, x3, fma(m.x.y, x2, m.x.x * x1)) < 0.0;
  let x5 = fma(x3, v.normal.z, fma(x2, v.normal.y, x1 * v.normal.x));
  let x6 = select(x5, -x5, x4);
  let x7 = fma(fma(-m.z.y, m.x.x, m.z.x * m.x.y), v.normal.z, fma(fma(-m.z.x, m.x.z, m.z.z * m.x.x), v.normal.y, fma(-m.z.z, m.x.y, m.z.y * m.x.z) * v.normal.x));
  let x8 = select(x7, -x7, x4);
  let x9 = fma(fma(-m.x.y, m.y.x, m.x.x * m.y.y), v.normal.z, fma(fma(-m.x.x, m.y.z, m.x.z * m.y.x), v.normal.y, fma(-m.x.z, m.y.y, m.x.y * m.y.z) * v.normal.x));
  let x10 = select(x9, -x9, x4);
  let x11 = fma(x10, x10, fma(x8, x8, x6 * x6));
  let x12 = select(1.0 / sqrt(x11), 0.0, x11 == 0.0);
  let x13 = x6 * x12;
  let x14 = x8 * x12;
  let x15 = x10 * x12;
  let x16 = fma(m.x.z, v.tangent.z, fma(m.x.y, v.tangent.y, m.x.x * v.tangent.x));
  let x17 = fma(m.y.z, v.tangent.z, fma(m.y.y, v.tangent.y, m.y.x * v.tangent.x));
  let x18 = fma(m.z.z, v.tangent.z, fma(m.z.y, v.tangent.y, m.z.x * v.tangent.x));
  let x19 = fma(x15, x18, fma(x14, x17, x13 * x16));
  let x20 = fma(-x13, x19, x16);
  let x21 = fma(-x14, x19, x17);
  let x22 = fma(-x15, x19, x18);
  let x23 = fma(x22, x22, fma(x21, x21, x20 * x20));
  let x24 = select(1.0 / sqrt(x23), 0.0, x23 == 0.0);
  r.tangent.w = select(v.tangent.w, -v.tangent.w, x4);
  r.position.x = fma(m.x.z, v.position.z, fma(m.x.y, v.position.y, fma(m.x.x, v.position.x, m.x.w)));
  r.position.y = fma(m.y.z, v.position.z, fma(m.y.y, v.position.y, fma(m.y.x, v.position.x, m.y.w)));
  r.position.z = fma(m.z.z, v.position.z, fma(m.z.y, v.position.y, fma(m.z.x, v.position.x, m.z.w)));
  r.normal.x = x13;
  r.normal.y = x14;
  r.normal.z = x15;
  r.tangent.x = x20 * x24;
  r.tangent.y = x21 * x24;
  r.tangent.z = x22 * x24;
  return r;
}

fn skin_carried(vertex: SkinVertex, rows: vec4u) -> Skinned {
  let v = vertex;
  return skin_linear(v, skin_blend_matrices(v, rows));
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
