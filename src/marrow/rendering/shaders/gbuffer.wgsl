// What a fragment hands to the deferred path: everything `shade` needs but its place, which depth tells.
struct GBuffer {
  @location(0) light: vec4f,     // what it sends out by itself; alpha: something is there
  @location(1) base: vec4f,      // alpha: occlusion
  @location(2) normals: vec4f,   // the bent and the geometric one, octahedral
  @location(3) factors: vec4f,   // metallic, roughness, unlit
}

fn folded(n: vec3f) -> vec2f {
  let p = n.xy / (abs(n.x) + abs(n.y) + abs(n.z));
  let sides = select(vec2f(-1.0), vec2f(1.0), p >= vec2f(0.0));
  return select((1.0 - abs(p.yx)) * sides, p, n.z >= 0.0);
}

@fragment fn gbuffer_main(in: Fragment, @builtin(front_facing) front: bool) -> GBuffer {
  let s = painted(in, surface(in, front));
  let sent = select(s.emissive, s.emissive + s.base, s.unlit > 0.5);
  return GBuffer(
    vec4f(sent, 1.0),
    vec4f(s.base, s.occlusion),
    vec4f(folded(s.normal), folded(s.geometric)),
    vec4f(s.metallic, s.roughness, s.unlit, 1.0),
  );
}
