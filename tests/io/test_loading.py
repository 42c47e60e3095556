"""`mw.load` and `mw.save`: formats told by their content, clips from other files, limits, errors in words."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from io_worlds import everything, same

import marrow as mw
from marrow.errors import FormatError, MissingExtraError, UnknownNameError, ValidationError
from marrow.io import registry


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARROW_CACHE", "off")


def chain(*names: str, prefix: str = "") -> mw.Skeleton:
    return mw.Skeleton(tuple(prefix + n for n in names), np.arange(-1, len(names) - 1))


def moving(skeleton: mw.Skeleton, *joints: int, name: str = "Walk") -> mw.Clip:
    times = np.float32([0, 1])
    tracks = [mw.Track(j, "translation", times, np.float32([[0, 0, 0], [j + 1, 0, 0]])) for j in joints]
    return mw.Clip(name, skeleton, tracks)


def saved(path: Path, skeleton: mw.Skeleton, *clips: mw.Clip) -> Path:
    mw.save(mw.Character(skeleton, clips=clips), path)
    return path


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"glTF\x02\0\0\0", "glTF"),
        (b'\xef\xbb\xbf {"scenes": [], "asset" : {"version": "2.0"}}', "glTF"),
        (b"Kaydara FBX Binary  \0", "FBX"),
        (b"; FBX 6.1.0 project file", "FBX"),
        (b"\n\nFBXHeaderExtension:  {", "FBX"),
        (b"  hierarchy\r\nROOT a", "BVH"),
        (b"PXR-USDC\0", "USD"),
        (b"#usda 1.0", "USD"),
        (b"PK\x03\x04" + bytes(26) + b"scene.usdc", "USD"),
        (b'\0\0\0\0\0\0\0\0{"__metadata__":{"format":"marrow","version":"7"', "marrow"),
    ],
)
def test_formats_are_told_by_their_content(head: bytes, name: str) -> None:
    assert registry.identify(head + bytes(50), Path("file.unknown")).name == name


def test_the_suffix_decides_when_the_content_says_nothing() -> None:
    assert registry.identify(b"????", Path("x.FBX")).name == "FBX"


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "cube.xyz"
    path.write_text("0 0 0")
    with pytest.raises(FormatError, match=r"cube\.xyz.*glTF.*FBX.*BVH.*USD"):
        mw.load(path)


def test_missing_files_folders_and_empty_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.fbx").touch()
    for name, why in (("nothing.glb", "no such file"), (".", "folder"), ("empty.fbx", "empty")):
        with pytest.raises(FormatError, match=why):
            mw.load(tmp_path / name)


def test_saving_to_an_unknown_suffix_lists_what_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"cannot write \.max.*\.glb.*\.bvh"):
        mw.save(everything(), tmp_path / "out.max")
    with pytest.raises(FormatError, match="suffix"):
        mw.save(everything(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_nameless_character_is_called_after_its_file(tmp_path: Path) -> None:
    mw.save(everything().replace(name=""), tmp_path / "hero.marrow")
    assert mw.load(tmp_path / "hero.marrow").name == "hero"


def test_bad_options_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.marrow", chain("hips"))
    for options in ({"scale": 0}, {"scale": float("nan")}, {"rate": -1}, {"influences": 0}):
        with pytest.raises(ValidationError):
            mw.load(path, **options)


def test_influences_keeps_the_strongest_and_says_what_it_cost(tmp_path: Path) -> None:
    mw.save(everything(), tmp_path / "all.marrow")
    mesh = (loaded := mw.load(tmp_path / "all.marrow", influences=1)).meshes[0]
    assert mesh.influences == 1
    np.testing.assert_array_equal(mesh.joint_list[mesh.joints[:, 0]], [0, 0, 0, 1])
    assert "2 vertices limited to 1 influences" in str(loaded.report)


def test_clips_of_another_file_find_their_joints_by_name(tmp_path: Path) -> None:
    body = saved(tmp_path / "body.marrow", chain("hips", "spine", "head"))
    other = chain("root", "hips", "spine")
    motion = saved(tmp_path / "motion.marrow", other, moving(other, 1, 2, name="Run"))
    character = mw.load(body, clips=[motion])
    tracks = character.clips["Run"].tracks
    assert [(t.target, float(t.values[1, 0])) for t in tracks] == [(0, 2.0), (1, 3.0)]
    assert character.clips["Run"].skeleton is character.skeleton


@pytest.mark.parametrize(("ours", "theirs"), [("mixamorig:", ""), ("", "mixamorig:"), ("a:", "b:c:")])
def test_namespaces_do_not_count(tmp_path: Path, ours: str, theirs: str) -> None:
    body = saved(tmp_path / "body.marrow", chain("Hips", "Spine", prefix=ours))
    other = chain("Hips", "Spine", prefix=theirs)
    motion = saved(tmp_path / "motion.marrow", other, moving(other, 0, 1))
    assert len(mw.load(body, clips=motion).clips["Walk"].tracks) == 2


def test_joints_that_do_not_exist_here_are_reported(tmp_path: Path) -> None:
    body = saved(tmp_path / "body.marrow", chain("hips"))
    other = chain("hips", "tail")
    motion = saved(tmp_path / "motion.marrow", other, moving(other, 0, 1))
    character = mw.load(body, clips=[motion])
    assert len(character.clips["Walk"].tracks) == 1
    assert any(line.kind == "dropped" and "tail" in line.message for line in character.report)


def test_files_that_do_not_belong_together_are_an_error(tmp_path: Path) -> None:
    body = saved(tmp_path / "body.marrow", chain("hips"))
    other = chain("wheel")
    motion = saved(tmp_path / "motion.marrow", other, moving(other, 0))
    with pytest.raises(FormatError, match=r"motion\.marrow.*none of the joints"):
        mw.load(body, clips=[motion])


def test_clip_names_stay_unique_and_nameless_ones_take_their_file_name(tmp_path: Path) -> None:
    skeleton = chain("hips")
    body = saved(tmp_path / "body.marrow", skeleton, moving(skeleton, 0, name="Walk"))
    same_name = saved(tmp_path / "again.marrow", skeleton, moving(skeleton, 0, name="Walk"))
    mixamo = saved(tmp_path / "dance.marrow", skeleton, moving(skeleton, 0, name="mixamo.com"))
    character = mw.load(body, clips=[same_name, mixamo])
    assert list(character.clips) == ["Walk", "Walk_2", "dance"]
    assert "'Walk_2'" in str(character.report)


def test_morph_tracks_find_their_channel_by_name(tmp_path: Path) -> None:
    body = saved(tmp_path / "body.marrow", mw.Skeleton(("a",), np.array([-1]), morph_names=("x", "smile")))
    other = mw.Skeleton(("a",), np.array([-1]), morph_names=("smile", "frown"))
    tracks = [mw.Track(m, "morph", np.float32([0]), np.float32([[1]])) for m in (0, 1)]
    motion = saved(tmp_path / "motion.marrow", other, mw.Clip("Talk", other, tracks))
    character = mw.load(body, clips=[motion])
    assert [t.target for t in character.clips["Talk"].tracks] == [1]
    assert "frown" in str(character.report)


def test_an_unknown_clip_is_a_helpful_error(tmp_path: Path) -> None:
    skeleton = chain("hips")
    character = mw.load(saved(tmp_path / "a.marrow", skeleton, moving(skeleton, 0)))
    with pytest.raises(UnknownNameError, match="Walk"):
        character.clips["Wlak"]


def test_loading_imports_only_the_reader_it_needs(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.marrow", chain("hips"))
    code = "import sys, marrow as mw; mw.load(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    heavy = {
        "marrow.io.gltf",
        "marrow.io.fbx",
        "marrow.io.usd",
        "numba",
        "ufbx",
        "pxr",
        "PIL",
        "marrow.skinning",
    }
    assert not heavy & set(done.stdout.split())


def test_a_file_replaced_after_loading_does_not_change_the_character(tmp_path: Path) -> None:
    path = tmp_path / "all.marrow"
    mw.save(everything(), path)
    character = mw.load(path)
    saved(path, chain("another"))
    path.unlink()
    same(everything(), character)


def test_hints_name_extras_that_exist() -> None:
    """Every `MissingExtraError` and `Reader` in the sources of `marrow.io`."""
    import re
    import tomllib

    root = Path(__file__).resolve().parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    made = re.compile(r'(?:MissingExtraError|Reader)\(\s*("[^"]*"(?:,\s*"[^"]*")*)')
    found = [
        re.findall(r'"([^"]*)"', names)
        for file in (root / "src" / "marrow" / "io").rglob("*.py")
        for names in made.findall(file.read_text())
    ]
    hinted = {names[1] if len(names) <= 3 else names[3] for names in found}
    assert {"usd", "draco", "meshopt"} <= hinted
    assert hinted - {""} <= set(extras)


def test_bytes_and_open_files_are_files(tmp_path: Path) -> None:
    hero = mw.samples.mannequin()
    mw.save(hero, tmp_path / "hero.glb")
    whole = mw.load(tmp_path / "hero.glb", cache=False)
    data = (tmp_path / "hero.glb").read_bytes()
    for given in (
        data,
        bytearray(data),
        memoryview(data),
        io.BytesIO(data),
        (tmp_path / "hero.glb").open("rb"),
    ):
        found = mw.load(given, cache=False)
        np.testing.assert_array_equal(found.meshes[0].positions, whole.meshes[0].positions)
        assert set(found.clips) == set(whole.clips)


def test_what_is_no_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="expected a path"):
        mw.load(7)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="bytes"):
        mw.load(io.StringIO("HIERARCHY"))  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="empty"):
        mw.load(b"")


def test_bytes_have_no_neighbours() -> None:
    text = (
        b'{"asset": {"version": "2.0"}, "nodes": [{}], "buffers": [{"uri": "a.bin", "byteLength": 4}], '
        b'"bufferViews": [{"buffer": 0, "byteLength": 4}], '
        b'"accessors": [{"bufferView": 0, "componentType": 5126, "count": 1, "type": "SCALAR"}], '
        b'"animations": [{"channels": [{"sampler": 0, "target": {"node": 0, "path": "scale"}}], '
        b'"samplers": [{"input": 0, "output": 0}]}]}'
    )
    with pytest.raises(FormatError, match="not in the bytes given"):
        mw.load(text)


def test_urls_go_through_fsspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match="remote"):
        mw.load("https://nowhere.invalid/hero.glb?x=1")
    mw.save(mw.samples.mannequin(), tmp_path / "hero.glb")

    class Fake:
        @staticmethod
        def open(url: str, mode: str):  # type: ignore[no-untyped-def]
            if "hero" not in url:
                raise OSError("404")
            return (tmp_path / "hero.glb").open(mode)

    monkeypatch.setitem(sys.modules, "fsspec", Fake)
    assert mw.load("memory://shelf/hero.glb").meshes
    with pytest.raises(FormatError, match="404"):
        mw.load("memory://shelf/nobody.glb")


def test_the_same_words_of_many_places_are_one_line(tmp_path: Path) -> None:
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"name": f"n{i}", "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]} for i in range(9)],
        "images": [{"uri": "gone.png"} for _ in range(9)],
    }
    (tmp_path / "a.gltf").write_text(json.dumps(document))
    lines = [line for line in mw.load(tmp_path / "a.gltf", cache=False).report if "gone.png" in line.message]
    assert len(lines) == 1
    assert "images[0], images[1] and 7 more" in lines[0].place
