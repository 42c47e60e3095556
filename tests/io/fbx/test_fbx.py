"""FBX files made by hand, whose right answers are known without another engine."""

from __future__ import annotations

import base64
import io
import math
from pathlib import Path

import numpy as np
import pytest
from handmade import SQUARE, Fbx, flag, property70
from PIL import Image

import marrow as mw
from marrow.animation.visibility import visible_meshes
from marrow.errors import FormatError
from marrow.math import quaternion

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

PIVOTS = {
    "RotationOffset": (0.5, 0.25, 0),
    "RotationPivot": (1, 0, 2),
    "ScalingOffset": (0, 1, 0),
    "ScalingPivot": (0.5, 0.5, 1),
}


@pytest.fixture
def load(tmp_path: Path):  # type: ignore[no-untyped-def]
    def loaded(fbx: Fbx, **options: object) -> mw.Character:
        path = tmp_path / "hand.fbx"
        path.write_bytes(fbx.text())
        return mw.load(path, cache=False, **options)

    return loaded


def lines(character: mw.Character) -> str:
    return str(character.report)


def test_a_skinned_square_waves(load) -> None:  # type: ignore[no-untyped-def]
    character = load(flag())
    assert set(character.skeleton.names) == {"low", "high", "cloth"}
    clip = character.clips["Wave"]
    assert clip.duration == pytest.approx(1.0)
    assert clip.rate == 30
    # The upper edge turns about (0, 1, 0): half way its far corner is at 45 degrees.
    far = mw.skin(character, clip.sample([0.0, 0.5, 1.0])).positions[:, 2]
    half = np.sqrt(0.5)
    np.testing.assert_allclose(far, [[1, 1, 0], [half, 1 + half, 0], [0, 2, 0]], atol=1e-6)
    np.testing.assert_allclose(character.meshes[0].normals, np.tile([0, 0, 1], (4, 1)), atol=1e-6)


def test_only_what_moves_has_a_track(load) -> None:  # type: ignore[no-untyped-def]
    character = load(flag())
    moved = [(character.skeleton.names[t.target], t.path) for t in character.clips[0].tracks]
    assert moved == [("high", "rotation")]


def test_units_and_axes_become_metres_and_y_up(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx(unit=1.0, up=2)
    node = fbx.node("box", "Mesh", t=(0, 0, 100))
    fbx.mesh(node, [0, 0, 0, 100, 0, 0, 0, 0, 200], [[0, 1, 2]])
    character = load(fbx)
    positions = mw.skin(character, character.skeleton.rest).positions
    np.testing.assert_allclose(positions, [[0, 1, 0], [1, 1, 0], [0, 3, 0]], atol=1e-6)


def test_scale_multiplies_what_the_units_say(load) -> None:  # type: ignore[no-untyped-def]
    small, large = load(flag()), load(flag(), scale=3.0)
    pose = small.clips[0].sample(0.7), large.clips[0].sample(0.7)
    np.testing.assert_allclose(
        mw.skin(large, pose[1]).positions, 3 * mw.skin(small, pose[0]).positions, atol=1e-5
    )


def test_rate_bakes_at_that_rate(load) -> None:  # type: ignore[no-untyped-def]
    track = load(flag(), rate=10.0).clips[0].tracks[0]
    np.testing.assert_allclose(track.times, np.arange(11) / 10, atol=1e-6)


def test_bent_curves_are_followed_between_frames(load) -> None:  # type: ignore[no-untyped-def]
    fbx = flag()
    low = 1001
    layer = fbx.stack("Ease", 0.0, 1.0)
    fbx.curve(layer, low, "Lcl Translation", "d|X", [(0.0, 0.0), (1.0, 1.0)], "cubic")
    character = load(fbx)
    times = np.linspace(0, 1, 97)
    got = character.clips["Ease"].sample(times).translation[:, character.skeleton.index("low"), 0]
    # Flat tangents at both ends: the smooth step.
    np.testing.assert_allclose(got, 3 * times**2 - 2 * times**3, atol=1e-4)


def test_a_step_stays_a_step(load) -> None:  # type: ignore[no-untyped-def]
    fbx = flag()
    layer = fbx.stack("Jump", 0.0, 1.0)
    fbx.curve(layer, 1001, "Lcl Translation", "d|X", [(0.0, 0.0), (0.5, 1.0), (1.0, 2.0)], "step")
    character = load(fbx)
    x = character.clips["Jump"].sample([0.0, 0.25, 0.499, 0.5, 0.75, 1.0]).translation[:, 0, 0]
    np.testing.assert_allclose(x, [0, 0, 0, 1, 1, 2], atol=1e-6)
    for track in character.clips["Jump"].tracks:
        assert (np.diff(track.times) > 0).all()


def test_a_stop_time_past_the_last_key_does_not_count(load) -> None:  # type: ignore[no-untyped-def]
    fbx = flag()
    layer = fbx.stack("Long", 0.5, 9.0)
    fbx.curve(layer, 1001, "Lcl Translation", "d|X", [(0.0, 0.0), (2.0, 2.0)])
    clip = load(fbx).clips["Long"]
    assert clip.duration == pytest.approx(1.5)
    np.testing.assert_allclose(clip.sample([0.0, 1.5]).translation[:, 0, 0], [0.5, 2.0], atol=1e-6)


def test_keys_past_the_stop_time_are_cut(load) -> None:  # type: ignore[no-untyped-def]
    fbx = flag()
    layer = fbx.stack("Short", 0.0, 1.0)
    fbx.curve(layer, 1001, "Lcl Translation", "d|X", [(0.0, 0.0), (4.0, 4.0)])
    clip = load(fbx).clips["Short"]
    assert clip.duration == pytest.approx(1.0)
    assert clip.sample(3.0).translation[0, 0] == pytest.approx(1.0)


def test_before_its_first_key_an_axis_holds_that_key(load) -> None:  # type: ignore[no-untyped-def]
    fbx = flag()
    layer = fbx.stack("Late", 0.0, 1.0)
    fbx.curve(layer, 1001, "Lcl Translation", "d|X", [(0.5, 3.0), (1.0, 4.0)])
    x = load(fbx).clips["Late"].sample([0.0, 0.25, 1.0]).translation[:, 0, 0]
    np.testing.assert_allclose(x, [3, 3, 4], atol=1e-6)


@pytest.mark.parametrize("inherit", [0, 1, 2])
def test_a_joint_that_only_turns_keeps_its_place(load, inherit: int) -> None:  # type: ignore[no-untyped-def]
    # With translation keys in another take, ufbx lends it the translation of the element after it.
    fbx = Fbx()
    extra = [property70("InheritType", "enum", inherit)]
    parent = fbx.node("parent", "LimbNode", extra=extra)
    turning = fbx.node("turning", "LimbNode", parent, t=(1, 2, 3), s=(1, 1, 1), extra=extra)
    moving = fbx.node("moving", "LimbNode", parent, t=(9, 0, 0), extra=extra)
    other = fbx.stack("Other", 0.0, 1.0)
    for prop in ("Lcl Translation", "Lcl Scaling", "Lcl Rotation"):
        fbx.curve(other, turning, prop, "d|X", [(0.0, 4.0), (1.0, 6.0)])
    layer = fbx.stack("Both", 0.0, 1.0)
    fbx.curve(layer, turning, "Lcl Rotation", "d|Y", [(0.0, 0.0), (1.0, 45.0)])
    fbx.curve(layer, moving, "Lcl Translation", "d|X", [(0.0, 9.0), (1.0, 5.0)])
    fbx.curve(layer, moving, "Lcl Scaling", "d|X", [(0.0, 1.0), (1.0, 5.0)])
    character = load(fbx)
    pose = character.clips["Both"].sample(1.0)
    i, j = character.skeleton.index("turning"), character.skeleton.index("moving")
    np.testing.assert_allclose(pose.translation[i], [1, 2, 3], atol=1e-6)
    np.testing.assert_allclose(pose.scale[i], [1, 1, 1], atol=1e-6)
    np.testing.assert_allclose(pose.translation[j], [5, 0, 0], atol=1e-5)


def test_a_joint_that_only_turns_about_a_pivot_swings_and_is_not_carried_off(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx(unit=1.0, up=2)
    pivots = [property70(name, "Vector3D", *v) for name, v in PIVOTS.items()]
    turning = fbx.node("turning", "LimbNode", t=(1, 2, 3), r=(10, 20, 30), s=(2, 1, 3), extra=pivots)
    moving = fbx.node("moving", "LimbNode", t=(9, 0, 0))
    fbx.curve(fbx.stack("Other", 0.0, 1.0), turning, "Lcl Translation", "d|X", [(0.0, 4.0), (1.0, 6.0)])
    alone = fbx.stack("Alone", 0.0, 1.0)
    layer = fbx.stack("Both", 0.0, 1.0)
    for at in (alone, layer):
        fbx.curve(at, turning, "Lcl Rotation", "d|Y", [(0.0, 0.0), (1.0, 170.0)])
    fbx.curve(layer, moving, "Lcl Translation", "d|X", [(0.0, 9.0), (1.0, 5.0)])
    character = load(fbx)
    i = character.skeleton.index("turning")
    times = np.linspace(0, 1, 37)
    both, lone = (character.clips[name].sample(times) for name in ("Both", "Alone"))
    np.testing.assert_allclose(both.translation[:, i], lone.translation[:, i], atol=1e-6)
    # Turning leaves the pivot where it is: at t + Roff + Rp in the axes of the file.
    local = character.skeleton.to_model(both)[:, i]
    offset, pivot, scaling_offset, scaling_pivot = (np.array(v) for v in PIVOTS.values())
    fixed = ((pivot - scaling_offset - scaling_pivot) / (2, 1, 3) + scaling_pivot) / 100
    stays = np.einsum("tij,j->ti", local[:, :, :3], fixed) + local[:, :, 3]
    expected = (np.array([1, 2, 3]) + offset + pivot) / 100
    np.testing.assert_allclose(stays, np.tile([expected[0], expected[2], -expected[1]], (37, 1)), atol=1e-5)


def test_a_pivot_moves_a_joint_that_only_turns(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    pivot = property70("RotationPivot", "Vector3D", 1, 0, 0)
    node = fbx.node("door", "Mesh", extra=[pivot])
    fbx.mesh(node, SQUARE, [[0, 1, 2, 3]])
    layer = fbx.stack("Open", 0.0, 1.0)
    fbx.curve(layer, node, "Lcl Rotation", "d|Y", [(0.0, 0.0), (1.0, 180.0)])
    character = load(fbx)
    end = mw.skin(character, character.clips[0].sample(1.0)).positions
    np.testing.assert_allclose(end[0], [2, 0, 0], atol=1e-5)


def test_empty_stacks_are_left_out_and_unnamed_ones_numbered_by_their_place(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    node = fbx.node("a", "LimbNode")
    fbx.stack("Take 001", 0.0, 1.0)
    for name in ("", "Go", "Go"):
        layer = fbx.stack(name, 0.0, 1.0)
        fbx.curve(layer, node, "Lcl Translation", "d|X", [(0.0, 0.0), (1.0, 1.0)])
    character = load(fbx)
    assert list(character.clips) == ["clip_1", "Go", "Go_2"]
    assert "Take 001" not in lines(character)  # exporters write an empty one for nothing
    assert "Go_2" in lines(character)


def test_vertices_without_weights_follow_the_node_and_sums_are_mended(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    bone = fbx.node("bone", "LimbNode")
    other = fbx.node("other", "LimbNode")
    cloth = fbx.node("cloth", "Mesh", t=(0, 0, 5))
    geometry = fbx.mesh(cloth, SQUARE, [[0, 1, 2, 3]])
    fbx.skin(geometry, [(bone, {0: 0.5, 1: 1.0, 2: 0.25}, (0, 0, 0)), (other, {2: 0.25}, (0, 0, 0))])
    character = load(fbx)
    mesh = character.meshes[0]
    np.testing.assert_allclose(mesh.weights.sum(1), 1)
    assert "1 vertices without weights" in lines(character)
    assert "2 vertices did not sum to 1 (worst: 0.5)" in lines(character)
    rest = mw.skin(character, character.skeleton.rest).positions
    np.testing.assert_allclose(rest, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 5]], atol=1e-6)


def test_a_skin_without_joints_follows_its_node(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    cloth = fbx.node("cloth", "Mesh", t=(0, 0, 5))
    fbx.skin(fbx.mesh(cloth, SQUARE, [[0, 1, 2, 3]]), [])
    character = load(fbx)
    assert mw.skin(character, character.skeleton.rest).positions[0] == pytest.approx([0, 0, 5])


def test_the_skinning_method_is_kept(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    bone = fbx.node("bone", "LimbNode", t=(0, 2, 0))
    cloth = fbx.node("cloth", "Mesh", s=(2, 3, 4))
    fbx.skin(
        fbx.mesh(cloth, SQUARE, [[0, 1, 2, 3]]),
        [(bone, dict.fromkeys(range(4), 1.0), (0, 2, 0))],
        "DualQuaternion",
    )
    character = load(fbx)
    assert character.meshes[0].skinning == "dual_quaternion"
    rest = mw.skin(character, character.skeleton.rest).positions
    np.testing.assert_allclose(rest[2], [1, 1, 0], atol=1e-6)


def test_one_mesh_on_two_nodes_is_two_meshes_and_hidden_ones_stay(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    first = fbx.node("first", "Mesh")
    geometry = fbx.mesh(first, SQUARE, [[0, 1, 2, 3]])
    second = fbx.node("second", "Mesh", t=(5, 0, 0), extra=[property70("Visibility", "Visibility", 0)])
    fbx.connect(geometry, second)
    character = load(fbx)
    assert [(m.name, m.visible) for m in character.meshes] == [("first", True), ("second", False)]
    rest = mw.skin(character, character.skeleton.rest).positions
    np.testing.assert_allclose(rest[4:], rest[:4] + np.array([5, 0, 0]), atol=1e-6)


def test_in_between_shapes_and_their_weights(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    node = fbx.node("face", "Mesh")
    geometry = fbx.mesh(node, SQUARE, [[0, 1, 2, 3]])
    channel = fbx.blend_shape(geometry, "smile", [(50, {2: (0, 1, 0)}), (100, {2: (0, 1, 4)})], percent=25.0)
    layer = fbx.stack("Smile", 0.0, 1.0)
    fbx.curve(layer, channel, "DeformPercent", "d|DeformPercent", [(0.0, 0.0), (1.0, 100.0)])
    character = load(fbx)
    assert character.skeleton.morph_names == ("smile",)
    assert character.skeleton.rest.morphs == pytest.approx([0.25])
    assert [t.full_weight for t in character.meshes[0].morph_targets] == [0.5, 1.0]
    corner = mw.skin(character, character.clips[0].sample([0.25, 0.5, 0.75, 1.0])).positions[:, 2]
    np.testing.assert_allclose(corner, [[1, 1.5, 0], [1, 2, 0], [1, 2, 2], [1, 2, 4]], atol=1e-5)


LAYERS = """
LayerElementMaterial: 0 {
Version: 101
MappingInformationType: "ByPolygon"
ReferenceInformationType: "IndexToDirect"
Materials: *3 { a: 1,0,1 }
}
LayerElementUV: 0 {
Version: 101
Name: "map1"
MappingInformationType: "ByPolygonVertex"
ReferenceInformationType: "Direct"
UV: *20 { a: 0,0,1,0,1,1, 0,0,1,1,0,1, 0,0,1,0,1,1,0,1 }
}
Layer: 0 {
Version: 100
LayerElement: { Type: "LayerElementMaterial" TypedIndex: 0 }
LayerElement: { Type: "LayerElementUV" TypedIndex: 0 }
}"""


def test_sections_have_vertices_of_their_own_in_one_run(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    node = fbx.node("patch", "Mesh")
    points = [*SQUARE, 2, 0, 0, 2, 1, 0]
    fbx.mesh(node, points, [[0, 1, 2], [0, 2, 3], [1, 4, 5, 2]], LAYERS)
    for name in ("red", "blue"):
        fbx.connect(fbx.add("Material", f"Material::{name}", "", '\nShadingModel: "phong"'), node)
    character = load(fbx)
    mesh = character.meshes[0]
    assert [character.materials[s.material].name for s in mesh.sections] == ["red", "blue"]
    assert [s.count for s in mesh.sections] == [1, 3]
    runs = [np.unique(mesh.triangles[s.first : s.first + s.count]) for s in mesh.sections]
    assert [(r.min(), r.max(), len(r)) for r in runs] == [(0, 2, 3), (3, 9, 7)]
    # v counts from the top in glTF
    np.testing.assert_allclose(mesh.uvs[0][:3], [[0, 1], [1, 0], [0, 0]], atol=1e-6)


def textured(content: str = "", relative: str = "skin.png", absolute: str = "C:\\\\art\\\\skin.png") -> Fbx:
    fbx = Fbx()
    node = fbx.node("patch", "Mesh")
    fbx.mesh(node, SQUARE, [[0, 1, 2, 3]])
    color = property70("DiffuseColor", "Color", 0.8, 0.8, 0.8)
    body = f'\nShadingModel: "phong"\nProperties70:  {{\n{color}\n}}'
    material = fbx.add("Material", "Material::red", "", body)
    fbx.connect(material, node)
    names = f'\nFileName: "{absolute}"\nRelativeFilename: "{relative}"'
    texture = fbx.add("Texture", "Texture::skin", "", names)
    fbx.connect(texture, material, "DiffuseColor")
    if content:
        video = fbx.add("Video", "Video::skin", "Clip", f'{names}\nContent: , "{content}"')
        fbx.connect(video, texture)
    return fbx


def add_texture(fbx: Fbx, material: int, name: str, slot: str) -> None:
    texture = fbx.add("Texture", f"Texture::{name}", "", f'\nFileName: "{name}"\nRelativeFilename: "{name}"')
    fbx.connect(texture, material, slot)


def gray(value: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (2, 2), value).save(buffer, "PNG")
    return buffer.getvalue()


def first_pixel(image: mw.Image) -> tuple[int, ...]:
    return Image.open(io.BytesIO(image.data)).getpixel((0, 0))


def test_an_opacity_texture_becomes_the_alpha_of_the_base_colour(load, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    fbx = textured()
    material = next(int(o.split()[1].rstrip(",")) for o in fbx.objects if o.startswith("Material:"))
    add_texture(fbx, material, "clear.png", "TransparentColor")
    (tmp_path / "clear.png").write_bytes(gray(77))
    (tmp_path / "skin.png").write_bytes(gray(200))
    character = load(fbx)
    assert character.materials[0].alpha_mode == "blend"
    assert first_pixel(character.images[character.materials[0].base_color_texture.image]) == (
        200,
        200,
        200,
        77,
    )
    assert len(character.images) == 1
    (tmp_path / "clear.png").write_bytes(b"no picture")
    assert load(fbx).images[0].data == gray(200)


def test_metalness_and_roughness_textures_are_packed(load, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    node = fbx.node("patch", "Mesh")
    fbx.mesh(node, SQUARE, [[0, 1, 2, 3]])
    rows = [
        'P: "3dsMax|ClassIDa", "int", "Integer", "",943849874',  # the glTF material of 3ds Max
        'P: "3dsMax|ClassIDb", "int", "Integer", "",1174294043',
        property70("3dsMax|main|metalness", "Float", 0.25),
        property70("3dsMax|main|roughness", "Float", 0.75),
    ]
    body = '\nShadingModel: "unknown"\nProperties70:  {\n' + "\n".join(rows) + "\n}"
    material = fbx.add("Material", "Material::metal", "", body)
    fbx.connect(material, node)
    add_texture(fbx, material, "metal.png", "3dsMax|main|metalness")
    add_texture(fbx, material, "rough.png", "3dsMax|main|roughness")
    bare = load(fbx).materials[0]
    assert bare.metallic_roughness_texture is None
    assert (bare.metallic, bare.roughness) == (0.25, 0.75)
    (tmp_path / "metal.png").write_bytes(gray(40))
    (tmp_path / "rough.png").write_bytes(gray(50))
    character = load(fbx)
    assert first_pixel(character.images[character.materials[0].metallic_roughness_texture.image])[1:] == (
        50,
        40,
    )
    assert (character.materials[0].metallic, character.materials[0].roughness) == (1.0, 1.0)


def test_an_embedded_texture_comes_out_byte_for_byte(load) -> None:  # type: ignore[no-untyped-def]
    character = load(textured(base64.b64encode(PNG).decode()))
    assert character.images == (mw.Image("skin", "image/png", PNG),)
    assert character.materials[0].base_color_texture.image == 0
    assert character.materials[0].base_color == (1, 1, 1, 1)


@pytest.mark.parametrize("relative", ["skin.png", "textures\\\\skin.png", "..\\\\..\\\\skin.png"])
def test_a_texture_beside_the_file_is_found(load, tmp_path: Path, relative: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "skin.png").write_bytes(PNG)
    assert load(textured("", relative)).images[0].data == PNG


def test_a_missing_texture_is_reported(load) -> None:  # type: ignore[no-untyped-def]
    character = load(textured(""))
    assert character.images == ()
    assert character.materials[0].base_color_texture is None
    assert "skin.png" in lines(character)


def test_a_texture_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    (inside / "hand.fbx").write_bytes(textured("", "../secret.png", str(tmp_path / "secret.png")).text())
    assert mw.load(inside / "hand.fbx", cache=False).images == ()
    assert len(mw.load(inside / "hand.fbx", cache=False, allow_outside=True).images) == 1


def test_vertices_that_are_not_finite_are_mended(tmp_path: Path) -> None:
    text = flag().text().replace(b"0,0,0,1,0,0,1,1,0,0,1,0", b"0,0,0,1,0,0,1e999,1,0,0,1,0", 1)
    (tmp_path / "hand.fbx").write_bytes(text)
    character = mw.load(tmp_path / "hand.fbx", cache=False)
    assert np.isfinite(character.meshes[0].positions).all()


def test_names_that_are_not_ascii_come_through(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    fbx.node("Hüfte 骨", "LimbNode")
    assert load(fbx).skeleton.names == ("Hüfte 骨",)


def test_a_file_with_nothing_in_it_is_a_character_with_nothing(load) -> None:  # type: ignore[no-untyped-def]
    character = load(Fbx())
    assert (len(character.skeleton), character.meshes, len(character.clips)) == (0, (), 0)


def test_the_content_counts_not_the_suffix(tmp_path: Path) -> None:
    path = tmp_path / "hero.glb"
    path.write_bytes(flag().text())
    assert list(mw.load(path, cache=False).clips) == ["Wave"]


def test_what_is_no_fbx_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "hero.fbx"
    path.write_bytes(b"\x00\x01\x02 nothing of the kind")
    with pytest.raises(FormatError, match=r"hero\.fbx: is not a readable FBX file"):
        mw.load(path, cache=False)


def scaled_parent(inherit: int) -> Fbx:
    """A parent scaled (2, 3, 2) with a child at (0, 1, 0), which takes over that scale or does not."""
    fbx = Fbx()
    parent = fbx.node(
        "parent", "Mesh", t=(10, 0, 0), s=(2, 3, 2), extra=[property70("InheritType", "enum", 1)]
    )
    fbx.mesh(parent, SQUARE, [[0, 1, 2, 3]])
    child = fbx.node("child", "Mesh", parent, t=(0, 1, 0), extra=[property70("InheritType", "enum", inherit)])
    fbx.mesh(child, SQUARE, [[0, 1, 2, 3]])
    return fbx


@pytest.mark.parametrize(("inherit", "corner"), [(1, (12, 6, 0)), (2, (11, 4, 0))])
def test_inherit_types_decide_whose_scale_counts(load, inherit: int, corner: tuple[float, ...]) -> None:  # type: ignore[no-untyped-def]
    character = load(scaled_parent(inherit))
    assert [m.name for m in character.meshes] == ["parent", "child"]
    surface = mw.skin(character, character.skeleton.rest).positions
    np.testing.assert_allclose(surface[2], (12, 3, 0), atol=1e-5)
    np.testing.assert_allclose(surface[6], corner, atol=1e-5)


def test_helper_joints_are_named_after_their_node(load) -> None:  # type: ignore[no-untyped-def]
    assert set(load(scaled_parent(2)).skeleton.names) == {"parent", "parent_scale", "child"}


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [
        ("", lambda t: 1.0),
        ("R", lambda t: t % 1.0),
        ("M", lambda t: 1 - abs(t % 2.0 - 1)),
        ("A", lambda t: t),
        ("K", lambda t: t),
    ],
)
def test_curves_go_on_beyond_their_keys_over_the_whole_take(load, beyond: str, expected) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    node = fbx.node("a", "LimbNode")
    other = fbx.node("b", "LimbNode")
    layer = fbx.stack("Go", 0.0, 3.0)
    fbx.curve(layer, node, "Lcl Translation", "d|X", [(0.0, 0.0), (1.0, 1.0)], beyond=beyond)
    fbx.curve(layer, other, "Lcl Translation", "d|Y", [(0.0, 0.0), (1.5, 1.5)])
    clip = load(fbx).clips["Go"]
    assert clip.duration == pytest.approx(3.0 if beyond else 1.5)
    for t in (0.25, 0.5, 1.25, 1.4):
        wanted = t if t <= 1 else expected(t)
        np.testing.assert_allclose(clip.sample(t).translation[0, 0], wanted, atol=1e-5)
        np.testing.assert_allclose(clip.sample(t).translation[1, 1], min(t, 1.5), atol=1e-5)
    if beyond:
        for t in (2.25, 2.9):
            np.testing.assert_allclose(clip.sample(t).translation[0, 0], expected(t), atol=1e-5)


def test_a_morph_curve_goes_on_beyond_its_keys(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    node = fbx.node("patch", "Mesh")
    geometry = fbx.mesh(node, SQUARE, [[0, 1, 2, 3]])
    channel = fbx.blend_shape(geometry, "smile", [(100.0, {0: (0, 0, 1)})], 0.0)
    layer = fbx.stack("Go", 0.0, 4.0)
    fbx.curve(layer, channel, "DeformPercent", "d|DeformPercent", [(0.0, 0.0), (1.0, 50.0)], beyond="A")
    np.testing.assert_allclose(load(fbx).clips["Go"].sample(3.0).morphs, [1.5], atol=1e-5)


def moving_cloth(application: str) -> Fbx:
    """The flag, whose node moves along Z by 0 to 3 and stood at the origin when it was bound."""
    fbx = flag()
    fbx.application = application
    cloth = next(int(o.split()[1].rstrip(",")) for o in fbx.objects if "Model::cloth" in o)
    layer = next(int(o.split()[1].rstrip(",")) for o in fbx.objects if "AnimLayer::" in o)
    fbx.curve(layer, cloth, "Lcl Translation", "d|Z", [(1.0, 0.0), (2.0, 3.0)])
    return fbx


def test_a_skin_of_maya_moves_with_its_node_too_and_others_do_not(load) -> None:  # type: ignore[no-untyped-def]
    plain = load(flag())
    times = np.linspace(0, 1, 9)
    still = mw.skin(plain, plain.clips["Wave"].sample(times)).positions
    maya, max_ = load(moving_cloth("Maya")), load(moving_cloth("3ds Max"))
    found = mw.skin(maya, maya.clips["Wave"].sample(times)).positions
    np.testing.assert_allclose(found - still, (times * 3)[:, None, None] * [0, 0, 1.0] + 0 * still, atol=1e-5)
    np.testing.assert_allclose(mw.skin(max_, max_.clips["Wave"].sample(times)).positions, still, atol=1e-6)
    assert "as in Maya" in lines(maya)


def test_a_skin_of_maya_that_stays_where_it_was_bound_has_no_joints_of_its_own(load) -> None:  # type: ignore[no-untyped-def]
    fbx = flag()
    fbx.application = "Maya"
    assert load(fbx).skeleton.names == load(flag()).skeleton.names


def test_a_level_of_detail_group_gives_levels(load) -> None:  # type: ignore[no-untyped-def]
    fbx = Fbx()
    group = fbx.node("group", "LodGroup")
    fbx.connect(fbx.add("NodeAttribute", "NodeAttribute::", "LodGroup", '\nTypeFlags: "LodGroup"'), group)
    for i in range(3):
        fbx.mesh(fbx.node(f"level{i}", "Mesh", group), SQUARE, [[0, 1, 2, 3], [0, 1, 2]][: 2 if i else 1])
    fbx.mesh(fbx.node("hat", "Mesh"), SQUARE, [[0, 1, 2, 3]])
    character = load(fbx)
    assert [[m.name for m in level.meshes] for level in character.levels] == [["hat", "level0"]] * 3
    counts = [[m.triangle_count for m in level.meshes] for level in character.levels]
    assert counts == [[2, 2], [2, 3], [2, 3]]
    assert character.levels[1].lod.error is None and character.levels[2].lod.joints == len(character.skeleton)
    assert "3 levels" in lines(character)


def test_bare_lights_and_cameras_and_nodes_that_hide(load) -> None:  # type: ignore[no-untyped-def]
    fbx = flag()
    for name, kind in (("sun", "Light"), ("moon", "Light"), ("eye", "Camera")):
        node = fbx.node(name, kind)
        fbx.connect(fbx.add("NodeAttribute", f"NodeAttribute::{name}", kind, f'\nTypeFlags: "{kind}"'), node)
    cloth = next(int(o.split()[1].rstrip(",")) for o in fbx.objects if "Model::cloth" in o)
    layer = next(int(o.split()[1].rstrip(",")) for o in fbx.objects if "AnimLayer::" in o)
    fbx.curve(layer, cloth, "Visibility", "d|Visibility", [(1.0, 1.0), (2.0, 0.0)], "step")
    character = load(fbx)
    assert [light.name for light in character.lights] == ["sun", "moon"]
    assert [(c.name, c.fov) for c in character.cameras] == [
        ("eye", math.radians(45))
    ]  # it says nothing of its own
    clip = character.clips["Wave"]
    assert [curve.name for curve in clip.curves] == ["visibility:cloth"]
    # The take begins at one second, and so does the clip.
    assert clip.start == 1
    assert visible_meshes(character, clip, [0.0, 0.9, 1.0])[:, 0].tolist() == [True, True, False]


def test_properties_that_artists_keyed_are_curves(load) -> None:  # type: ignore[no-untyped-def]
    def own(name: str, kind: str, *values: float) -> str:
        return f'P: "{name}", "{kind}", "", "A+U",{",".join(map(str, values))}'

    fbx = Fbx()
    hips = fbx.node("hips", "LimbNode", extra=[own("grip", "Number", 0.5), own("still", "Number", 3)])
    hand = fbx.node(
        "hand", "LimbNode", hips, extra=[own("glow", "Vector3D", 0, 0, 0), own("heat", "Number", 0)]
    )
    other = fbx.node("foot", "LimbNode", hips, extra=[own("heat", "Number", 0)])
    layer = fbx.stack("Take", 0.0, 1.0)
    fbx.curve(layer, hips, "grip", "d|grip", [(0.0, 0.5), (0.5, 2.0), (1.0, 0.5)])
    fbx.curve(layer, hips, "still", "d|still", [(0.0, 3.0), (1.0, 3.0)])
    fbx.curve(layer, hand, "glow", "d|Y", [(0.0, 0.0), (1.0, 4.0)])
    fbx.curve(layer, hand, "heat", "d|heat", [(0.0, 0.0), (1.0, 1.0)])
    fbx.curve(layer, other, "heat", "d|heat", [(0.0, 1.0), (1.0, 0.0)], "step")
    character = load(fbx)
    curves = {c.name: c for c in character.clips["Take"].curves}
    assert set(curves) == {"grip", "glow.y", "hand.heat", "foot.heat"}
    assert np.interp(0.25, curves["grip"].times, curves["grip"].values) == pytest.approx(1.25, abs=1e-3)
    assert np.interp(0.5, curves["glow.y"].times, curves["glow.y"].values) == pytest.approx(2.0, abs=1e-3)
    assert np.interp(0.99, curves["foot.heat"].times, curves["foot.heat"].values) == pytest.approx(1.0)
    # They are what a graph reads.
    animator = mw.Animator(character, mw.Graph("Take"))
    animator.update(0.25)
    assert animator.curves["grip"] == pytest.approx(1.25, abs=1e-3)


@pytest.mark.parametrize("active", [True, False])
def test_rotation_that_is_not_active_is_the_angles_alone(load, active: bool) -> None:  # type: ignore[no-untyped-def]
    """FBX: `R = pre Rx Rz` (order 5: Z first) where it is active, `Rz Rx` where it is not."""
    fbx = Fbx()
    extra = [property70("PreRotation", "Vector3D", 0, 90, 0), property70("RotationOrder", "enum", 5)]
    extra += [property70("RotationActive", "bool", active), property70("RotationPivot", "Vector3D", 0, 2, 0)]
    fbx.node("still", "LimbNode", r=(30, 0, 60), extra=extra)
    arm = fbx.node("arm", "LimbNode", r=(30, 0, 0), extra=extra)
    layer = fbx.stack("Turn", 0.0, 1.0)
    fbx.curve(layer, arm, "Lcl Rotation", "d|X", [(0.0, 30.0), (1.0, 90.0)])
    character = load(fbx)

    def turn(x: float, z: float) -> np.ndarray:
        about_x, about_y, about_z = (
            quaternion.to_matrix(quaternion.from_axis_angle(axis, np.radians(angle)))
            for axis, angle in zip(np.eye(3), (x, 90, z))
        )
        return about_y @ about_x @ about_z if active else about_z @ about_x

    rest = character.skeleton.rest
    np.testing.assert_allclose(quaternion.to_matrix(rest.rotation[0]), turn(30, 60), atol=1e-5)
    pivot = np.array([0, 2, 0])
    np.testing.assert_allclose(rest.translation[0], pivot - turn(30, 60) @ pivot, atol=1e-5)
    for t in (0.0, 0.5, 1.0):
        found = quaternion.to_matrix(character.clips[0].sample(t).rotation[1])
        np.testing.assert_allclose(found, turn(30 + 60 * t, 0), atol=1e-3)
