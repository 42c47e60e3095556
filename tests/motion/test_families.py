"""Rig families: every part is found, whatever it is called, and same bodies move the same."""

from __future__ import annotations

import numpy as np
import pytest
import rigs
from families import EXTRA, FAMILIES

import marrow as mw
from marrow.math import quaternion
from marrow.motion import find_rig, map_bones

BONES = (
    ("upperarm", "lowerarm"),
    ("lowerarm", "hand"),
    ("thigh", "calf"),
    ("calf", "foot"),
    ("foot", "ball"),
)


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def first(name: str | tuple[str, ...]) -> str:
    return name if isinstance(name, str) else name[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_part_of_the_body_is_found(family: str) -> None:
    names = FAMILIES[family]
    skeleton = rigs.body(names, axes=np.random.default_rng(1), root="rig_root")
    skeleton = rigs.with_joints(skeleton, EXTRA.get(family, {}))
    rig = find_rig(skeleton)
    assert rig.complete, rig.missing
    found = {part: [skeleton.names[j] for j in chain] for part, chain in rig.chains.items()}
    assert found["hips"] == [first(names["pelvis"])]
    for side, s in (("left", "l"), ("right", "r")):
        assert found[f"{side}_arm"] == [first(names[f"{p}_{s}"]) for p in ("upperarm", "lowerarm", "hand")]
        assert found[f"{side}_leg"] == [first(names[f"{p}_{s}"]) for p in ("thigh", "calf", "foot")]
        assert found[f"{side}_toes"] == [first(names[f"ball_{s}"])]
        for theirs, ours in (
            ("thumb", "thumb"),
            ("index", "index"),
            ("middle", "middle"),
            ("ring", "ring"),
            ("little", "pinky"),
        ):
            if f"{ours}_01_{s}" in names:
                assert found[f"{side}_{theirs}"] == [first(names[f"{ours}_0{k}_{s}"]) for k in (1, 2, 3)]
    trunk = [
        n
        for p in ("spine_01", "spine_02", "spine_03", "neck", "head")
        for n in ([names[p]] if isinstance(names[p], str) else names[p])
    ]
    assert found["spine"] + found["head"] == trunk


@pytest.mark.parametrize("family", FAMILIES)
def test_a_body_of_the_same_proportions_moves_the_same(hero: mw.Character, family: str) -> None:
    """Limbs point the same way to a tenth of a degree; hips and head are where they were."""
    names = FAMILIES[family]
    skeleton = rigs.body(names, axes=np.random.default_rng(2), root="rig_root")
    skeleton = rigs.with_joints(skeleton, EXTRA.get(family, {}))
    clip = hero.clips["attack"]
    made = mw.retarget(clip, onto=skeleton)
    times = np.linspace(0, clip.duration, 7)
    a, b = hero.skeleton.to_model(clip.sample(times))[..., 3], skeleton.to_model(made.sample(times))[..., 3]
    for upper, lower in BONES:
        for s in "lr":
            da = a[:, hero.skeleton.index(f"{lower}_{s}")] - a[:, hero.skeleton.index(f"{upper}_{s}")]
            db = (
                b[:, skeleton.index(first(names[f"{lower}_{s}"]))]
                - b[:, skeleton.index(first(names[f"{upper}_{s}"]))]
            )
            cosine = (da * db).sum(-1) / np.linalg.norm(da, axis=-1) / np.linalg.norm(db, axis=-1)
            assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 0.1
    for part in ("pelvis", "head"):
        here, there = a[:, hero.skeleton.index(part)], b[:, skeleton.index(first(names[part]))]
        # Chains of other counts bend a little differently: the head within 16 mm, the hips exactly.
        many = any(isinstance(names[p], tuple) for p in ("spine_01", "spine_02", "spine_03", "neck"))
        np.testing.assert_allclose(there, here, atol=0.016 if many and part == "head" else 5e-4)


@pytest.mark.parametrize("family", ["smpl", "biped", "rigify", "daz"])
def test_there_and_back_through_a_family(hero: mw.Character, family: str) -> None:
    names = FAMILIES[family]
    skeleton = rigs.body(names, axes=np.random.default_rng(3))
    clip = hero.clips["run"]
    back = mw.retarget(mw.retarget(clip, onto=skeleton), onto=hero)
    times = np.linspace(0, clip.duration, 7)
    a, b = (hero.skeleton.to_model(c.sample(times)) for c in (clip, back))
    limbs = [
        hero.skeleton.index(f"{p}_{s}")
        for p in ("upperarm", "lowerarm", "hand", "thigh", "calf", "foot")
        for s in "lr"
    ]
    angles = quaternion.angle(
        quaternion.from_matrix(a[:, limbs, :, :3]), quaternion.from_matrix(b[:, limbs, :, :3])
    )
    assert np.degrees(angles).max() < 0.1


def test_two_families_are_mapped_part_by_part() -> None:
    a, b = (rigs.body(FAMILIES[f], axes=np.random.default_rng(4)) for f in ("mixamo", "biped"))
    bones = map_bones(a, b)
    assert {"hips", "spine", "head", "left_arm", "right_leg", "left_toes", "right_little"} <= {
        c.name for c in bones
    }
    again = mw.BoneMap.from_json(bones.to_json(), a, b)
    assert again.chains == bones.chains
