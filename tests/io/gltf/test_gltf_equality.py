"""There and back: `load(save(x)) == x`, for characters of every kind and for files as people have them."""

from __future__ import annotations

import json
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from maker import Maker, one_triangle, skinned_bar
from same import assert_same, difference

import marrow as mw
from marrow.io import gltf
from marrow.io.source import LoadOptions, Source
from surroundings import repeats

Validator = Callable[..., list[str]]


def f32(values: Any) -> Any:
    return np.asarray(values, np.float32)


def there_and_back(character: mw.Character, path: Path) -> tuple[mw.Character, list[str]]:
    """What is loaded from the file, and what the writer said. A second trip changes nothing, not even a byte."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        mw.save(character, path)
    loaded = mw.load(path, cache=False)
    twin = path.with_stem(path.stem + "_again")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(loaded, twin)
    if path.suffix != ".gltf":
        assert twin.read_bytes() == path.read_bytes()
    assert_same(mw.load(twin, cache=False), loaded)
    return loaded, [str(w.message) for w in said]


def document_of(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])  # type: ignore[no-any-return]


# -------------------- characters of every kind


class Wild:
    """Makes characters of whatever the model allows; hypothesis draws the structure, a seeded generator the numbers."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def often(self) -> bool:
        return bool(self.draw(st.booleans()))

    def count(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def skeleton(self) -> mw.Skeleton:
        J, M = self.count(1, 5), self.count(0, 3)
        rotation = self.rng.normal(size=(J, 4))
        rest = mw.Pose(
            f32(self.rng.normal(size=(J, 3))),
            f32(rotation / np.linalg.norm(rotation, axis=1, keepdims=True)),
            f32(self.rng.uniform(0.5, 2, (J, 3))),
            f32(self.rng.random(M)),
        )
        names = tuple(self.draw(st.sampled_from(["hips", "spine", "[1]", "ä"])) for _ in range(J))
        parents = [self.count(-1, j - 1) for j in range(J)]
        humanoid = {"hips": 0, "tail": J - 1} if J > 1 and self.often() else {}
        return mw.Skeleton(names, parents, rest, tuple("abc"[:M]), bones=humanoid)

    def sections(self, F: int, materials: int) -> tuple[mw.Section, ...]:
        out = []
        for _ in range(self.count(0, 3)):
            first = self.count(0, F)
            material = self.draw(st.sampled_from([None, *range(materials)]))
            variants = self.draw(
                st.sampled_from([(), (None, None), *([(material, None)] if materials else [])])
            )
            out.append(
                mw.Section(
                    first, self.count(0, F - first), material, self.draw(st.sampled_from(["", "s"])), variants
                )
            )
        return tuple(out)

    def targets(self, V: int, M: int) -> tuple[mw.MorphTarget, ...]:
        out = []
        for i in range(self.count(0, 3) if M else 0):
            moved = (
                np.flatnonzero(self.rng.random(V) < self.draw(st.sampled_from([0, 0.5, 1])))
                if self.often()
                else None
            )
            D = V if moved is None else len(moved)
            full = self.draw(st.sampled_from([1.0, 1.0, 0.5, 2.0 + i]))
            more = {k: self.rng.normal(size=(D, 3)) for k in ("normals", "tangents") if self.often()}
            positions = self.rng.normal(size=(D, 3))
            channel = self.count(0, M - 1)
            if (channel, full) not in {(t.channel, t.full_weight) for t in out}:
                out.append(
                    mw.MorphTarget(f"t{i}", channel, positions, vertices=moved, full_weight=full, **more)
                )
        return tuple(out)

    def mesh(self, skeleton: mw.Skeleton, materials: int) -> mw.Mesh:
        V, F, J, rng = self.count(3, 8), self.count(0, 4), len(skeleton), self.rng
        fields: dict[str, Any] = {"node": self.count(-1, J - 1), "visible": self.often()}
        if self.often():
            fields["normals"] = rng.normal(size=(V, 3)) * rng.integers(0, 2, (V, 1))
        if self.often():
            fields["tangents"] = rng.normal(size=(V, 4))
        if self.often():
            fields["colors"] = rng.normal(size=(V, 4))
        fields["uvs"] = tuple(rng.normal(size=(V, 2)) for _ in range(self.count(0, 2)))
        B, K = self.count(1, J + 1), self.count(1, 6)
        joints = np.stack([rng.permutation(max(B, K))[:K] for _ in range(V)])
        weights = np.where(joints < B, rng.random((V, K)) * rng.integers(0, 2, (V, K)), 0)
        weights[~weights.any(axis=1), 0] = 1
        joints = np.where(joints < B, joints, 0)
        corners = rng.integers(0, V, (F, 3))
        return mw.Mesh(
            self.draw(st.sampled_from(["skin", "cloth"])),
            f32(rng.normal(size=(V, 3))),
            np.sort(corners, axis=0) if self.often() else corners,
            joints=joints,
            weights=mw.normalize_weights(weights)[0],
            joint_list=rng.integers(0, J, B),
            inverse_bind=f32(rng.normal(size=(B, 3, 4))),
            sections=self.sections(F, materials),
            morph_targets=self.targets(V, len(skeleton.morph_names)),
            **fields,
        )

    def clip(self, name: str, skeleton: mw.Skeleton) -> mw.Clip:
        tracks = []
        for _ in range(self.count(0, 6)):
            path: Any = self.draw(st.sampled_from(["translation", "rotation", "scale", "morph", "morph"]))
            count = len(skeleton.morph_names) if path == "morph" else len(skeleton)
            if not count:
                continue
            width = {"rotation": 4, "morph": 1}.get(path, 3)
            kind: Any = self.draw(st.sampled_from(["step", "linear", "cubic"]))
            T = self.count(1, 4)
            times = np.sort(self.draw(st.sampled_from([self.rng.random(T), self.rng.integers(0, 3, T)])))
            values = self.rng.normal(size=(T, 3, width) if kind == "cubic" else (T, width))
            tracks.append(mw.Track(self.count(0, count - 1), path, f32(times), f32(values), kind))
        curves = [
            mw.Curve(n, np.sort(f32(self.rng.random(2)) * 3), self.rng.normal(size=2))
            for n in self.draw(st.lists(st.sampled_from(["z", "a", "visibility:hips"]), unique=True))
        ]
        last = max((float(t.times[-1]) for t in tracks), default=0.0)
        duration = self.draw(st.sampled_from([None, last, last + 0.7]))
        clip = mw.Clip(
            name,
            skeleton,
            tracks,
            duration,
            rate=self.draw(st.sampled_from([None, 30.0])),
            curves=tuple(curves),
        )
        when = clip.duration * float(self.rng.random())
        lasting = mw.Event(when, "cut", clip.duration - when, "x")
        return clip.replace(events=(lasting,)) if self.often() else clip

    def material(self) -> mw.Material:
        numbers = st.sampled_from([0.0, 0.3, 1.0, 1.7, -0.5, 7.3])
        three = [self.draw(numbers) for _ in range(3)]
        texture = mw.Texture(0, self.count(0, 1), rotation=0.5) if self.often() else None
        return mw.Material(
            self.draw(st.sampled_from(["", "m"])),
            (*three, 1.0),
            self.draw(numbers),
            self.draw(numbers),
            tuple(abs(c) for c in three),
            normal_texture=texture,
            normal_scale=self.draw(numbers),
            occlusion_strength=self.draw(numbers),
            alpha_mode=self.draw(st.sampled_from(["opaque", "mask", "blend"])),
            alpha_cutoff=abs(self.draw(numbers)),
            extensions=self.draw(st.sampled_from([{}, {"KHR_materials_ior": {"ior": 1.3}}])),
        )

    def character(self) -> mw.Character:
        skeleton = self.skeleton()
        images = (mw.Image("grey", "image/png", PNG), mw.Image("", "image/jpeg", b""))
        materials = tuple(self.material() for _ in range(self.count(0, 2)))
        meshes = [self.mesh(skeleton, len(materials)) for _ in range(self.count(0, 3))]
        clips = [self.clip(f"clip{i}", skeleton) for i in range(self.count(0, 2))]
        notes = st.sampled_from([{"a": 1}, [1, 2], "text", {"b": [None]}])
        extras = {
            kind: self.draw(
                st.dictionaries(st.sampled_from(["hips", "skin", "m", "[0]", "clip0", "who"]), notes)
            )
            for kind in self.draw(
                st.lists(
                    st.sampled_from(["joints", "meshes", "materials", "clips", "images", "skins", "mine"])
                )
            )
        }
        extras = {kind: group for kind, group in extras.items() if group}
        levels = []
        if meshes and self.often():
            fewer = [self.mesh(skeleton, len(materials)) for _ in meshes[self.count(0, len(meshes)) :]]
            lod = mw.Lod.of(
                fewer, len(skeleton), error=0.5, screen_size=self.draw(st.sampled_from([None, 0.25]))
            )
            levels = [mw.Level(tuple(fewer), lod)]
        return mw.Character(
            skeleton, tuple(meshes), clips, materials, images, "wild", extras=extras, variants=("x", "y"),
            reduced=tuple(levels),
        )  # fmt: skip


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da636060000000030001"
    "2b094d840000000049454e44ae426082"
)


@st.composite
def wild_characters(draw: st.DrawFn) -> mw.Character:
    return Wild(draw).character()


@given(character=wild_characters(), suffix=st.sampled_from([".glb", ".glb", ".gltf"]))
@settings(
    max_examples=repeats(80),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_whatever_the_model_allows_comes_back_equal(
    tmp_path_factory: pytest.TempPathFactory, character: mw.Character, suffix: str
):
    path = tmp_path_factory.mktemp("wild") / f"wild{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gltf.write(character, path)
    assert_same(gltf.read(Source.open(path), LoadOptions()), character)


def test_wild_characters_pass_the_validator(tmp_path: Path, errors_of: Validator):
    files: list[Path] = []

    @given(character=wild_characters())
    @settings(
        max_examples=25,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def save(character: mw.Character) -> None:
        files.append(tmp_path / f"{len(files)}.glb")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gltf.write(character, files[-1])

    save()
    assert errors_of(*files) == []


@pytest.mark.parametrize("name", ["mannequin", "lizard"])
def test_samples_come_back_equal(name: str, tmp_path: Path):
    sample = getattr(mw.samples, name)()
    sample = sample.replace(
        clips=[clip for clip in sample.clips.values() if clip.name in ("wave", "walk", "run")]
    )
    loaded, said = there_and_back(sample, tmp_path / f"{name}.glb")
    assert_same(loaded, sample)
    assert said == []


# -------------------- files as people have them, one for each thing that was lost


def picture_is_missing(maker: Maker) -> None:
    """Three pictures, the first of which is not there."""
    maker.document["images"] = [
        {"uri": "gone.png", "name": "gone"},
        {"bufferView": maker.view(PNG), "mimeType": "image/png"},
        {"bufferView": maker.view(PNG), "mimeType": "image/png"},
    ]
    maker.document["textures"] = [{"source": i} for i in range(3)]
    maker.document["materials"] = [
        {"normalTexture": {"index": 2}, "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    ]
    maker.document["meshes"][0]["primitives"][0]["material"] = 0


def face(maker: Maker, **more: Any) -> None:
    """Gives the mesh two morph targets."""
    primitive = maker.document["meshes"][0]["primitives"][0]
    V = maker.document["accessors"][primitive["attributes"]["POSITION"]]["count"]
    primitive["targets"] = [
        {"POSITION": maker.accessor(np.full((V, 3), i + 1), min=[i + 1] * 3, max=[i + 1] * 3)}
        for i in range(2)
    ]


def morph_tracks_between_others(maker: Maker) -> None:
    face(maker)
    animation = maker.document["animations"][0]
    times, weights = maker.accessor([[0], [1]], min=[0], max=[1]), maker.accessor([[0], [1], [1], [0.5]])
    animation["samplers"].append({"input": times, "output": weights})
    moved = maker.accessor([[0, 0, 0], [0, 0.5, 0]])
    animation["samplers"].append({"input": times, "output": moved})
    animation["channels"] += [
        {"sampler": 1, "target": {"node": 0, "path": "weights"}},
        {"sampler": 2, "target": {"node": 1, "path": "translation"}},
    ]


def normals_of_eight_bits_and_none(maker: Maker) -> None:
    attributes = maker.document["meshes"][0]["primitives"][0]["attributes"]
    V = maker.document["accessors"][attributes["POSITION"]]["count"]
    normals = np.tile(np.array([31, 18, 121, 0], np.int8), (V, 1))
    view = maker.view(normals.tobytes(), byteStride=4)
    kind = {"bufferView": view, "componentType": 5120, "count": V, "type": "VEC3", "normalized": True}
    attributes["NORMAL"] = maker.add("accessors", kind)
    attributes["TANGENT"] = maker.accessor(np.where(np.arange(V)[:, None] % 2, [0, 0, 0, 1], [1, 0, 0, -1]))
    maker.document["extensionsUsed"] = maker.document["extensionsRequired"] = ["KHR_mesh_quantization"]


def joints_of_weights_that_are_zero(maker: Maker) -> None:
    primitive = maker.document["meshes"][0]["primitives"][0]
    joints = np.array([[0, 1, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [1, 0, 1, 1]])
    primitive["attributes"]["JOINTS_0"] = maker.accessor(joints, np.uint8)


def points_and_triangles_of_materials(maker: Maker) -> None:
    maker.document["materials"] = [{"name": "solid"}, {"name": "dots"}]
    mesh = maker.document["meshes"][0]
    mesh["primitives"][0]["material"] = 0
    mesh["primitives"].append({"attributes": mesh["primitives"][0]["attributes"], "mode": 0, "material": 1})
    dots = Maker.accessor(maker, [[0, 0, 0], [0, 2, 0]], min=[0, 0, 0], max=[0, 2, 0])
    maker.add(
        "meshes",
        {"name": "dots", "primitives": [{"attributes": {"POSITION": dots}, "mode": 0, "material": 1}]},
    )
    maker.document["nodes"][1]["mesh"] = 1


def sparse_morphs_over_two_primitives(maker: Maker) -> None:
    mesh = maker.document["meshes"][0]
    for moved in ([0, 1, 2, 3], [2]):
        values = np.arange(3.0 * len(moved)).reshape(-1, 3)
        sparse = {
            "count": len(moved),
            "indices": {
                "bufferView": maker.view(np.array(moved, np.uint16).tobytes()),
                "componentType": 5123,
            },
            "values": {"bufferView": maker.view(f32(values).tobytes())},
        }
        bounds = {
            "min": np.minimum(values.min(axis=0), 0).tolist(),
            "max": np.maximum(values.max(axis=0), 0).tolist(),
        }
        if len(moved) == 4:
            bounds = {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        kind = {"componentType": 5126, "count": 4, "type": "VEC3", "sparse": sparse} | bounds
        target = maker.add("accessors", kind)
        nothing = maker.add(
            "accessors", {"componentType": 5126, "count": 4, "type": "VEC3", "min": [0] * 3, "max": [0] * 3}
        )
        mesh["primitives"].append(
            mesh["primitives"][0] | {"targets": [{"POSITION": target}, {"POSITION": nothing}]}
        )
    del mesh["primitives"][0]


def numbers_of_materials_out_of_place(maker: Maker) -> None:
    strength = {"KHR_materials_emissive_strength": {"emissiveStrength": 7.3}}
    maker.document["materials"] = [
        {"alphaCutoff": 0.3, "emissiveFactor": [0.3, 0.7, 0.1], "extensions": strength},
        {"emissiveFactor": [1, 0.5, 0], "extensions": strength},
    ]
    maker.document["extensionsUsed"] = ["KHR_materials_emissive_strength"]


def springs_without_an_avatar(maker: Maker) -> None:
    constraint = {"specVersion": "1.0", "constraint": {"rotation": {"source": 1, "weight": 0.5}}}
    maker.document["nodes"][2]["extensions"] = {"VRMC_node_constraint": constraint}
    ball = {"node": 1, "shape": {"sphere": {"offset": [0, 0, 0], "radius": 0.1}}}
    more = {"specVersion": "1.0", "shape": {"plane": {"offset": [0, 0, 0], "normal": [0, 1, 0]}}}
    flat = ball | {"extensions": {"VRMC_springBone_extended_collider": more}}
    spring = {"name": "hair", "joints": [{"node": 1, "stiffness": 0.5}, {"node": 2}], "colliderGroups": [0]}
    body = {
        "specVersion": "1.0",
        "colliders": [ball, flat],
        "colliderGroups": [{"colliders": [0, 1]}],
        "springs": [spring],
    }
    maker.document["extensions"] = {"VRMC_springBone": body}
    maker.document["extensionsUsed"] = [
        "VRMC_springBone",
        "VRMC_node_constraint",
        "VRMC_springBone_extended_collider",
    ]


def extensions_inside_extensions(maker: Maker) -> None:
    maker.document["images"] = [{"bufferView": maker.view(PNG), "mimeType": "image/png"}]
    maker.document["textures"] = [{"source": 0}]
    moved = {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 2]}}}
    maker.document["materials"] = [{"extensions": {"KHR_materials_clearcoat": {"clearcoatTexture": moved}}}]
    maker.document["extensionsUsed"] = ["KHR_materials_clearcoat", "KHR_texture_transform"]


def pointers_in_another_order(maker: Maker) -> None:
    maker.document["materials"] = [{}, {}]
    animation = maker.document["animations"][0]
    for name in ("/materials/1/pbrMetallicRoughness/roughnessFactor", "/nodes/0/extensions/KHR_node_visibility/visible",
                 "/materials/0/pbrMetallicRoughness/baseColorFactor"):  # fmt: skip
        wide = name.endswith("baseColorFactor")
        kind = np.uint8 if name.endswith("visible") else np.float32
        output = maker.accessor([[1, 0, 1, 1], [0, 1, 0, 1]] if wide else [[1], [0]], kind)
        animation["samplers"].append(
            {"input": maker.accessor([[0], [1]]), "output": output}
            | ({"interpolation": "STEP"} if kind is np.uint8 else {})
        )
        target = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": name}}}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})
    maker.document["nodes"][0]["extensions"] = {"KHR_node_visibility": {"visible": True}}
    maker.document["extensionsUsed"] = ["KHR_animation_pointer", "KHR_node_visibility"]


def levels_of_other_names(maker: Maker) -> None:
    skinned = maker.document["nodes"][0]
    mesh = maker.document["meshes"][0]
    for k in range(2):
        maker.add("meshes", {"name": f"coarse {k}", "primitives": mesh["primitives"], "extras": {"level": k}})
        maker.add("nodes", {"name": f"far {k}", "mesh": k + 1, "skin": 0})
    skinned |= {
        "extensions": {"MSFT_lod": {"ids": [3, 4]}},
        "extras": {"MSFT_screencoverage": [0.5, 0.2, 0.01], "a": 1},
    }
    maker.document["extensionsUsed"] = ["MSFT_lod"]


def extras_everywhere(maker: Maker) -> None:
    document = maker.document
    document["extras"] = {"root": [1]}
    document["asset"] |= {"copyright": "me", "extras": "text"}
    document["scenes"][0] |= {"name": "Scene", "extras": {"scene": True}}
    document["images"] = [
        {"bufferView": maker.view(PNG), "mimeType": "image/png", "extras": {"image": i}} for i in range(2)
    ]
    document["samplers"] = [{"name": "sharp", "magFilter": 9728, "extras": {"sampler": 1}}, {"name": "plain"}]
    document["textures"] = [
        {"name": "skin", "source": 0, "sampler": 0, "extras": {"texture": 1}},
        {"name": "unused", "source": 1, "sampler": 1},
    ]
    document["materials"] = [
        {"name": "same", "extras": {"n": 1}, "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
        {"name": "same", "extras": {"n": 2}},
        {"extras": [1]},
    ]
    document["skins"][0] |= {"name": "Armature", "extras": {"skin": 1}}
    document["meshes"][0] |= {"extras": {"mesh": 1}}
    del document["meshes"][0]["name"]
    document["nodes"][1] |= {"name": "twin", "extras": {"first": 1}}
    document["nodes"][2] |= {"name": "twin", "extras": {"second": {"targetNames": []}, "targetNames": 5}}
    document["animations"][0] |= {"extras": 7}
    document["animations"].append(document["animations"][0] | {"extras": {"again": 1}})


FILES = [
    picture_is_missing,
    morph_tracks_between_others,
    normals_of_eight_bits_and_none,
    joints_of_weights_that_are_zero,
    points_and_triangles_of_materials,
    sparse_morphs_over_two_primitives,
    numbers_of_materials_out_of_place,
    springs_without_an_avatar,
    extensions_inside_extensions,
    pointers_in_another_order,
    levels_of_other_names,
    extras_everywhere,
]


def as_people_have_it(change: Callable[[Maker], None], folder: Path) -> mw.Character:
    maker = skinned_bar()
    change(maker)
    path = folder / "hero.glb"
    path.write_bytes(maker.glb())
    return mw.load(path, cache=False)


@pytest.mark.parametrize("change", FILES)
def test_a_file_comes_back_equal(change: Callable[[Maker], None], tmp_path: Path):
    character = as_people_have_it(change, tmp_path)
    loaded, said = there_and_back(character, tmp_path / "saved.glb")
    assert_same(loaded, character)
    assert said == []


def test_files_pass_the_validator(tmp_path: Path, errors_of: Validator):
    files = []
    for change in FILES:
        files.append(tmp_path / f"{change.__name__}.glb")
        mw.save(as_people_have_it(change, tmp_path), files[-1])
    assert errors_of(*files) == []


# -------------------- what is in those files, and what other programs find


def test_missing_pictures_keep_their_place(tmp_path: Path):
    character = as_people_have_it(picture_is_missing, tmp_path)
    loaded, _ = there_and_back(character, tmp_path / "saved.glb")
    assert [len(i.data) for i in loaded.images] == [0, len(PNG), len(PNG)]
    assert loaded.images[0].name == "gone" and loaded.materials[0].normal_texture.image == 2  # type: ignore[union-attr]
    assert "missing when the file was saved" in str(loaded.report)


def test_other_programs_find_unit_vectors_and_marrow_those_that_were(tmp_path: Path):
    character = as_people_have_it(normals_of_eight_bits_and_none, tmp_path)
    lengths = np.linalg.norm(character.meshes[0].normals, axis=1)
    assert (np.abs(lengths - 1) > 1e-4).all(), "8 bits are not exact"
    mw.save(character, tmp_path / "saved.glb")
    attributes = document_of(tmp_path / "saved.glb")["meshes"][0]["primitives"][0]["attributes"]
    assert "_MARROW_TANGENT" in attributes and "_MARROW_NORMAL" not in attributes
    data = (tmp_path / "saved.glb").read_bytes().replace(b"_MARROW_TANGENT", b"_WORRAM_TANGENT")
    foreign = mw.load(data)
    np.testing.assert_allclose(np.linalg.norm(foreign.meshes[0].tangents[:, :3], axis=1), 1, atol=1e-6)
    assert foreign.meshes[0].normals.tolist() == character.meshes[0].normals.tolist()


def test_points_are_points_to_other_programs(tmp_path: Path):
    mw.save(as_people_have_it(points_and_triangles_of_materials, tmp_path), tmp_path / "saved.glb")
    drawn = [p for m in document_of(tmp_path / "saved.glb")["meshes"] for p in m["primitives"]]
    assert [(p.get("mode", 4), p["material"]) for p in drawn] == [(4, 0), (0, 1), (0, 1)]


def test_springs_and_constraints_need_no_avatar(tmp_path: Path):
    character = as_people_have_it(springs_without_an_avatar, tmp_path)
    mw.save(character, tmp_path / "saved.glb")
    document = document_of(tmp_path / "saved.glb")
    assert "VRMC_vrm" not in document["extensions"] and document["extensions"]["VRMC_springBone"]["springs"]
    assert "VRMC_node_constraint" in document["nodes"][2]["extensions"]
    assert "VRMC_springBone_extended_collider" in document["extensionsUsed"]


def test_extras_of_things_of_one_name_are_told_apart(tmp_path: Path):
    extras = as_people_have_it(extras_everywhere, tmp_path).extras
    assert extras["joints"] == {"[1]": {"first": 1}, "[2]": {"second": {"targetNames": []}, "targetNames": 5}}
    assert extras["materials"] == {"[0]": {"n": 1}, "[1]": {"n": 2}, "": [1]}
    assert extras["images"] == {"[0]": {"image": 0}, "[1]": {"image": 1}}
    assert extras["skins"] == {"body": {"name": "Armature", "extras": {"skin": 1}}}
    assert extras["meshes"] == {"body": {"mesh": 1}} and extras["clips"] == {
        "bend": 7,
        "bend_2": {"again": 1},
    }
    assert extras["scene"] == {"name": "Scene", "extras": {"scene": True}} and extras["root"] == {
        "extras": {"root": [1]}
    }
    shown = {"name": "skin", "extras": {"texture": 1}, "sampler": {"name": "sharp", "extras": {"sampler": 1}}}
    assert extras["textures"] == {"[0]": shown, "[1]": {"name": "unused", "sampler": {"name": "plain"}}}


def test_names_and_extras_lie_where_other_programs_look_for_them(tmp_path: Path):
    mw.save(as_people_have_it(extras_everywhere, tmp_path), tmp_path / "saved.glb")
    document = document_of(tmp_path / "saved.glb")
    assert document["extras"] == {"root": [1]} and document["asset"]["extras"] == "text"
    assert document["scenes"][0]["name"] == "Scene" and document["scenes"][0]["extras"]["scene"] is True
    assert document["skins"][0]["name"] == "Armature" and document["skins"][0]["extras"] == {"skin": 1}
    assert document["textures"] == [{"name": "skin", "extras": {"texture": 1}, "sampler": 0, "source": 0}]
    assert document["samplers"] == [{"name": "sharp", "extras": {"sampler": 1}, "magFilter": 9728}]
    assert [i["extras"] for i in document["images"]] == [{"image": 0}, {"image": 1}]
    assert [m["extras"] for m in document["materials"]] == [{"n": 1}, {"n": 2}, [1]]


def test_what_lies_outside_the_scene_is_a_line(tmp_path: Path):
    maker = skinned_bar()
    maker.document["nodes"] += [{"name": "lost", "children": [4]}, {"name": "below"}]
    maker.document["meshes"][0]["primitives"][0]["extras"] = {"mine": 1}
    assert "dropped: nodes: 2 nodes lie outside the scene" in str(maker.load().report)
    assert "dropped: extras: those of 1 primitives" in str(maker.load().report)
    assert "outside the scene" not in str(skinned_bar().load().report)


def test_coats_with_normal_textures_get_tangents(tmp_path: Path, errors_of: Validator):
    maker = one_triangle(TEXCOORD_0=[[0, 0], [1, 0], [0, 1]])
    maker.document["images"] = [{"bufferView": maker.view(PNG), "mimeType": "image/png"}]
    maker.document["textures"] = [{"source": 0}]
    coat = {"KHR_materials_clearcoat": {"clearcoatNormalTexture": {"index": 0}}}
    maker.document |= {"materials": [{"extensions": coat}], "extensionsUsed": [*coat]}
    maker.document["meshes"][0]["primitives"][0]["material"] = 0
    character = mw.load(maker.glb())
    assert character.meshes[0].tangents is not None
    mw.save(character, tmp_path / "coat.glb")
    assert errors_of(tmp_path / "coat.glb") == []


# -------------------- keys, as they were before glTF had its way with them


def talking(*tracks: mw.Track) -> mw.Character:
    bones = mw.Skeleton(
        ("a", "b"), [-1, 0], morph_names=("smile", "blink", "nobody"), rest=mw.Pose.identity(2, 3)
    )
    flat = f32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    targets = tuple(mw.MorphTarget(n, i, flat + i) for i, n in enumerate(("smile", "blink")))
    half = mw.MorphTarget("half", 0, flat - 1, full_weight=0.5)
    mesh = mw.Mesh.rigid(
        "face", flat, [[0, 1, 2]], 0, normals=f32([[0, 0, 1]] * 3), morph_targets=(*targets, half)
    )
    return mw.Character(bones, (mesh,), [mw.Clip("talk", bones, tracks)], name="talking")  # type: ignore[arg-type]


def test_morph_tracks_keep_keys_of_their_own(tmp_path: Path):
    smile = mw.Track(0, "morph", [0, 1, 2], [[0], [0.8], [0.1]])
    turn = mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 1, 0, 0]])
    blink = mw.Track(1, "morph", [0.3, 0.35], [[0], [1]], "step")
    nobody = mw.Track(2, "morph", [0, 1], [[0], [1]])
    character = talking(blink, turn, smile, nobody)
    loaded, said = there_and_back(character, tmp_path / "talk.glb")
    assert_same(loaded, character)
    assert len(said) == 1 and "'nobody' move no mesh" in said[0]


def test_keys_that_gltf_does_not_allow_come_back(tmp_path: Path, errors_of: Validator):
    jump = mw.Track(0, "translation", [0, 1, 1, 1, 2], np.arange(15.0).reshape(5, 3))
    long = mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 2], [0, 3, 0, 0]])
    single = mw.Track(1, "scale", [1], np.arange(9.0).reshape(1, 3, 3), "cubic")
    hidden = mw.Track(0, "translation", [0, 1], np.ones((2, 3)))
    character = talking(hidden, jump, long, single)
    loaded, _ = there_and_back(character, tmp_path / "keys.glb")
    assert_same(loaded, character)
    assert errors_of(tmp_path / "keys.glb") == []
    large = mw.load(tmp_path / "keys.glb", scale=2.0, cache=False)
    assert large.clips[0].tracks[1].values.tolist() == (2 * jump.values).tolist(), (
        "notes are scaled with the rest"
    )
    assert large.clips[0].tracks[2] == long


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"order":[-1,2]', b'"order":[-9,2]'),
        (b'"order":[-1,2]', b'"order":[ 2,2]'),
        (b'["morph",0,', b'["morph",7,'),
    ],
)
def test_notes_on_tracks_that_do_not_fit_are_a_line(old: bytes, new: bytes, tmp_path: Path):
    character = talking(
        mw.Track(0, "morph", [0, 1], [[0], [0.8]]), mw.Track(1, "scale", [0, 1], np.ones((2, 3)))
    )
    mw.save(character, tmp_path / "talk.glb")
    data = (tmp_path / "talk.glb").read_bytes()
    text = data[: data.index(b"BIN\0")]
    assert old in text, text
    loaded = mw.load(data.replace(old, new))
    assert "notes on its tracks do not fit" in str(loaded.report)
    assert {t.path for t in loaded.clips[0].tracks} == {"morph", "scale"}


def test_damaged_notes_on_sections_are_a_line(tmp_path: Path):
    character = talking()
    mesh = character.meshes[0].replace(sections=(mw.Section(0, 0), mw.Section(0, 1)))
    mw.save(character.replace(meshes=(mesh,)), tmp_path / "hero.glb")
    data = (tmp_path / "hero.glb").read_bytes()
    assert b'"sections":[[0,0,' in data
    loaded = mw.load(data.replace(b'"sections":[[0,0,', b'"sections":[[9,0,'))
    assert "notes on its sections do not fit" in str(loaded.report) and len(loaded.meshes[0].sections) == 1


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ({"lod": {"joints": 3, "error": -1}}, "note on its level of detail"),
        ({"extras": {"mine": "DEEP"}}, "nested too deeply"),
        ({"extras": 5}, "could not be read"),
    ],
)
def test_damaged_notes_on_the_scene_are_a_line(notes: dict[str, Any], words: str):
    maker = skinned_bar()
    maker.document["scenes"][0]["extras"] = {"marrow": notes}
    text = maker.gltf().replace(b'"DEEP"', b"[" * 200 + b"]" * 200)
    loaded = mw.load(text)
    assert words in str(loaded.report) and len(loaded.skeleton) == 3


# -------------------- what glTF cannot say is named, and nothing else differs


def test_only_what_is_named_differs(tmp_path: Path):
    from PIL import Image as Pillow

    tga = tmp_path / "old.tga"
    Pillow.new("RGB", (2, 2), (1, 2, 3)).save(tga)
    character = talking(mw.Track(0, "scale", [0, 1], np.ones((2, 3))))
    other = mw.Skeleton(
        ("a", "b"), [-1, 0], mw.Pose.identity(2, 3).replace(morphs=[1, 0, 0]), ("smile", "blink", "nobody")
    )
    sparse = mw.MorphTarget("smile", 0, [[1, 0, 0], [2, 0, 0]], vertices=[2, 0])
    twice = character.meshes[0].replace(
        joints=[[0, 0]] * 3, weights=[[0.25, 0.75]] * 3, morph_targets=(sparse,)
    )
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    character = character.replace(
        extras={"joints": {"a": deep}},
        images=(
            mw.Image("old", "image/x-tga", tga.read_bytes()),
            mw.Image("odd", "image/x-odd", b"no picture"),
        ),
        meshes=(twice,),
        clips=[character.clips[0].replace(skeleton=other)],
    )
    loaded, said = there_and_back(character, tmp_path / "named.glb")
    for words in (
        "'old' is image/x-tga",
        "'odd' is image/x-odd",
        "name a joint twice",
        "were sorted",
        "another skeleton",
        "nested too deeply",
    ):
        assert sum(words in line for line in said) == 1, said
    assert len(said) == 6
    (mesh,) = loaded.meshes
    target = mw.MorphTarget("smile", 0, [[2, 0, 0], [1, 0, 0]], vertices=[0, 2])
    expected = character.replace(
        extras={},
        images=loaded.images,
        meshes=(twice.replace(joints=[[0, 0]] * 3, weights=[[1, 0]] * 3, morph_targets=(target,)),),
        clips=[character.clips[0].replace(skeleton=character.skeleton)],
    )
    assert [i.name for i in loaded.images] == ["old", "odd"] and mesh.influences == 2
    assert_same(loaded, expected)
    assert "joints" in difference(mesh, twice) or "weights" in difference(mesh, twice)


# -------------------- real files


def test_a_shape_that_blender_keys_twice_is_one_track(corpus: Path):
    clip = mw.load(corpus / "blender_293_barbarian_7400_binary.fbx", cache=False).clips[0]
    moved = [(t.path, t.target) for t in clip.tracks]
    assert len(set(moved)) == len(moved)
