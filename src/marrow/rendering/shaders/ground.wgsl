// A pool of light with a grid on it, and the shadows that fall there. What it covers is said by alpha.
struct Floor {
  @builtin(position) clip: vec4f,
  @location(0) position: vec3f,
}

@vertex fn ground_vertex(@builtin(vertex_index) v: u32) -> Floor {
  let corner = vec2f(f32(v & 1u), f32(v >> 1u)) * 2.0 - 1.0;
  var out: Floor;
  out.position = vec3f(frame.scene.x + corner.x * frame.ground.y, frame.ground.x, frame.scene.z + corner.y * frame.ground.y);
  out.clip = frame.view_projection * vec4f(out.position, 1.0);
  return out;
}

// How much a grid line covers of this pixel; where lines come closer than pixels it fades instead of shimmering.
fn grid_lines(p: vec2f, width: vec2f) -> f32 {
  let covered = clamp(1.0 - abs(fract(p - 0.5) - 0.5) / max(width, vec2f(1e-6)), vec2f(0.0), vec2f(1.0))
    * clamp(1.57 - 2.86 * width, vec2f(0.0), vec2f(1.0));
  return max(covered.x, covered.y);
}

// Light of lamps on the floor, which is matt and of the colour it has on the screen.
fn lamps_on_floor(position: vec3f) -> vec3f {
  let up = vec3f(0.0, 1.0, 0.0);
  var s: Surface;
  s.position = position;
  s.normal = up;
  s.geometric = up;
  let view = towards_eye(position);
  return lamp_light(s, view, reflectance(frame.floor_color.rgb, 0.0, 0.9, saturate(view.y)));
}

@fragment fn ground_fragment(in: Floor) -> @location(0) vec4f {
  let near = floor_seen(in.position);
  let p = (in.position.xz + frame.grid.xy) / frame.ground.z;
  let width = fwidth(p);
  let small = 0.5 * grid_lines(p, width);
  let large = grid_lines(0.2 * p, 0.2 * width);
  var alpha = frame.floor_color.w * near;
  let line = frame.line_color.w * max(small, large) * near;
  var color = mix(vec4f(frame.floor_color.rgb * alpha, alpha), vec4f(frame.line_color.rgb, 1.0), line);
  let shadow = frame.grid.z * (1.0 - sun_visibility(in.position, vec3f(0.0, 1.0, 0.0), vec3f(0.0, 1.0, 0.0))) * near;
  color = vec4f(color.rgb * (1.0 - shadow), color.a + shadow - color.a * shadow);
  if (LAMPS) {
    let lit = near * lamps_on_floor(in.position);
    color = vec4f(color.rgb + lit, max(color.a, min(max(lit.r, max(lit.g, lit.b)), near)));
  }
  return color;
}
