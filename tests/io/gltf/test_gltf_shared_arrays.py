"""A mesh that many nodes show has one copy of its arrays: read from its file, from the cache or from a `.marrow` file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maker import Maker

import marrow as mw
from marrow.io import tangents
from marrow.studio.assets import describe

NODES = 400
GRID = 6
V = GRID * GRID


def many_leaves() -> Maker:
    """One mesh under 400 nodes, with UVs, a normal map (so that tangents are made) and two morph targets."""
    nodes: list[dict[str, Any]] = [{"name": "tree", "children": list(range(1, NODES + 1))}]
    nodes += [{"name": f"n{k}", "mesh": 0, "translation": [k, 0, 0]} for k in range(NODES)]
    maker = Maker(nodes=nodes, scenes=[{"nodes": [0]}], images=[{"uri": "data:image/png;base64,AAAA"}])
    maker.document |= {"textures": [{"source": 0}], "materials": [{"normalTexture": {"index": 0}}]}
    x, y = np.meshgrid(*[np.linspace(0, 1, GRID)] * 2)
    positions = np.stack([x, y, 0 * x], -1).reshape(-1, 3)
    at = np.arange(V).reshape(GRID, GRID)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]
    primitive = {
        "attributes": {
            "POSITION": maker.accessor(positions),
            "NORMAL": maker.accessor(np.tile([0, 0, 1], (V, 1))),
            "TEXCOORD_0": maker.accessor(positions[:, :2]),
        },
        "indices": maker.indices(np.stack([a, b, c, b, d, c], -1).reshape(-1)),
        "targets": [{"POSITION": maker.accessor(positions * k)} for k in (0.1, 0.2)],
        "material": 0,
    }
    maker.add("meshes", {"name": "leaf", "primitives": [primitive]})
    return maker


def arrays(character: mw.Character) -> Iterator[tuple[str, Any]]:
    for mesh in character.meshes:
        for field in ("positions", "triangles", "joints", "weights", "inverse_bind", "normals", "tangents"):
            yield field, getattr(mesh, field)
        yield from (("uv", uv) for uv in mesh.uvs)
        yield from (("morph", target.positions) for target in mesh.morph_targets)


def distinct(character: mw.Character) -> dict[str, tuple[int, int]]:
    """How many arrays there are of each kind, and how many places in memory they lie in."""
    found: dict[str, tuple[set[int], set[int]]] = {}
    for field, array in arrays(character):
        objects, places = found.setdefault(field, (set(), set()))
        objects.add(id(array))
        places.add(array.__array_interface__["data"][0])
    return {field: (len(objects), len(places)) for field, (objects, places) in found.items()}


ONCE = dict.fromkeys(
    ("positions", "triangles", "joints", "weights", "inverse_bind", "normals", "tangents", "uv"), (1, 1)
) | {"morph": (2, 2)}


@pytest.fixture
def leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "leaves.glb"
    path.write_bytes(many_leaves().glb())
    return path


def test_a_mesh_used_400_times_has_one_copy_cold_and_warm(leaves: Path) -> None:
    cold, warm = mw.load(leaves), mw.load(leaves)
    assert len(cold.meshes) == len(warm.meshes) == NODES
    assert distinct(cold) == ONCE
    assert distinct(warm) == ONCE
    assert warm == cold


def test_a_saved_character_keeps_its_one_copy(leaves: Path, tmp_path: Path) -> None:
    mw.save(mw.load(leaves), tmp_path / "leaves.marrow")
    assert distinct(mw.load(tmp_path / "leaves.marrow")) == ONCE
    assert distinct(mw.load(tmp_path / "leaves.marrow", scale=2.0)) == ONCE


def test_the_page_is_sent_one_copy_cold_and_warm(leaves: Path, tmp_path: Path) -> None:
    cold, warm = mw.load(leaves), mw.load(leaves)
    mw.save(warm, tmp_path / "leaves.marrow")
    sizes = [
        describe(c, 0, None).info.buffer_bytes for c in (cold, warm, mw.load(tmp_path / "leaves.marrow"))
    ]
    assert len(set(sizes)) == 1
    # Once: 48 bytes a vertex of position, normal, tangent and UV, 24 of morphs, 4 of weight; the triangles. For each
    # node: the palette entry that its vertices follow (padded to 16 bytes), and two rows of the palette.
    once = V * (48 + 24 + 4) + 12 * 2 * (GRID - 1) ** 2
    each = -(-2 * V // 16) * 16 + 2 * (48 + 4 + 12)
    assert sizes[0] <= once + (NODES + 2) * each + 2000


def test_tangents_of_a_mesh_are_made_once(leaves: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = tangents.compute_tangents
    monkeypatch.setattr(tangents, "compute_tangents", lambda *a: calls.append(1) or real(*a))
    mw.load(leaves, cache=False)
    assert len(calls) == 1


def test_images_of_the_same_bytes_are_kept_once(tmp_path: Path) -> None:
    maker = many_leaves()
    maker.document["images"] = [
        {"name": name, "mimeType": "image/png", "bufferView": maker.view(b"same bytes" * 100)}
        for name in "ab"
    ]
    maker.document["textures"] = [{"source": 0}, {"source": 1}]
    maker.document["materials"].append({"normalTexture": {"index": 1}})
    mw.save(maker.load(), tmp_path / "pictures.marrow")
    one, other = mw.load(tmp_path / "pictures.marrow").images
    assert (one.name, other.name) == ("a", "b")
    assert one.data is other.data
