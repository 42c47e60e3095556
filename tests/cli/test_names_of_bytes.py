"""Files whose names are not UTF-8: they work, or an error says in words why not. No exception is another's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.errors import FormatError, MarrowError
from marrow.motion.bone_map import map_bones

NAME = os.fsdecode(b"her\xf6")  # as Latin-1 systems wrote it
SUFFIXES = (".marrow", ".glb", ".gltf", ".usda", ".usdc", ".bvh", ".obj", ".ply")


def hero(name: str = "hero") -> mw.Character:
    skeleton = mw.Skeleton(("hips", "spine"), [-1, 0])
    times, up = np.array([0, 1], "f4"), np.array([[0, 1, 0], [0, 2, 0]], "f4")
    clip = mw.Clip("Rise", skeleton, [mw.Track(0, "translation", times, up)])
    body = mw.Mesh.rigid("body", np.eye(3), [[0, 1, 2]], 0)
    return mw.Character(skeleton, (body,), [clip], name=name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name in ("hero", NAME):
        mw.save(hero(), f"{name}.glb")
        mw.save(hero(), f"{name}.bvh")
    Path(f"{NAME}.d").mkdir()
    mw.save(hero(), f"{NAME}.d/x.glb")
    return tmp_path


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("where", [f"{NAME}.d/y", f"{NAME}2"], ids=["folder", "file"])
def test_saving_and_loading_works_or_says_why_not(suffix: str, where: str, folder: Path) -> None:
    path = Path(where + suffix)
    if suffix.startswith(".usd"):
        with pytest.raises(FormatError, match=r"her\\xf6.* UTF-8"):
            mw.save(hero(), path)
        assert not path.exists()
        return
    mw.save(hero(), path)
    assert path.is_file()
    if suffix in (".obj", ".ply"):
        return
    for _ in range(2):  # from the file and from the cache
        found = mw.load(path)
        assert found.skeleton.names[:2] == ("hips", "spine")
        found.name.encode()
        for other in (".marrow", ".glb", ".usda", ".bvh"):
            mw.save(found, folder / f"again{other}")


def test_a_file_called_by_bytes_keeps_a_name_that_can_be_read(folder: Path) -> None:
    assert mw.load(f"{NAME}.bvh").name == "her\N{REPLACEMENT CHARACTER}"
    assert mw.load("hero.glb", clips=f"{NAME}.bvh").clips[1].name.startswith("her\N{REPLACEMENT CHARACTER}")


def test_a_stage_called_by_bytes_is_refused_in_words(folder: Path) -> None:
    mw.save(hero(), "hero.usda")
    os.rename("hero.usda", f"{NAME}.usda")
    with pytest.raises(FormatError, match="UTF-8"):
        mw.load(f"{NAME}.usda")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_that_are_no_text_are_refused_in_words(suffix: str, tmp_path: Path) -> None:
    """As Python makes them of other encodings: `"her\\udcf6"`."""
    odd = hero(NAME)
    names = tuple(f"{name}{NAME}" for name in odd.skeleton.names)
    skeleton = mw.Skeleton(names, odd.skeleton.parents)
    clips = [clip.replace(skeleton=skeleton) for clip in odd.clips.values()]
    path = tmp_path / f"hero{suffix}"
    try:
        mw.save(odd.replace(skeleton=skeleton, clips=clips), path)
    except MarrowError:
        assert list(tmp_path.iterdir()) == []
    else:
        assert path.is_file()


def test_graphs_and_maps_with_such_names_are_refused_in_words(tmp_path: Path) -> None:
    graph = mw.graph.Graph(mw.graph.ClipNode(NAME))
    with pytest.raises(FormatError, match="no text"):
        mw.graph.save_graph(graph, tmp_path / "graph.json")
    bones = mw.Skeleton((f"hips{NAME}", "spine"), [-1, 0])
    pairs = map_bones(bones, bones)
    with pytest.raises(MarrowError, match="no text"):
        pairs.save(tmp_path / "map.json")
    with pytest.raises(MarrowError, match="cannot be written"):
        map_bones(hero().skeleton, hero().skeleton).save(tmp_path / "missing" / "map.json")
    assert list(tmp_path.iterdir()) == []


COMMANDS = """
info NAME.glb NAME.bvh
info NAME.glb --json
check NAME.glb NAME.bvh
check hero.glb --html NAME.html --no-pictures
convert NAME.glb out.glb
convert NAME.bvh out.usda
convert hero.glb NAME.usda
convert hero.glb NAMEa.gltf
convert hero.glb NAMEa.bvh
convert NAME.d many --to glb
convert NAME.glb hero.bvh NAMEmany --to glb
convert hero.glb NAMEshared --to glb --workers 1
retarget NAME.bvh hero.glb -o NAMEmoved.glb
retarget NAME.bvh NAME.glb -o NAMEmoved --report --save-map NAMEmap.json
lod NAME.glb
bake NAME.glb -o baked.npz
bake hero.glb -o NAMEbaked.npz
bake hero.glb NAME.bvh -o NAMEbaked
clip trim NAME.glb NAMEc.glb --end 0.5
dataset build NAME.bvh hero.glb -o data --workers 0 --format npz
dataset build hero.glb -o NAMEdata --workers 0
dataset info NAMEdata
graph check NAME.json
view NAME.xyz
render NAME.glb -o NAME.png --clip none
sheet NAME.glb -o NAME.png --clip none
bake-runtime NAME.glb -o NAME.mrt
export NAME.glb -o NAME.html --clip none
""".strip().splitlines()


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_takes_such_a_name_or_says_why_not(
    line: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run([word.replace("NAME", NAME) for word in line.split()])
    err = capfd.readouterr().err
    assert "a fault inside marrow" not in err
    assert ("error: " in err) == bool(code), err
