// What is full of holes, or half transparent, lets the sun through there.
@vertex fn masked_vertex(in: Attributes) -> Fragment {
  var out = fragment_of(in);
  out.clip = from_sun(in.instance, out.position);
  return out;
}

@fragment fn masked_fragment(in: Fragment, @builtin(front_facing) front: bool) {
  if surface(in, front).alpha < 0.5 {
    discard;
  }
}
