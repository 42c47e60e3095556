// What is brighter than the screen can show glows: it is blurred over several sizes and added before tone mapping.
@group(1) @binding(0) var drawn: texture_2d<f32>;

const KNEE = 0.5; // from here to twice as much, glow begins

@fragment fn glow_bright(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let size = vec2f(textureDimensions(drawn));
  let middle = 2.0 * at.xy / size;
  var sum = vec3f(0.0);
  for (var i = 0; i < 4; i++) {
    let corner = vec2f(f32(i & 1), f32(i >> 1)) * 2.0 - 1.0;
    let c = textureSampleLevel(drawn, smooth_sampler, middle + corner * 0.5 / size, 0.0).rgb * frame.ambient.w;
    let peak = max(c.r, max(c.g, c.b));
    // One spark must not light up all around it: what is very bright counts less.
    let over = max(peak - 1.0 + KNEE, 0.0);
    let soft = min(over * over / (4.0 * KNEE), over);
    sum += c / max(peak, 1e-4) * (soft / (1.0 + 0.1 * soft)) * step(1.0, peak);
  }
  return vec4f(0.25 * sum, 1.0);
}

@fragment fn glow_down(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let size = vec2f(textureDimensions(drawn));
  var sum = vec3f(0.0);
  for (var i = 0; i < 4; i++) {
    let corner = vec2f(f32(i & 1), f32(i >> 1)) * 2.0 - 1.0;
    sum += textureSampleLevel(drawn, smooth_sampler, (2.0 * at.xy + corner) / size, 0.0).rgb;
  }
  return vec4f(0.25 * sum, 1.0);
}

@fragment fn glow_up(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let size = vec2f(textureDimensions(drawn));
  let middle = 0.5 * at.xy / size;
  var sum = vec3f(0.0);
  for (var y = -1; y <= 1; y++) {
    for (var x = -1; x <= 1; x++) {
      let weight = (2.0 - abs(f32(x))) * (2.0 - abs(f32(y))) / 16.0;
      sum += weight * textureSampleLevel(drawn, smooth_sampler, middle + vec2f(f32(x), f32(y)) / size, 0.0).rgb;
    }
  }
  return vec4f(sum, 1.0);
}
