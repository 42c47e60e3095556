// All light on a surface: the sun, light from all sides, lamps. The same in the forward and in the deferred path.
override LAMPS: bool = false;
override LAMPS_MATT: bool = false; // without highlights

fn shade(s: Surface) -> vec3f {
  if (s.unlit > 0.5) { return s.base + s.emissive; }
  let view = towards_eye(s.position);
  let n_v = saturate(dot(s.normal, view));
  let r = reflectance(s.base, s.metallic, s.roughness, n_v);
  var light = s.emissive;
  let matt = matt_around(s.normal);
  light += frame.ambient.rgb * reflected_around(r, matt, mirror_around(s.normal, view, r.roughness), n_v, s.occlusion);
  let sun = frame.sun_direction.xyz;
  light += frame.sun_color.rgb * sun_visibility(s.position, s.normal, s.geometric) * reflected(s.normal, view, sun, r);
  if (LAMPS) { light += lamp_light(s, view, r); }
  return light;
}
