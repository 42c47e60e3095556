"""meshopt and Draco: data packed by their own encoders comes back as it went in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from maker import Maker
from numpy.testing import assert_allclose

import marrow as mw
from marrow.errors import FormatError, MissingExtraError
from marrow.io.gltf import draco, meshopt
from surroundings import needed

POSITIONS = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
UVS = np.random.default_rng(3).random((50, 2)).astype(np.float32)
COLORS = np.arange(200, dtype=np.uint8).reshape(50, 4)
TRIANGLES = np.random.default_rng(2).permutation(150).reshape(50, 3).astype(np.uint32) % 50


def packed_view(maker: Maker, data: bytes, count: int, stride: int, name: str, **how: Any) -> int:
    """A compressed buffer view whose fallback buffer does not exist."""
    offset = len(maker.blob)
    maker.blob += data + b"\0" * (-len(data) % 4)
    extension = {
        "buffer": 0,
        "byteOffset": offset,
        "byteLength": len(data),
        "byteStride": stride,
        "count": count,
        **how,
    }
    view = {"buffer": 1, "byteLength": count * stride, "extensions": {name: extension}}
    if how["mode"] == "ATTRIBUTES":
        view["byteStride"] = stride
    return maker.add("bufferViews", view)


def meshopt_file(name: str = "EXT_meshopt_compression") -> Maker:
    encoder = needed("meshoptimizer")
    maker = Maker(nodes=[{"mesh": 0}], extensionsUsed=[name], extensionsRequired=[name])
    vertices = packed_view(maker, encoder.encode_vertex_buffer(POSITIONS), 50, 12, name, mode="ATTRIBUTES")
    indices = packed_view(
        maker, encoder.encode_index_buffer(TRIANGLES.ravel(), 150, 50), 150, 4, name, mode="TRIANGLES"
    )
    position = maker.add(
        "accessors", {"bufferView": vertices, "componentType": 5126, "count": 50, "type": "VEC3"}
    )
    index = maker.add(
        "accessors", {"bufferView": indices, "componentType": 5125, "count": 150, "type": "SCALAR"}
    )
    maker.add("meshes", {"primitives": [{"attributes": {"POSITION": position}, "indices": index}]})
    return maker


@pytest.mark.parametrize("name", ["EXT_meshopt_compression", "KHR_meshopt_compression"])
def test_meshopt_attributes_and_triangles(name):
    (mesh,) = meshopt_file(name).load().meshes
    assert np.array_equal(mesh.positions, POSITIONS)
    # The codec may turn a triangle round, it keeps its order of corners.
    assert [sorted(t) for t in mesh.triangles.tolist()] == [sorted(t) for t in TRIANGLES.tolist()]


def test_meshopt_index_sequences():
    encoder = needed("meshoptimizer")
    sequence = np.array([5, 3, 9, 9, 0, 1], np.uint32)
    data = encoder.encode_index_sequence(sequence, 6, 10)
    view = meshopt.Meshopt(0, len(data), 2, 6, "INDICES")
    out = meshopt.unpack(memoryview(data), view, "x", "view")
    assert out.view(np.uint16).tolist() == sequence.tolist()


def test_meshopt_with_unpacked_fallback_is_read_without_the_package(monkeypatch):
    maker = meshopt_file()
    maker.document["extensionsRequired"] = []
    plain = Maker()
    plain.accessor(POSITIONS)
    plain.indices(TRIANGLES.ravel())
    start = len(maker.blob)
    maker.blob += plain.blob
    for view, size in ((0, POSITIONS.nbytes), (1, 300)):
        fallback = {"buffer": 0, "byteOffset": start, "byteLength": size}
        maker.document["bufferViews"][view] |= fallback
        start += size
    maker.document["accessors"][1]["componentType"] = 5123
    monkeypatch.setattr(meshopt, "installed", lambda: False)
    (mesh,) = maker.load().meshes
    assert np.array_equal(mesh.positions, POSITIONS)
    assert np.array_equal(mesh.triangles, TRIANGLES)


def unpack_filtered(rows: np.ndarray, stride: int, name: str) -> np.ndarray:
    encoder = needed("meshoptimizer")
    data = encoder.encode_vertex_buffer(rows, len(rows), stride)
    view = meshopt.Meshopt(0, len(data), stride, len(rows), "ATTRIBUTES", filter=name)
    return meshopt.unpack(memoryview(data), view, "x", "view")


def test_meshopt_octahedral_filter_gives_unit_normals():
    # Octahedral coordinates x, y of the third value's scale: straight up, then along +X.
    rows = np.array([[0, 0, 127, 0], [127, 0, 127, 0]], np.int8)
    out = unpack_filtered(rows, 4, "OCTAHEDRAL").view(np.int8).reshape(-1, 4)
    assert out[0, :3].tolist() == [0, 0, 127]
    assert out[1, :3].tolist() == [127, 0, 0]


def test_meshopt_quaternion_filter_gives_unit_rotations():
    # All three stored components zero at full scale, and the largest component is number 3 (w).
    top = 32767
    rows = np.array([[0, 0, 0, (top & ~3) | 3]], np.int16)
    out = unpack_filtered(rows, 8, "QUATERNION").view(np.int16).reshape(-1, 4)
    assert sorted(np.abs(out[0]).tolist()) == [0, 0, 0, top]


def test_meshopt_exponential_filter_gives_floats():
    # mantissa 3, exponent -1: 1.5
    rows = np.array([[(0xFF << 24) | 3, 5]], np.uint32)
    assert unpack_filtered(rows, 8, "EXPONENTIAL").view(np.float32).tolist() == [1.5, 5.0]


def test_meshopt_color_filter_gives_rgba():
    # Eight bits: grey of full scale (Y = 127 of 127), no chroma, alpha full.
    rows = np.array([[127, 0, 0, 127]], np.uint8)
    assert unpack_filtered(rows, 4, "COLOR").tolist() == [255, 255, 255, 255]
    # Y + Co - Cg, Y + Cg, Y - Co - Cg = 64 + 32, 64, 64 - 32
    rows = np.array([[64, 32, 0, 127]], np.uint8)
    assert_allclose(unpack_filtered(rows, 4, "COLOR")[:3], np.array([96, 64, 32]) * 255 / 127, atol=0.51)


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "CIRCLES"},
        {"byteStride": 13},
        {"byteStride": 512},
        {"byteStride": 0},
        {"filter": "SEPIA"},
        {"filter": "QUATERNION"},
        {"byteLength": 3},
        {"byteOffset": 1 << 30},
        {"count": 51},
        {"count": 1 << 39},
        {"buffer": 9},
        {"mode": 7},
    ],
)
def test_meshopt_views_that_make_no_sense_are_refused(change):
    maker = meshopt_file()
    maker.document["bufferViews"][0]["extensions"]["EXT_meshopt_compression"] |= change
    with pytest.raises(FormatError):
        maker.load()


def test_damaged_meshopt_data_is_refused_or_read_but_never_crashes():
    maker = meshopt_file()
    good = bytes(maker.blob)
    for at in range(0, len(good), 5):
        maker.blob = bytearray(good)
        maker.blob[at] ^= 0x55
        try:
            maker.load()
        except FormatError:
            continue


def draco_file(**change: Any) -> Maker:
    encoder = needed("DracoPy")
    maker = Maker(
        nodes=[{"mesh": 0}],
        extensionsUsed=["KHR_draco_mesh_compression"],
        extensionsRequired=["KHR_draco_mesh_compression"],
    )
    attributes = {"uv": UVS, "colour": COLORS}
    data = encoder.encode(
        POSITIONS, TRIANGLES, quantization_bits=16, preserve_order=True, generic_attributes=attributes
    )
    ids = {a["num_components"]: a["unique_id"] for a in encoder.decode(data).attributes}
    view = maker.view(data)
    for kind, component in (("VEC3", 5126), ("VEC2", 5126), ("VEC4", 5121), ("SCALAR", 5125)):
        count = 150 if kind == "SCALAR" else 50
        normal = {"normalized": True} if component == 5121 else {}
        maker.add("accessors", {"componentType": component, "count": count, "type": kind, **normal})
    extension = {
        "bufferView": view,
        "attributes": {"POSITION": ids[3], "TEXCOORD_0": ids[2], "COLOR_0": ids[4]},
    }
    maker.add(
        "meshes",
        {
            "primitives": [
                {
                    "attributes": {"POSITION": 0, "TEXCOORD_0": 1, "COLOR_0": 2},
                    "indices": 3,
                    "extensions": {"KHR_draco_mesh_compression": extension | change},
                }
            ]
        },
    )
    return maker


def test_draco_primitives_are_unpacked():
    maker = draco_file()
    (mesh,) = maker.load().meshes
    assert_allclose(mesh.positions, POSITIONS, atol=1e-4)
    assert np.array_equal(mesh.uvs[0], UVS)
    assert_allclose(mesh.colors, COLORS / 255, atol=1e-6)
    assert [sorted(t) for t in mesh.triangles.tolist()] == [sorted(t) for t in TRIANGLES.tolist()]


@pytest.mark.parametrize("change", [{"attributes": {"POSITION": 77}}, {"bufferView": 50}, {"attributes": []}])
def test_draco_primitives_that_make_no_sense_are_refused(change):
    with pytest.raises(FormatError):
        draco_file(**change).load()


def test_damaged_draco_data_is_refused():
    maker = draco_file()
    maker.blob[:5] = b"OCARD"
    with pytest.raises(FormatError, match="Draco"):
        maker.load()


def test_missing_packages_name_the_extra(monkeypatch):
    maker = meshopt_file()
    other = draco_file()
    meshopt._library.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "meshoptimizer._loader", None)
    monkeypatch.setitem(__import__("sys").modules, "DracoPy", None)
    with pytest.raises(MissingExtraError, match=r"marrow-engine\[meshopt\]"):
        maker.load()
    with pytest.raises(MissingExtraError, match=r"marrow-engine\[draco\]"):
        other.load()


def test_draco_with_unpacked_fallback_is_read_without_the_package(monkeypatch):
    maker = Maker(nodes=[{"mesh": 0}], extensionsUsed=["KHR_draco_mesh_compression"])
    position = maker.accessor([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    extension = {"bufferView": maker.view(b"unreadable"), "attributes": {"POSITION": 0}}
    primitive = {
        "attributes": {"POSITION": position},
        "extensions": {"KHR_draco_mesh_compression": extension},
    }
    maker.add("meshes", {"primitives": [primitive]})
    monkeypatch.setattr(draco, "installed", lambda: False)
    assert maker.load().vertex_count == 3


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_compressed_files_come_back_whole_and_smaller(suffix, tmp_path):
    needed("meshoptimizer")
    hero = mw.samples.mannequin()
    plain, packed = tmp_path / f"plain{suffix}", tmp_path / f"packed{suffix}"
    mw.save(hero, plain)
    mw.save(hero, packed, compress=True)
    a, b = mw.load(plain, cache=False), mw.load(packed, cache=False)
    for one, two in zip(a.meshes, b.meshes, strict=True):
        for field in ("positions", "normals", "tangents", "joints", "weights", "inverse_bind"):
            np.testing.assert_array_equal(getattr(one, field), getattr(two, field))
        # A triangle may begin at another of its corners.
        first = one.triangles.argmin(axis=1), two.triangles.argmin(axis=1)
        turned = [
            np.take_along_axis(m.triangles, (f[:, None] + np.arange(3)) % 3, axis=1)
            for m, f in zip((one, two), first)
        ]
        np.testing.assert_array_equal(*turned)
    for name, clip in a.clips.items():
        np.testing.assert_array_equal(clip.tracks.values, b.clips[name].tracks.values)
        np.testing.assert_array_equal(clip.tracks.times, b.clips[name].tracks.times)
    size = [sum(f.stat().st_size for f in tmp_path.glob(f"{stem}.*")) for stem in ("plain", "packed")]
    assert size[1] < 0.8 * size[0]


def test_the_validator_takes_compressed_files(tmp_path, errors_of):
    needed("meshoptimizer")
    mw.save(mw.samples.mannequin(), tmp_path / "packed.glb", compress=True)
    assert errors_of(tmp_path / "packed.glb") == []
