// What is seen through a surface: the picture of all that is opaque, where the bent ray leaves the body, as blurred as the
// surface is rough; each colour bent a little more than the one before where there is dispersion. Alpha: how much of it is covered.
@group(3) @binding(0) var backdrop: texture_2d<f32>;

fn seen_behind(position: vec3f, blur: f32) -> vec4f {
  let p = frame.view_projection * vec4f(position, 1.0);
  let at = clamp(p.xy / p.w * vec2f(0.5, -0.5) + 0.5, vec2f(0.0), vec2f(1.0));
  return textureSampleLevel(backdrop, smooth_sampler, at, blur);
}

fn looked_through(s: Surface, l: Layers, r: Reflectance, view: vec3f, n_v: f32) -> vec4f {
  let ior = material.layers[0].z;
  let thickness = material.layers[3].y;
  let levels = f32(textureNumLevels(backdrop) - 1u);
  let blur = min(log2(frame.size.x) * s.roughness * clamp(2.0 * ior - 2.0, 0.0, 1.0), levels);
  let spread = (ior - 1.0) * 0.025 * material.layers[3].w;
  var light: vec3f;
  var covered = 1.0;
  var long = 0.0;
  for (var c = 0; c < 3; c++) {
    let bends = select(ior, ior + spread * (f32(c) - 1.0), spread > 0.0);
    let ray = refract(-view, s.normal, 1.0 / max(bends, 1.0)) * thickness;
    if c == 0 || spread > 0.0 {
      let found = seen_behind(s.position + ray, blur);
      if c == 0 {
        light = found.rgb;
        covered = found.a;
      } else {
        light[c] = found[c];
      }
    }
    long = length(ray);
  }
  if material.layers[3].z > 0.0 {
    light *= pow(max(material.layers[4].rgb, vec3f(1e-6)), vec3f(long / material.layers[3].z));
  }
  let mirrored = l.dielectric * r.fit.x + l.f90 * r.fit.y;
  return vec4f((1.0 - mirrored) * light * s.base, covered);
}
