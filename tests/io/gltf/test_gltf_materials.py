"""Materials, textures and images."""

from __future__ import annotations

import base64

import pytest
from maker import Maker, one_triangle

import marrow as mw
from marrow.errors import FormatError
from marrow.io import gltf
from marrow.io.source import LoadOptions, Source

REAL_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PNG = b"\x89PNG\r\n\x1a\n" + b"not really"
WEBP = b"RIFF\0\0\0\0WEBPVP8 "


def with_material(material: dict, **document) -> Maker:
    maker = one_triangle()
    maker.document["materials"] = [material]
    maker.document.update(document)
    maker.document["meshes"][0]["primitives"][0]["material"] = 0
    return maker


def test_defaults_are_those_of_the_standard():
    material = with_material({}).load().materials[0]
    assert material.base_color == (1, 1, 1, 1)
    assert (material.metallic, material.roughness, material.alpha_cutoff) == (1, 1, 0.5)
    assert (material.alpha_mode, material.double_sided, material.unlit) == ("opaque", False, False)


def test_everything_a_material_says_is_kept():
    maker = with_material(
        {
            "name": "skin",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.1, 0.2, 0.3, 0.4],
                "metallicFactor": 0,
                "roughnessFactor": 0.5,
                "baseColorTexture": {
                    "index": 0,
                    "texCoord": 1,
                    "extensions": {
                        "KHR_texture_transform": {"offset": [0.5, 0], "rotation": 1.5, "scale": [2, 3]}
                    },
                },
            },
            "normalTexture": {"index": 1, "scale": 0.7},
            "occlusionTexture": {"index": 0, "strength": 0.6},
            "emissiveFactor": [1, 0.5, 0],
            "alphaMode": "MASK",
            "alphaCutoff": 0.3,
            "doubleSided": True,
            "extensions": {
                "KHR_materials_unlit": {},
                "KHR_materials_emissive_strength": {"emissiveStrength": 4},
            },
        },
        textures=[{"source": 0, "sampler": 0}, {"source": 0}],
        samplers=[{"magFilter": 9728, "minFilter": 9987, "wrapS": 33071, "wrapT": 33648}],
    )
    maker.document["images"] = [{"name": "atlas", "mimeType": "image/png", "bufferView": maker.view(PNG)}]
    character = maker.load()
    (material,) = character.materials
    assert material.name == "skin"
    assert material.base_color == (0.1, 0.2, 0.3, 0.4)
    assert (material.metallic, material.roughness) == (0, 0.5)
    assert material.emissive == (4, 2, 0)
    assert (material.alpha_mode, material.alpha_cutoff) == ("mask", 0.3)
    assert material.double_sided
    assert material.unlit
    assert (material.normal_scale, material.occlusion_strength) == (0.7, 0.6)
    texture = material.base_color_texture
    assert (texture.image, texture.uv_set) == (0, 1)
    assert (texture.wrap_u, texture.wrap_v) == ("clamp", "mirror")
    assert (texture.mag_filter, texture.min_filter) == ("nearest", "linear_mipmap_linear")
    assert (texture.offset, texture.rotation, texture.scale) == ((0.5, 0), 1.5, (2, 3))
    assert material.normal_texture.wrap_u == "repeat"
    assert character.images[0].data == PNG
    assert character.images[0].name == "atlas"


def test_texture_transform_may_choose_another_uv_set():
    info = {"index": 0, "texCoord": 1, "extensions": {"KHR_texture_transform": {"texCoord": 0}}}
    maker = with_material({"emissiveTexture": info}, textures=[{"source": 0}])
    maker.document["images"] = [{"bufferView": maker.view(PNG), "mimeType": "image/png"}]
    assert maker.load().materials[0].emissive_texture.uv_set == 0


def test_webp_goes_before_the_fallback():
    texture = {"source": 0, "extensions": {"EXT_texture_webp": {"source": 1}}}
    maker = with_material(
        {"normalTexture": {"index": 0}}, textures=[texture], extensionsRequired=["EXT_texture_webp"]
    )
    maker.document["images"] = [{"bufferView": maker.view(PNG)}, {"bufferView": maker.view(WEBP)}]
    character = maker.load()
    assert character.materials[0].normal_texture.image == 1
    assert [i.media_type for i in character.images] == ["image/png", "image/webp"]


def test_texture_without_a_readable_image_is_dropped_and_reported():
    texture = {"extensions": {"XYZ_texture_other": {"source": 0}}}
    character = with_material({"normalTexture": {"index": 0}}, textures=[texture]).load()
    assert character.materials[0].normal_texture is None
    assert "textures[0]" in str(character.report)


KTX2 = b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(range(200))


def test_ktx2_images_are_kept_and_written_again_byte_for_byte(tmp_path):
    maker = with_material({"normalTexture": {"index": 0}})
    maker.document["images"] = [{"bufferView": maker.view(KTX2), "mimeType": "image/ktx2"}]
    maker.document["textures"] = [{"extensions": {"KHR_texture_basisu": {"source": 0}}}]
    maker.document["extensionsUsed"] = maker.document["extensionsRequired"] = ["KHR_texture_basisu"]
    character = maker.load()
    assert character.images[0].media_type == "image/ktx2"
    assert character.materials[0].normal_texture.image == 0
    assert "cannot be shown, only kept for export: KTX2 of compression scheme" in str(character.report)
    gltf.write(character, tmp_path / "out.glb")
    again = gltf.read(Source.open(tmp_path / "out.glb"), LoadOptions())
    assert again.images[0].data == KTX2
    assert again.materials[0].normal_texture.image == 0


def test_a_plain_image_beside_a_ktx2_one_is_preferred():
    maker = with_material({"normalTexture": {"index": 0}})
    maker.document["images"] = [{"bufferView": maker.view(data)} for data in (KTX2, PNG)]
    maker.document["textures"] = [{"source": 1, "extensions": {"KHR_texture_basisu": {"source": 0}}}]
    assert maker.load().materials[0].normal_texture.image == 1


def test_an_image_that_cannot_be_converted_costs_its_textures_not_the_file(tmp_path):
    maker = with_material({"normalTexture": {"index": 0}}, textures=[{"source": 0}])
    maker.document["images"] = [{"bufferView": maker.view(b"BM but no bitmap")}]
    with pytest.warns(UserWarning, match="left out"):
        gltf.write(maker.load(), tmp_path / "out.glb")
    again = gltf.read(Source.open(tmp_path / "out.glb"), LoadOptions())
    assert again.materials[0].normal_texture is None
    assert len(again.meshes) == 1


def test_specular_glossiness_keeps_its_colour():
    glossy = {"diffuseFactor": [0.2, 0.4, 0.6, 1], "glossinessFactor": 0.75}
    maker = with_material({"extensions": {"KHR_materials_pbrSpecularGlossiness": glossy}})
    maker.document["extensionsRequired"] = ["KHR_materials_pbrSpecularGlossiness"]
    material = maker.load().materials[0]
    assert material.base_color == (0.2, 0.4, 0.6, 1.0)
    assert (material.metallic, material.roughness) == (0.0, 0.25)


def test_images_from_data_uris_and_neighbours(tmp_path):
    maker = with_material({"normalTexture": {"index": 0}}, textures=[{"source": 0}])
    maker.document["images"] = [
        {"uri": "data:image/png;base64," + base64.b64encode(PNG).decode()},
        {"uri": "skin%20tone.png"},
        {"uri": "gone.png"},
    ]
    (tmp_path / "skin tone.png").write_bytes(PNG + b"!")
    (tmp_path / "hero.glb").write_bytes(maker.glb())
    character = gltf.read(Source.open(tmp_path / "hero.glb"), LoadOptions())
    assert [i.data for i in character.images] == [PNG, PNG + b"!", b""]
    assert "gone.png" in str(character.report)
    maker.document["images"][0] = {"uri": "gone.png"}
    (tmp_path / "hero.glb").write_bytes(maker.glb())
    assert gltf.read(Source.open(tmp_path / "hero.glb"), LoadOptions()).materials[0].normal_texture is None


@pytest.mark.parametrize(
    "uri", ["../secret.png", "/etc/secret.png", "C:\\art\\secret.png", "http://a/secret.png"]
)
def test_an_image_elsewhere_is_not_read_but_looked_for_by_name(tmp_path, uri):
    home = tmp_path / "home"
    (home / "textures").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(PNG)
    (home / "hero.glb").write_bytes(with_material({}, images=[{"uri": uri}]).glb())

    def read():
        return gltf.read(Source.open(home / "hero.glb"), LoadOptions())

    assert read().images[0].data == b""
    (line,) = [line for line in read().report if line.kind == "dropped"]
    assert uri in line.message.replace("\\\\", "\\")
    for place in (home / "textures" / "secret.png", home / "secret.png"):
        place.write_bytes(PNG + place.parent.name.encode())
        assert read().images[0].data == PNG + place.parent.name.encode()


@pytest.mark.parametrize("image", [{}, {"uri": "data:image/png;base64,@@@"}, {"bufferView": 99}])
def test_an_image_that_makes_no_sense_costs_its_textures(image):
    maker = with_material({"normalTexture": {"index": 0}}, images=[image], textures=[{"source": 0}])
    character = maker.load()
    assert character.materials[0].normal_texture is None
    assert "textures stay empty" in str(character.report)


@pytest.mark.parametrize(
    "material",
    [
        {"alphaMode": "GHOST"},
        {"normalTexture": {"index": 7}},
        {"emissiveTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"offset": "far"}}}},
        {"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1]}},
    ],
)
def test_materials_that_make_no_sense_are_refused(material):
    with pytest.raises(FormatError):
        with_material(material, textures=[{"source": 0}], images=[{"uri": "data:,x"}]).load()


def test_what_extensions_say_of_a_material_is_written_again(tmp_path, errors_of):
    maker = textured_by_extension()
    character = maker.load()
    coat = character.materials[0].extensions["KHR_materials_clearcoat"]
    assert coat == {
        "clearcoatFactor": 0.5,
        "clearcoatTexture": {"texCoord": 0, "texture": {"image": 1, "wrap_u": "clamp"}},
    }
    for name in ("x.glb", "x.marrow"):
        mw.save(character, tmp_path / name)
        assert mw.load(tmp_path / name, cache=False).materials == character.materials
    assert not errors_of(tmp_path / "x.glb")
    # A picture that is gone takes its reference along.
    mw.save(
        character.replace(images=(character.images[0], mw.Image("", "image/png", b""))), tmp_path / "y.glb"
    )
    left = mw.load(tmp_path / "y.glb", cache=False).materials[0].extensions
    assert left == {"KHR_materials_clearcoat": {"clearcoatFactor": 0.5}}


def textured_by_extension():
    maker = one_triangle(TEXCOORD_0=[[0, 0], [1, 0], [0, 1]])
    for _ in range(2):
        maker.add("images", {"bufferView": maker.view(REAL_PNG), "mimeType": "image/png"})
    maker.add("samplers", {"wrapS": 33071})
    maker.add("textures", {"source": 1, "sampler": 0})
    coat = {"clearcoatFactor": 0.5, "clearcoatTexture": {"index": 0, "texCoord": 0}}
    maker.add("materials", {"name": "car", "extensions": {"KHR_materials_clearcoat": coat}})
    maker.document["meshes"][0]["primitives"][0]["material"] = 0
    maker.document["extensionsUsed"] = ["KHR_materials_clearcoat"]
    return maker
