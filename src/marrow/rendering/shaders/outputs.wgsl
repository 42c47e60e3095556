// What a pixel shows, as numbers: normal and depth, the instance, the part and the joint, all one higher (0: nothing).
struct Part { number: u32, blended: u32, pad0: u32, pad1: u32 }
@group(3) @binding(0) var<uniform> part: Part;

struct OutputAttributes {
  @builtin(vertex_index) vertex: u32,
  @builtin(instance_index) instance: u32,
  @location(0) uv: vec4f,
  @location(1) color: vec4f,
  @location(2) joint: u32,
}

struct Numbers {
  @location(0) shape: vec4f,
  @location(1) names: vec4u,
}

@vertex fn output_vertex(in: OutputAttributes) -> Fragment {
  var out = vertex_of(Attributes(in.vertex, in.instance, in.uv, in.color));
  out.id.y = in.joint;
  return out;
}

@fragment fn output_fragment(in: Fragment, @builtin(front_facing) front: bool) -> Numbers {
  let s = surface(in, front);
  if s.alpha < 0.5 { discard; }
  var out: Numbers;
  // Places are relative to the eye.
  out.shape = vec4f(s.normal, dot(in.position, frame.forward.xyz));
  out.names = vec4u(in.id.x + 1u, part.number + 1u, in.id.y + 1u, 0u);
  return out;
}
