"""The shaders' reflection of light against its float64 twin, and the twin against physics."""

from __future__ import annotations

import brdf
import numpy as np
import pytest

from marrow.gpu.buffers import Buffer
from marrow.rendering.resources.wgsl import source

COUNT = 4096
_PROGRAM = """
const PI = 3.14159265358979;
struct Case { view: vec4f, light: vec4f, base: vec4f, more: vec4f }
@group(0) @binding(0) var<storage, read> cases: array<Case>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = cases[id.x];
  let normal = vec3f(0.0, 0.0, 1.0);
  let r = reflectance(c.base.rgb, c.base.a, c.light.w, saturate(c.view.z));
  found[3u * id.x] = vec4f(reflected(normal, c.view.xyz, c.light.xyz, r), 0.0);
  found[3u * id.x + 1u] = vec4f(reflected_around(r, c.more.xyz, c.more.zyx, c.view.z, c.more.w), 0.0);
  found[3u * id.x + 2u] = vec4f(ambient_light(c.light.xyz, 2.0 + 50.0 * c.more.x), 0.0);
}
"""


def _directions(rng, shape):
    """Unit vectors above the surface, not quite grazing."""
    v = rng.normal(size=(*shape, 3))
    v[..., 2] = np.abs(v[..., 2]) + 0.05
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def test_shader_reflects_as_the_reference_does(device):
    rng = np.random.default_rng(1)
    view, light = _directions(rng, (2, COUNT))
    base, metallic, roughness = rng.random((COUNT, 3)), rng.random((COUNT, 1)), rng.random((COUNT, 1))
    more = rng.random((COUNT, 4))
    cases = np.zeros((COUNT, 4, 4), np.float32)
    cases[:, 0, :3], cases[:, 1, :3], cases[:, 1, 3:] = view, light, roughness
    cases[:, 2, :3], cases[:, 2, 3:], cases[:, 3] = base, metallic, more
    given, out = Buffer.of(device, cases), Buffer(device, COUNT * 48)
    pipeline = device.compute_pipeline(source(_PROGRAM, "brdf", "ambient"), label="brdf")
    encoder = device.raw.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, device.bind(pipeline, [given.raw, out.raw]))
    compute.dispatch_workgroups(COUNT // 64)
    compute.end()
    device.submit([encoder.finish()])
    found = out.numpy(np.float32, (COUNT, 3, 4))[..., :3]
    wanted = brdf.reflected(view, light, base, metallic, roughness)
    # A polished surface amplifies the last bits of the angle: relative to what is there.
    assert np.abs(found[:, 0] - wanted).max() < 2e-3 * (1 + wanted.max())
    assert np.median(np.abs(found[:, 0] - wanted) / wanted) < 1e-5
    around = brdf.reflected_around(
        base, metallic, roughness, more[:, :3], more[:, 2::-1], view[:, 2:], more[:, 3:]
    )
    np.testing.assert_allclose(found[:, 1], around, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        found[:, 2], brdf.ambient_light(light, 2 + 50 * more[:, :1]), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("metallic", [0.0, 1.0])
@pytest.mark.parametrize("roughness", [0.2, 0.5, 1.0])
def test_in_a_white_furnace_no_light_is_made(metallic, roughness):
    """A white surface in white light from everywhere sends that back, and hardly more. What is looked at along its surface
    may send a sixth more: glTF mixes by the angle to the half vector, which leaves grazing light to both layers."""
    rng = np.random.default_rng(2)
    azimuth, z = rng.random(200_000) * 2 * np.pi, rng.random(200_000)
    ring = np.sqrt(1 - z * z)
    light = np.stack([ring * np.cos(azimuth), ring * np.sin(azimuth), z], -1)
    for n_v in (0.3, 0.6, 0.95):
        view = np.broadcast_to([np.sqrt(1 - n_v**2), 0, n_v], light.shape)
        sent = 2 * np.pi * brdf.reflected(view, light, np.ones(3), metallic, roughness).mean()
        assert 0.85 < sent < (1.07 if n_v > 0.5 else 1.18), (n_v, sent)
        around = brdf.reflected_around(np.ones(3), metallic, roughness, 1.0, 1.0, n_v, 1.0)
        assert 0.97 < around.min() <= around.max() < 1.001


def test_reflection_is_the_same_both_ways():
    """Helmholtz: the lobes are reciprocal. What is added for light lost between facets goes by the view alone, as in
    three.js."""
    rng = np.random.default_rng(3)
    a, b = _directions(rng, (2, 500))
    base, metallic, roughness = rng.random((500, 3)), rng.random((500, 1)), rng.random((500, 1))
    there = brdf.reflected(a, b, base, metallic, roughness, boosted=False) / b[:, 2:]
    back = brdf.reflected(b, a, base, metallic, roughness, boosted=False) / a[:, 2:]
    np.testing.assert_allclose(there, back, rtol=1e-9)


def test_the_fit_of_the_mirrored_part_is_near_the_integral():
    rng = np.random.default_rng(4)
    azimuth, z = rng.random(200_000) * 2 * np.pi, rng.random(200_000)
    ring = np.sqrt(1 - z * z)
    light = np.stack([ring * np.cos(azimuth), ring * np.sin(azimuth), z], -1)
    for roughness in (0.4, 0.7, 1.0):
        for n_v in (0.3, 0.7, 0.95):
            view = np.broadcast_to([np.sqrt(1 - n_v**2), 0, n_v], light.shape)
            # All metal and white: only the mirrored part is left, with f0 = 1.
            integral = (
                2 * np.pi * brdf.reflected(view, light, np.ones(3), 1.0, roughness, boosted=False).mean()
            )
            scale, bias = brdf.mirrored_part(roughness, n_v)
            assert abs(scale + bias - integral) < 0.04, (roughness, n_v, scale + bias, integral)
