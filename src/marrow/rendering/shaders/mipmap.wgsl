// Draws a level of mipmaps from the one above it.
@group(0) @binding(0) var above: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;

struct Corner { @builtin(position) clip: vec4f, @location(0) uv: vec2f }

@vertex fn corner(@builtin(vertex_index) i: u32) -> Corner {
  let uv = vec2f(f32((i << 1u) & 2u), f32(i & 2u));
  return Corner(vec4f(2.0 * uv.x - 1.0, 1.0 - 2.0 * uv.y, 0.0, 1.0), uv);
}

@fragment fn half(in: Corner) -> @location(0) vec4f {
  return textureSampleLevel(above, linear, in.uv, 0.0);
}
