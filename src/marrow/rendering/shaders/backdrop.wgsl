// The picture of all that is opaque, over the background, for what is seen through glass; then smaller and smaller.
@group(1) @binding(0) var drawn: texture_2d<f32>;

fn before_the_screen(color: vec3f) -> vec3f {
  let low = min(color.r, min(color.g, color.b));
  return (color + select(0.04, sqrt(low / 6.25) - low, low < 0.04)) / max(frame.ambient.w, 1e-6);
}

@fragment fn backdrop_whole(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let seen = textureLoad(drawn, vec2i(at.xy), 0);
  if frame.background_top.w < 0.5 { return seen; }
  return vec4f(seen.rgb + (1.0 - seen.a) * before_the_screen(min(background(at.xy), vec3f(0.76))), 1.0);
}

@fragment fn backdrop_half(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let size = vec2f(max(textureDimensions(drawn) / 2u, vec2u(1u)));
  let middle = at.xy / size;
  let step = 0.5 / vec2f(textureDimensions(drawn));
  var sum = textureSampleLevel(drawn, smooth_sampler, middle + step * vec2f(1.0, 1.0), 0.0);
  sum += textureSampleLevel(drawn, smooth_sampler, middle + step * vec2f(-1.0, 1.0), 0.0);
  sum += textureSampleLevel(drawn, smooth_sampler, middle + step * vec2f(1.0, -1.0), 0.0);
  sum += textureSampleLevel(drawn, smooth_sampler, middle + step * vec2f(-1.0, -1.0), 0.0);
  return 0.25 * sum;
}
