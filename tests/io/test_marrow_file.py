"""`.marrow` files: everything comes back exactly, and no damage goes unseen."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import numpy as np
import pytest
from io_worlds import everything, same, seen_and_lit

import marrow as mw
from marrow.errors import FormatError, MarrowError, ValidationError
from marrow.io import marrow_file
from marrow.io.container import Container, write_container
from surroundings import needed


@pytest.fixture
def written() -> bytes:
    buffer = io.BytesIO()
    marrow_file.write_to(buffer, everything())
    return buffer.getvalue()


def read(data: bytes) -> mw.Character:
    return marrow_file.read_container(Container(data))


def test_everything_comes_back_exactly(tmp_path: Path) -> None:
    before = everything()
    mw.save(before, tmp_path / "all.marrow")
    same(before, mw.load(tmp_path / "all.marrow"))


def test_cameras_lights_and_further_attributes_come_back_exactly(tmp_path: Path) -> None:
    before = seen_and_lit()
    mw.save(before, tmp_path / "seen.marrow")
    same(before, mw.load(tmp_path / "seen.marrow"))
    mw.save(before, tmp_path / "seen.glb")
    same(before, mw.load(tmp_path / "seen.glb", cache=False))
    large = mw.load(tmp_path / "seen.marrow", scale=2.0)
    assert large.camera("front").far == 20.0 and large.camera("plan").size == 6.0
    assert large.light("lamp").range == 8.0 and large.light("lamp").intensity == 20.0
    curves = {c.name: c.values.tolist() for c in large.clips["Walk"].curves}
    assert curves["camera:front:far"] == [20, 40] and curves["light:lamp:range"] == [8, 4]
    assert curves["camera:front:fov"] == [0.75, 1.25]


def test_a_skeleton_alone_comes_back(tmp_path: Path) -> None:
    before = mw.Character(mw.Skeleton((), np.zeros(0, np.int32)), name="nobody")
    mw.save(before, tmp_path / "nobody.marrow")
    same(before, mw.load(tmp_path / "nobody.marrow"))


def test_a_character_that_went_through_a_file_is_written_to_the_same_bytes(written: bytes) -> None:
    again = io.BytesIO()
    marrow_file.write_to(again, read(written))
    assert again.getvalue() == written


def test_arrays_are_views_of_the_file_and_read_only(written: bytes) -> None:
    mesh = read(written).meshes[0]
    assert not mesh.positions.flags.owndata
    assert not mesh.positions.flags.writeable


def test_an_array_two_meshes_share_is_stored_once(written: bytes) -> None:
    assert "mesh.0.positions" in Container(written)
    assert "mesh.1.positions" not in Container(written)


def test_safetensors_reads_the_file(tmp_path: Path) -> None:
    numpy_reader = needed("safetensors.numpy")
    mw.save(everything(), tmp_path / "all.marrow")
    arrays = numpy_reader.load_file(tmp_path / "all.marrow")
    np.testing.assert_array_equal(arrays["mesh.0.positions"], everything().meshes[0].positions)


def test_scale_multiplies_lengths_and_nothing_else(tmp_path: Path) -> None:
    before = everything()
    mw.save(before, tmp_path / "all.marrow")
    after = mw.load(tmp_path / "all.marrow", scale=2.0)
    a, b = before.meshes[0], after.meshes[0]
    np.testing.assert_array_equal(b.positions, a.positions * 2)
    np.testing.assert_array_equal(b.inverse_bind[..., 3], a.inverse_bind[..., 3] * 2)
    np.testing.assert_array_equal(b.inverse_bind[..., :3], a.inverse_bind[..., :3])
    np.testing.assert_array_equal(b.morph_targets[0].positions, a.morph_targets[0].positions * 2)
    np.testing.assert_array_equal(b.morph_targets[1].normals, a.morph_targets[1].normals)
    np.testing.assert_array_equal(after.skeleton.rest.translation, before.skeleton.rest.translation * 2)
    np.testing.assert_array_equal(after.skeleton.sockets[0].translation, np.float32([0.2, 0, 0]))
    walk, slow = before.clips["Walk"].tracks, after.clips["Walk"].tracks
    np.testing.assert_array_equal(slow[0].values, walk[0].values * 2)
    np.testing.assert_array_equal(slow[2].values, walk[2].values)


def test_every_truncation_is_an_error(written: bytes) -> None:
    for length in range(0, len(written), 7):
        with pytest.raises(FormatError):
            read(written[:length])


def test_bytes_after_the_end_are_an_error(written: bytes) -> None:
    with pytest.raises(FormatError, match="damaged"):
        read(written + b"\0")


def test_no_single_changed_byte_goes_unseen(written: bytes) -> None:
    rng = random.Random(7)
    for position in {*range(160), *(rng.randrange(len(written)) for _ in range(1500))}:
        changed = bytearray(written)
        changed[position] ^= 1 << rng.randrange(8)
        with pytest.raises(FormatError):
            read(bytes(changed))


def test_another_version_is_named(written: bytes) -> None:
    with pytest.raises(FormatError, match="version 9"):
        read(written.replace(b'"version":"2"', b'"version":"9"', 1))


def rewritten(written: bytes, change: object) -> bytes:
    """The file with its description changed and a checksum that is right again."""
    container = Container(written)
    document = json.loads(container.metadata["character"])
    change(document)  # type: ignore[operator]
    names = list(container._tensors)
    buffer = io.BytesIO()
    write_container(buffer, {n: container.array(n) for n in names}, {"character": json.dumps(document)})
    return buffer.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["meshes"][0].update(node=99),
        lambda d: d["meshes"][0]["arrays"].update(joints="mesh.0.triangles"),
        lambda d: d["meshes"][0]["arrays"].pop("positions"),
        lambda d: d["meshes"][0]["arrays"].update(normals="nowhere"),
        lambda d: d["meshes"][0].update(skinning="magic"),
        lambda d: d["meshes"][0]["sections"][0].__setitem__(1, 1000),
        lambda d: d["meshes"][0]["sections"][0].__setitem__(2, 7),
        lambda d: d["meshes"][0]["targets"][0].__setitem__(1, 5),
        lambda d: d["meshes"][0]["targets"][0].__setitem__(4, 99),
        lambda d: d["meshes"][0]["targets"][0][3].__setitem__(0, -3),
        lambda d: d["clips"][0]["arrays"].update(table="clip.0.times"),
        lambda d: d["clips"][0].update(duration=-1),
        lambda d: d["clips"].append(d["clips"][0]),
        lambda d: d["skeleton"]["names"].pop(),
        lambda d: d["skeleton"]["arrays"].pop("parents"),
        lambda d: d["skeleton"]["sockets"][0].update(joint=17),
        lambda d: d["materials"][0]["base_color_texture"].update(image=3),
        lambda d: d["materials"][0].update(alpha_mode="odd"),
        lambda d: d["images"][0].update(data="missing"),
        lambda d: d["report"][0].update(kind="gossip"),
        lambda d: d.pop("meshes"),
    ],
)
def test_a_description_that_does_not_fit_is_an_error(written: bytes, change: object) -> None:
    same(everything(), read(rewritten(written, lambda d: None)))
    with pytest.raises(FormatError):
        read(rewritten(written, change))


def test_a_number_json_cannot_hold_is_refused_when_writing(tmp_path: Path) -> None:
    character = everything()
    bad = character.replace(
        materials=(mw.Material("nan", roughness=float("nan"), base_color_texture=mw.Texture(0)),)
    )
    with pytest.raises(ValidationError, match="finite"):
        mw.save(bad, tmp_path / "bad.marrow")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_no_text_is_refused_when_writing(tmp_path: Path) -> None:
    with pytest.raises(MarrowError, match="UTF-8"):
        mw.save(everything().replace(name="\ud800"), tmp_path / "bad.marrow")


def test_an_empty_or_foreign_file_is_an_error(tmp_path: Path) -> None:
    for content in (b"", b"\0" * 100, b"PK\x03\x04 something else entirely"):
        (tmp_path / "x.marrow").write_bytes(content)
        with pytest.raises(FormatError):
            mw.load(tmp_path / "x.marrow")


def _spoiled(what: str) -> mw.Character:
    """A character with one number that is not finite."""
    who = everything()
    mesh, bones, clip = who.meshes[0], who.skeleton, who.clips[0]
    bad = np.float32("inf" if what == "normals" else "nan")

    def with_bad(values: np.ndarray) -> np.ndarray:
        out = values.copy()
        out.flat[-1] = bad
        return out

    if what == "rest":
        rest = bones.rest.replace(scale=with_bad(bones.rest.scale))
        return mw.Character(mw.Skeleton(bones.names, bones.parents, rest, bones.morph_names))
    if what == "tracks":
        tracks = mw.Tracks(clip.tracks.table, clip.tracks.times, with_bad(clip.tracks.values))
        return who.replace(clips=[clip.replace(tracks=tracks)])
    if what == "uvs":
        return who.replace(meshes=(mesh.replace(uvs=(with_bad(mesh.uvs[0]), *mesh.uvs[1:])),))
    if what == "Material":
        return who.replace(materials=(*who.materials, mw.Material(roughness=float(bad))))
    if what == "extras":
        return who.replace(extras={"joints": {"hips": [1.0, {"x": float(bad)}]}})
    if what == "morph target":
        target = mw.MorphTarget("t", 0, with_bad(np.zeros_like(mesh.positions)))
        return who.replace(meshes=(mesh.replace(morph_targets=(target,)),))
    return who.replace(meshes=(mesh.replace(**{what: with_bad(getattr(mesh, what))}),))


@pytest.mark.parametrize(
    "what",
    ["positions", "normals", "inverse_bind", "uvs", "morph target", "rest", "tracks", "Material", "extras"],
)
def test_numbers_that_are_not_finite_are_refused_by_name(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = _spoiled(what)
    with pytest.raises(ValidationError, match=rf"{what}.*not finite"):
        mw.save(bad, tmp_path / "bad.marrow")
    assert list(tmp_path.iterdir()) == []
    if what in ("Material", "extras"):
        return  # JSON cannot say them: no file has them
    monkeypatch.setattr(marrow_file, "check_finite", lambda character: None)
    mw.save(bad, tmp_path / "bad.marrow")
    monkeypatch.undo()
    with pytest.raises(FormatError, match=rf"bad.marrow.*{what}.*not finite"):
        mw.load(tmp_path / "bad.marrow")


def test_numbers_whose_sum_overflows_are_finite_all_the_same(tmp_path: Path) -> None:
    huge = everything()
    mesh = huge.meshes[0]
    huge = huge.replace(meshes=(mesh.replace(positions=np.full_like(mesh.positions, 3e38)),))
    mw.save(huge, tmp_path / "huge.marrow")
    assert mw.load(tmp_path / "huge.marrow") == huge


@pytest.mark.parametrize("suffix", [".marrow", ".glb", ".ply", ".obj"])
def test_a_name_with_nul_is_refused_in_words(suffix, tmp_path):
    with pytest.raises(MarrowError, match="NUL"):
        mw.save(mw.samples.lizard(), tmp_path / f"a\0b{suffix}")
