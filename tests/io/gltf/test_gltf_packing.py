"""Smaller files: packed without loss, in fewer bits, or by Draco; and what that costs."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maker import skinned_bar
from numpy.testing import assert_allclose
from same import assert_same

import marrow as mw
from marrow.errors import UnknownNameError
from surroundings import needed

METHODS = ("meshopt", "quantized", "quantized+meshopt", "draco")


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    """The mannequin with a few clips and a rigid prop that turns, from `half a turn` to the other half."""
    whole = mw.samples.mannequin()
    clips = {name: whole.clips[name] for name in list(whole.clips)[:2]}
    prop = mw.Mesh.rigid("prop", np.eye(3) * 0.3 + 0.1, [[0, 1, 2]], whole.skeleton.index("hand_r"))
    half = mw.Track(0, "rotation", [0, 1], [[0, 0, 0, 1], [1, 0, 0, -1e-9]])
    turn = mw.Clip("turn", whole.skeleton, (half,))
    return whole.replace(clips=(*clips.values(), turn), meshes=(*whole.meshes, prop))


def needs(method: str) -> None:
    if method != "quantized":
        needed("DracoPy" if method == "draco" else "meshoptimizer")


def surfaces(character: mw.Character) -> np.ndarray:
    poses = [clip.sample(t) for clip in character.clips.values() for t in (0.0, 0.4 * clip.duration)]
    return np.stack([mw.skin(character, p, normals=False, tangents=False).positions for p in poses])


@pytest.mark.parametrize("method", METHODS)
def test_a_packed_file_is_smaller_valid_and_the_same_character(
    method: str, hero: mw.Character, tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    needs(method)
    path = tmp_path / "x.glb"
    mw.save(hero, tmp_path / "plain.glb")
    with pytest.warns(UserWarning, match="morph") if method == "draco" else _nothing():
        mw.save(hero, path, compress=method)
    assert not errors_of(path)
    again = mw.load(path, cache=False)
    if method == "meshopt":
        # Triangles may begin at another corner; else every bit is as it was.
        turned = [m.replace(triangles=_from_the_least(m.triangles)) for m in again.meshes]
        same = [m.replace(triangles=_from_the_least(m.triangles)) for m in hero.meshes]
        assert_same(again.replace(meshes=tuple(turned)), hero.replace(meshes=tuple(same)))
        assert path.stat().st_size < (tmp_path / "plain.glb").stat().st_size
    else:
        assert again.skeleton == hero.skeleton
        # Lengths are metres again, not fractions of a box.
        for a, b in zip(again.meshes, hero.meshes):
            size = float(np.abs(b.positions).max())
            assert_allclose(a.positions.min(axis=0), b.positions.min(axis=0), atol=2e-4 * size)
            assert a.rigid_joint == b.rigid_joint
    if "quantized" in method:
        share = 0.7 if "meshopt" in method else 0.85
        assert path.stat().st_size < share * (tmp_path / "plain.glb").stat().st_size
        assert float(np.abs(surfaces(again) - surfaces(hero)).max()) < 5e-4


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def _from_the_least(triangles: np.ndarray) -> np.ndarray:
    first = triangles.argmin(axis=1)
    return np.stack([triangles[np.arange(len(triangles)), (first + k) % 3] for k in range(3)], axis=1)


def test_draco_keeps_skins_and_only_reorders_vertices(tmp_path: Path) -> None:
    needs("draco")
    bar = skinned_bar().load()
    mw.save(bar, tmp_path / "x.glb", compress="draco")
    again = mw.load(tmp_path / "x.glb", cache=False)
    for t in (0.0, 0.5, 1.0):
        one, two = (mw.skin(c, c.clips[0].sample(t)).positions for c in (bar, again))
        assert_allclose(np.sort(one.round(3), axis=0), np.sort(two.round(3), axis=0), atol=2e-3)


def test_quantized_alone_asks_for_no_decoder_and_packed_too_is_smaller(
    hero: mw.Character, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blender knows `KHR_mesh_quantization`; versions up to 5.0 refuse files that require meshopt."""
    needs("meshopt")
    mw.save(hero, tmp_path / "both.glb", compress="quantized+meshopt")
    monkeypatch.setitem(sys.modules, "meshoptimizer", None)
    mw.save(hero, tmp_path / "alone.glb", compress="quantized")
    data = (tmp_path / "alone.glb").read_bytes()
    assert document(data)["extensionsRequired"] == ["KHR_mesh_quantization"]
    assert mw.load(tmp_path / "alone.glb", cache=False).skeleton == hero.skeleton
    assert (tmp_path / "both.glb").stat().st_size < 0.8 * len(data)


def document(data: bytes) -> dict[str, Any]:
    (length,) = struct.unpack_from("<I", data, 12)
    found: dict[str, Any] = json.loads(data[20 : 20 + length])
    return found


def test_quantized_meshes_agree_about_the_bind_pose_of_their_joints(
    hero: mw.Character, tmp_path: Path
) -> None:
    """Blender takes one bind pose for each joint: with a cube for each mesh it showed a hand 10 cm off."""
    body = hero.meshes[0]
    belt = body.replace(name="belt", positions=body.positions * 0.1, morph_targets=())
    mw.save(hero.replace(meshes=(*hero.meshes, belt), reduced=()), tmp_path / "x.glb", compress="quantized")
    data = (tmp_path / "x.glb").read_bytes()
    file, binds = document(data), {}
    start = data.index(b"BIN\0") + 4
    for skin in file["skins"]:
        view = file["bufferViews"][file["accessors"][skin["inverseBindMatrices"]]["bufferView"]]
        at = start + view["byteOffset"]
        for k, joint in enumerate(skin["joints"]):
            binds.setdefault(joint, set()).add(data[at + 64 * k : at + 64 * k + 64])
    assert len(binds) > 20 and {len(found) for found in binds.values()} == {1}
    again = mw.load(tmp_path / "x.glb", cache=False)
    assert_allclose(again.meshes[-1].positions, belt.positions, atol=1e-4)


@pytest.mark.parametrize("method", ["meshopt", "quantized", "quantized+meshopt"])
def test_three_shows_a_packed_file_as_it_was(
    method: str, hero: mw.Character, tmp_path: Path, node_tools: Path
) -> None:
    needs(method)
    name = next(iter(hero.clips))
    mw.save(hero, tmp_path / "x.glb", compress=method)
    done = subprocess.run(
        ["node", str(node_tools / "three-positions.mjs"), str(tmp_path / "x.glb"), name, "0.3"],
        capture_output=True,
        check=True,
    )
    shown = np.frombuffer(done.stdout, np.float32).reshape(-1, 3)
    expected = mw.skin(hero, hero.clips[name].sample(0.3)).positions
    assert len(shown) == len(expected)
    assert_allclose(np.sort(shown, axis=0), np.sort(expected, axis=0), atol=1e-3)


def test_scale_of_a_quantized_file_counts_once(tmp_path: Path) -> None:

    bar = skinned_bar().load()
    mw.save(bar, tmp_path / "x.glb", compress="quantized")
    large = mw.load(tmp_path / "x.glb", scale=10.0, cache=False)
    expected = 10 * mw.skin(bar, bar.clips[0].sample(0.5)).positions
    assert_allclose(mw.skin(large, large.clips[0].sample(0.5)).positions, expected, atol=1e-2)


def test_an_unknown_way_is_refused(hero: mw.Character, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'draco'"):
        mw.save(hero, tmp_path / "x.glb", compress="drako")
    assert not list(tmp_path.iterdir())
