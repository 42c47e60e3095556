/**
 * The studio's light, as a formula: what comes from each direction, seen through a lobe of any width.
 *
 * A gradient from floor to ceiling and three soft boxes, each a spherical Gaussian. A wide lobe gives the light a matt surface
 * gathers, a narrow one what a polished surface mirrors; two Gaussians blur to a third, so nothing has to be sampled or
 * prepared. It stands where three.js would look up an environment map, and is the same on every graphics card.
 */
import { ShaderChunk, type WebGLProgramParametersWithUniforms, type WebGLRenderer } from "three";
import { drawnInSoftware } from "./pace";

/** Towards the lamp that casts the shadows. */
export const SUN_DIRECTION = [0.55, 1.25, 0.75] as const;

export const LIGHT_GLSL = /* glsl */ `
const float MW_MATT = 2.2; // the sharpness of a cosine

vec3 mwSoftBox(vec3 direction, float sharpness, vec3 axis, float size, vec3 color) {
  float blurred = size * sharpness / (size + sharpness);
  return color * (blurred / size) * exp(blurred * (dot(direction, axis) - 1.0));
}

vec3 mwLight(vec3 direction, float sharpness) {
  float softness = 0.12 + 1.7 / sqrt(sharpness);
  float height = direction.y / sqrt(direction.y * direction.y + softness * softness);
  vec3 light = mix(vec3(0.062, 0.059, 0.058), vec3(0.27, 0.29, 0.325), 0.5 + 0.5 * height);
  light += mwSoftBox(direction, sharpness, vec3(0.66, 0.58, 0.478), 9.0, vec3(1.25, 1.18, 1.08));   // key, over the right shoulder
  light += mwSoftBox(direction, sharpness, vec3(-0.894, 0.268, 0.358), 7.0, vec3(0.34, 0.39, 0.47)); // fill, from the left
  light += mwSoftBox(direction, sharpness, vec3(-0.45, 0.49, -0.747), 11.0, vec3(1.5, 1.62, 1.8));  // rim, from behind
  return light;
}
`;

/**
 * Shadows: five taps in a cross, each filtered over four texels by the hardware: soft edges without noise. One tap where the
 * processor draws; it would run both sides of an `if`, so that is decided here.
 */
export function shadowGlsl(software: boolean): string {
  return /* glsl */ `
float mwShadow(highp sampler2DShadow map, vec2 size, float intensity, float bias, float radius, vec4 place) {
  vec3 at = place.xyz / place.w;
  at.z += bias;
  float lit = texture(map, at);
  ${software ? "" : FOUR_MORE}
  bool outside = min(at.x, at.y) < 0.0 || max(at.x, at.y) > 1.0 || at.z > 1.0;
  return outside ? 1.0 : mix(1.0, lit, intensity);
}
`;
}

const FOUR_MORE = /* glsl */ `
  vec2 a = vec2(0.8, 0.6) * radius / size, b = vec2(-a.y, a.x);
  lit += texture(map, vec3(at.xy + a, at.z)) + texture(map, vec3(at.xy - a, at.z));
  lit += texture(map, vec3(at.xy + b, at.z)) + texture(map, vec3(at.xy - b, at.z));
  lit *= 0.2;
`;

/** How much a rough surface mirrors, by Karis' fit instead of three.js' table: one texture less to read for every pixel. */
const FIT_GLSL = /* glsl */ `
vec2 mwFit(float roughness, float dotNV) {
  vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
  float a = min(r.x * r.x, exp2(-9.28 * dotNV)) * r.x + r.y;
  return vec2(-1.04, 1.04) * a + r.zw;
}
`;
const TABLE = "texture2D( dfgLUT, vec2( material.roughness, dotNVms ) ).rg";
const LIGHTS = ShaderChunk.lights_fragment_begin.replace(TABLE, "mwFit( material.roughness, dotNVms )");

const LOOK_UP = /* glsl */ `
  #if defined( RE_IndirectDiffuse )
    iblIrradiance += PI * mwLight(transformDirectionByInverseViewMatrix(geometryNormal, viewMatrix), MW_MATT);
  #endif
  #if defined( RE_IndirectSpecular )
    vec3 mwMirrored = reflect(-geometryViewDir, geometryNormal);
    // A rough surface mirrors more of what is in front of it than the mirror direction says.
    mwMirrored = normalize(mix(mwMirrored, geometryNormal, material.roughness * material.roughness * material.roughness));
    float mwAlpha = material.roughness * material.roughness;
    radiance += mwLight(transformDirectionByInverseViewMatrix(mwMirrored, viewMatrix), 2.0 / max(mwAlpha * mwAlpha, 1e-3));
  #endif
`;

/** Puts the light, and its shadows, into a standard material's program. */
export function lightUp(shader: WebGLProgramParametersWithUniforms, renderer: WebGLRenderer): void {
  const shadows = shadowGlsl(drawnInSoftware(renderer.getContext()));
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>\n${LIGHT_GLSL}${FIT_GLSL}`)
    .replace("#include <lights_fragment_begin>", LIGHTS)
    // Of three.js' own shadows, which turn their taps by noise, only the declarations are used.
    .replace(
      "#include <shadowmap_pars_fragment>",
      `#include <shadowmap_pars_fragment>\n#ifdef USE_SHADOWMAP\n${shadows}\n#define getShadow mwShadow\n#endif`,
    )
    .replace("#include <lights_fragment_maps>", LOOK_UP);
}
