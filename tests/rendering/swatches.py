"""A character made of spheres, each of another material: what renderers are compared by."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from quads import picture

import marrow as mw

COLUMNS, ROWS, STEP = 5, 4, 1.2
SIZE = (400, 320)
SUN = mw.DirectionalLight(direction=(-0.5, -0.8, -0.7), color=(1.0, 0.95, 0.9), intensity=2.2, shadows=False)
EYE, TARGET, FOV = (0.0, 0.0, 9.0), (0.0, 0.0, 0.0), math.radians(32)


def camera(size=SIZE):
    return mw.Camera.perspective(EYE, TARGET, fov=FOV, width=size[0], height=size[1], near=0.1, far=100)


def scene(character, *, ambient):
    environment = mw.Environment(background=(0.0, 0.0, 0.0), ambient=ambient)
    return mw.Scene(mw.Actor(character), lights=[SUN], ground=False, environment=environment)


def _images():
    y, x = np.mgrid[0:64, 0:64]
    checks = np.where(((x // 8 + y // 8) % 2 == 0)[..., None], (230, 120, 40), (40, 90, 200)).astype(np.uint8)
    slope = np.stack([np.cos(x * math.pi / 8), -np.cos(y * math.pi / 8)], -1) * 0.45
    normal = np.concatenate([slope, np.sqrt(1 - (slope**2).sum(-1, keepdims=True))], -1)
    surface = np.zeros((64, 64, 3))
    surface[..., 0] = 0.35 + 0.65 * (y % 16 < 8)  # occlusion
    surface[..., 1] = 0.15 + 0.8 * x / 63  # roughness
    surface[..., 2] = (x // 16) % 2  # metallic
    glow = np.zeros((64, 64, 3), np.uint8)
    glow[(x % 16 < 4)] = (255, 90, 20)
    leaves = np.zeros((64, 64, 4), np.uint8)
    leaves[..., :3], leaves[..., 3] = (60, 170, 60), np.where(np.hypot(x % 16 - 8, y % 16 - 8) < 6, 255, 20)
    arrows = np.full((64, 64, 3), 240, np.uint8)
    arrows[(np.abs(x - 32) < 6) & (y > 8)] = (200, 30, 30)
    arrows[(y < 26) & (np.abs(x - 32) < y - 4)] = (200, 30, 30)
    made = {
        "checks": checks,
        "normal": np.round((normal * 0.5 + 0.5) * 255),
        "surface": np.round(surface * 255),
        "glow": glow,
        "leaves": leaves,
        "arrows": arrows,
    }
    return [picture(name, pixels) for name, pixels in made.items()]


def _materials():
    plain = mw.Material(metallic=0.0, roughness=0.6, base_color=(0.8, 0.8, 0.8, 1))
    rough = np.linspace(0.1, 1, COLUMNS)
    reds = [replace(plain, name=f"red {r:.2f}", base_color=(0.6, 0.08, 0.06, 1), roughness=r) for r in rough]
    golds = [mw.Material(f"gold {r:.2f}", (0.95, 0.64, 0.26, 1), 1.0, r) for r in rough]

    def texture(number, **options):
        return mw.Texture(number, **options)

    return [
        *reds,
        *golds,
        replace(plain, name="checks", base_color_texture=texture(0)),
        replace(
            plain, name="bumps", normal_texture=texture(1, scale=(2.0, 2.0)), base_color=(0.3, 0.5, 0.7, 1)
        ),
        mw.Material(
            "worn",
            (0.7, 0.7, 0.75, 1),
            metallic_roughness_texture=texture(2),
            occlusion_texture=texture(2, uv_set=1),
        ),
        replace(
            plain,
            name="glow",
            base_color=(0.05, 0.05, 0.06, 1),
            emissive=(1, 1, 1),
            emissive_texture=texture(3),
        ),
        replace(plain, name="vertex colours"),
        replace(plain, name="leaves", base_color_texture=texture(4), alpha_mode="mask", double_sided=True),
        replace(
            plain,
            name="arrows",
            base_color_texture=texture(
                5, wrap_u="mirror", wrap_v="clamp", offset=(0.2, -0.4), rotation=0.5, scale=(3.0, 2.0)
            ),
        ),
        replace(plain, name="unlit", base_color_texture=texture(0), unlit=True),
        replace(
            plain,
            name="bumps, derived",
            normal_texture=texture(1, scale=(2.0, 2.0)),
            metallic=1.0,
            roughness=0.35,
        ),
        replace(plain, name="glass", base_color=(0.3, 0.7, 0.9, 0.45), alpha_mode="blend", roughness=0.1),
    ]


def _sphere(rings=24, around=32):
    """Positions, UVs, tangents and triangles of a ball of radius 0.5; normals are twice the positions."""
    v, u = np.meshgrid(np.linspace(0, 1, rings + 1), np.linspace(0, 1, around + 1), indexing="ij")
    polar, turn = v * math.pi, (u - 0.25) * 2 * math.pi
    normals = np.stack([np.sin(polar) * np.sin(turn), np.cos(polar), np.sin(polar) * np.cos(turn)], -1)
    tangents = np.stack([np.cos(turn), 0 * turn, -np.sin(turn), 1 + 0 * turn], -1)
    i, j = np.meshgrid(np.arange(rings), np.arange(around), indexing="ij")
    a = i * (around + 1) + j
    quads = np.stack([a, a + around + 1, a + around + 2, a, a + around + 2, a + 1], -1)
    return (
        0.5 * normals.reshape(-1, 3),
        np.stack([u, v], -1).reshape(-1, 2),
        tangents.reshape(-1, 4),
        quads.reshape(-1, 3),
    )


def swatches() -> mw.Character:
    positions, uvs, tangents, triangles = _sphere()
    meshes, joints, places = [], ["root"], [(0.0, 0.0, 0.0)]
    materials = _materials()
    for n, material in enumerate(materials):
        row, column = divmod(n, COLUMNS)
        joints.append(material.name)
        places.append(((column - (COLUMNS - 1) / 2) * STEP, ((ROWS - 1) / 2 - row) * STEP, 0.0))
        colors = None
        if material.name == "vertex colours":
            colors = np.concatenate([positions + 0.5, np.ones((len(positions), 1))], -1)
        meshes.append(
            mw.Mesh.rigid(
                material.name,
                positions,
                triangles,
                n + 1,
                normals=2 * positions,
                tangents=None if material.name == "bumps, derived" else tangents,
                uvs=(uvs, uvs * 2.0),
                colors=colors,
                sections=(mw.Section(0, len(triangles), n),),
            )
        )
    rest = mw.Pose.identity(len(joints))
    rest.translation[:] = places
    bones = mw.Skeleton(tuple(joints), [-1] + [0] * len(materials), rest)
    return mw.Character(
        bones, tuple(meshes), materials=tuple(materials), images=tuple(_images()), name="swatches"
    )
