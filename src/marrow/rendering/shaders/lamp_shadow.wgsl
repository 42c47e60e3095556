// Shadows of lamps: a view for a spot light, the six sides of a cube for a point light.

fn lamp_visibility(lamp: Lamp, position: vec3f, geometric: vec3f) -> f32 {
  if lamp.shadow.y < 0.5 { return 1.0; }
  let way = position - lamp.position.xyz;
  let size = abs(way);
  var side = 0u;
  if lamp.shadow.y > 1.5 {
    if size.x >= size.y && size.x >= size.z {
      side = select(1u, 0u, way.x > 0.0);
    } else if size.y >= size.z {
      side = select(3u, 2u, way.y > 0.0);
    } else {
      side = select(5u, 4u, way.z > 0.0);
    }
  }
  let view = u32(lamp.shadow.x) + side;
  let step = lamp.shadow.z;                  // of the map, a texel
  let metres = lamp.shadow.w * length(way);  // of a texel there
  // Off the surface, the more the flatter light falls on it.
  let slant = 1.0 - abs(dot(geometric, way)) / max(length(way), 1e-30);
  let p = frame.lamp_views[view] * vec4f(position + geometric * metres * (1.5 + 2.5 * slant), 1.0);
  if p.w <= 0.0 { return 1.0; }
  let at = p.xy / p.w * vec2f(0.5, -0.5) + 0.5;
  if any(at < vec2f(0.0)) || any(at > vec2f(1.0)) || p.z > p.w { return 1.0; }
  let depth = p.z / p.w;
  var lit = 0.0;
  var offset = vec2f(2.2 * step, 0.0);
  for (var k = 0u; k < 10u; k++) {
    let there = at + offset * sqrt((f32(k) + 0.5) / 10.0);
    offset = turned(offset);
    lit += textureSampleCompareLevel(shadow_map, shadow_sampler, there, i32(frame.counts.y + view), depth);
  }
  return lit / 10.0;
}
