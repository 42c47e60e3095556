"""Makes the contact sheets of docs/motion.md: motion of one rig above the same moments on another.

    python tools/docs/motion_pictures.py

Needs the corpus of real files (`make corpus`). Draws with Pillow, triangle by
triangle from far to near: slow, and good enough to judge a motion without a GPU.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import marrow as mw
from marrow.motion import Retargeter, find_rig
from marrow.motion.posture import rest_posture

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path[:0] = [str(DOCS.parent / "tests" / "motion"), str(DOCS.parent / "tests")]
from pairs import CORPUS as FILES  # noqa: E402
from pairs import MOTION as MOTIONS  # noqa: E402

from surroundings import corpus_folder  # noqa: E402

CORPUS = corpus_folder()
MOTION = next(place for place in (CORPUS / "motion", CORPUS.parent / "motion") if place.is_dir())
LIGHT = np.array([-0.4, 0.6, 0.7]) / np.linalg.norm([-0.4, 0.6, 0.7])
SIZE, SHARPNESS = (120, 160), 2


def camera(yaw, pitch):
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    return np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]]) @ np.array([[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]])


def draw(character, pose, *, center, height, yaw=-0.75, metres=1.0):
    """One picture: the skin where there is one, else the bones; a grid of half metres on the ground."""
    W, H = SIZE[0] * SHARPNESS, SIZE[1] * SHARPNESS
    page = Image.new("RGB", (W, H), (238, 238, 238))
    pen = ImageDraw.Draw(page)
    turn, scale = camera(yaw, 0.1), H / height

    def seen(points):
        moved = (points - center) @ turn.T
        return np.stack([W / 2 + moved[..., 0] * scale, H / 2 - moved[..., 1] * scale], axis=-1), moved[
            ..., 2
        ]

    x, z = np.round(center[[0, 2]] * 2) / 2
    for k in np.arange(-2, 2.1, 0.5):
        for a, b in (((x + k, z - 2), (x + k, z + 2)), ((x - 2, z + k), (x + 2, z + k))):
            ends, _ = seen(np.array([[a[0], 0, a[1]], [b[0], 0, b[1]]]))
            pen.line([tuple(ends[0]), tuple(ends[1])], fill=(205, 218, 205), width=2)
    if character.meshes:
        at = mw.skin(character, pose).positions.astype(float) * metres
        corners = np.concatenate(
            [m.triangles.astype(np.int64) + o for m, o in zip(character.meshes, character.vertex_offsets)]
        )
        flat, depth = seen(at)
        v = at[corners]
        normal = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
        normal = normal / (np.linalg.norm(normal, axis=1, keepdims=True) + 1e-12) @ turn.T
        front = normal[:, 2] > 0
        corners, normal = corners[front], normal[front]
        shade = (70 + 165 * np.clip(0.3 + 0.7 * np.clip(normal @ LIGHT, 0, 1), 0, 1)).astype(int)
        for k in np.argsort(depth[corners].mean(axis=1)):
            c = int(shade[k])
            pen.polygon([tuple(p) for p in flat[corners[k]]], fill=(c, int(c * 0.97), int(c * 0.9)))
    else:
        rig = find_rig(character.skeleton)
        body = set(character.skeleton.descendants(rig.joint("hips")).tolist())
        flat, _ = seen(character.skeleton.to_model(pose)[..., 3].astype(float) * metres)
        left = {j for part, chain in rig.chains.items() if part.startswith("left") for j in chain}
        right = {j for part, chain in rig.chains.items() if part.startswith("right") for j in chain}
        for j, p in enumerate(character.skeleton.parents.tolist()):
            if p in body and j in body:
                color = (180, 70, 60) if j in left else (60, 80, 180) if j in right else (70, 70, 70)
                pen.line([tuple(flat[p]), tuple(flat[j])], fill=color, width=3 * SHARPNESS)
    return page.resize(SIZE, Image.Resampling.LANCZOS)


def strip(character, clip, times, metres=1.0):
    """Moments of a clip, followed by the camera."""
    rig = find_rig(character.skeleton)
    hips = rig.joint("hips")
    body = character.skeleton.rest_model[..., 3][character.skeleton.descendants(hips)]
    if character.meshes:
        body = mw.skin(character, character.skeleton.rest).positions
    extent = np.ptp(body.astype(float), axis=0) * metres
    tall = float(max(extent[1], 0.8 * extent[2]))
    # Every figure is seen from the same side, whichever way it rests.
    yaw = -0.75
    if rig.complete:
        forward = rest_posture(character.skeleton, rig.chains).frame[:, 2]
        yaw -= float(np.round(np.arctan2(forward[0], forward[2]) / (np.pi / 2)) * np.pi / 2)
    height, aside = 1.25 * tall, np.zeros(3)
    if not rig.complete:
        # An animal is longer than it is tall: the whole of it, from its middle.
        turned = body.astype(float) * metres @ camera(yaw, 0.1).T
        height = max(height, 1.15 * float(np.ptp(turned[:, 0])) * SIZE[1] / SIZE[0])
        middle = (body.min(axis=0) + body.max(axis=0)) / 2 - character.skeleton.rest_model[hips, :, 3]
        aside = middle.astype(float) * metres * [1, 0, 1]
        tall = 0.7 * height
    row = []
    for t in times:
        pose = clip.sample(float(t))
        at = aside + character.skeleton.to_model(pose)[hips, :, 3].astype(float) * metres
        row.append(
            draw(
                character,
                pose,
                center=np.array([at[0], max(0.5 * tall, at[1] - 0.1 * tall), at[2]]),
                height=height,
                yaw=yaw,
                metres=metres,
            )
        )
    return row


def pair(source, clip, target, count=8, begin=0.0):
    """Two rows: the source, and the same moments on the target."""
    motion = source.clips[clip]
    tool = Retargeter(source, target, clip=motion)
    made = tool.retarget(motion)
    times = np.linspace(begin, motion.duration, count, endpoint=False)
    return [strip(source, motion, times, tool.source_metres), strip(target, made, times)]


def sheet(rows, path):
    page = Image.new("RGB", (SIZE[0] * max(map(len, rows)), SIZE[1] * len(rows)), (255, 255, 255))
    for y, row in enumerate(rows):
        for x, picture in enumerate(row):
            page.paste(picture, (x * SIZE[0], y * SIZE[1]))
    page.quantize(64).save(path, optimize=True)
    print(f"{path.relative_to(DOCS.parent)}: {page.width} x {page.height}, {path.stat().st_size // 1000} kB")


@cache
def loaded(name):
    if name == "mannequin":
        return mw.samples.mannequin()
    return mw.load(CORPUS / FILES[name] if name in FILES else MOTION / MOTIONS[name])


def main():
    hero = mw.samples.mannequin()
    zombie, avatar = mw.load(MOTION / "m2m_human_zombie.glb"), mw.load(MOTION / "voxel_avatar.vrm")
    walk, run = mw.load(MOTION / "cmu_walk.bvh"), mw.load(MOTION / "cmu_run.bvh")
    out = DOCS / "motion"
    out.mkdir(exist_ok=True)
    first = pair(walk, 0, hero, begin=0.3)
    sheet(
        [*first, pair(walk, 0, zombie, begin=0.3)[1], pair(walk, 0, avatar, begin=0.3)[1]], out / "mocap.png"
    )
    sheet(
        [*pair(run, 0, hero, begin=0.2), *pair(hero, "attack", zombie), *pair(hero, "wave", avatar)],
        out / "pairs.png",
    )
    fox, horse = mw.load(MOTION / "m2m_fox_clips.glb"), mw.load(MOTION / "m2m_fox_horse.glb")
    sheet(pair(fox, "Walk", horse), out / "animals.png")
    strafe = hero.clips["strafe_left"]
    times = np.linspace(0, strafe.duration, 8, endpoint=False)
    sheet([strip(hero, strafe, times), strip(hero, strafe.mirrored(), times)], out / "mirrored.png")


if __name__ == "__main__":
    main()
