"""Copies of a body and of a motion that differ only in how they are written give the same result, to a tenth of a
millimetre: with axes rolled at random, joints reordered and renamed, in centimetres; scaled, turned, Z up and mirrored."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.math import quaternion

SAME = {n: n for n in rigs.PARTS}
CLOSE = 1e-4


def squat(name: str, p: np.ndarray) -> np.ndarray:
    """Short shins and broad hips."""
    return p * [1.3, 1, 1] - [0, 0.05 if name.startswith("calf") else 0, 0] if name.split("_")[0] in (
        "thigh", "calf", "foot", "ball"
    ) else p  # fmt: skip


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.fixture(scope="module")
def body() -> mw.Character:
    return mw.Character(rigs.body(SAME, place=squat, root="root"))


def places(clip: mw.Clip, made_for: mw.Skeleton, names: tuple[str, ...]) -> np.ndarray:
    at = made_for.to_model(clip.sample(np.arange(10) / 10 * clip.duration))[..., 3].astype(float)
    return at[:, [made_for.index(n) for n in names]]


def result(clip: mw.Clip, source: mw.Character, target: mw.Character, name: str = "{}") -> np.ndarray:
    made = mw.retarget(clip, onto=target, source=source, contacts=True)
    return places(made, target.skeleton, tuple(name.format(n) for n in rigs.PARTS))


@pytest.fixture(scope="module")
def wanted(hero: mw.Character, body: mw.Character) -> dict[str, np.ndarray]:
    return {name: result(hero.clips[name], hero, body) for name in ("walk", "attack")}


@pytest.mark.parametrize("name", ["walk", "attack"])
@pytest.mark.parametrize("copy", ["axes", "order", "names", "centimetres"])
def test_a_target_written_otherwise_moves_alike(hero, body, wanted, name: str, copy: str) -> None:
    rng = np.random.default_rng(7)
    label = "{}"
    if copy == "axes":
        other = rigs.other_axes(body, rng)
    elif copy == "order":
        other = rigs.reordered(body, rng)
    elif copy == "names":
        label = "Hero:{}"
        other = rigs.renamed(body, lambda n: f"Hero:{n}")
    else:
        other = rigs.centimetres(body)
    found = result(hero.clips[name], hero, other, label)
    np.testing.assert_allclose(found, wanted[name], atol=CLOSE)


def sourced(hero: mw.Character, clip: mw.Clip, copy: str) -> tuple[mw.Character, mw.Clip]:
    """A motion written otherwise, with the character it comes with."""
    alone = hero.replace(clips=(clip,))
    if copy == "scaled":
        made = alone.converted(units="cm")
    elif copy == "z up":
        made = alone.converted(up="z")
    else:
        made = alone.turned_to("-x")
    return made, made.clips[clip.name]


@pytest.mark.parametrize("copy", ["scaled", "z up", "turned"])
def test_a_motion_written_otherwise_gives_the_same(hero, body, wanted, copy: str) -> None:
    source, clip = sourced(hero, hero.clips["walk"], copy)
    np.testing.assert_allclose(result(clip, source, body), wanted["walk"], atol=CLOSE)


def test_a_body_that_walks_elsewhere_walks_so_there(hero, body, wanted) -> None:
    """The whole motion turned by 70 degrees: so is the result."""
    clip = hero.clips["walk"]
    turn = quaternion.from_axis_angle([0.0, 1, 0], np.radians(70))
    pose = clip.sample(np.arange(round(clip.duration * 30) + 1) / 30)
    rotation, translation = np.array(pose.rotation), np.array(pose.translation)
    rotation[:, 0] = quaternion.multiply(turn, rotation[:, 0].astype(float))
    translation[:, 0] = quaternion.rotate(turn, translation[:, 0].astype(float))
    moved = mw.Clip.from_poses(
        "walk", hero.skeleton, pose.replace(rotation=rotation, translation=translation), 30
    )
    plain = mw.Clip.from_poses("walk", hero.skeleton, pose, 30)
    np.testing.assert_allclose(
        result(moved, hero, body), quaternion.rotate(turn, result(plain, hero, body)), atol=CLOSE
    )


def test_a_mirrored_motion_gives_the_mirrored_result(hero, body, wanted) -> None:
    other = {
        n: n[:-1] + ("r" if n.endswith("_l") else "l") if n[-2:] in ("_l", "_r") else n for n in rigs.PARTS
    }
    order = [rigs.PARTS.index(other[n]) for n in rigs.PARTS]
    found = result(hero.clips["walk"].mirrored(), hero, body)
    np.testing.assert_allclose(found, wanted["walk"][:, order] * [-1, 1, 1], atol=5 * CLOSE)
