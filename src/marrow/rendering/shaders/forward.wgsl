@fragment fn fragment_main(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4f {
  let s = painted(in, surface(in, front));
  return vec4f(shade(s) * s.alpha, s.alpha);
}
