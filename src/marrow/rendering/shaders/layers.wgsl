// What glTF's extensions add to a surface, lobe by lobe as three.js has them: specular and index of refraction, clear coat,
// sheen, iridescence, anisotropy, light through thin things. What one looks through is in glass.wgsl.
override HAS_COAT_TEXTURE: bool = false;
override HAS_COAT_ROUGHNESS_TEXTURE: bool = false;
override HAS_SHEEN_TEXTURE: bool = false;
override HAS_SPECULAR_TEXTURE: bool = false;
override HAS_TRANSMISSION_TEXTURE: bool = false;
override HAS_ANISOTROPY_TEXTURE: bool = false; // which way the brush goes, and how strongly

@group(1) @binding(11) var coat_texture: texture_2d<f32>;
@group(1) @binding(12) var coat_sampler: sampler;
@group(1) @binding(13) var coat_roughness_texture: texture_2d<f32>;
@group(1) @binding(14) var coat_roughness_sampler: sampler;
@group(1) @binding(15) var sheen_texture: texture_2d<f32>;
@group(1) @binding(16) var sheen_sampler: sampler;
@group(1) @binding(17) var specular_texture: texture_2d<f32>;
@group(1) @binding(18) var specular_sampler: sampler;
@group(1) @binding(19) var transmission_texture: texture_2d<f32>;
@group(1) @binding(20) var transmission_sampler: sampler;
@group(1) @binding(21) var anisotropy_texture: texture_2d<f32>;
@group(1) @binding(22) var anisotropy_sampler: sampler;

struct Layers {
  coat: f32,
  coat_roughness: f32,
  coat_normal: vec3f,
  sheen: vec3f,
  sheen_roughness: f32,
  sheen_kept: f32,      // what sheen leaves of the light for what lies below, towards the eye
  dielectric: vec3f,    // mirrored straight on where it is no metal
  f90: f32,             // mirrored at the edge
  film: f32,            // how much of the surface has a thin film
  film_mirrored: vec3f,
  film_f0: vec3f,
  tangent: vec3f,       // along the brush
  bitangent: vec3f,
  alpha_t: f32,         // roughness along it
  anisotropy: f32,
  transmission: f32,
  through: vec3f,       // light from behind that a matt surface lets through
}

fn layer_place(uv: vec4f, slot: u32) -> vec2f {
  let u = material.layer_places[2u * slot];
  let v = material.layer_places[2u * slot + 1u];
  let at = vec3f(select(uv.xy, uv.zw, u.w > 0.5), 1.0);
  return vec2f(dot(u.xyz, at), dot(v.xyz, at));
}

// Belcour and Barla 2017: light that waves cancel or strengthen in a film of some hundred nanometres.
fn film_colors(path: f32, shift: vec3f) -> vec3f {
  let phase = 2.0 * PI * path * 1.0e-9;
  let val = vec3f(5.4856e-13, 4.4201e-13, 5.2481e-13);
  let pos = vec3f(1.6810e+06, 1.7953e+06, 2.2084e+06);
  let spread = vec3f(4.3278e+09, 9.3046e+09, 6.6121e+09);
  var xyz = val * sqrt(2.0 * PI * spread) * cos(pos * phase + shift) * exp(-phase * phase * spread);
  xyz.x += 9.7470e-14 * sqrt(2.0 * PI * 4.5282e+09) * cos(2.2399e+06 * phase + shift.x) * exp(-4.5282e+09 * phase * phase);
  xyz /= 1.0685e-7;
  return vec3f(
    dot(vec3f(3.2404542, -1.5371385, -0.4985314), xyz),
    dot(vec3f(-0.9692660, 1.8760108, 0.0415560), xyz),
    dot(vec3f(0.0556434, -0.2040259, 1.0572252), xyz),
  );
}

fn film_light(ior: f32, cos1: f32, thickness: f32, f0: vec3f) -> vec3f {
  let film = mix(1.0, ior, smoothstep(0.0, 0.03, thickness));
  let cos2_squared = 1.0 - (1.0 - cos1 * cos1) / (film * film);
  if cos2_squared < 0.0 { return vec3f(1.0); }
  let cos2 = sqrt(cos2_squared);
  let edge = (film - 1.0) / (film + 1.0);
  let r12 = schlick(vec3f(edge * edge), cos1).x;
  let t121 = 1.0 - r12;
  let root = sqrt(clamp(f0, vec3f(0.0), vec3f(0.9999)));
  let below = (1.0 + root) / (1.0 - root);
  let r1 = (below - film) / (below + film);
  let r23 = schlick(r1 * r1, cos2);
  let phi = PI + select(vec3f(0.0), vec3f(PI), below < vec3f(film));
  let path = 2.0 * film * thickness * cos2;
  let r123 = clamp(r12 * r23, vec3f(1e-5), vec3f(0.9999));
  let s123 = sqrt(r123);
  let rs = t121 * t121 * r23 / (1.0 - r123);
  var total = r12 + rs;
  var c = rs - t121;
  for (var m = 1; m <= 2; m++) {
    c *= s123;
    total += c * 2.0 * film_colors(f32(m) * path, f32(m) * phi);
  }
  return max(total, vec3f(0.0));
}

// How much sheen sends back of light from all sides: a fit of Charlie's lobe (Estevez and Kulla 2017).
fn sheen_part(roughness: f32, n_x: f32) -> f32 {
  let inverse = 1.0 / (roughness + 0.1);
  let a = -1.9362 + 1.0678 * roughness + 0.4573 * roughness * roughness - 0.8469 * inverse;
  let b = -0.6014 + 0.5538 * roughness - 0.4670 * roughness * roughness - 0.1255 * inverse;
  return saturate(exp(a * n_x + b));
}

fn sheen_lobe(roughness: f32, n_l: f32, n_v: f32, n_h: f32) -> f32 {
  let inverse = 1.0 / (roughness * roughness);
  let sin2 = max(1.0 - n_h * n_h, 0.0078125);
  let d = (2.0 + inverse) * pow(sin2, inverse * 0.5) / (2.0 * PI);
  return d * saturate(1.0 / (4.0 * (n_l + n_v - n_l * n_v)));
}

fn layers(in: Fragment, front: bool, s: Surface, view: vec3f) -> Layers {
  let side = select(-1.0, 1.0, front);
  let n_v = saturate(dot(s.normal, view));
  var l: Layers;
  l.coat = material.layers[0].x;
  l.coat_roughness = material.layers[0].y;
  if (HAS_COAT_TEXTURE) { l.coat *= textureSample(coat_texture, coat_sampler, layer_place(in.uv, 0u)).r; }
  if (HAS_COAT_ROUGHNESS_TEXTURE) {
    l.coat_roughness *= textureSample(coat_roughness_texture, coat_roughness_sampler, layer_place(in.uv, 1u)).g;
  }
  l.coat_normal = s.geometric;
  if (HAS_NORMALS) { l.coat_normal = select(s.geometric, side * normalize(in.normal), dot(in.normal, in.normal) > 0.0); }
  let turn = max(abs(dpdx(l.coat_normal)), abs(dpdy(l.coat_normal)));
  l.coat_roughness = min(max(l.coat_roughness, LEAST_ROUGHNESS) + max(turn.x, max(turn.y, turn.z)), 1.0);

  l.sheen = material.layers[2].rgb;
  if (HAS_SHEEN_TEXTURE) { l.sheen *= textureSample(sheen_texture, sheen_sampler, layer_place(in.uv, 2u)).rgb; }
  l.sheen_roughness = clamp(material.layers[2].w, 0.07, 1.0);
  let most = max(l.sheen.r, max(l.sheen.g, l.sheen.b));
  l.sheen_kept = 1.0 - most * sheen_part(l.sheen_roughness, n_v);

  var specular_color = material.layers[1].rgb;
  if (HAS_SPECULAR_TEXTURE) { specular_color *= textureSample(specular_texture, specular_sampler, layer_place(in.uv, 3u)).rgb; }
  let edge = (material.layers[0].z - 1.0) / (material.layers[0].z + 1.0);
  l.dielectric = min(edge * edge * specular_color, vec3f(1.0)) * material.layers[0].w;
  l.f90 = mix(material.layers[0].w, 1.0, s.metallic);

  l.film = material.layers[5].x;
  if l.film > 0.0 {
    let f0 = mix(l.dielectric, s.base, s.metallic);
    l.film_mirrored = film_light(material.layers[5].y, n_v, material.layers[5].w, f0);
    let x = 1.0 - n_v;
    let x5 = min(x * x * x * x * x, 0.9999);
    l.film_f0 = clamp((l.film_mirrored - x5) / (1.0 - x5), vec3f(0.0), vec3f(1.0));
  }

  l.anisotropy = material.layers[1].w;
  var axes = derived_tangents(in.position, s.normal, in.uv.xy);
  if (HAS_TANGENTS) {
    if (dot(in.tangent.xyz, in.tangent.xyz) > 0.0) {
      let tangent = normalize(in.tangent.xyz);
      axes = mat2x3f(tangent, in.tangent.w * cross(normalize(in.normal), tangent));
    }
  }
  var angle = vec2f(cos(material.layers[4].w), sin(material.layers[4].w));
  if (HAS_ANISOTROPY_TEXTURE) {
    let found = textureSample(anisotropy_texture, anisotropy_sampler, layer_place(in.uv, 5u)).rgb;
    let way = 2.0 * found.rg - 1.0;
    let size = length(way);
    let own = select(vec2f(1.0, 0.0), way / size, size > 1e-4);
    angle = vec2f(angle.x * own.x - angle.y * own.y, angle.y * own.x + angle.x * own.y);
    l.anisotropy *= found.b;
  }
  let along = axes[0] * angle.x + axes[1] * angle.y;
  l.tangent = along - s.normal * dot(s.normal, along);
  let long = dot(l.tangent, l.tangent);
  if long > 0.0 { l.tangent *= inverseSqrt(long); } else { l.anisotropy = 0.0; }
  l.bitangent = cross(s.normal, l.tangent);
  l.alpha_t = mix(s.roughness * s.roughness, 1.0, l.anisotropy * l.anisotropy);

  l.transmission = material.layers[3].x;
  if (HAS_TRANSMISSION_TEXTURE) {
    l.transmission *= textureSample(transmission_texture, transmission_sampler, layer_place(in.uv, 4u)).r;
  }
  l.through = material.layers[6].rgb * material.layers[6].w;
  return l;
}

// Light that leaves towards the eye: what one looks through takes the place of `matt`, not of `mirrored`.
struct Leaving { matt: vec3f, mirrored: vec3f, coat: vec3f }

fn facets_along(l: Layers, alpha: f32, normal: vec3f, view: vec3f, light: vec3f, middle: vec3f) -> f32 {
  let n_l = saturate(dot(normal, light));
  let n_v = saturate(dot(normal, view));
  let n_h = saturate(dot(normal, middle));
  if l.anisotropy == 0.0 { return facets(alpha, n_l, n_v, n_h); }
  let a_t = max(l.alpha_t, alpha);
  let a2 = a_t * alpha;
  let v = vec3f(alpha * dot(l.tangent, middle), a_t * dot(l.bitangent, middle), a2 * n_h);
  let w2 = a2 / max(dot(v, v), 1e-12);
  let d = a2 * w2 * w2 / PI;
  let gv = n_l * length(vec3f(a_t * dot(l.tangent, view), alpha * dot(l.bitangent, view), n_v));
  let gl = n_v * length(vec3f(a_t * dot(l.tangent, light), alpha * dot(l.bitangent, light), n_l));
  return d * 0.5 / max(gv + gl, 1e-6);
}

fn layered(s: Surface, l: Layers, r: Reflectance, view: vec3f, light: vec3f) -> Leaving {
  let n_l = saturate(dot(s.normal, light));
  let n_v = saturate(dot(s.normal, view));
  let middle = normalize(light + view);
  let v_h = saturate(dot(view, middle));
  let x = 1.0 - v_h;
  let x5 = x * x * x * x * x;
  var fresnel = r.f0 + (l.f90 - r.f0) * x5;
  if l.film > 0.0 { fresnel = mix(fresnel, l.film_mirrored, l.film); }
  let below = l.dielectric + (material.layers[0].w - l.dielectric) * x5;
  let kept = min(l.sheen_kept, 1.0 - max(l.sheen.r, max(l.sheen.g, l.sheen.b)) * sheen_part(l.sheen_roughness, n_l));
  var out: Leaving;
  let share = material.layers[6].w;
  out.matt = n_l * kept * (1.0 - share) * r.diffuse / PI * (1.0 - below);
  // Through a thin sheet, light that falls on its back.
  out.matt += saturate(-dot(s.normal, light)) * r.diffuse * l.through / PI * (1.0 - below);
  out.mirrored = n_l * kept * fresnel * facets_along(l, r.roughness * r.roughness, s.normal, view, light, middle) * r.boost;
  if l.sheen_kept < 1.0 {
    out.mirrored += n_l * l.sheen * sheen_lobe(l.sheen_roughness, n_l, n_v, saturate(dot(s.normal, middle)));
  }
  if l.coat > 0.0 {
    let c_l = saturate(dot(l.coat_normal, light));
    let c_v = saturate(dot(l.coat_normal, view));
    let alpha = l.coat_roughness * l.coat_roughness;
    out.coat = vec3f(c_l * (0.04 + 0.96 * x5) * facets(alpha, c_l, c_v, saturate(dot(l.coat_normal, middle))));
  }
  return out;
}

fn layered_around(s: Surface, l: Layers, r: Reflectance, view: vec3f, n_v: f32) -> Leaving {
  var bent = s.normal;
  if l.anisotropy > 0.0 {
    // Brushed metal mirrors along the brush: the normal leans towards what is across it.
    let across = cross(l.bitangent, view);
    let leaning = normalize(cross(across, l.bitangent));
    let a = 1.0 - l.anisotropy * (1.0 - s.roughness);
    bent = normalize(mix(leaning, s.normal, a * a * a * a));
  }
  let matt = matt_around(s.normal);
  let mirror = mirror_around(bent, view, r.roughness);
  let f_plain = mix(l.dielectric, l.film_f0, l.film);
  let f_metal = mix(s.base, l.film_f0, l.film);
  let plain = scatter_to(f_plain, l.f90, r.fit);
  let metal = scatter_to(f_metal, l.f90, r.fit);
  let seen = saturate(pow(n_v + s.occlusion, exp2(-16.0 * r.roughness - 1.0)) - 1.0 + s.occlusion);
  let share = material.layers[6].w;
  var out: Leaving;
  let left = r.diffuse * (1.0 - plain.once - plain.often) * l.sheen_kept;
  out.matt = s.occlusion * left * ((1.0 - share) * matt + l.through * matt_around(-s.normal));
  out.mirrored = seen * l.sheen_kept
    * (mix(plain.once, metal.once, s.metallic) * mirror + mix(plain.often, metal.often, s.metallic) * matt);
  out.mirrored += s.occlusion * l.sheen * sheen_part(l.sheen_roughness, n_v) * matt;
  if l.coat > 0.0 {
    let c_v = saturate(dot(l.coat_normal, view));
    let part = mirrored_part(l.coat_roughness, c_v);
    out.coat = s.occlusion * (0.04 * part.x + part.y) * mirror_around(l.coat_normal, view, l.coat_roughness);
  }
  return out;
}

fn scatter_to(f0: vec3f, f90: f32, part: vec2f) -> Scatter {
  let once = f0 * part.x + f90 * part.y;
  let lost = 1.0 - part.x - part.y;
  let mean = f0 + (1.0 - f0) / 21.0;
  return Scatter(once, once * mean / (1.0 - lost * mean) * lost);
}

fn add_leaving(a: Leaving, b: Leaving, light: vec3f) -> Leaving {
  return Leaving(a.matt + b.matt * light, a.mirrored + b.mirrored * light, a.coat + b.coat * light);
}

// Light towards the eye, and how much of what is behind is covered: glass on a transparent background lets it through.
fn shade_layered(in: Fragment, front: bool, s: Surface) -> vec4f {
  let view = towards_eye(s.position);
  let n_v = saturate(dot(s.normal, view));
  let l = layers(in, front, s, view);
  var r = reflectance(s.base, s.metallic, s.roughness, n_v);
  r.f0 = mix(l.dielectric, s.base, s.metallic);
  r.boost = 1.0 + r.f0 * (1.0 / (r.fit.x + r.fit.y) - 1.0);
  let nothing = Leaving(vec3f(), vec3f(), vec3f());
  var out = add_leaving(nothing, layered_around(s, l, r, view, n_v), frame.ambient.rgb);
  let sun = frame.sun_direction.xyz;
  var visible = sun_visibility(s.position, s.normal, s.geometric);
  if material.layers[6].w > 0.0 && dot(s.normal, sun) < 0.0 { visible = 1.0; }
  out = add_leaving(out, layered(s, l, r, view, sun), frame.sun_color.rgb * visible);
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
        let seen = lamp_visibility(lamp, s.position, s.geometric);
        out = add_leaving(out, layered(s, l, r, view, towards), lamp.color.rgb * seen * lamp_strength(lamp, away, towards));
      }
    }
  }
  let seen_through = looked_through(s, l, r, view, n_v);
  let glass = l.transmission * (1.0 - s.metallic);
  var light = mix(out.matt, seen_through.rgb, glass) + out.mirrored + s.emissive;
  if l.coat > 0.0 {
    let x = 1.0 - saturate(dot(l.coat_normal, view));
    light = light * (1.0 - l.coat * (0.04 + 0.96 * x * x * x * x * x)) + l.coat * out.coat;
  }
  let bright = max(light.r, max(light.g, light.b));
  return vec4f(light, max(mix(1.0, seen_through.a, glass), min(bright, 1.0)));
}

@fragment fn fragment_layered(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4f {
  let s = surface(in, front);
  let light = shade_layered(in, front, s);
  return light * s.alpha;
}
