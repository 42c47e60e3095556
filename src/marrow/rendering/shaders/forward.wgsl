override ALPHA_MASK: bool = false;

fn painted(in: Fragment, s: Surface) -> Surface {
  var out = s;
  out.base = mix(s.base, in.paint.rgb, in.paint.a);
  out.metallic = mix(s.metallic, 0.0, in.paint.a);
  out.roughness = mix(s.roughness, 1.0, in.paint.a);
  out.emissive = mix(s.emissive, vec3f(), in.paint.a);
  return out;
}

@fragment fn fragment_main(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4f {
  let s = painted(in, surface(in, front));
  return vec4f(shade(s) * s.alpha, s.alpha);
}
