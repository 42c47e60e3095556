"""Cameras and lights of glTF: read, animated, written, and hostile ones refused or said."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extension_files import document_of
from maker import Maker, load

import marrow as mw
from marrow.errors import FormatError
from marrow.model import JointCamera, JointLight
from surroundings import repeats

LIGHTS = "KHR_lights_punctual"


def stage(**more: Any) -> Maker:
    """A camera on a moving node, one more above, a sun and a spot."""
    maker = Maker(
        nodes=[
            {"name": "root", "children": [1], "extensions": {LIGHTS: {"light": 1}}},
            {"name": "dolly", "camera": 1, "translation": [0, 1, 5], "extensions": {LIGHTS: {"light": 0}}},
            {"name": "above", "camera": 0, "rotation": [-math.sqrt(0.5), 0, 0, math.sqrt(0.5)]},
        ],
        scenes=[{"nodes": [0, 2]}],
        cameras=[
            {"type": "orthographic", "orthographic": {"xmag": 4, "ymag": 2, "znear": 0.5, "zfar": 9}},
            {
                "type": "perspective",
                "name": "lens",
                "perspective": {"yfov": 0.7, "znear": 0.1},
                "extras": {"f": 2.8},
            },
        ],
        extensionsUsed=[LIGHTS],
        extensions={
            LIGHTS: {
                "lights": [
                    {
                        "type": "spot",
                        "name": "key",
                        "intensity": 40,
                        "range": 12,
                        "spot": {"outerConeAngle": 0.5},
                    },
                    {"type": "directional", "color": [1, 0.5, 0.25]},
                ]
            }
        },
    )
    maker.document |= more
    return maker


def test_cameras_and_lights_stand_on_the_joints_of_their_nodes() -> None:
    character = stage().load()
    above, lens = character.cameras
    assert (above.name, above.kind, above.size, above.aspect) == ("above", "orthographic", 4.0, 2.0)
    assert (lens.name, lens.joint, lens.fov, lens.near, lens.far) == ("lens", 1, 0.7, 0.1, None)
    assert lens.extras == {"f": 2.8} and lens.aspect is None
    key, sun = character.lights
    assert (key.kind, key.intensity, key.range, key.inner, key.outer) == ("spot", 40, 12, 0, 0.5)
    assert (sun.name, sun.kind, sun.color) == ("root", "directional", (1, 0.5, 0.25))
    assert "camera" not in str(character.report) and "light" not in str(character.report)
    large = stage().load(scale=2.0)
    assert large.camera("above").size == 8 and large.light("key").range == 24


def test_they_come_back_to_the_bit_and_pass_the_validator(
    tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    for k, before in enumerate((stage().load(), stage(scenes=[{"nodes": [2, 0]}]).load())):
        mw.save(before, tmp_path / f"{k}.glb")
        after = mw.load(tmp_path / f"{k}.glb", cache=False)
        assert before == after
        mw.save(after, tmp_path / f"{k}b.glb")
        assert (tmp_path / f"{k}.glb").read_bytes() == (tmp_path / f"{k}b.glb").read_bytes()
    assert errors_of(tmp_path / "0.glb") == []


def test_two_on_one_joint_and_numbers_that_gltf_lacks(
    tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    bones = mw.Skeleton(("root", "head"), [-1, 0])
    before = mw.Character(
        bones,
        cameras=[
            JointCamera("left", 1, rotation=(0.0, 0.6, 0.0, 0.8)),
            JointCamera("right", 1, rotation=(0.0, -0.6, 0.0, 0.8)),
            JointCamera("behind", 1, "orthographic", near=-2.0, fov=0.5),
            JointCamera("ahead", 1, "orthographic", aspect=0.3, near=1.0, far=3.0),
        ],
        lights=[
            JointLight("panel", 0, "area", (2.0, 1.0, 0.0), 5.0, size=(2.0, 0.5)),
            JointLight("sky", 0, "ambient", range=3.0, shadows=False),
            JointLight("disc", 1, "spot", inner=0.5, outer=0.5),
        ],
        name="rig",
    )
    with pytest.warns(UserWarning, match="glTF has no") as told:
        mw.save(before, tmp_path / "rig.glb")
    words = " ".join(str(w.message) for w in told)
    assert "'panel'" in words and "'sky'" in words and "'behind'" in words
    assert before == mw.load(tmp_path / "rig.glb", cache=False)
    assert errors_of(tmp_path / "rig.glb") == []
    document = document_of((tmp_path / "rig.glb").read_bytes())
    assert [n.get("camera") for n in document["nodes"]].count(None) == len(document["nodes"]) - 4


def test_what_clips_change_about_them_is_a_curve(tmp_path: Path, errors_of: Callable[..., list[str]]) -> None:
    maker = stage()
    times = maker.accessor([[0.0], [1.0]], min=[0.0], max=[1.0])

    def channel(pointer: str, values: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        target = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
        return {"target": target}, {"input": times, "output": maker.accessor(values)}

    found = [
        channel("/cameras/1/perspective/yfov", [[0.7], [0.9]]),
        channel("/cameras/0/orthographic/ymag", [[2], [3]]),
        channel(f"/extensions/{LIGHTS}/lights/0/intensity", [[40], [0]]),
        channel(f"/extensions/{LIGHTS}/lights/1/color", [[1, 0.5, 0.25], [0, 0, 1]]),
        channel("/cameras/7/perspective/yfov", [[0.7], [0.9]]),
    ]
    channels = [c | {"sampler": i} for i, (c, _) in enumerate(found)]
    maker.add("animations", {"channels": channels, "samplers": [s for _, s in found], "name": "zoom"})
    maker.document["extensionsUsed"].append("KHR_animation_pointer")
    character = maker.load()
    curves = {c.name: c.values.tolist() for c in character.clips["zoom"].curves}
    assert curves.keys() == {
        "camera:lens:fov", "camera:above:size", "light:key:intensity",
        "light:root:color[0]", "light:root:color[1]", "light:root:color[2]",
    }  # fmt: skip
    assert curves["camera:above:size"] == [4, 6] and curves["light:root:color[2]"] == [0.25, 1]
    assert "perspective/yfov" in str(character.report)
    mw.save(character, tmp_path / "zoom.glb")
    assert character == mw.load(tmp_path / "zoom.glb", cache=False)
    written = document_of((tmp_path / "zoom.glb").read_bytes())
    pointers = {
        c["target"]["extensions"]["KHR_animation_pointer"]["pointer"]
        for c in written["animations"][0]["channels"]
    }
    assert pointers == {
        "/cameras/1/perspective/yfov", "/cameras/0/orthographic/ymag",
        f"/extensions/{LIGHTS}/lights/0/intensity", f"/extensions/{LIGHTS}/lights/1/color",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("camera", "words"),
    [
        ({"type": "perspective", "perspective": {"yfov": 9, "znear": 0.1}}, "it is not kept"),
        ({"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0}}, "near: expected more than 0"),
        ({"type": "perspective"}, "is not kept"),
        ({"type": "fisheye"}, "type 'fisheye'"),
        (
            {"type": "orthographic", "orthographic": {"xmag": 0, "ymag": 1, "znear": 0, "zfar": 1}},
            "shows nothing",
        ),
    ],
)
def test_a_camera_that_makes_no_sense_is_a_line(camera: dict[str, Any], words: str) -> None:
    character = stage(cameras=[camera, camera]).load()
    assert character.cameras == () and words in str(character.report)


def test_numbers_of_cameras_and_lights_that_are_not_there_are_refused() -> None:
    with pytest.raises(FormatError, match=r"cameras\[1\] does not exist"):
        stage(cameras=[]).load()
    with pytest.raises(FormatError, match=r"lights\[1\] does not exist"):
        stage(extensions={LIGHTS: {"lights": []}}).load()
    with pytest.raises(FormatError, match="KHR_lights_punctual"):
        stage(extensions={LIGHTS: {"lights": "all"}}).load()


def test_mutants_are_read_or_refused_in_words() -> None:
    rng = np.random.default_rng(3)
    text = json.dumps(stage().document)
    values = ("-1", "1e999", "null", "[]", "{}", '"x"', "99999999999", "true", "0.0")
    for _ in range(repeats(300)):
        at = int(rng.integers(len(text)))
        end = min(at + int(rng.integers(1, 12)), len(text))
        mutant = text[:at] + str(rng.choice(values)) + text[end:]
        try:
            character = load(mutant.encode(), name="x.gltf")
        except FormatError:
            continue
        assert all(math.isfinite(c.fov) for c in character.cameras)
