fn shade(s: Surface) -> vec3f {
  let sun = frame.sun_color.rgb * max(dot(s.normal, frame.sun_direction.xyz), 0.0) * sun_visibility(s.position, s.geometric);
  let sky = mix(vec3f(0.35, 0.34, 0.33), vec3f(0.95, 1.0, 1.05), 0.5 + 0.5 * s.normal.y) * frame.ambient.rgb;
  return mix(s.base * (sun / PI + 0.6 * sky) + s.emissive, s.base, s.unlit);
}
