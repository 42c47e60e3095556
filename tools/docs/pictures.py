"""Makes the pictures of the samples: docs/mannequin.png and the contact sheets in docs/samples.

    python tools/docs/pictures.py

A small software rasteriser, good enough to judge a shape or a motion without a GPU or a window.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

import marrow as mw
from marrow.kernels.language.annotations import H, Out, T, V, W, f8, i8
from marrow.kernels.language.kernel import kernel

DOCS = Path(__file__).resolve().parents[2] / "docs"
LIGHT = np.array([-0.45, 0.65, 0.62]) / np.linalg.norm([-0.45, 0.65, 0.62])
SHARPNESS = 2


@kernel
def rasterize(
    screen: f8[V, 2],
    depth_of: f8[V],
    triangles: i8[T, 3],
    normals: f8[V, 3],
    colors: f8[T, 3],
    depth: Out[f8[H, W]],
    image: Out[f8[H, W, 3]],
    light: f8[3],
) -> None:
    """Fills `image` and `depth` with triangles, nearest wins, lit per pixel."""
    H, W = depth.shape[0], depth.shape[1]
    for f in range(len(triangles)):
        a, b, c = triangles[f, 0], triangles[f, 1], triangles[f, 2]
        x0, y0, x1, y1 = screen[a, 0], screen[a, 1], screen[b, 0], screen[b, 1]
        x2, y2 = screen[c, 0], screen[c, 1]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if abs(area) < 1e-9:
            continue
        for y in range(max(int(min(y0, y1, y2)), 0), min(int(max(y0, y1, y2)) + 2, H)):
            for x in range(max(int(min(x0, x1, x2)), 0), min(int(max(x0, x1, x2)) + 2, W)):
                w1 = ((x + 0.5 - x0) * (y2 - y0) - (x2 - x0) * (y + 0.5 - y0)) / area
                w2 = ((x1 - x0) * (y + 0.5 - y0) - (x + 0.5 - x0) * (y1 - y0)) / area
                w0 = 1.0 - w1 - w2
                if w0 < 0.0 or w1 < 0.0 or w2 < 0.0:
                    continue
                z = w0 * depth_of[a] + w1 * depth_of[b] + w2 * depth_of[c]
                if z <= depth[y, x]:
                    continue
                depth[y, x] = z
                nx = w0 * normals[a, 0] + w1 * normals[b, 0] + w2 * normals[c, 0]
                ny = w0 * normals[a, 1] + w1 * normals[b, 1] + w2 * normals[c, 1]
                nz = w0 * normals[a, 2] + w1 * normals[b, 2] + w2 * normals[c, 2]
                length = math.sqrt(nx * nx + ny * ny + nz * nz) + 1e-9
                nx, ny, nz = nx / length, ny / length, nz / length
                lit = nx * light[0] + ny * light[1] + nz * light[2]
                mirrored = max(2.0 * lit * nz - light[2], 0.0)
                m2 = mirrored * mirrored
                m8 = m2 * m2 * m2 * m2
                rim = 1.0 - abs(nz)
                shade = 0.42 * (0.6 + 0.4 * ny) + 0.85 * max(lit, 0.0)
                for k in range(3):
                    image[y, x, k] = (
                        colors[f, k] * shade + 0.18 * m8 * m8 * m8 * m2 * m2 * m2 + 0.1 * rim * rim * rim
                    )


def camera(yaw, pitch):
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    return np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]]) @ np.array([[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]])


def render(character, pose, *, yaw=-0.5, pitch=0.1, center=(0, 0.92, 0), height=2.05, size=(300, 420)):
    """One picture of a character in a pose."""
    surface = mw.skin(character, pose)
    offsets = character.vertex_offsets
    triangles = np.concatenate([m.triangles.astype(np.int64) + o for m, o in zip(character.meshes, offsets)])
    colors = np.ones((len(triangles), 3))
    row = 0
    for mesh in character.meshes:
        for section in mesh.sections:
            colors[row + section.first : row + section.first + section.count] = character.materials[
                section.material
            ].base_color[:3]
        row += mesh.triangle_count
    W, H = size[0] * SHARPNESS, size[1] * SHARPNESS
    turn, scale = camera(yaw, pitch), H / height

    def seen(points):
        moved = (points - np.asarray(center)) @ turn.T
        return np.stack([W / 2 + moved[:, 0] * scale, H / 2 - moved[:, 1] * scale], axis=1), moved[
            :, 2
        ].copy()

    image = np.ones((H, W, 3)) * np.linspace(0.86, 0.72, H)[:, None, None]
    # A soft shadow where the character, flattened along the light, meets the ground.
    flat = surface.positions - surface.positions[:, 1:2] * (LIGHT / LIGHT[1]) * 0.35
    flat[:, 1] = 0
    mask, none = np.zeros((H, W, 3)), np.full((H, W), -1e9)
    up = np.tile([0.0, 1.0, 0.0], (len(flat), 1))
    rasterize(*seen(flat), triangles, up, np.full(colors.shape, 9.0), none, mask, np.array([0.0, 1.0, 0.0]))
    shadow = Image.fromarray(((mask[..., 0] > 0) * 255).astype(np.uint8)).filter(
        ImageFilter.GaussianBlur(7 * SHARPNESS)
    )
    image *= 1 - 0.38 * (np.asarray(shadow) / 255)[..., None]

    depth = np.full((H, W), -1e9)
    rasterize(*seen(surface.positions), triangles, surface.normals @ turn.T, colors, depth, image, LIGHT)
    pixels = (np.clip(image, 0, 1) ** (1 / 2.2) * 255).astype(np.uint8)
    return Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS)


def strip(character, clip, count=7, **options):
    """Frames of a clip, followed by the camera."""
    motion = character.clips[clip]
    pictures = []
    for time in np.linspace(0, motion.duration, count, endpoint=False):
        pose = motion.sample(float(time))
        at = character.skeleton.to_model(pose)[0, :, 3]
        lift = options.get("lift", 0.92)
        rest = {k: v for k, v in options.items() if k != "lift"}
        pictures.append(render(character, pose, center=(at[0], lift, at[2]), **rest))
    return pictures


def sheet(rows, path):
    """Rows of pictures, side by side, as a small PNG."""
    width = max(sum(p.width for p in row) for row in rows)
    page = Image.new("RGB", (width, sum(row[0].height for row in rows)), (236, 236, 236))
    y = 0
    for row in rows:
        x = 0
        for picture in row:
            page.paste(picture, (x, y))
            x += picture.width
        y += row[0].height
    page.save(path, optimize=True)
    print(f"{path.relative_to(DOCS.parent)}: {page.width} x {page.height}, {path.stat().st_size // 1000} kB")


def main():
    hero, lizard = mw.samples.mannequin(), mw.samples.lizard()
    moments = (
        ("idle", 0.3, -0.5), ("walk", 0.05, -0.8), ("run", 0.27, -0.9), ("attack", 0.32, -0.45), ("wave", 0.8, -0.3),
    )  # fmt: skip
    row = []
    for clip, time, yaw in moments:
        pose = hero.clips[clip].sample(time)
        at = hero.skeleton.to_model(pose)[0, :, 3]
        row.append(render(hero, pose, yaw=yaw, center=(at[0], 0.95, at[2]), height=2.1, size=(250, 380)))
    sheet([row], DOCS / "mannequin.png")

    small = {"size": (130, 190)}
    body = [
        render(hero, hero.skeleton.rest, yaw=y, height=2.0, size=(260, 300))
        for y in (0, -0.6, -np.pi / 2, np.pi)
    ]
    sheet([body], DOCS / "samples" / "body.png")
    groups = {
        "locomotion": (
            "walk",
            "jog",
            "run",
            "walk_back",
            "strafe_left",
            "strafe_right",
            "turn_left",
            "turn_right",
        ),
        "actions": ("idle", "jump", "wave", "attack", "crouch"),
    }
    for name, clips in groups.items():
        rows = []
        for clip in clips:
            # Arms raised in the air need more room.
            room = small | ({"height": 2.6, "lift": 1.2} if clip == "jump" else {})
            rows.append(strip(hero, clip, 5, yaw=-1.2, **room) + strip(hero, clip, 5, yaw=0.0, **room))
        sheet(rows, DOCS / "samples" / f"{name}.png")
    aim = [
        [render(hero, hero.clips[f"aim_{a}{b}"].sample(0), yaw=-0.4, **small) for b in names]
        for a, names in (
            ("up", ("_left", "", "_right")),
            ("", ("left", "center", "right")),
            ("down", ("_left", "", "_right")),
        )
    ]
    sheet(aim, DOCS / "samples" / "aim.png")
    low = {"yaw": -0.8, "pitch": 0.45, "height": 0.95, "size": (240, 190), "lift": 0.08}
    sheet([strip(lizard, clip, 5, **low) for clip in lizard.clips], DOCS / "samples" / "lizard.png")


if __name__ == "__main__":
    main()
