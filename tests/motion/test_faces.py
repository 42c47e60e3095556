"""Faces: what shapes are called in each family, and weights of one face on another."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError
from marrow.motion import faces
from marrow.motion.face_names import ARKIT, recipes

BONES = ("root",)


def skeleton(names):
    return mw.Skeleton(BONES, [-1], morph_names=tuple(names))


def head(names):
    return mw.Character(skeleton(names))


def test_arkit_has_its_52_shapes():
    assert len(ARKIT) == 52 and {"jawOpen", "eyeBlinkLeft", "tongueOut", "browInnerUp", "mouthLeft"} <= set(
        ARKIT
    )


@pytest.mark.parametrize("family", faces.CONVENTIONS)
def test_every_family_is_told_by_its_own_names_and_made_of_known_shapes(family):
    assert faces.convention(faces.shapes(family)) == family
    for recipe in recipes(family).values():
        assert set(recipe) <= set(ARKIT) and all(0 < v <= 1 for v in recipe.values())


@pytest.mark.parametrize(
    ("names", "family"),
    [
        (("eyeBlink_L", "eyeBlink_R", "jawOpen", "mouthSmile_L"), "arkit"),
        (("head.EyeBlinkLeft", "head.EyeBlinkRight", "head.JawOpen"), "arkit"),
        (("viseme_aa", "viseme_PP", "viseme_FF", "viseme_O"), "oculus"),
        (("vrc.v_aa", "vrc.v_pp", "vrc.v_ff"), "oculus"),
        (("Eye_Blink_L", "Brow_Drop_L", "Jaw_Open", "V_Open", "Brow_Raise_Inner_L"), "reallusion"),
        (("CTRL_expressions_jawOpen", "CTRL_expressions_eyeBlinkL", "CTRL_expressions_mouthCornerPullL",
          "CTRL_expressions_noseWrinkleL"), "metahuman"),
        (("あ", "い", "う", "まばたき"), "mmd"),
        (("width", "height", "fat"), None),
        ((), None),
    ],
)  # fmt: skip
def test_names_as_files_have_them(names, family):
    assert faces.convention(names) == family


@pytest.mark.parametrize("family", faces.CONVENTIONS)
def test_there_and_back_is_the_same_face(family):
    """Each shape alone, onto ARKit's and back: itself, and nothing else to speak of (but for shapes that say the same)."""
    names = faces.shapes(family)
    there, back = faces.face_map(names, ARKIT), faces.face_map(ARKIT, names)
    table = recipes(family)
    for k, name in enumerate(names):
        weights = np.zeros(len(names))
        weights[k] = 1.0
        mixed = there.apply(weights)
        again = back.apply(mixed)
        np.testing.assert_allclose(there.apply(again), mixed, atol=0.03, err_msg=name)
        twins = [j for j, n in enumerate(names) if j != k and table[n] == table[name]]
        if table[name] and not twins and family in ("arkit", "vrm", "oculus", "vrm0"):
            if "blink" in name.lower():
                continue  # both eyes are the left and the right one: either way of saying it is right
            assert again[k] > 0.8 and np.delete(again, k).max(initial=0) < 0.2, name


def test_arkit_to_arkit_under_other_names_is_exact():
    other = [n.replace("Left", "_L").replace("Right", "_R") if n[:3] not in ("jaw",) and n not in (
        "mouthLeft", "mouthRight") else n for n in ARKIT]  # fmt: skip
    weights = np.random.default_rng(0).random((7, 52))
    np.testing.assert_allclose(faces.face_map(ARKIT, other).apply(weights), weights, atol=1e-12)


def test_captured_curves_open_the_mouth_of_an_avatar():
    map_ = faces.face_map(ARKIT, faces.shapes("vrm"))
    weights = np.zeros(52)
    weights[ARKIT.index("jawOpen")] = 0.7
    weights[ARKIT.index("eyeBlinkLeft")] = 1.0
    out = dict(zip(map_.target, map_.apply(weights)))
    assert out["aa"] > 0.9 and out["blinkLeft"] > 0.95
    assert max(out[n] for n in ("blinkRight", "angry", "sad", "happy", "ou")) < 0.1
    assert set(map_.unmatched) >= {"tongueOut", "jawForward", "cheekPuff"}


def take(names, values, duration=1.0):
    bones = skeleton(names)
    return mw.Clip(
        "talk", bones, [mw.Track(k, "morph", [0, duration], v) for k, v in enumerate(values)], duration
    )


def test_a_clip_of_one_face_plays_on_another():
    clip = take(("viseme_aa", "viseme_PP", "viseme_U"), ([0, 1], [0, 0], [1, 0]))
    target = head(("jawOpen", "mouthPucker", "mouthLowerDown_L", "mouthLowerDown_R", "hat"))
    made = faces.transfer(clip, target)
    assert made.skeleton is target.skeleton and made.duration == 1.0
    start, end = made.sample(0.0).morphs, made.sample(1.0).morphs
    np.testing.assert_allclose(start, [0.1, 0.75, 0, 0, 0], atol=0.02)
    np.testing.assert_allclose(end, [0.6, 0, 0.15, 0.15, 0], atol=0.02)


def test_retargeting_takes_the_face_along_and_says_so():
    clip = take(
        ("jawOpen", "eyeBlinkLeft", "eyeBlinkRight", "tongueOut"), ([1, 1], [0.5, 0.5], [0.5, 0.5], [1, 1])
    )
    target = head(("A", "I", "U", "E", "O", "Blink_L", "Blink_R"))
    tool = mw.Retargeter(clip.skeleton, target)
    made = tool.retarget(clip)
    said = str(tool.report)
    assert "tongueOut" in said and "arkit (4) to vrm0 (7)" in said and "jawOpen" not in said
    out = dict(zip(target.skeleton.morph_names, made.sample(0.5).morphs))
    assert out["A"] == pytest.approx(1, abs=0.05) and out["Blink_L"] == pytest.approx(0.5, abs=0.02)


def test_shapes_of_the_same_name_go_as_they_are():
    clip = take(("jawOpen", "eyeBlinkLeft", "mouthPucker"), ([0.2, 1], [3, 3], [-1, -1]))
    target = head(("mouthPucker", "eyeBlinkLeft", "jawOpen"))
    made = mw.retarget(clip, onto=target)
    np.testing.assert_allclose(made.sample(0.0).morphs, [-1, 3, 0.2], atol=1e-6)


def test_what_is_no_face_is_told():
    with pytest.raises(MarrowError, match="too few names of the target"):
        faces.face_map(ARKIT, ("fat", "thin"))
    with pytest.raises(MarrowError, match="expected a list of names"):
        faces.face_map("jawOpen", ARKIT)
    with pytest.raises(MarrowError, match="expected one of"):
        faces.shapes("nobody")
    with pytest.raises(MarrowError, match="moves no face"):
        faces.transfer(take(("fat",), ([0, 1],)), head(ARKIT))
    with pytest.raises(MarrowError, match="expected 52 weights"):
        faces.face_map(ARKIT, ARKIT).apply(np.zeros(3))
    with pytest.raises(MarrowError, match="finite"):
        faces.face_map(ARKIT, ARKIT).apply(np.full(52, np.nan))
    with pytest.raises(MarrowError, match="expected a Clip and a Character"):
        faces.transfer(1, 2)
