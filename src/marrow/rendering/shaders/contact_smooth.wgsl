// Takes the pattern out of the contact shading, along surfaces and not across their edges. Depths are in reaches of it.
@group(1) @binding(0) var rough: texture_2d<f32>;

@fragment fn smoothed(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let size = vec2i(textureDimensions(rough));
  let here = textureLoad(rough, vec2i(at.xy), 0).xy;
  let room = max(1.0, 0.02 * abs(here.y));
  var sum = vec2f(0.0);
  for (var y = -2; y < 2; y++) {
    for (var x = -2; x < 2; x++) {
      let there = textureLoad(rough, clamp(vec2i(at.xy) + vec2i(x, y), vec2i(0), size - 1), 0).xy;
      let weight = max(1.0 - abs(there.y - here.y) / room, 0.0);
      sum += weight * vec2f(there.x, 1.0);
    }
  }
  return vec4f(sum.x / max(sum.y, 1e-6), here.y, 0.0, 0.0);
}
