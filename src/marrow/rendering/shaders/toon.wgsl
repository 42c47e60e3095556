// VRM's MToon: light in two steps, the colour that is lit and the colour of shade; a rim; an outline.
override HAS_SHEEN_TEXTURE: bool = false; // of the colour of shade: it takes the place of the sheen's
@group(1) @binding(15) var shade_texture: texture_2d<f32>;
@group(1) @binding(16) var shade_sampler: sampler;

fn toon_shade(uv: vec4f) -> vec3f {
  var shade = material.layers[0].rgb;
  if (HAS_SHEEN_TEXTURE) {
    let u = material.layer_places[4];
    let v = material.layer_places[5];
    let at = vec3f(select(uv.xy, uv.zw, u.w > 0.5), 1.0);
    shade *= textureSample(shade_texture, shade_sampler, vec2f(dot(u.xyz, at), dot(v.xyz, at))).rgb;
  }
  return shade;
}

// How much of the lit colour is seen in light that comes from a direction.
fn toon_step(n_l: f32) -> f32 {
  let toony = material.layers[0].w;
  return saturate((n_l + material.layers[1].x + 1.0 - toony) / max(2.0 - 2.0 * toony, 1e-4));
}

struct Toon { color: vec3f, light: vec3f }

fn toon(s: Surface, shade: vec3f) -> Toon {
  let n = s.normal;
  let around = mix(matt_around(n), 0.5 * (matt_around(vec3f(0.0, 1.0, 0.0)) + matt_around(vec3f(0.0, -1.0, 0.0))), material.layers[1].y);
  var light = frame.ambient.rgb * around;
  var color = s.base * light;
  let sun = frame.sun_color.rgb / PI;
  let lit = toon_step(dot(n, frame.sun_direction.xyz)) * sun_visibility(s.position, n, s.geometric);
  color += mix(shade, s.base, lit) * sun;
  light += sun;
  if (LAMPS) {
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
        let strength = lamp.color.rgb * lamp_strength(lamp, away, towards) / PI;
        let seen = toon_step(dot(n, towards)) * lamp_visibility(lamp, s.position, s.geometric);
        color += mix(shade, s.base, seen) * strength;
        light += strength;
      }
    }
  }
  return Toon(color, light);
}

@fragment fn fragment_toon(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4f {
  let s = surface(in, front);
  let t = toon(s, toon_shade(in.uv));
  let edge = saturate(1.0 - dot(s.normal, towards_eye(s.position)) + material.layers[3].y);
  let rim = material.layers[4].rgb * pow(max(edge, 1e-5), max(material.layers[3].x, 1e-5));
  let light = t.color + rim * mix(vec3f(1.0), t.light, material.layers[3].z) + s.emissive;
  return vec4f(light * s.alpha, s.alpha);
}

// The outline: back faces, moved out along their normals by a width in the world or in the picture.
@vertex fn vertex_outline(in: Attributes) -> Fragment {
  var out = vertex_of(in);
  let width = material.layers[1].z;
  if (material.layers[1].w > 0.5) {
    let clip = frame.view_projection * vec4f(out.normal, 0.0);
    let high = length(vec3f(frame.view_projection[0].y, frame.view_projection[1].y, frame.view_projection[2].y));
    let wide = length(vec3f(frame.view_projection[0].x, frame.view_projection[1].x, frame.view_projection[2].x));
    let way = vec2f(clip.x / max(wide, 1e-12), clip.y / max(high, 1e-12));
    let size = max(length(way), 1e-6);
    out.clip = vec4f(out.clip.xy + 2.0 * width * out.clip.w * way / size * vec2f(wide / high, 1.0), out.clip.zw);
  } else {
    out.position += width * out.normal;
    out.clip = frame.view_projection * vec4f(out.position, 1.0);
  }
  return out;
}

@fragment fn fragment_outline(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4f {
  let s = surface(in, front);
  let t = toon(s, toon_shade(in.uv));
  return vec4f(material.layers[2].rgb * mix(vec3f(1.0), t.color, material.layers[2].w), 1.0);
}
