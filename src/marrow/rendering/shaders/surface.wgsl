struct Material {
  base_color: vec4f,
  emissive: vec4f,     // w: 1 where it is not lit
  factors: vec4f,      // metallic, roughness, alpha cutoff (0: none), 0
}
@group(1) @binding(0) var<uniform> material: Material;

fn surface(in: Fragment, front: bool) -> Surface {
  var s: Surface;
  s.position = in.position;
  let flat = cross(dpdx(in.position), dpdy(in.position));
  s.geometric = normalize(select(in.normal, flat, dot(in.normal, in.normal) < 1e-12)) * select(-1.0, 1.0, front);
  s.normal = s.geometric;
  let base = material.base_color * in.color;
  s.base = base.rgb;
  s.alpha = base.a;
  s.metallic = material.factors.x;
  s.roughness = material.factors.y;
  s.occlusion = 1.0;
  s.emissive = material.emissive.rgb;
  s.unlit = material.emissive.w;
  return s;
}
