struct Covered { @location(0) color: vec4f, @builtin(sample_mask) samples: u32 }

// Of a mask: covers as many of a pixel's four samples as its alpha says.
@fragment fn fragment_masked(in: Fragment, @builtin(front_facing) front: bool) -> Covered {
  let s = painted(in, surface(in, front));
  return Covered(vec4f(shade(s), 1.0), (1u << u32(round(4.0 * s.alpha))) - 1u);
}

@fragment fn fragment_main(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4f {
  let s = painted(in, surface(in, front));
  return vec4f(shade(s) * s.alpha, s.alpha);
}
