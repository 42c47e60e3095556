// Shadows of the sun: soft where what casts them is far, sharp where it touches.

const SUN_WIDTH = 0.028;     // the angle that the sun's disc is wide, in radians: three times the real one

// The next point of a disc that is filled evenly: each is turned by the golden angle.
fn turned(a: vec2f) -> vec2f {
  return vec2f(-0.7373688 * a.x - 0.6754903 * a.y, 0.6754903 * a.x - 0.7373688 * a.y);
}

// How wide an edge can get, in texels.
fn widest() -> f32 {
  return clamp(20.0 * frame.sun_color.w, 4.0, 28.0);
}

// How much of the sun is seen from a place of a surface. `normal` is what it is lit by, `geometric` that of the triangle.
fn sun_visibility(position: vec3f, normal: vec3f, geometric: vec3f) -> f32 {
  let facing = dot(normal, frame.sun_direction.xyz);
  if facing <= 0.0 {
    return 0.0;
  }
  for (var i = 0u; i < frame.counts.y; i++) {
    // A little off the surface, the more the flatter light falls on it: neighbouring triangles are not in its way.
    let texel = frame.cascades[i].texel;
    let off = position + geometric * (1.5 * texel.x + texel.w) * sqrt(max(1.0 - facing * facing, 0.0));
    let at = (frame.cascades[i].matrix * vec4f(off, 1.0)).xyz;
    let edge = 0.5 - (widest() + 2.0) * texel.y;
    if all(abs(at.xy - 0.5) < vec2f(edge)) {
      // Where light grazes, the flat triangles of a round body are in each other's shadow, though its normals say they are
      // lit. There is hardly any light there: shadows begin a little later.
      return mix(1.0, sun_in_cascade(i, at, geometric), smoothstep(0.03, 0.25, facing));
    }
  }
  return 1.0;
}

fn sun_in_cascade(i: u32, at: vec3f, normal: vec3f) -> f32 {
  let texel = frame.cascades[i].texel;
  // How depth grows along the surface, so that each tap is compared with the surface's own depth there.
  let m = frame.cascades[i].matrix;
  let size = texel.x / texel.y;
  let row_x = vec3f(m[0].x, m[1].x, m[2].x);
  let row_y = vec3f(m[0].y, m[1].y, m[2].y);
  let facing = dot(normal, frame.sun_direction.xyz);
  var slope = vec2f(dot(row_x, normal), dot(row_y, normal)) * size * size / (texel.z * max(facing, 0.04));
  if facing <= 0.0 {
    slope = vec2f();
  }
  // What a texel's own extent can be off by, and a little for rounding.
  let bias = (abs(slope.x) + abs(slope.y)) * texel.y + (0.6 * texel.x + texel.w) / texel.z;
  let here = vec3f(at.xy, min(at.z, 1.0) - bias);

  let nearest = vec2i(here.xy * vec2f(textureDimensions(shadow_least)));
  if textureLoad(shadow_least, nearest, i, 0).x > here.z + (abs(slope.x) + abs(slope.y)) * widest() * texel.y {
    return 1.0;
  }
  // What is in the way, and how far: found in blocks, where nothing is too thin to be seen. Taps near the middle count more.
  let taps = frame.counts.w;
  let search = taps / 2u + 1u;
  let block_bias = 4.0 * bias;
  var between = 0.0;
  var found = 0.0;
  var way = vec2f(widest() * texel.y, 0.0);
  for (var k = 0u; k < search; k++) {
    let part = f32(k) / f32(search - 1u);
    let offset = way * sqrt(part);
    way = turned(way);
    let block = textureSampleLevel(shadow_blocks, smooth_sampler, here.xy + offset, i, 0.0);
    let own = here.z + bias + dot(slope, offset);
    if block.z < own - block_bias {
      let mean = block.y / max(block.x, 1e-3);
      let weight = max(block.x, 0.02) * (1.0 - 0.7 * part);
      between += weight * (own - select(block.z, mean, mean < own - block_bias));
      found += weight;
    }
  }
  if found == 0.0 {
    // What touches is closer than blocks can tell.
    return textureSampleCompareLevel(shadow_map, shadow_sampler, here.xy, i, here.z);
  }
  let away = between / found * texel.z;    // metres from what casts the shadow
  let width = clamp(away * SUN_WIDTH * frame.sun_color.w / texel.x, 1.0, widest());
  // Narrow edges are filtered texel by texel, wide ones block by block: taps then overlap, and no pattern is seen.
  let wide = saturate((width - 4.0) / 3.0);
  var lit = 0.0;
  if wide < 1.0 {
    way = vec2f(min(width, 6.0) * texel.y, 0.0);
    for (var k = 0u; k < taps; k++) {
      let offset = way * sqrt((f32(k) + 0.5) / f32(taps));
      way = turned(way);
      lit += textureSampleCompareLevel(shadow_map, shadow_sampler, here.xy + offset, i, here.z + dot(slope, offset));
    }
    lit *= (1.0 - wide) / f32(taps);
  }
  if wide > 0.0 {
    // A block and its neighbours are as wide as an edge of 4 texels themselves.
    way = vec2f(sqrt(max(width * width - 15.0, 1.0)) * texel.y, 0.0);
    var dark = 0.0;
    for (var k = 0u; k < taps; k++) {
      let offset = way * sqrt((f32(k) + 0.5) / f32(taps));
      way = turned(way);
      let block = textureSampleLevel(shadow_blocks, smooth_sampler, here.xy + offset, i, 0.0);
      let mean = block.y / max(block.x, 1e-3);
      dark += block.x * saturate((here.z + bias + dot(slope, offset) - mean) / block_bias - 1.0);
    }
    lit += wide * (1.0 - dark / f32(taps));
  }
  return lit;
}
