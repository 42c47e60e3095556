// The light of all lamps on a surface.
@group(0) @binding(3) var<storage, read> lamps: array<Lamp>;
@group(0) @binding(4) var<storage, read> lamp_cells: array<u32>;
@group(0) @binding(5) var<uniform> lamp_grid: LampGrid;

fn lamp_light(s: Surface, view: vec3f, r: Reflectance) -> vec3f {
  var light = vec3f(0.0);
  let words = lamp_grid.cells.w;
  let first = cell_of(s.position) * words;
  for (var word = 0u; word < words; word++) {
    var bits = lamp_cells[first + word];
    while (bits != 0u) {
      let lamp = lamps[32u * word + firstTrailingBit(bits)];
      bits &= bits - 1u;
      let way = lamp.position.xyz - s.position;
      let away = length(way);
      let towards = select(way / max(away, 1e-30), -lamp.direction.xyz, lamp.position.w == 0.0);
      var strength = lamp_strength(lamp, away, towards);
      if (strength > 0.0) { strength *= lamp_visibility(lamp, s.position, s.geometric); }
      if (LAMPS_MATT) {
        light += lamp.color.rgb * strength * saturate(dot(s.normal, towards)) * r.diffuse / PI;
      } else if (strength > 0.0) {
        light += lamp.color.rgb * strength * reflected(s.normal, view, towards, r);
      }
    }
  }
  return light;
}
