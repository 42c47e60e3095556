"""Accessors: component types, strides, sparse values, padding, bounds."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from maker import Maker, one_triangle

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.gltf.accessors import Accessors
from marrow.io.gltf.limits import Budget
from marrow.io.gltf.schema import Document
from marrow.io.source import Source


def accessors(maker: Maker) -> Accessors:
    document = msgspec.convert({**maker.document, "buffers": [{"byteLength": len(maker.blob)}]}, Document)
    return Accessors(document, memoryview(bytes(maker.blob)), Source(Path("x.glb"), b""), Budget("x.glb"))


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        (np.uint8, [[0], [51], [255]], [0, 0.2, 1]),
        (np.int8, [[-128], [-127], [127]], [-1, -1, 1]),
        (np.uint16, [[0], [13107], [65535]], [0, 0.2, 1]),
        (np.int16, [[-32768], [0], [32767]], [-1, 0, 1]),
    ],
)
def test_normalised_integers_become_fractions(dtype, values, expected):
    maker = Maker()
    index = maker.accessor(values, dtype, normalized=True)
    assert accessors(maker).floats(index, "SCALAR")[:, 0] == pytest.approx(expected, abs=1e-7)


def test_integers_that_are_not_normalised_keep_their_value():
    maker = Maker()
    index = maker.accessor([[-3, 2, 100]], np.int8)
    assert accessors(maker).floats(index, "VEC3").tolist() == [[-3, 2, 100]]


def test_packed_floats_are_views_of_the_file():
    maker = Maker()
    index = maker.accessor([[1, 2, 3], [4, 5, 6]])
    values = accessors(maker).floats(index, "VEC3")
    assert not values.flags.owndata
    assert not values.flags.writeable


def test_interleaved_views_are_taken_apart():
    maker = Maker()
    rows = np.arange(10, dtype=np.float32).reshape(2, 5)
    view = maker.view(rows.tobytes(), byteStride=20)
    first = maker.add("accessors", {"bufferView": view, "componentType": 5126, "count": 2, "type": "VEC3"})
    second = maker.add(
        "accessors", {"bufferView": view, "byteOffset": 12, "componentType": 5126, "count": 2, "type": "VEC2"}
    )
    found = accessors(maker)
    assert found.floats(first, "VEC3").tolist() == [[0, 1, 2], [5, 6, 7]]
    assert found.floats(second, "VEC2").tolist() == [[3, 4], [8, 9]]


def test_unaligned_floats_are_read():
    maker = Maker()
    maker.view(b"\1" + np.array([1.5, 2.5], np.float32).tobytes())
    index = maker.add(
        "accessors", {"bufferView": 0, "byteOffset": 1, "componentType": 5126, "count": 2, "type": "SCALAR"}
    )
    values = accessors(maker).floats(index, "SCALAR")
    assert values[:, 0].tolist() == [1.5, 2.5]
    assert values.flags.aligned


@pytest.mark.parametrize(
    ("kind", "dtype", "column", "rows"),
    [
        ("MAT2", np.uint8, 4, 2),
        ("MAT3", np.uint8, 4, 3),
        ("MAT3", np.uint16, 4, 3),
        ("MAT2", np.uint16, 2, 2),
    ],
)
def test_columns_of_small_matrices_are_padded_to_four_bytes(kind, dtype, column, rows):
    maker = Maker()
    padded = np.zeros((2, rows, column), dtype)
    padded[..., :rows] = np.arange(2 * rows * rows).reshape(2, rows, rows)
    padded[..., rows:] = 99
    view = maker.view(padded.tobytes())
    component = 5121 if dtype == np.uint8 else 5123
    index = maker.add("accessors", {"bufferView": view, "componentType": component, "count": 2, "type": kind})
    expected = np.arange(2 * rows * rows).reshape(2, -1)
    assert np.array_equal(accessors(maker).floats(index, kind), expected)


def sparse(maker: Maker, count: int, at: list[int], values: list[list[float]], **more) -> int:
    return maker.add(
        "accessors",
        {
            "componentType": 5126,
            "count": count,
            "type": "VEC3",
            "sparse": {
                "count": len(at),
                "indices": {
                    "bufferView": maker.view(np.array(at, np.uint16).tobytes()),
                    "componentType": 5123,
                },
                "values": {"bufferView": maker.view(np.array(values, np.float32).tobytes())},
            },
            **more,
        },
    )


def test_sparse_values_replace_those_of_the_view_or_zero():
    maker = Maker()
    base = maker.accessor([[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    over = sparse(maker, 3, [0, 2], [[7, 7, 7], [9, 9, 9]], bufferView=base)
    alone = sparse(maker, 3, [1], [[5, 5, 5]])
    found = accessors(maker)
    assert found.floats(over, "VEC3").tolist() == [[7, 7, 7], [2, 2, 2], [9, 9, 9]]
    assert found.floats(alone, "VEC3").tolist() == [[0, 0, 0], [5, 5, 5], [0, 0, 0]]
    assert found.floats(base, "VEC3")[0].tolist() == [1, 1, 1], "the base keeps its own values"


def test_sparse_index_outside_is_refused():
    maker = Maker()
    index = sparse(maker, 3, [3], [[5, 5, 5]])
    with pytest.raises(FormatError, match="sparse index 3"):
        accessors(maker).floats(index, "VEC3")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 4}, "reach past"),
        ({"count": 1 << 31}, "MiB|reach past"),
        ({"byteOffset": 4}, "reach past"),
        ({"bufferView": 77}, r"bufferViews\[77\]"),
        ({"componentType": 5124}, "does not exist"),
        ({"type": "VEC5"}, "expected VEC3"),
        ({"type": "VEC2"}, "expected VEC3"),
        (
            {
                "sparse": {
                    "count": 9,
                    "indices": {"bufferView": 0, "componentType": 5123},
                    "values": {"bufferView": 0},
                }
            },
            "sparse",
        ),
    ],
)
def test_accessor_outside_its_view_is_refused(change, message):
    maker = one_triangle()
    maker.document["accessors"][0] |= change
    with pytest.raises(FormatError, match=message):
        maker.load()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"byteLength": 1000}, "reach past"),
        ({"byteOffset": 1 << 39}, "reach past"),
        ({"buffer": 3}, r"buffers\[3\]"),
        ({"byteStride": 4}, "overlap"),
    ],
)
def test_view_outside_its_buffer_is_refused(change, message):
    maker = one_triangle()
    maker.document["bufferViews"][0] |= change
    with pytest.raises(FormatError, match=message):
        maker.load()


def test_accessor_without_data_cannot_ask_for_gigabytes():
    maker = one_triangle()
    maker.document["accessors"][0] = {"componentType": 5126, "count": 1 << 31, "type": "VEC3"}
    with pytest.raises(ResourceLimitError, match="MiB"):
        maker.load()


def test_many_primitives_over_one_array_cannot_multiply_it():
    maker = Maker(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    big = maker.add("accessors", {"componentType": 5126, "count": 1 << 20, "type": "VEC3"})
    maker.add("meshes", {"primitives": [{"attributes": {"POSITION": big}, "mode": 0}] * 500})
    with pytest.raises(ResourceLimitError, match="MiB"):
        maker.load()
