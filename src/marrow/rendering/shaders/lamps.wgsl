// Point and spot lights. Space in front of the camera is cut into cells; each cell has a bit for every lamp that reaches it.

fn cell_of(position: vec3f) -> u32 {
  let v = lamp_grid.view * vec4f(position, 1.0);
  let p = lamp_grid.projection * v;
  let d = lamp_grid.depths;
  let at = (0.5 + 0.5 * vec2f(p.x, -p.y) / p.w) * vec2f(lamp_grid.cells.xy);
  let along = select(log2(max(-v.z / d.x, 1.0)), -v.z - d.x, d.z > 0.5) * d.y;
  let cell = vec3u(clamp(vec3f(at, along), vec3f(0.0), vec3f(lamp_grid.cells.xyz) - 1.0));
  return (cell.z * lamp_grid.cells.y + cell.y) * lamp_grid.cells.x + cell.x;
}

// What arrives of a lamp: the inverse square, brought to nothing at its reach (Frostbite's window), and the cone.
fn lamp_strength(lamp: Lamp, away: f32, towards: vec3f) -> f32 {
  let reach = lamp.position.w;
  if (reach == 0.0) { return 1.0; }
  let part = away / reach;
  let part2 = part * part;
  let window = saturate(1.0 - part2 * part2);
  let cone = smoothstep(lamp.direction.w, lamp.color.w, -dot(towards, lamp.direction.xyz));
  return cone * window * window / max(away * away, 1e-6 * reach * reach);
}
