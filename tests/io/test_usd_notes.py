"""Stages that marrow wrote and somebody changed: what is on the stage counts, and the notes only where they fit it."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from io_worlds import everything

import marrow as mw
from marrow.errors import MarrowError
from marrow.io.source import LoadOptions, Source
from marrow.io.usd.reader import read_stage
from marrow.report import Report
from surroundings import needed

needed("pxr")


def saved(character: mw.Character, path: Path) -> list[str]:
    """Writes the stage; what saving said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mw.save(character, path)
    return [str(w.message) for w in caught]


def loaded(path: Path) -> mw.Character:
    return read_stage(Source.open(path), LoadOptions())


def changed(character: mw.Character, folder: Path, change: Callable[[Any], None]) -> mw.Character:
    """What is read after `change` worked on the stage."""
    from pxr import Usd

    path = folder / "changed.usda"
    saved(character, path)
    stage = Usd.Stage.Open(str(path))
    change(stage)
    stage.GetRootLayer().Save()
    del stage
    return loaded(path)


def small() -> mw.Character:
    """A skinned square of two materials, one clip."""
    skeleton = mw.Skeleton(("base", "tip"), [-1, 0], None, ("up",))
    points = np.float32([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    mesh = mw.Mesh(
        "square",
        points,
        [[0, 1, 2], [0, 2, 3]],
        [[0, 1]] * 4,
        np.full((4, 2), 0.5, np.float32),
        [0, 1],
        np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1)),
        sections=(mw.Section(0, 1, 0, "left"), mw.Section(1, 1, 1, "right")),
        morph_targets=(mw.MorphTarget("up", 0, points),),
        node=1,
    )
    keys = np.float32([[0, 0, 0, 1], [0, 0, 0.6, 0.8]])
    tracks = [mw.Track(1, "rotation", [0, 1], keys), mw.Track(0, "morph", [0, 0.5], [[0], [1]])]
    materials = (mw.Material("red", (1, 0, 0, 1), 0.0, 0.4), mw.Material("blue", (0, 0, 1, 1), unlit=True))
    return mw.Character(skeleton, (mesh,), (mw.Clip("turn", skeleton, tracks),), materials, name="square")


def test_a_section_and_a_morph_may_have_one_name(tmp_path: Path) -> None:
    hero = small()
    sections = tuple(mw.Section(s.first, s.count, s.material, "up") for s in hero.meshes[0].sections)
    hero = hero.replace(meshes=(hero.meshes[0].replace(sections=sections),))
    saved(hero, tmp_path / "hero.usda")
    assert loaded(tmp_path / "hero.usda").replace(report=Report()) == hero


def test_samples_that_were_changed_count(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        from pxr import Gf, Vt

        attribute = stage.GetAttributeAtPath("/square/Animations/turn.rotations")
        attribute.Set(Vt.QuatfArray([Gf.Quatf(0, 0, 0, 1)]), attribute.GetTimeSamples()[-1])

    found = changed(small(), tmp_path, change)
    assert "read as any other animation" in str(found.report)
    assert found.clips["turn"].sample(1.0).rotation[1].tolist() == [0, 0, 1, 0]
    assert found.clips["turn"].sample(0.25).morphs.tolist() == [0.5]
    assert found.skeleton.names == ("base", "tip")


def test_a_character_that_was_moved_hangs_on_what_moves_it(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        from pxr import UsdGeom

        UsdGeom.Xformable(stage.GetPrimAtPath("/square")).AddTranslateOp().Set((5, 0, 0))

    found = changed(small(), tmp_path, change)
    assert found.skeleton.names == ("square", "base", "tip")
    assert found.meshes[0].node == 2
    np.testing.assert_allclose(mw.skin(found, found.skeleton.rest).positions[:, 0], [5, 6, 6, 5])


def test_joints_that_were_renamed_have_their_new_names(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        for path in (
            "/square/Skeleton.joints",
            "/square/square.skel:joints",
            "/square/Animations/turn.joints",
        ):
            attribute = stage.GetAttributeAtPath(path)
            attribute.Set([str(t).replace("tip", "top") for t in attribute.Get()])
        stage.GetPrimAtPath("/square/Skeleton").RemoveProperty("jointNames")

    found = changed(small(), tmp_path, change)
    assert {"base", "top"} <= set(found.skeleton.names) and "tip" not in found.skeleton.names
    assert "not those that marrow wrote" in str(found.report)
    ours = mw.skin(small(), small().clips[0].sample(0.7)).positions
    np.testing.assert_allclose(mw.skin(found, found.clips["turn"].sample(0.7)).positions, ours, atol=1e-6)


def test_materials_that_were_changed_count(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        stage.GetAttributeAtPath("/square/Materials/red/Surface.inputs:roughness").Set(0.9)
        stage.GetAttributeAtPath("/square/Materials/blue/Surface.inputs:diffuseColor").Set((0, 1, 0))

    found = changed(small(), tmp_path, change)
    red, blue = found.materials
    assert red.roughness == pytest.approx(0.9) and red.base_color == (1, 0, 0, 1)
    assert blue.base_color[:3] == (0, 1, 0) and blue.unlit


def test_materials_that_were_bound_anew_count(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        left, right = ("/square/square/left", "/square/square/right")
        paths = stage.GetRelationshipAtPath(f"{right}.material:binding").GetTargets()
        stage.GetRelationshipAtPath(f"{left}.material:binding").SetTargets(paths)

    found = changed(small(), tmp_path, change)
    assert "read as any other mesh" in str(found.report)
    assert [found.materials[s.material].name for s in found.meshes[0].sections] == ["blue", "blue"]


def test_prims_that_were_added_are_read_too(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        from pxr import UsdGeom

        mesh = UsdGeom.Mesh.Define(stage, "/square/hat")
        mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
        mesh.CreateFaceVertexCountsAttr([3])
        mesh.CreateFaceVertexIndicesAttr([0, 1, 2])

    found = changed(small(), tmp_path, change)
    assert [m.name for m in found.meshes] == ["square", "hat"]
    assert set(found.skeleton.names) == {"base", "tip", "hat"}
    assert found.clips["turn"].skeleton.names[found.clips["turn"].tracks[0].target] == "tip"


@pytest.mark.parametrize("text", ["{", "[]", '{"joints":-1}', '{"joints":9,"names":[]}', '{"name":7}'])
def test_damaged_notes_are_a_line_and_nothing_worse(tmp_path: Path, text: str) -> None:
    def change(stage: Any) -> None:
        for prim in stage.Traverse():
            if prim.HasCustomDataKey("marrow"):
                prim.SetCustomDataByKey("marrow", text)

    found = changed(everything(), tmp_path, change)
    assert len(found.meshes) == 2 and "marrow" in str(found.report)


def test_a_stage_of_a_newer_marrow_is_read_as_any_other(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        stage.GetRootLayer().customLayerData = {"marrow": 99}

    found = changed(small(), tmp_path, change)
    assert "newer marrow" in str(found.report)
    assert set(found.skeleton.names) == {"square", "Skeleton", "base", "tip"}
    np.testing.assert_allclose(found.clips["turn"].sample(1.0).rotation[-1], [0, 0, 0.6, 0.8], atol=1e-6)


# -------------------- materials


def picture(kind: str, color: tuple[int, int, int] = (9, 99, 200)) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (2, 2), color).save(buffer, kind)
    return buffer.getvalue()


def painted(*images: mw.Image) -> mw.Character:
    """A square with a material of five textures."""
    moved = {
        "offset": (0.25, 0.5),
        "rotation": 0.3,
        "scale": (2.0, 3.0),
        "wrap_u": "clamp",
        "wrap_v": "mirror",
    }
    material = mw.Material(
        "paint",
        (0.1, 0.2, 0.3, 0.4),
        0.7,
        0.6,
        (0.5, 2.0, 0.1),
        base_color_texture=mw.Texture(0, 1, mag_filter="nearest", **moved),
        metallic_roughness_texture=mw.Texture(0),
        normal_texture=mw.Texture(0),
        normal_scale=0.5,
        occlusion_texture=mw.Texture(0),
        occlusion_strength=0.3,
        emissive_texture=mw.Texture(0),
        alpha_mode="blend",
    )
    hero = small()
    uvs = (hero.meshes[0].positions[:, :2], hero.meshes[0].positions[:, :2] * 2)
    plain = mw.Material("glass", (1, 1, 1, 1), alpha_mode="blend", alpha_cutoff=0.1, double_sided=True)
    mesh = hero.meshes[0].replace(uvs=uvs)
    images = images or (mw.Image("한글 a.png", "image/png", picture("PNG")),)
    return hero.replace(meshes=(mesh,), materials=(material, plain), images=images)


@pytest.mark.parametrize("suffix", [".usda", ".usdz"])
def test_textures_and_factors_come_back_and_validators_have_nothing_to_say(
    tmp_path: Path, suffix: str
) -> None:
    from pxr import Usd, UsdShade, UsdValidation

    hero, path = painted(), tmp_path / f"hero{suffix}"
    lines = saved(hero, path)
    assert any("normal_scale" in line for line in lines)
    assert loaded(path).replace(report=Report()) == hero
    stage = Usd.Stage.Open(str(path))
    found = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert UsdValidation.ValidationContext(found).Validate(stage) == []
    spaces = {
        p.GetName(): UsdShade.Shader(p).GetInput("sourceColorSpace").Get()
        for p in stage.Traverse()
        if p.GetName().endswith("Texture")
    }
    assert spaces == {
        "BaseColorTexture": "sRGB", "EmissiveTexture": "sRGB", "NormalTexture": "raw",
        "MetallicRoughnessTexture": "raw", "OcclusionTexture": "raw",
    }  # fmt: skip


def test_factors_and_places_of_textures_are_there_for_others(tmp_path: Path) -> None:
    def change(stage: Any) -> None:
        stage.GetRootLayer().customLayerData = {}

    hero = painted()
    paint, wanted = changed(hero, tmp_path, change).materials[0], hero.materials[0]
    np.testing.assert_allclose(paint.base_color, wanted.base_color, rtol=1e-6)
    np.testing.assert_allclose(
        (paint.metallic, paint.roughness, paint.occlusion_strength, *paint.emissive),
        (wanted.metallic, wanted.roughness, wanted.occlusion_strength, *wanted.emissive),
        rtol=1e-6,
    )
    mine, theirs = paint.base_color_texture, wanted.base_color_texture
    np.testing.assert_allclose(mine.offset, theirs.offset, atol=1e-6)
    assert (mine.uv_set, mine.wrap_u, mine.wrap_v) == (1, "clamp", "mirror")
    assert mine.rotation == pytest.approx(theirs.rotation) and mine.scale == theirs.scale


def test_pictures_that_few_programs_read_are_kept_and_shown_as_png(tmp_path: Path) -> None:
    webp = mw.Image("a", "image/webp", picture("WEBP"))
    basis = mw.Image("b", "image/ktx2", b"\xabKTX 20\xbb\r\n\x1a\n")
    hero = painted(webp, basis, mw.Image("unused", "image/jpeg", picture("JPEG")))
    texture = mw.Texture(1)
    hero = hero.replace(materials=(hero.materials[0], mw.Material("m", base_color_texture=texture)))
    lines = saved(hero, tmp_path / "hero.usda")
    assert sum("image 'a'" in line or "image 'b'" in line for line in lines) == 2
    assert loaded(tmp_path / "hero.usda").replace(report=Report()) == hero
    assert any("made PNG" in line for line in saved(hero, tmp_path / "hero.usdz"))
    packed = loaded(tmp_path / "hero.usdz")
    assert [i.media_type for i in packed.images] == ["image/png", "image/ktx2", "image/jpeg"]
    assert packed.materials == hero.materials
    saved(packed, tmp_path / "again.usdz")
    assert loaded(tmp_path / "again.usdz").images == packed.images


def test_a_package_stores_its_files_at_multiples_of_64_bytes(tmp_path: Path) -> None:
    saved(painted(), tmp_path / "hero.usdz")
    data = (tmp_path / "hero.usdz").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        infos = package.infolist()
    assert infos[0].filename == "stage.usdc" and len(infos) == 2
    for info in infos:
        name, extra = (int.from_bytes(data[info.header_offset + k :][:2], "little") for k in (26, 28))
        assert (info.header_offset + 30 + name + extra) % 64 == 0
        assert info.compress_type == zipfile.ZIP_STORED
    assert [p.name for p in tmp_path.iterdir()] == ["hero.usdz"]


def test_textures_lie_in_the_folder_that_is_asked_for(tmp_path: Path) -> None:
    hero = painted()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(hero, tmp_path / "hero.usda", textures="pictures")
    assert [p.name for p in (tmp_path / "pictures").iterdir()] == ["0_a.png"]
    assert loaded(tmp_path / "hero.usda").images == hero.images
    for wrong in ("../out", "", 7):
        with pytest.raises(MarrowError, match="textures"):
            mw.save(hero, tmp_path / "other.usda", textures=wrong)
    with pytest.raises(MarrowError, match="option"):
        mw.save(hero, tmp_path / "other.usda", picture="png")


def test_a_converted_folder_has_textures_by_the_names_of_its_files(tmp_path: Path) -> None:
    from marrow.cli.app import run

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(painted(), tmp_path / "hero.glb")
    assert run(["convert", str(tmp_path / "hero.glb"), str(tmp_path / "out"), "--to", "usda"]) == 0
    assert {p.name for p in (tmp_path / "out").iterdir()} == {".marrow", "hero.usda", "hero_textures"}
    assert loaded(tmp_path / "out" / "hero.usda").images[0].data == painted().images[0].data


# -------------------- points and curves of others


def test_points_and_curves_are_vertices_without_triangles(tmp_path: Path) -> None:
    path = tmp_path / "dots.usda"
    path.write_text(
        """#usda 1.0
(metersPerUnit = 1
upAxis = "Y")
def Points "Dots"
{
    point3f[] points = [(0, 0, 0), (1, 2, 3)]
    color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (interpolation = "vertex")
}
def BasisCurves "Hair"
{
    uniform token type = "linear"
    int[] curveVertexCounts = [2, 1]
    point3f[] points = [(0, 0, 0), (0, 1, 0), (5, 5, 5)]
    color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (interpolation = "uniform")
}
"""
    )
    found = loaded(path)
    dots, hair = found.meshes
    assert dots.positions.tolist() == [[0, 0, 0], [1, 2, 3]] and not len(dots.triangles)
    assert dots.colors.tolist() == [[1, 0, 0, 1], [0, 1, 0, 1]]
    assert hair.vertex_count == 3 and "without triangles" in str(found.report)
    saved(found, tmp_path / "again.usda")
    again = loaded(tmp_path / "again.usda")
    assert again.replace(report=Report(), name="dots") == found.replace(report=Report())


# -------------------- what is said


def test_what_other_programs_do_not_see_is_said_once(tmp_path: Path) -> None:
    lines = "\n".join(saved(everything(), tmp_path / "all.usda"))
    for words in (
        "material variants",
        "VRM",
        "sockets",
        "extras",
        "events",
        "blends linear",
        "cubic keys",
        "half precision",
    ):
        assert words in lines, words
    levels = "\n".join(saved(mw.samples.lizard(), tmp_path / "lizard.usda"))
    assert "coarser levels of detail are left out" in levels
    assert len(lines.splitlines()) < 10
    assert saved(small().replace(materials=(), meshes=()), tmp_path / "small.usda") == []


def test_names_that_most_files_have_are_no_loss(tmp_path: Path) -> None:
    plain = small().replace(materials=(), meshes=())
    named = plain.replace(extras={"scene": {"name": "Scene"}, "skins": {"body": {"name": "Armature"}}})
    assert saved(named, tmp_path / "named.usda") == []
    noted = plain.replace(extras={"scene": {"extras": {"author": "Ada"}}})
    assert "extras" in "\n".join(saved(noted, tmp_path / "noted.usda"))
