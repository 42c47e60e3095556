// How a surface reflects light: glTF's metallic-roughness model, term by term as three.js has it.
// Pure functions; the float64 twin that the tests hold them to is tests/rendering/brdf.py.
const DIELECTRIC = 0.04; // what glass, skin and cloth mirror when looked at straight on
const LEAST_ROUGHNESS = 0.045; // smaller highlights would be less than a pixel, and flicker

struct Reflectance {
  diffuse: vec3f,      // base colour of what is not metal
  f0: vec3f,           // mirrored when looked at straight on
  base: vec3f,
  metallic: f32,
  roughness: f32,
  fit: vec2f,          // how much a white surface mirrors: fit.x * f0 + fit.y
  boost: vec3f,        // what is lost between the facets of a rough surface and comes out later
}

// How much a rough surface mirrors of light from all sides, as factor and summand of f0: fits of the integrals, off by 0.015 on
// average. Looked up in a table it would cost one texture more for every pixel.
fn mirrored_part(roughness: f32, n_v: f32) -> vec2f {
  let r = roughness;
  let lost = r * (2.2047 - 3.0295 * r + 0.6859 * r * r - 5.7176 * n_v + 27.541 * r * n_v - 4.4137 * n_v * n_v)
    / (1.0 + 20.0105 * n_v + 6.8782 * r - 3.646 * n_v * n_v);
  let x = 1.0 - n_v;
  let x2 = x * x;
  let grazing = x2 * x2 * x * (1.1787 + r * (-2.4087 + r * (0.6179 + 0.7146 * r)))
    + r * (0.1677 - 0.1715 * r) * x - 0.0045 * r * r;
  let summand = max(grazing, 0.0);
  return vec2f(1.0 - lost - summand, summand);
}

fn reflectance(base: vec3f, metallic: f32, roughness: f32, n_v: f32) -> Reflectance {
  let rough = clamp(roughness, LEAST_ROUGHNESS, 1.0);
  let f0 = mix(vec3f(DIELECTRIC), base, metallic);
  let part = mirrored_part(rough, n_v);
  let boost = 1.0 + f0 * (1.0 / (part.x + part.y) - 1.0);
  return Reflectance(base * (1.0 - metallic), f0, base, metallic, rough, part, boost);
}

fn schlick(f0: vec3f, v_h: f32) -> vec3f {
  let x = 1.0 - v_h;
  let x2 = x * x;
  return f0 + (1.0 - f0) * (x2 * x2 * x);
}

// Trowbridge-Reitz (GGX) facets, with Smith's shadowing of both ways at once; divided by 4 n_l n_v.
fn facets(alpha: f32, n_l: f32, n_v: f32, n_h: f32) -> f32 {
  let a2 = alpha * alpha;
  let d = n_h * n_h * (a2 - 1.0) + 1.0;
  let g = n_l * sqrt(a2 + (1.0 - a2) * n_v * n_v) + n_v * sqrt(a2 + (1.0 - a2) * n_l * n_l);
  return a2 / (PI * d * d) * 0.5 / max(g, 1e-6);
}

// Light that leaves towards `view` of what arrives from `light`, for an irradiance of one across the ray; with the cosine.
fn reflected(normal: vec3f, view: vec3f, light: vec3f, r: Reflectance) -> vec3f {
  let n_l = saturate(dot(normal, light));
  let n_v = saturate(dot(normal, view));
  let middle = normalize(light + view);
  let v_h = saturate(dot(view, middle));
  let mirrored = schlick(r.f0, v_h) * facets(r.roughness * r.roughness, n_l, n_v, saturate(dot(normal, middle)));
  let scattered = r.diffuse / PI * (1.0 - schlick(vec3f(DIELECTRIC), v_h));
  return n_l * (mirrored * r.boost + scattered);
}

struct Scatter { once: vec3f, often: vec3f }

// Fdez-Agüera: what facets send back after one and after several bounces, of light from all sides.
fn scatter(f0: vec3f, part: vec2f) -> Scatter {
  let once = f0 * part.x + part.y;
  let lost = 1.0 - part.x - part.y;
  let mean = f0 + (1.0 - f0) / 21.0;
  return Scatter(once, once * mean / (1.0 - lost * mean) * lost);
}

// Light from all sides: `matt` is what a matt surface gathers (irradiance over pi), `mirror` what is seen in the mirror.
fn reflected_around(r: Reflectance, matt: vec3f, mirror: vec3f, n_v: f32, occlusion: f32) -> vec3f {
  let plain = scatter(vec3f(DIELECTRIC), r.fit);
  let metal = scatter(r.base, r.fit);
  let once = mix(plain.once, metal.once, r.metallic);
  let often = mix(plain.often, metal.often, r.metallic);
  let diffuse = r.diffuse * (1.0 - plain.once - plain.often);
  // Lagarde: a polished surface sees past what shades it.
  let seen = saturate(pow(n_v + occlusion, exp2(-16.0 * r.roughness - 1.0)) - 1.0 + occlusion);
  return occlusion * diffuse * matt + seen * (once * mirror + often * matt);
}
