"""The outer shell: GLB chunks, JSON, versions, extensions, data URIs, neighbours."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from maker import Maker, load, one_triangle, pack_glb, skinned_bar

import marrow as mw
from marrow.errors import FormatError, ResourceLimitError
from marrow.io import gltf
from marrow.io.source import LoadOptions, Source

EMPTY = {"asset": {"version": "2.0"}, "nodes": [{}], "scenes": [{"nodes": [0]}]}


def test_glb_and_gltf_hold_the_same_character():
    maker = skinned_bar()
    binary, text = maker.load(), load(maker.gltf(), name="hero.gltf")
    assert np.array_equal(binary.meshes[0].positions, text.meshes[0].positions)
    assert binary.skeleton.names == text.skeleton.names == ("body", "lower", "upper")
    assert binary.name == "hero"


def test_byte_order_mark_and_zero_padding_are_accepted():
    text = json.dumps(EMPTY).encode()
    assert len(load(b"\xef\xbb\xbf" + text).skeleton) == 1
    assert len(load(pack_glb(text + b"\0" * 5)).skeleton) == 1


def test_whole_numbers_written_as_floats_are_accepted():
    maker = one_triangle()
    text = maker.gltf().replace(b'"count": 3', b'"count": 3.0').replace(b'"mesh": 0', b'"mesh": 0.0')
    assert load(text).vertex_count == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"glTF", "cut off"),
        (b"glTF" + struct.pack("<IIII", 1, 20, 0, 0), "version 1"),
        (b"glTF" + struct.pack("<IIII", 2, 99, 0, 0x4E4F534A), "cut off"),
        (b"glTF" + struct.pack("<IIII", 2, 20, 400, 0x4E4F534A), "past the end"),
        (b"glTF" + struct.pack("<IIII", 2, 20, 0, 0x004E4942), "not JSON"),
        (b"", "not glTF"),
        (b"\x00\x01\x02", "not glTF"),
        (b"[1, 2]", "should be an object in braces, and is a list"),
        (b'{"asset": {"version": "1.0"}}', "reads 2.0"),
        (b'{"asset": {"version": "2.1", "minVersion": "2.1"}}', "2.1"),
        (b'{"asset": {"version": "2.0"}}', "no nodes"),
        (b'{"asset": {"version": "2.0"}, "nodes": 3}', "nodes"),
        (b'{"asset": {"version": "2.0"}, "nodes": [{"mesh": -1}]}', "nodes"),
        (b'{"asset": {"version": "2.0"}, "nodes": [{"translation": [0, 0]}]}', "nodes"),
        (b'{"asset": {"version": "2.0"}, "nodes": [{"translation": [NaN, 0, 0]}]}', "not glTF"),
        (b'{"asset": {"version": "2.0"}, "nodes": [{"translation": [1e999, 0, 0]}]}', "out of range"),
        (b'{"asset": {"version": "2.0"}, "nodes": [{"translation": [1e300, 0, 0]}]}', "too large"),
    ],
)
def test_damage_is_a_format_error_that_says_what_is_wrong(data, message):
    with pytest.raises(FormatError, match=message):
        load(data)


@pytest.mark.parametrize("open_bracket", [b"[", b'{"a":'])
def test_deeply_nested_json_is_refused(open_bracket):
    text = b'{"asset": {"version": "2.0", "extras": ' + open_bracket * 100_000
    with pytest.raises(FormatError):
        load(text)


def test_every_truncation_is_refused():
    data = skinned_bar().glb()
    for size in range(0, len(data) - 1, 7):
        with pytest.raises(FormatError):
            load(data[:size])


def test_bytes_after_the_end_are_reported():
    assert "after the end" in str(load(one_triangle().glb() + b"tail").report)


def test_required_extension_that_is_unknown_is_named():
    with pytest.raises(FormatError, match="EXT_made_up"):
        load(json.dumps(EMPTY | {"extensionsRequired": ["EXT_made_up"]}).encode())


def test_used_extension_that_is_unknown_is_reported():
    report = str(
        load(json.dumps(EMPTY | {"extensionsUsed": ["EXT_made_up", "KHR_texture_transform"]}).encode()).report
    )
    assert "EXT_made_up" in report
    assert "KHR_texture_transform" not in report


@pytest.mark.parametrize(
    "name",
    [
        "KHR_materials_transmission",
        "KHR_materials_clearcoat",
        "KHR_materials_sheen",
        "KHR_materials_specular",
        "KHR_materials_iridescence",
        "KHR_materials_some_day",
        "EXT_texture_something",
        "MSFT_texture_dds",
        "ADOBE_materials_clearcoat_tint",
    ],
)
def test_what_concerns_looks_alone_is_one_line_even_when_required(name):
    names = {"extensionsUsed": [name], "extensionsRequired": [name]}
    report = load(json.dumps(EMPTY | names).encode()).report
    kind = "info" if "_materials_" in name else "dropped"  # what materials say is kept for others
    assert [line.message for line in report if line.kind == kind and name in line.message]


@pytest.mark.parametrize("name", ["KHR_geometry_something", "EXT_mesh_other", "KHR_", "x"])
def test_any_other_required_extension_is_refused(name):
    with pytest.raises(FormatError, match=name):
        load(json.dumps(EMPTY | {"extensionsRequired": [name]}).encode())


@pytest.mark.parametrize("uri", ["data:;base64,@@@@", "data:nothing", "data:;base64,AAAA", "data:;base64,é"])
def test_garbage_in_a_data_uri_is_a_format_error(uri):
    maker = one_triangle()
    document = json.loads(maker.gltf())
    document["buffers"][0]["uri"] = uri
    with pytest.raises(FormatError):
        load(json.dumps(document).encode())


def test_percent_encoded_data_uri_is_read():
    maker = one_triangle()
    document = json.loads(maker.gltf())
    document["buffers"][0]["uri"] = "data:application/octet-stream," + "".join(
        f"%{b:02x}" for b in maker.blob
    )
    assert load(json.dumps(document).encode()).vertex_count == 3


def test_buffers_come_from_the_own_folder_only(tmp_path: Path):
    folder = tmp_path / "model"
    folder.mkdir()
    maker = one_triangle()
    document = json.loads(maker.gltf())
    for reference, where in (
        ("data/my%20buffer.bin", folder / "data" / "my buffer.bin"),
        ("../outside.bin", tmp_path / "outside.bin"),
    ):
        where.parent.mkdir(exist_ok=True)
        where.write_bytes(maker.blob)
        document["buffers"][0]["uri"] = reference
        (folder / "hero.gltf").write_text(json.dumps(document))
        allowed = not reference.startswith("..")
        for allow_outside in (False, True):
            source = Source.open(folder / "hero.gltf", allow_outside=allow_outside)
            if allowed or allow_outside:
                assert gltf.read(source, LoadOptions()).vertex_count == 3
                assert where.resolve() in source.neighbours
            else:
                with pytest.raises(FormatError, match="outside"):
                    gltf.read(source, LoadOptions())


def test_too_many_nodes_are_refused():
    text = b'{"asset": {"version": "2.0"}, "nodes": [' + b"{}," * 999_999 + b"{}]}"
    with pytest.raises(ResourceLimitError, match="1000000 nodes"):
        load(text)


def test_too_many_json_objects_are_refused_before_they_are_made():
    with pytest.raises(ResourceLimitError, match="JSON objects"):
        load(b'{"asset": {"version": "2.0"}, "junk": [' + b"{}," * 2_100_000 + b"{}]}")


def test_names_that_are_not_utf8_lose_letters_not_the_file():
    data = json.dumps(EMPTY).encode().replace(b'"nodes": [{}]', b'"nodes": [{"name": "H\xfcfte"}]')
    character = load(data)
    assert character.skeleton.names == ("H\ufffdfte",)
    assert "UTF-8" in str(character.report)


def test_non_ascii_and_missing_names():
    maker = Maker(nodes=[{"name": "Hüfte 腰"}, {}], scenes=[{"nodes": [0, 1]}])
    assert maker.load().skeleton.names == ("Hüfte 腰", "node_1")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"nodes": "many"}, "nodes: should be a list, and is text"),
        ({"nodes": [{"children": {}}]}, "should be a list or nothing, and is an object in braces"),
        ({"scene": -1}, "should be a whole number of at least 0"),
        ({"skins": [{}]}, "lacks 'joints'"),
        ({"materials": [{"doubleSided": 1}]}, "should be true or false, and is a whole number"),
    ],
)
def test_values_of_the_wrong_kind_are_named_in_words(value, words):
    with pytest.raises(FormatError) as caught:
        load(json.dumps(EMPTY | value).encode())
    assert words in str(caught.value)
    assert "`" not in str(caught.value)


def test_a_missing_buffer_names_the_file_that_asks_for_it(tmp_path):
    document = json.loads(one_triangle().gltf())
    document["buffers"][0]["uri"] = "gone.bin"
    path = tmp_path / "hero.gltf"
    path.write_text(json.dumps(document))
    with pytest.raises(
        FormatError, match=r"hero\.gltf: buffers\[0\]: needs the file 'gone\.bin': no such file"
    ):
        mw.load(path)
