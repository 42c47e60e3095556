"""A square that fills the picture, and what the renderer should make of it, pixel by pixel, in NumPy."""

from __future__ import annotations

import io

import brdf
import numpy as np
from PIL import Image as pillow

import marrow as mw

SIZE = 64
_CORNERS = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
_UVS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)  # as glTF: v grows downwards
SUN = mw.DirectionalLight(direction=(-0.4, -0.7, -0.6), color=(1.0, 0.9, 0.8), intensity=2.0, shadows=False)


def png(pixels) -> bytes:
    buffer = io.BytesIO()
    pillow.fromarray(np.asarray(pixels, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def picture(name, pixels) -> mw.Image:
    return mw.Image(name, "image/png", png(pixels))


def square(material, images=(), *, uvs=(_UVS,), tangents=True, normals=True, colors=None, mirrored=False):
    """A character: the square from -1 to 1 in x and y, looking along +Z."""
    sign = -1.0 if mirrored else 1.0
    mesh = mw.Mesh.rigid(
        "square",
        _CORNERS,
        [[0, 1, 2], [0, 2, 3]],
        0,
        normals=np.tile([0, 0, 1], (4, 1)) if normals else None,
        tangents=np.tile([sign, 0, 0, sign], (4, 1)) if tangents else None,
        uvs=tuple(np.asarray(uv, np.float32) for uv in uvs),
        colors=colors,
        sections=(mw.Section(0, 2, 0),),
    )
    bones = mw.Skeleton(("root",), [-1])
    return mw.Character(bones, (mesh,), materials=(material,), images=tuple(images))


def camera(*, behind=False):
    z = -3.0 if behind else 3.0
    return mw.Camera.orthographic((0, 0, z), (0, 0, 0), size=2.0, width=SIZE, height=SIZE, near=0.1, far=10)


def drawn(renderer, character, *, behind=False, lights=(SUN,), ambient=1.0, transforms=None):
    """The picture `(SIZE, SIZE, 4)` of a square, 0 to 1."""
    renderer.size = (SIZE, SIZE)
    environment = mw.Environment(background="transparent", ambient=ambient)
    scene = mw.Scene(
        mw.Actor(character, transforms=transforms), lights=lights, ground=False, environment=environment
    )
    return np.asarray(renderer.render(scene, camera(behind=behind))) / 255.0


def pixel_uvs():
    """UVs at the middle of every pixel, `(SIZE, SIZE, 2)`."""
    at = (np.arange(SIZE) + 0.5) / SIZE
    return np.stack(np.meshgrid(at, at), -1)


def linear(srgb):
    srgb = np.asarray(srgb, np.float64)
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def shown(light):
    """Light as the screen shows it: Khronos' PBR Neutral tone mapping, then sRGB."""
    light = np.asarray(light, np.float64)
    low = light.min(-1, keepdims=True)
    color = light - np.where(low < 0.08, low - 6.25 * low**2, 0.04)
    peak = color.max(-1, keepdims=True)
    d = 1 - 0.76
    with np.errstate(divide="ignore", invalid="ignore"):
        top = 1 - d * d / (peak + d - 0.76)
        g = 1 - 1 / (0.15 * (peak - top) + 1)
        squeezed = color * top / peak * (1 - g) + top * g
    color = np.clip(np.where(peak < 0.76, color, squeezed), 0, 1)
    return np.where(color <= 0.0031308, 12.92 * color, 1.055 * np.maximum(color, 1e-9) ** (1 / 2.4) - 0.055)


def lit(base, metallic, roughness, normal, *, occlusion=1.0, emissive=0.0, view=(0, 0, 1.0), ambient=1.0):
    """What a surface sends to the eye in the light of `SUN` and the studio. Arrays `(..., 3)` and `(..., 1)`."""
    normal = np.asarray(normal, np.float64)
    normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    view = np.broadcast_to(np.asarray(view, np.float64), normal.shape)
    sun = np.broadcast_to(-np.asarray(SUN.direction), normal.shape)
    # Into a space where the normal is +Z.
    helper = np.where(np.abs(normal[..., :1]) > 0.9, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    x = np.cross(helper, normal)
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    axes = np.stack([x, np.cross(normal, x), normal], -2)

    def into(v):
        return (axes @ v[..., None])[..., 0]

    v, l = into(view), into(sun)
    up = l[..., 2:] > 0
    direct = np.where(up, brdf.reflected(v, np.where(up, l, [0, 0, 1.0]), base, metallic, roughness), 0.0)
    n_v = np.clip(v[..., 2:], 0, 1)
    rough = np.clip(roughness, brdf.LEAST_ROUGHNESS, 1)
    mirror = 2 * np.sum(view * normal, -1, keepdims=True) * normal - view
    towards = mirror + (normal - mirror) * rough**3
    towards = towards / np.linalg.norm(towards, axis=-1, keepdims=True)
    around = brdf.reflected_around(
        base,
        metallic,
        roughness,
        brdf.ambient_light(normal, 2.2),
        brdf.ambient_light(towards, 2 / np.maximum(rough**4, 1e-3)),
        n_v,
        occlusion,
    )
    return emissive + ambient * around + np.array(SUN.color) * SUN.intensity * direct
