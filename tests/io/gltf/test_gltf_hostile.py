"""Damaged files: a character or a `MarrowError`, never anything else."""

from __future__ import annotations

import json
import random
import struct
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maker import Maker, load, pack_glb, skinned_bar, triangle

import marrow as mw
from marrow.errors import MarrowError, ResourceLimitError
from marrow.io.gltf import limits
from marrow.model import Character
from surroundings import repeats


def rich_file() -> Maker:
    """A file with a bit of everything: skin, clip, morphs, sparse data, a texture, an instance."""
    maker = skinned_bar()
    primitive = triangle(maker, TEXCOORD_0=maker.accessor([[0, 0], [1, 0], [0, 1]]))
    at, values = maker.view(b"\x02\0"), maker.view(np.ones(3, np.float32).tobytes())
    sparse = {
        "count": 1,
        "indices": {"bufferView": at, "componentType": 5121},
        "values": {"bufferView": values},
    }
    delta = maker.add("accessors", {"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse})
    primitive |= {"targets": [{"POSITION": delta}], "material": 0, "mode": 5}
    mesh = maker.add("meshes", {"primitives": [primitive], "extras": {"targetNames": ["smile"]}})
    for _ in range(2):
        maker.document["scenes"][0]["nodes"].append(maker.add("nodes", {"mesh": mesh, "scale": [2, 2, 2]}))
    weights = {"input": maker.accessor([[0], [1]]), "output": maker.accessor([[0], [1]])}
    maker.add(
        "animations",
        {"samplers": [weights], "channels": [{"sampler": 0, "target": {"node": 3, "path": "weights"}}]},
    )
    maker.document["images"] = [{"bufferView": maker.view(b"\x89PNG\r\n\x1a\n"), "mimeType": "image/png"}]
    maker.document["textures"] = [{"source": 0, "sampler": 0}]
    maker.document["samplers"] = [{"wrapS": 33071}]
    maker.document["materials"] = [
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, "extras": {"marrow": 3}}
    ]
    return maker


def survives(data: bytes) -> bool:
    """Whether the file could be read; anything but a `MarrowError` fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            character = load(data)
        except MarrowError:
            return False
    assert isinstance(character, Character)
    for clip in character.clips.values():
        assert np.isfinite(clip.tracks.values).all()
    return True


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    out = dict(document) if isinstance(document, dict) else list(document)
    out[path[0]] = replaced(out[path[0]], path[1:], value)
    return out


JUNK: list[Any] = [
    None,
    -1,
    0,
    1,
    2**31,
    2**63,
    1e30,
    1.5,
    "x",
    "",
    [],
    {},
    [0],
    [[]],
    True,
    "../../etc/passwd",
]


def test_every_value_of_the_json_may_be_junk():
    maker = rich_file()
    assert survives(maker.glb())
    maker.document["buffers"] = [{"byteLength": len(maker.blob)}]
    rng = random.Random(1)
    for path in leaves(maker.document):
        for junk in rng.sample(JUNK, 4):
            text = json.dumps(replaced(maker.document, path, junk)).encode()
            survives(pack_glb(text, bytes(maker.blob)))


def test_every_key_of_the_json_may_be_missing():
    maker = rich_file()
    maker.document["buffers"] = [{"byteLength": len(maker.blob)}]
    for path in leaves(maker.document):
        if path and isinstance(path[-1], str):
            parent = maker.document
            for key in path[:-1]:
                parent = parent[key]
            smaller = {k: v for k, v in parent.items() if k != path[-1]}
            survives(
                pack_glb(json.dumps(replaced(maker.document, path[:-1], smaller)).encode(), bytes(maker.blob))
            )


def mutated(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(out))
        match rng.randrange(5):
            case 0:
                out[at] = rng.randrange(256)
            case 1:
                out[at] ^= 1 << rng.randrange(8)
            case 2:
                out[at : at + 4] = struct.pack(
                    "<I", rng.choice([0, 0xFFFFFFFF, 0x7F800000, 0x7FC00000, 1 << 31])
                )
            case 3:
                del out[at : at + rng.randrange(1, 16)]
            case 4:
                out[at:at] = out[at : at + rng.randrange(1, 16)]
    return bytes(out)


@pytest.mark.parametrize("text", [False, True])
def test_mutated_bytes(text: bool):
    maker = rich_file()
    data = maker.gltf() if text else maker.glb()
    rng = random.Random(7)
    for _ in range(repeats(300)):
        survives(mutated(data, rng))


@pytest.mark.parametrize("name", ["Fox", "SimpleSkin", "AnimatedMorphCube", "InterpolationTest"])
def test_mutated_corpus_files(corpus: Path, name: str):
    data = (corpus / f"{name}.glb").read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    rng = random.Random(name)
    for _ in range(repeats(60)):
        # Most of a real file is plain numbers: aim for its head.
        head = mutated(data[: 20 + size], rng)
        survives(head + data[20 + size :])
        survives(mutated(data, rng))


def bomb(change: Callable[[Maker], None]) -> Maker:
    maker = skinned_bar()
    change(maker)
    return maker


def big(maker: Maker, count: int, kind: str) -> int:
    return maker.add("accessors", {"componentType": 5126, "count": count, "type": kind})


def huge_positions(maker: Maker) -> None:
    maker.document["meshes"][0]["primitives"][0] = {
        "attributes": {"POSITION": big(maker, 2**31, "VEC3")},
        "mode": 0,
    }


def many_channels_over_one_array(maker: Maker) -> None:
    sampler = {"input": maker.accessor(np.arange(200_000)[:, None]), "output": big(maker, 200_000, "VEC3")}
    nodes = [maker.add("nodes", {}) for _ in range(2000)]
    maker.document["scenes"][0]["nodes"] += nodes
    channels = [{"sampler": 0, "target": {"node": n, "path": "scale"}} for n in nodes]
    maker.document["animations"] = [{"samplers": [sampler], "channels": channels}]


def many_targets_under_many_nodes(maker: Maker) -> None:
    primitive = triangle(maker)
    primitive["targets"] = [{"POSITION": primitive["attributes"]["POSITION"]}] * 1000
    mesh = maker.add("meshes", {"primitives": [primitive]})
    maker.document["scenes"][0]["nodes"] += [maker.add("nodes", {"mesh": mesh}) for _ in range(1000)]


def many_primitives_under_many_nodes(maker: Maker) -> None:
    uv = maker.accessor([[0, 0], [1, 0], [0, 1]])
    plain, mapped = triangle(maker), triangle(maker, TEXCOORD_0=uv)
    mesh = maker.add("meshes", {"primitives": [plain, mapped] * 500})
    maker.document["scenes"][0]["nodes"] += [maker.add("nodes", {"mesh": mesh}) for _ in range(1000)]


def large_skin_with_bare_vertices_under_many_nodes(maker: Maker) -> None:
    joints = [maker.add("nodes", {}) for _ in range(20_000)]
    maker.document["scenes"][0]["nodes"] += joints
    maker.document["skins"][0] = {"joints": joints}
    attributes = maker.document["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = maker.accessor(np.zeros((4, 4)))
    bodies = [maker.add("nodes", {"mesh": 0, "skin": 0}) for _ in range(20_000)]
    maker.document["scenes"][0]["nodes"] += bodies


def sparse_over_nothing(maker: Maker) -> None:
    at, values = maker.view(b"\0\0"), maker.view(b"\0" * 12)
    sparse = {
        "count": 1,
        "indices": {"bufferView": at, "componentType": 5121},
        "values": {"bufferView": values},
    }
    index = maker.add("accessors", {"componentType": 5126, "count": 2**30, "type": "VEC3", "sparse": sparse})
    maker.document["meshes"][0]["primitives"][0] = {"attributes": {"POSITION": index}, "mode": 0}


def a_large_mesh_on_too_many_nodes(maker: Maker) -> None:
    mesh = maker.add(
        "meshes", {"primitives": [{"attributes": {"POSITION": big(maker, 100_000, "VEC3")}, "mode": 0}]}
    )
    maker.document["scenes"][0]["nodes"] += [maker.add("nodes", {"mesh": mesh}) for _ in range(2600)]


@pytest.mark.parametrize(
    "change",
    [
        a_large_mesh_on_too_many_nodes,
        huge_positions,
        many_channels_over_one_array,
        many_targets_under_many_nodes,
        many_primitives_under_many_nodes,
        large_skin_with_bare_vertices_under_many_nodes,
        sparse_over_nothing,
    ],
)
def test_bombs_are_refused_before_they_go_off(
    change: Callable[[Maker], None], monkeypatch: pytest.MonkeyPatch
):
    # Limits of a size that keeps the test small; the real ones are as far from real files as these from the
    # bombs.
    monkeypatch.setattr(limits, "MAX_DECODED_BYTES", 64 << 20)
    monkeypatch.setattr(limits, "MAX_MESHES", 5000)
    data = bomb(change).glb()
    tracemalloc.start()
    try:
        with pytest.raises(ResourceLimitError):
            load(data)
        assert tracemalloc.get_traced_memory()[1] < 256 << 20
    finally:
        tracemalloc.stop()


def test_many_morph_tracks_and_sockets_do_not_take_quadratic_time():
    maker = Maker(nodes=[])
    primitive = triangle(maker)
    primitive["targets"] = [{"POSITION": primitive["attributes"]["POSITION"]}]
    maker.add("meshes", {"primitives": [primitive]})
    sampler = {"input": maker.accessor([[0]]), "output": maker.accessor([[1]])}
    channels = []
    socket = {"name": "s", "index": 0}
    for _ in range(10_000):
        n = maker.add("nodes", {"mesh": 0, "extras": {"marrow": {"sockets": [socket]}}})
        channels.append({"sampler": 0, "target": {"node": n, "path": "weights"}})
    maker.add("animations", {"samplers": [sampler], "channels": channels})
    character = maker.load()
    assert len(character.clips[0].tracks) == len(character.skeleton.sockets) == 10_000


def test_thousand_instances_of_a_large_mesh_are_cheap():
    maker = Maker(nodes=[{"mesh": 0} for _ in range(2000)])
    position = maker.accessor(np.zeros((100_000, 3)))
    primitive = {
        "attributes": {"POSITION": position, "NORMAL": position},
        "indices": maker.indices([0, 1, 2]),
    }
    maker.add("meshes", {"primitives": [primitive]})
    character = maker.load()
    assert len({id(m.positions) for m in character.meshes}) == 1
    assert len({id(m.weights) for m in character.meshes}) == 1


def test_a_data_uri_of_many_pieces_takes_little_memory():
    """Spaces between all letters: split into pieces they would take a hundred times the file."""
    maker = skinned_bar()
    document = json.loads(maker.gltf())
    head, _, payload = document["buffers"][0]["uri"].partition(",")
    filler = "A" * 400_000
    document["buffers"][0]["uri"] = f"{head}," + " ".join(payload.rstrip("=") + filler)
    data = json.dumps(document).encode()
    tracemalloc.start()
    try:
        assert load(data, name="folder/hero.gltf").meshes
        assert tracemalloc.get_traced_memory()[1] < 20 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not hasattr(Path, "symlink_to"), reason="needs links")
def test_a_circle_of_links_is_an_error_with_words(tmp_path: Path):
    (tmp_path / "a.bin").symlink_to(tmp_path / "b.bin")
    (tmp_path / "b.bin").symlink_to(tmp_path / "a.bin")
    document = json.loads(skinned_bar().gltf())
    document["buffers"][0]["uri"] = "a.bin"
    (tmp_path / "hero.gltf").write_text(json.dumps(document))
    with pytest.raises(MarrowError, match=r"a\.bin"):
        mw.load(tmp_path / "hero.gltf", cache=False)
    with pytest.raises(MarrowError, match=r"a\.bin"):
        mw.load(tmp_path / "a.bin")
