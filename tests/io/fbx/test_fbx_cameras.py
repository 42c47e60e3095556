"""Cameras, lights and extras in FBX files: written, and read back through ufbx."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError
from marrow.io.fbx.cameras import CAMERA_TURN, LIGHT_TURN
from marrow.math import quaternion
from marrow.model import JointCamera, JointLight
from surroundings import repeats

pytest.importorskip("ufbx")


def stage() -> mw.Character:
    rest = mw.Pose(
        np.float32([[0, 0, 0], [0, 1, 2], [1, 3, 0], [0, 5, 0]]),
        np.float32([[0, 0, 0, 1], [0, 0.6, 0, 0.8], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]]),
        np.ones((4, 3), np.float32),
    )
    bones = mw.Skeleton(("root", "dolly", "lens", "sun"), [-1, 0, 0, 0], rest)
    curves = [
        mw.Curve("camera:wide:fov", [0, 1], [0.5, 1.0]),
        mw.Curve("light:lamp:intensity", [0, 0.5, 1], [30, 10, 30]),
        mw.Curve("light:lamp:color[1]", [0, 1], [0.25, 0.75]),
    ]
    move = mw.Track(1, "translation", [0, 1], [[0, 1, 2], [0, 1, 4]])
    square = mw.Mesh.rigid("square", np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), [[0, 1, 2]], 0)
    return mw.Character(
        bones,
        [square],
        clips=[mw.Clip("zoom", bones, [move], curves=curves)],
        cameras=[
            JointCamera("wide", 1, fov=0.5, aspect=1.5, near=0.25, far=50.0),
            JointCamera("lens", 2, fov=0.9, aspect=2.0, near=0.125, far=8.0, rotation=CAMERA_TURN),
            JointCamera(
                "plan",
                1,
                "orthographic",
                size=3.0,
                aspect=1.25,
                near=0.5,
                far=20.0,
                rotation=(0.6, 0, 0, 0.8),
            ),
        ],
        lights=[
            JointLight("lamp", 1, "point", (1.0, 0.25, 0.5), 30.0, range=7.0),
            JointLight("sun", 3, "directional", (1.0, 1.0, 0.5), 2.0, rotation=LIGHT_TURN, shadows=False),
            JointLight("cone", 2, "spot", inner=0.25, outer=0.75, rotation=(0, 0.6, 0, 0.8)),
        ],
        extras={
            "joints": {
                "dolly": {"rig": "crane", "rails": 2, "load": 1.5, "on": True, "axle": [1.0, 2.0, 3.0]}
            }
        },
        name="stage",
    )


def seen(character: mw.Character, placed: Any) -> np.ndarray:
    frame = character.skeleton.rest_model[placed.joint][:, :3] @ quaternion.to_matrix(
        np.array(placed.rotation)
    )
    return frame[:, 1:]


@pytest.mark.parametrize("preset", ["maya", "unreal", "blender"])
def test_they_come_back(preset: str, tmp_path: Path) -> None:
    before = stage()
    mw.save(before, tmp_path / "stage.fbx", preset=preset)
    after = mw.load(tmp_path / "stage.fbx", cache=False)
    assert after.extras == before.extras and not len(after.report)
    for a, b in zip((*before.cameras, *before.lights), (*after.cameras, *after.lights), strict=True):
        assert a.replace(joint=0, rotation=(0, 0, 0, 1)) == b.replace(joint=0, rotation=(0, 0, 0, 1))
        assert before.skeleton.names[a.joint] == after.skeleton.names[b.joint]
        np.testing.assert_allclose(seen(after, b), seen(before, a), atol=2e-6)
    curves = {c.name: c for c in after.clips["zoom"].curves}
    assert curves.keys() == {c.name for c in before.clips["zoom"].curves}
    for curve in before.clips["zoom"].curves:
        times = np.linspace(0, 1, 31)
        np.testing.assert_allclose(curves[curve.name].sample(times), curve.sample(times), rtol=1e-3)
    mw.save(after, tmp_path / "again.fbx", preset=preset)
    twice = mw.load(tmp_path / "again.fbx", cache=False)
    assert twice.extras == after.extras
    if preset == "maya":  # a file whose up is Z has its joints' axes turned
        assert twice.lights == after.lights and twice.cameras == after.cameras


def test_other_programs_find_the_same_in_their_own_words(tmp_path: Path) -> None:
    """Without marrow's notes ufbx works it all out by itself: angles from lenses, sizes, units, axes."""
    before = stage()
    mw.save(before, tmp_path / "stage.fbx")
    data = (tmp_path / "stage.fbx").read_bytes()
    (tmp_path / "plain.fbx").write_bytes(data.replace(b"marrow_placed", b"someone_else_"))
    after = mw.load(tmp_path / "plain.fbx", cache=False)
    for a in before.cameras:
        b = after.camera(a.name)
        assert (b.kind, b.aspect) == (a.kind, pytest.approx(a.aspect))
        wanted, found = (a.size, b.size) if a.kind == "orthographic" else (a.fov, b.fov)
        assert found == pytest.approx(wanted, rel=1e-6)
        assert (b.near, b.far) == (pytest.approx(a.near), pytest.approx(a.far))
        np.testing.assert_allclose(seen(after, b), seen(before, a), atol=2e-6)
    for light in before.lights:
        b = after.light(light.name)
        assert (b.kind, b.shadows) == (light.kind, light.shadows)
        assert b.intensity == pytest.approx(light.intensity) and b.color == pytest.approx(light.color)
        np.testing.assert_allclose(seen(after, b)[:, 1], seen(before, light)[:, 1], atol=2e-6)
    assert after.light("cone").outer == pytest.approx(0.75)


def test_what_another_program_changed_counts_more_than_the_note(tmp_path: Path) -> None:
    mw.save(stage(), tmp_path / "stage.fbx")
    data = bytearray((tmp_path / "stage.fbx").read_bytes())
    at = data.index(b"Intensity")
    number = data.index(np.float64(3000.0).tobytes(), at)
    data[number : number + 8] = np.float64(500.0).tobytes()
    (tmp_path / "changed.fbx").write_bytes(data)
    assert mw.load(tmp_path / "changed.fbx", cache=False).light("lamp").intensity == 5.0


def test_extras_that_fbx_has_no_values_for_are_text_and_the_others_a_line(tmp_path: Path) -> None:
    extras = {
        "joints": {"dolly": {"Lcl Scaling": 2, "deep": {"a": [1, {"b": None}]}, "large": 2**40, "é": "ü"}},
        "asset": {"copyright": "me"},
        "extensions": {"root": {"ACME": {}}},
    }
    before = stage().replace(extras=extras)
    with pytest.warns(UserWarning, match="no place for those of asset, extensions"):
        mw.save(before, tmp_path / "stage.fbx")
    after = mw.load(tmp_path / "stage.fbx", cache=False)
    assert after.extras == {"joints": extras["joints"]}


def test_mutants_are_read_or_refused(tmp_path: Path) -> None:
    mw.save(stage(), tmp_path / "stage.fbx")
    data = (tmp_path / "stage.fbx").read_bytes()
    rng = np.random.default_rng(7)
    starts = [
        data.index(word)
        for word in (b"marrow_placed", b"FocalLength", b"OrthoZoom", b"OuterAngle", b"NearPlane")
    ]
    for _ in range(repeats(40)):
        mutant = bytearray(data)
        at = int(rng.choice(starts)) + int(rng.integers(0, 60))
        mutant[at : at + 4] = rng.bytes(4)
        (tmp_path / "mutant.fbx").write_bytes(mutant)
        try:
            character = mw.load(tmp_path / "mutant.fbx", cache=False)
        except MarrowError:
            continue
        assert all(math.isfinite(c.fov) and math.isfinite(c.near) for c in character.cameras)
