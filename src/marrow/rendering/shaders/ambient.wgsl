// The studio's light as a formula: what comes from each direction, seen through a lobe of any width. The same as
// web/src/view/light.ts, so that pictures and the studio's page look alike.
const MATT = 2.2; // the sharpness of a cosine

fn soft_box(direction: vec3f, sharpness: f32, axis: vec3f, size: f32, color: vec3f) -> vec3f {
  let blurred = size * sharpness / (size + sharpness);
  return color * (blurred / size) * exp(blurred * (dot(direction, axis) - 1.0));
}

fn ambient_light(direction: vec3f, sharpness: f32) -> vec3f {
  let softness = 0.12 + 1.7 * inverseSqrt(sharpness);
  let height = direction.y * inverseSqrt(direction.y * direction.y + softness * softness);
  var light = mix(vec3f(0.062, 0.059, 0.058), vec3f(0.27, 0.29, 0.325), 0.5 + 0.5 * height);
  light += soft_box(direction, sharpness, vec3f(0.66, 0.58, 0.478), 9.0, vec3f(1.25, 1.18, 1.08));     // key, over the right shoulder
  light += soft_box(direction, sharpness, vec3f(-0.894, 0.268, 0.358), 7.0, vec3f(0.34, 0.39, 0.47));  // fill, from the left
  light += soft_box(direction, sharpness, vec3f(-0.45, 0.49, -0.747), 11.0, vec3f(1.5, 1.62, 1.8));    // rim, from behind
  return light;
}

// What a mirror of this roughness shows along a view.
fn mirror_light(normal: vec3f, view: vec3f, roughness: f32) -> vec3f {
  let alpha = roughness * roughness;
  // A rough surface mirrors more of what is in front of it than the mirror direction says.
  let towards = normalize(mix(reflect(-view, normal), normal, alpha * roughness));
  return ambient_light(towards, 2.0 / max(alpha * alpha, 1e-3));
}
