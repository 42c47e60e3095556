@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var shadow_map: texture_depth_2d_array;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;
// The same at a quarter of the size: how much of a texel something covers, that times its mean depth, its least depth.
@group(0) @binding(6) var shadow_blocks: texture_2d_array<f32>;
@group(0) @binding(7) var smooth_sampler: sampler;
// The least depth of what can darken a texel of it, a thirty-second of the size.
@group(0) @binding(8) var shadow_least: texture_2d_array<f32>;

const PI = 3.14159265358979;

// What the vertex stage hands on. Places are relative to frame.origin.
struct Fragment {
  @builtin(position) clip: vec4f,
  @location(0) position: vec3f,
  @location(1) normal: vec3f,      // zero where the mesh has none
  @location(2) tangent: vec4f,     // zero where the mesh has none
  @location(3) uv: vec4f,          // two sets
  @location(4) color: vec4f,       // of the vertex, times the instance's tint; linear
  @location(5) paint: vec4f,       // a view's own colour, and how much of it
  @location(6) @interpolate(flat) id: vec2u,   // of the instance, and how a view paints it
}

struct Surface {
  position: vec3f,
  normal: vec3f,
  geometric: vec3f,    // of the flat triangle
  base: vec3f,
  alpha: f32,
  metallic: f32,
  roughness: f32,
  occlusion: f32,
  emissive: vec3f,
  unlit: f32,
}

// From a surface towards the eye.
fn towards_eye(position: vec3f) -> vec3f {
  return select(-frame.forward.xyz, normalize(frame.eye.xyz - position), frame.eye.w > 0.5);
}

// How much is seen of the floor at a place: it fades into the distance, and before the camera's far plane.
fn floor_seen(position: vec3f) -> f32 {
  let off = (position.xz - frame.scene.xz) / frame.ground.y;
  let far = 1.0 - smoothstep(0.6, 0.95, dot(position - frame.eye.xyz, frame.forward.xyz) * frame.grid.w);
  let near = 1.0 - smoothstep(0.2, 1.0, length(off));
  return near * far;
}
