struct Instance {
  rows: array<vec4f, 3>,   // to the world, relative to frame.origin
  tint: u32,               // rgba, 8 bits each
  id: u32,
  first: u32,              // where its vertices begin
  flags: u32,              // how a view paints it (paint.wgsl)
}
@group(2) @binding(0) var<storage, read> instances: array<Instance>;
@group(2) @binding(1) var<storage, read> positions: array<f32>;
@group(2) @binding(2) var<storage, read> normals: array<f32>;
@group(2) @binding(3) var<storage, read> tangents: array<f32>;
@group(2) @binding(4) var<storage, read> paints: array<u32>;

override HAS_NORMALS: bool = true;
override HAS_TANGENTS: bool = true;
override IS_PAINTED: bool = false;

struct Attributes {
  @builtin(vertex_index) vertex: u32,
  @builtin(instance_index) instance: u32,
  @location(0) uv: vec4f,
  @location(1) color: vec4f,
}

fn placed(i: u32, p: vec3f) -> vec3f {
  let h = vec4f(p, 1.0);
  return vec3f(dot(instances[i].rows[0], h), dot(instances[i].rows[1], h), dot(instances[i].rows[2], h));
}

// Normals go through the cofactor: right for any scale, shear and mirror.
fn cofactor(i: u32, n: vec3f) -> vec3f {
  let a = instances[i].rows[0].xyz;
  let b = instances[i].rows[1].xyz;
  let c = instances[i].rows[2].xyz;
  let m = vec3f(dot(cross(b, c), n), dot(cross(c, a), n), dot(cross(a, b), n));
  return m * sign(dot(cross(a, b), c));
}

fn unit(v: vec3f) -> vec3f {
  let top = max(abs(v.x), max(abs(v.y), abs(v.z)));
  if !(top > 0.0) {
    return vec3f();
  }
  return normalize(v / top);
}

fn vertex_of(in: Attributes) -> Fragment {
  let at = instances[in.instance].first + in.vertex;
  var out: Fragment;
  out.position = placed(in.instance, vec3f(positions[3 * at], positions[3 * at + 1], positions[3 * at + 2]));
  out.clip = frame.view_projection * vec4f(out.position, 1.0);
  if HAS_NORMALS {
    out.normal = unit(cofactor(in.instance, vec3f(normals[3 * at], normals[3 * at + 1], normals[3 * at + 2])));
  }
  if HAS_TANGENTS {
    let t = vec3f(tangents[4 * at], tangents[4 * at + 1], tangents[4 * at + 2]);
    let a = instances[in.instance].rows[0].xyz;
    let b = instances[in.instance].rows[1].xyz;
    let c = instances[in.instance].rows[2].xyz;
    out.tangent = vec4f(unit(vec3f(dot(a, t), dot(b, t), dot(c, t))), tangents[4 * at + 3] * sign(dot(cross(a, b), c)));
  }
  out.uv = in.uv;
  out.color = in.color * unpack4x8unorm(instances[in.instance].tint);
  let flags = instances[in.instance].flags & 0xffffu;
  if IS_PAINTED {
    // One colour for all, one for each vertex, those of each instance, or the tint.
    out.paint = unpack4x8unorm(paints[select(select(in.vertex, at, (flags & 16u) != 0u), 0u, (flags & 32u) != 0u)]);
    if (flags & 64u) != 0u { out.paint = vec4f(unpack4x8unorm(instances[in.instance].tint).rgb, 1.0); }
  }
  out.id = vec2u(instances[in.instance].id, flags);
  return out;
}

fn fragment_of(in: Attributes) -> Fragment {
  return vertex_of(in);
}

@vertex fn vertex_main(in: Attributes) -> Fragment {
  return fragment_of(in);
}
