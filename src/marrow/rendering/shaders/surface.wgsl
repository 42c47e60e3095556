// What a material makes of a fragment: its textures looked up, its normal bent. Bind group 1 is the material.
override HAS_BASE_TEXTURE: bool = false;
override HAS_SURFACE_TEXTURE: bool = false; // metallic and roughness
override HAS_NORMAL_TEXTURE: bool = false;
override HAS_OCCLUSION_TEXTURE: bool = false;
override HAS_EMISSIVE_TEXTURE: bool = false;
override IS_UNLIT: bool = false;
override IS_MASKED: bool = false;
override IS_BLENDED: bool = false;
override SOLID_ONLY: bool = false; // of a blended surface, what nothing is seen through
override COVERAGE: bool = false; // alpha of a mask becomes the part of a pixel that is covered: smooth edges with several samples

@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var base_texture: texture_2d<f32>;
@group(1) @binding(2) var base_sampler: sampler;
@group(1) @binding(3) var surface_texture: texture_2d<f32>;
@group(1) @binding(4) var surface_sampler: sampler;
@group(1) @binding(5) var normal_texture: texture_2d<f32>;
@group(1) @binding(6) var normal_sampler: sampler;
@group(1) @binding(7) var occlusion_texture: texture_2d<f32>;
@group(1) @binding(8) var occlusion_sampler: sampler;
@group(1) @binding(9) var emissive_texture: texture_2d<f32>;
@group(1) @binding(10) var emissive_sampler: sampler;

fn place(uv: vec4f, slot: u32) -> vec2f {
  let u = material.places[2u * slot];
  let v = material.places[2u * slot + 1u];
  let at = vec3f(select(uv.xy, uv.zw, u.w > 0.5), 1.0);
  return vec2f(dot(u.xyz, at), dot(v.xyz, at));
}

// The directions in which u grows and v falls (a normal texture's green points up), from neighbouring pixels: for meshes
// without tangents.
fn derived_tangents(position: vec3f, normal: vec3f, uv: vec2f) -> mat2x3f {
  let across = cross(-dpdy(position), normal);
  let along = cross(normal, dpdx(position));
  let du = dpdx(uv);
  let dv = -dpdy(uv);
  let t = across * du.x + along * dv.x;
  let b = across * du.y + along * dv.y;
  let size = max(dot(t, t), dot(b, b));
  let scale = select(0.0, inverseSqrt(size), size > 0.0);
  return mat2x3f(t * scale, -b * scale);
}

fn surface(in: Fragment, front: bool) -> Surface {
  let side = select(-1.0, 1.0, front);
  var s: Surface;
  s.position = in.position;
  s.unlit = select(0.0, 1.0, IS_UNLIT);
  var base = material.base_color * in.color;
  if (HAS_BASE_TEXTURE) { base *= textureSample(base_texture, base_sampler, place(in.uv, 0u)); }
  s.base = base.rgb;
  let width = fwidth(base.a);
  s.alpha = select(1.0, base.a, IS_MASKED || IS_BLENDED);

  s.metallic = material.factors.x;
  s.roughness = material.factors.y;
  s.occlusion = 1.0;
  s.emissive = material.emissive.rgb;
  // The way a triangle faces, for meshes without normals.
  s.geometric = normalize(cross(dpdx(in.position), -dpdy(in.position)));
  s.normal = s.geometric;
  if (HAS_NORMALS) { s.normal = select(s.normal, side * normalize(in.normal), dot(in.normal, in.normal) > 0.0); }
  let smooth_normal = s.normal;
  if (!IS_UNLIT) {
    if (HAS_SURFACE_TEXTURE) {
      let found = textureSample(surface_texture, surface_sampler, place(in.uv, 1u));
      s.roughness *= found.g;
      s.metallic *= found.b;
    }
    if (HAS_OCCLUSION_TEXTURE) {
      let found = textureSample(occlusion_texture, occlusion_sampler, place(in.uv, 3u)).r;
      s.occlusion = 1.0 + material.factors.w * (found - 1.0);
    }
    if (HAS_EMISSIVE_TEXTURE) {
      s.emissive *= textureSample(emissive_texture, emissive_sampler, place(in.uv, 4u)).rgb;
    }
    if (HAS_NORMAL_TEXTURE) {
      let at = place(in.uv, 2u);
      var bent = 2.0 * textureSample(normal_texture, normal_sampler, at).xyz - 1.0;
      bent = vec3f(bent.xy * material.factors.z, bent.z);
      var axes = derived_tangents(in.position, s.normal, at);
      if (HAS_TANGENTS) {
        if (dot(in.tangent.xyz, in.tangent.xyz) > 0.0) {
          let tangent = normalize(in.tangent.xyz);
          axes = mat2x3f(tangent, in.tangent.w * cross(normalize(in.normal), tangent));
        }
      }
      s.normal = normalize(side * (axes * bent.xy) + s.normal * bent.z);
    }
    // Where normals turn from pixel to pixel a highlight is wider than the roughness says, or it flickers.
    let turn = max(abs(dpdx(smooth_normal)), abs(dpdy(smooth_normal)));
    s.roughness = min(max(s.roughness, LEAST_ROUGHNESS) + max(turn.x, max(turn.y, turn.z)), 1.0);
  }
  if (SOLID_ONLY && s.alpha < 0.99) { discard; }
  if (IS_MASKED) {
    let over = base.a - material.emissive.w;
    s.alpha = select(0.0, 1.0, over >= 0.0);
    if (COVERAGE && width > 1e-3) { s.alpha = saturate(over / width + 0.5); }
    if (s.alpha < 0.125) { discard; }
  }
  return s;
}
