"""Golden pictures: samples as they are, characters of the corpus as thumbnails too small to show what is in their files.

`python tests/rendering/test_goldens.py [CORPUS]` draws them anew; look at them before they are kept. Drivers differ: areas
are compared, not pixels (`pictures.py`), and what differs is shown in a picture.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import golden_pictures as pictures
import numpy as np
import pytest
from golden_pictures import GOLDEN, assert_alike, box, over_grey

import marrow as mw

SIZE = (192, 192)
SAMPLES = {
    "mannequin_walk": ("mannequin", "walk", 0.3),
    "mannequin_attack": ("mannequin", "attack", 0.4),
    "lizard_walk": ("lizard", "walk", 0.2),
}
CORPUS = {
    "Fox.glb": ("Run", 0.3),
    "CesiumMan.glb": (None, 0.5),
    "Soldier.glb": ("Run", 0.2),
    "Xbot.glb": ("walk", 0.4),
    "BrainStem.glb": (None, 1.0),
    "RiggedFigure.glb": (None, 0.5),
    "MorphStressTest.glb": (None, 0.7),
    "Samba_Dancing.fbx": (None, 3.0),
    "blender_293_barbarian_7400_binary.fbx": (None, 0.5),
    "AnimatedMorphCube.glb": (None, 0.5),
    "maya_kenney_character_7700_binary.fbx": (None, 0.5),
    "NegativeScaleTest.glb": (None, 0.0),
}
THUMBNAIL = 24
"""Pixels of a thumbnail's side: shapes and colours, none of the drawings on them."""


def picture_of(renderer, character, clip, time):
    """A character seen from the front right, all of it."""
    if clip is None:
        clip = next(iter(character.clips), None)
    elif clip not in character.clips:
        clip = next(name for name in character.clips if clip.lower() in name.lower())
    pose = character.skeleton.rest if clip is None else character.clips[clip].sample(time)
    points = mw.skin(character, pose, normals=False, tangents=False).positions.astype(np.float64)
    low, high = points.min(0), points.max(0)
    center, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-9)
    eye = center + 2.9 * radius * np.array([0.45, 0.3, 0.84])
    camera = mw.Camera.perspective(
        eye, center, fov=0.65, width=SIZE[0], height=SIZE[1], near=0.01 * radius, far=100 * radius
    )
    renderer.size = SIZE
    scene = mw.Scene(mw.Actor(character, pose), ground=float(low[1]), environment=mw.Environment("dark"))
    return np.asarray(renderer.render(scene, camera), np.float64)


def thumbnail(pixels):
    step = SIZE[0] // THUMBNAIL
    return box(over_grey(pixels), step)[::step, ::step]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("path", ["forward", "deferred"])
def test_samples_look_as_they_did(request, name, path):
    sample, clip, time = SAMPLES[name]
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    found = picture_of(renderer, getattr(mw.samples, sample)(), clip, time)
    wanted = pictures.load(GOLDEN / f"{name}.png")
    # The deferred path smooths edges in another way, and a small picture is half edges.
    loose = 1 if path == "forward" else 3
    assert_alike(
        found, wanted, f"{name}_{path}", mean=0.7 * loose, worst=8 * loose, structure=1 - 0.015 * loose
    )


@pytest.mark.parametrize("name", CORPUS)
def test_characters_of_the_corpus_look_as_they_did(renderer, corpus, name):
    found = thumbnail(picture_of(renderer, mw.load(corpus / name), *CORPUS[name]))
    order = json.loads((GOLDEN / "corpus.json").read_text())
    at = order.index(name) * THUMBNAIL
    wanted = pictures.load(GOLDEN / "corpus.png")[:, at : at + THUMBNAIL, :3]
    off = np.abs(found - wanted).max(-1)
    if off.mean() > 1.5 or off.max() > 24:
        large = [np.kron(p, np.ones((8, 8, 1))) for p in (found, wanted, np.abs(found - wanted) * 4)]
        path = Path("differences") / f"{name}.png"
        pictures.save(path, np.concatenate(large, 1))
        pytest.fail(
            f"{name}: off by {off.mean():.1f} on average, {off.max():.0f} at most: see {path.resolve()}"
        )


def test_a_golden_picture_tells_when_something_is_wrong(renderer, hero):
    """What they must notice: another colour, a limb that is gone, no shadow."""
    right = picture_of(renderer, hero, "walk", 0.3)
    pale = hero.replace(
        materials=(mw.Material(base_color=(0.9, 0.5, 0.5, 1), metallic=0.0), *hero.materials[1:])
    )
    for wrong in (picture_of(renderer, pale, "walk", 0.3), picture_of(renderer, hero, "walk", 0.5)):
        apart = pictures.difference(wrong, right)
        assert apart.mean > 0.7 or apart.worst > 7 or apart.structure < 0.985


def main(corpus):
    renderer = mw.Renderer(SIZE)
    for name, (sample, clip, time) in SAMPLES.items():
        pictures.save(
            GOLDEN / f"{name}.png", picture_of(renderer, getattr(mw.samples, sample)(), clip, time)[..., :3]
        )
    if corpus is not None:
        found = [thumbnail(picture_of(renderer, mw.load(corpus / name), *CORPUS[name])) for name in CORPUS]
        pictures.save(GOLDEN / "corpus.png", np.concatenate(found, 1))
        (GOLDEN / "corpus.json").write_text(json.dumps(list(CORPUS), indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
