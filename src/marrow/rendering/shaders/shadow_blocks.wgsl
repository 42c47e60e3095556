// Sums up blocks of 4 x 4 texels of the map of shadows, so that wide edges are filtered without missing what is thin.
@group(0) @binding(0) var map: texture_depth_2d;

@fragment fn blocks(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let first = 4 * vec2i(at.xy);
  var covered = 0.0;
  var sum = 0.0;
  var least = 1.0;
  for (var y = 0; y < 4; y++) {
    for (var x = 0; x < 4; x++) {
      let z = textureLoad(map, first + vec2i(x, y), 0);
      covered += select(0.0, 1.0, z < 1.0);
      sum += select(0.0, z, z < 1.0);
      least = min(least, z);
    }
  }
  return vec4f(covered / 16.0, sum / 16.0, least, 0.0);
}

@group(0) @binding(1) var summed: texture_2d<f32>;

// The least depth of 8 x 8 blocks and of all that an edge can reach across.
@fragment fn least_depth(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let last = vec2i(textureDimensions(summed)) - 1;
  let first = 8 * vec2i(at.xy) - 8;
  var least = 1.0;
  for (var y = 0; y < 24; y++) {
    for (var x = 0; x < 24; x++) {
      least = min(least, textureLoad(summed, clamp(first + vec2i(x, y), vec2i(0), last), 0).z);
    }
  }
  return vec4f(least);
}
