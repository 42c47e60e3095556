"""How a surface reflects light, in NumPy and float64: what `shaders/brdf.wgsl` and `ambient.wgsl` are held to.

Directions are `(..., 3)` in a space where the normal is +Z, unless a normal is given.
"""

from __future__ import annotations

import numpy as np

DIELECTRIC = 0.04
LEAST_ROUGHNESS = 0.045


def mirrored_part(r, n):
    """Fits of the two integrals over all directions of light; `test_brdf.py` holds them to the integrals."""
    lost = r * (2.2047 - 3.0295 * r + 0.6859 * r**2 - 5.7176 * n + 27.541 * r * n - 4.4137 * n**2)
    lost = lost / (1 + 20.0105 * n + 6.8782 * r - 3.646 * n**2)
    grazing = (1 - n) ** 5 * (1.1787 - 2.4087 * r + 0.6179 * r**2 + 0.7146 * r**3)
    summand = np.maximum(grazing + r * (0.1677 - 0.1715 * r) * (1 - n) - 0.0045 * r**2, 0)
    return 1 - lost - summand, summand


def schlick(f0, v_h):
    return f0 + (1 - f0) * (1 - v_h) ** 5


def ggx(alpha, n_h):
    """Trowbridge-Reitz, as Walter et al. 2007 write it: by the tangent."""
    tangent2 = (1 - n_h**2) / n_h**2
    return alpha**2 / (np.pi * n_h**4 * (alpha**2 + tangent2) ** 2)


def smith(alpha, n_l, n_v):
    """Heitz 2014: height-correlated masking and shadowing, by Smith's lambdas."""

    def lambda_(n_x):
        return 0.5 * (np.sqrt(1 + alpha**2 * (1 / n_x**2 - 1)) - 1)

    return 1 / (1 + lambda_(n_l) + lambda_(n_v))


def reflected(view, light, base, metallic, roughness, *, boosted=True):
    """Radiance towards `view` for an irradiance of one across the ray from `light`; both above the surface. `(..., 3)`."""
    rough = np.clip(roughness, LEAST_ROUGHNESS, 1)
    alpha = rough**2
    n_l, n_v = light[..., 2:], view[..., 2:]
    middle = light + view
    middle = middle / np.linalg.norm(middle, axis=-1, keepdims=True)
    n_h, v_h = middle[..., 2:], np.sum(view * middle, axis=-1, keepdims=True)
    f0 = DIELECTRIC * (1 - metallic) + base * metallic
    mirrored = schlick(f0, v_h) * ggx(alpha, n_h) * smith(alpha, n_l, n_v) / (4 * n_l * n_v)
    if boosted:
        scale, bias = mirrored_part(rough, n_v)
        mirrored = mirrored * (1 + f0 * (1 / (scale + bias) - 1))
    scattered = base * (1 - metallic) / np.pi * (1 - schlick(DIELECTRIC, v_h))
    return n_l * (mirrored + scattered)


def reflected_around(base, metallic, roughness, matt, mirror, n_v, occlusion):
    """Light from all sides, with what bounces between facets (Fdez-Agüera 2019)."""
    rough = np.clip(roughness, LEAST_ROUGHNESS, 1)
    scale, bias = mirrored_part(rough, n_v)

    def scatter(f0):
        once = f0 * scale + bias
        lost = 1 - scale - bias
        mean = f0 + (1 - f0) / 21
        return once, once * mean * lost / (1 - lost * mean)

    plain, metal = scatter(np.full_like(base, DIELECTRIC)), scatter(base)
    once, often = (p * (1 - metallic) + m * metallic for p, m in zip(plain, metal))
    diffuse = base * (1 - metallic) * (1 - plain[0] - plain[1])
    seen = np.clip((n_v + occlusion) ** np.exp2(-16 * rough - 1) - 1 + occlusion, 0, 1)
    return occlusion * diffuse * matt + seen * (once * mirror + often * matt)


def ambient_light(direction, sharpness):
    """The studio's light: a gradient and three soft boxes, each a spherical Gaussian blurred by the lobe that looks."""
    softness = 0.12 + 1.7 / np.sqrt(sharpness)
    height = direction[..., 1:2] / np.hypot(direction[..., 1:2], softness)
    low, high = np.array([0.062, 0.059, 0.058]), np.array([0.27, 0.29, 0.325])
    light = low + (high - low) * (0.5 + 0.5 * height)
    boxes = (
        ((0.66, 0.58, 0.478), 9.0, (1.25, 1.18, 1.08)),
        ((-0.894, 0.268, 0.358), 7.0, (0.34, 0.39, 0.47)),
        ((-0.45, 0.49, -0.747), 11.0, (1.5, 1.62, 1.8)),
    )
    for axis, size, color in boxes:
        blurred = size * sharpness / (size + sharpness)
        lobe = np.exp(blurred * (np.sum(direction * axis, axis=-1, keepdims=True) - 1))
        light = light + np.array(color) * blurred / size * lobe
    return light
