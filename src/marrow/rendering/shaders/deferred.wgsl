// Lights what the G-buffer holds, a pixel at a time, by the same `shade` as the forward path.
@group(1) @binding(0) var g_base: texture_2d<f32>;
@group(1) @binding(1) var g_normals: texture_2d<f32>;
@group(1) @binding(2) var g_factors: texture_2d<f32>;
@group(1) @binding(3) var g_depth: texture_depth_2d;

fn unfolded(p: vec2f) -> vec3f {
  let z = 1.0 - abs(p.x) - abs(p.y);
  let sides = select(vec2f(-1.0), vec2f(1.0), p >= vec2f(0.0));
  return normalize(vec3f(select((1.0 - abs(p.yx)) * sides, p, z >= 0.0), z));
}

@fragment fn deferred_main(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let pixel = vec2i(at.xy);
  let depth = textureLoad(g_depth, pixel, 0);
  let factors = textureLoad(g_factors, pixel, 0);
  if (factors.b > 0.5) { return vec4f(); }
  let ndc = at.xy * frame.size.zw * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
  let p = frame.inverse_view_projection * vec4f(ndc, depth, 1.0);
  let base = textureLoad(g_base, pixel, 0);
  let normals = textureLoad(g_normals, pixel, 0);
  var s: Surface;
  s.position = p.xyz / p.w;
  s.normal = unfolded(normals.xy);
  s.geometric = unfolded(normals.zw);
  s.base = base.rgb;
  s.alpha = 1.0;
  s.metallic = factors.r;
  s.roughness = factors.g;
  s.occlusion = base.a;
  return vec4f(shade(s), 0.0);
}
