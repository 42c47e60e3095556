// What the sun, or a lamp, sees: depth alone.
fn from_sun(i: u32, position: vec3f) -> vec4f {
  let number = (instances[i].flags >> 16u) & 31u;
  if number >= frame.counts.y { return frame.lamp_views[number - frame.counts.y] * vec4f(position, 1.0); }
  let at = frame.cascades[number].matrix * vec4f(position, 1.0);
  return vec4f(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, at.z, 1.0);
}

@vertex fn caster_vertex(@builtin(vertex_index) vertex: u32, @builtin(instance_index) i: u32) -> @builtin(position) vec4f {
  let at = 3u * (instances[i].first + vertex);
  return from_sun(i, placed(i, vec3f(positions[at], positions[at + 1u], positions[at + 2u])));
}
