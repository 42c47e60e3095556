"""Random characters with everything that an FBX file can hold, and where the corners of their triangles are."""

from __future__ import annotations

from typing import Any

import numpy as np

import builders
import marrow as mw
from marrow.math import affine, transform

NAMES = (
    "hips",
    "Müller",
    "手",
    "a::b",
    "mixamorig:Spine",
    "x y",
    "dot.ted",
    "hips",
    "",
    "[7]",
    "a|b",
    "né\n",
)


def random_character(
    seed: int, *, interpolations: tuple[str, ...] = ("linear",), tame: bool = False
) -> mw.Character:
    """Anything; a `tame` one keeps to what three.js knows: four influences, plain names, no in-betweens."""
    rng = np.random.default_rng(seed)
    J, M = int(rng.integers(2, 12)), int(rng.integers(0, 4))
    scale = np.ones((J, 3))
    odd = rng.random(J) < 0.4
    scale[odd] = rng.uniform(0.5, 2.0, (int(odd.sum()), 1))
    uneven = rng.random(J) < 0.2
    scale[uneven] = rng.uniform(0.5, 2.0, (int(uneven.sum()), 3))
    rest = mw.Pose(
        rng.normal(0, 0.3, (J, 3)), builders.rotations(rng, (J,)), scale, rng.random(M) * (not tame)
    )
    parents = [-1, *(int(rng.integers(-1 if rng.random() < 0.1 else 0, i)) for i in range(1, J))]
    names = tuple(
        str(rng.choice(NAMES)) if rng.random() < 0.5 and not tame else f"joint_{i}" for i in range(J)
    )
    bones = mw.Skeleton(names, np.array(parents), rest, tuple(f"morph {i}" for i in range(M)))
    materials = tuple(
        mw.Material(f"m{i}", (rng.random(), 0.5, 0.25, 1.0), metallic=rng.random()) for i in range(3)
    )
    meshes = [_skinned(rng, bones, f"body{i}", len(materials), tame) for i in range(int(rng.integers(1, 3)))]
    local = transform.compose(rng.normal(size=3), builders.rotations(rng, ()), rng.uniform(0.5, 2, 3))
    points, corners = _soup(rng)
    meshes.append(mw.Mesh.rigid("prop", points, corners, int(rng.integers(J))))
    meshes.append(mw.Mesh.rigid("shield", points, corners, int(rng.integers(J)), inverse_bind=local[None]))
    clips = [_clip(rng, bones, f"clip {i}", interpolations) for i in range(int(rng.integers(0, 3)))]
    return mw.Character(bones, tuple(meshes), tuple(clips), materials, name="random")


def _soup(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    V, F = int(rng.integers(3, 40)), int(rng.integers(1, 40))
    return rng.normal(size=(V, 3)).astype(np.float32), np.stack([rng.permutation(V)[:3] for _ in range(F)])


def _skinned(rng: np.random.Generator, bones: mw.Skeleton, name: str, materials: int, tame: bool) -> mw.Mesh:
    points, corners = _soup(rng)
    V, F = len(points), len(corners)
    points[V // 2 :] = points[: V - V // 2]  # seams
    targets: list[mw.MorphTarget] = []
    for m in range(len(bones.morph_names)):
        for full in (0.4, 1.0) if rng.random() < 0.4 and not tame else (1.0,):
            some = np.sort(rng.permutation(V)[: int(rng.integers(1, V + 1))])
            deltas = rng.normal(0, 0.2, (2, len(some), 3))
            targets.append(
                mw.MorphTarget(f"{name} {m} {full}", m, deltas[0], deltas[1], vertices=some, full_weight=full)
            )
    options: dict[str, Any] = {
        "uvs": tuple(rng.random((V, 2)) for _ in range(int(rng.integers(0, 3)))),
        "colors": rng.random((V, 4)) if rng.random() < 0.5 else None,
        "morph_targets": tuple(targets),
        "node": int(rng.integers(-1, len(bones))),
    }
    if rng.random() < 0.5:  # bound elsewhere than where it rests
        binds = transform.compose(
            rng.normal(0, 0.3, (len(bones), 3)),
            builders.rotations(rng, (len(bones),)),
            np.ones((len(bones), 3)),
        )
        options["inverse_bind"] = affine.invert(binds)
    cut = int(rng.integers(0, F + 1))
    sections = [
        mw.Section(0, cut, int(rng.integers(materials))),
        mw.Section(cut, F - cut, int(rng.integers(materials))),
    ]
    made = builders.mesh(rng, bones, V, int(rng.integers(1, 5 if tame else 7)), **options)
    parts = tuple(s for s in sections if s.count)
    return made.replace(name=name, positions=points, triangles=corners, sections=parts)


def _clip(
    rng: np.random.Generator, bones: mw.Skeleton, name: str, interpolations: tuple[str, ...]
) -> mw.Clip:
    tracks = []
    for path, count in (
        ("translation", len(bones)),
        ("rotation", len(bones)),
        ("scale", len(bones)),
        ("morph", len(bones.morph_names)),
    ):
        for target in range(count):
            if rng.random() < 0.4:
                continue
            how = str(rng.choice(interpolations))
            n = int(rng.integers(1, 8))
            times = np.sort(rng.uniform(0, 2, n)).astype(np.float32)
            width = {"rotation": 4, "morph": 1}.get(path, 3)
            values = builders.rotations(rng, (n,)) if width == 4 else rng.uniform(0.2, 1.5, (n, width))
            if how == "cubic":
                slopes = rng.normal(0, 0.5, (2, n, width))
                values = np.stack([slopes[0], values, slopes[1]], axis=1)
            tracks.append(mw.Track(target, path, times, values, how))  # type: ignore[arg-type]
    start = float(np.float32(rng.random())) if rng.random() < 0.5 else 0.0
    return mw.Clip(name, bones, tuple(tracks), duration=float(np.float32(2.25)), start=start)
