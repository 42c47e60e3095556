"""What is saved comes back: random characters, the corners glTF has no words for, and the Khronos
validator."""

from __future__ import annotations

import io
import json
import struct
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from maker import skinned_bar
from numpy.testing import assert_allclose, assert_array_equal
from same import assert_same

import marrow as mw
from marrow.errors import FormatError
from marrow.io import gltf
from marrow.io.source import LoadOptions, Source
from marrow.math import quaternion
from marrow.model import (
    Character,
    Clip,
    Event,
    Image,
    Material,
    Mesh,
    MorphTarget,
    Pose,
    Section,
    Skeleton,
    Socket,
    Texture,
    Track,
)
from surroundings import needed, repeats

Validator = Callable[..., list[str]]


def again(character: Character, folder: Path, name: str = "hero.glb") -> Character:
    path = folder / name
    gltf.write(character, path)
    return gltf.read(Source.open(path), LoadOptions())


def f32(values: Any) -> Any:
    return np.asarray(values, np.float32)


def unit(rng: np.random.Generator, *shape: int) -> Any:
    v = rng.normal(size=shape)
    return f32(v / np.linalg.norm(v, axis=-1, keepdims=True))


def rest_pose(rng: np.random.Generator, J: int, M: int = 0) -> Pose:
    return Pose(
        f32(rng.normal(size=(J, 3))), unit(rng, J, 4), f32(rng.uniform(0.5, 2, (J, 3))), f32(rng.random(M))
    )


def grid(name: str = "grid", **fields: Any) -> Mesh:
    """Four vertices, two triangles, on joint 0."""
    positions = f32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    normals = np.tile(f32([0, 0, 1]), (4, 1))
    joint = fields.pop("joint", 0)
    return Mesh.rigid(name, positions, [[0, 1, 2], [1, 3, 2]], joint, **{"normals": normals, **fields})


def bones(count: int = 3, **fields: Any) -> Skeleton:
    return Skeleton(tuple(f"bone{i}" for i in range(count)), [-1, *range(count - 1)], **fields)


@st.composite
def characters(draw: st.DrawFn) -> Character:
    """Small characters of every kind; hypothesis draws the structure, a seeded generator the numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    J = draw(st.integers(1, 6))
    parents = [draw(st.integers(-1, j - 1)) for j in range(J)]
    names = draw(st.lists(st.text("abcé腰_", min_size=1, max_size=3), min_size=J, max_size=J))
    M = draw(st.integers(0, 3))
    sockets = tuple(
        Socket(f"socket{i}", int(rng.integers(J)), f32(rng.normal(size=3)), unit(rng, 4))
        for i in range(draw(st.integers(0, 2)))
    )
    morphs = tuple(f"morph{i}" for i in range(M))
    skeleton = Skeleton(tuple(names), parents, rest_pose(rng, J, M), morphs, sockets)
    materials = tuple(Material(f"m{i}", metallic=float(rng.random())) for i in range(draw(st.integers(0, 2))))
    meshes = [draw(a_mesh(rng, skeleton, len(materials))) for _ in range(draw(st.integers(0, 3)))]
    animated = sorted({t.channel for m in meshes for t in m.morph_targets})
    clips = [draw(a_clip(rng, f"clip{i}", skeleton, animated)) for i in range(draw(st.integers(0, 2)))]
    return Character(skeleton, tuple(meshes), clips, materials, (), "random")  # type: ignore[arg-type]


@st.composite
def a_mesh(draw: st.DrawFn, rng: np.random.Generator, skeleton: Skeleton, materials: int) -> Mesh:
    V, F, J = draw(st.integers(3, 9)), draw(st.integers(0, 5)), len(skeleton)
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["normals"] = unit(rng, V, 3)
        if draw(st.booleans()):
            fields["tangents"] = np.concatenate([unit(rng, V, 3), f32(rng.choice([-1, 1], (V, 1)))], axis=1)
    fields["uvs"] = tuple(f32(rng.random((V, 2))) for _ in range(draw(st.integers(0, 2))))
    if draw(st.booleans()):
        fields["colors"] = f32(rng.random((V, 4)))
    if F:
        cuts = sorted({0, F, *draw(st.lists(st.integers(0, F), max_size=2))})
        fields["sections"] = tuple(
            Section(
                a,
                b - a,
                None if not materials else int(rng.integers(materials)),
                draw(st.sampled_from(["", "part"])),
            )
            for a, b in pairwise(cuts)
        )
    triangles = (
        np.sort(rng.integers(0, V, (F, 3)), axis=0) if draw(st.booleans()) else rng.integers(0, V, (F, 3))
    )
    if draw(st.booleans()):
        fields |= {"skinning": "blended", "dual_quaternion_weights": f32(rng.random(V))}
    targets = []
    for i in range(draw(st.integers(0, 2)) if skeleton.morph_names else 0):
        some = np.flatnonzero(rng.random(V) < 0.4) if draw(st.booleans()) else None
        D = V if some is None else len(some)
        channel = int(rng.integers(len(skeleton.morph_names)))
        if channel not in {t.channel for t in targets}:
            targets.append(MorphTarget(f"t{i}", channel, f32(rng.normal(size=(D, 3))), vertices=some))
    fields |= {"morph_targets": tuple(targets), "visible": draw(st.booleans())}
    positions = f32(rng.normal(size=(V, 3)))
    if draw(st.booleans()):
        return Mesh.rigid("prop", positions, triangles, int(rng.integers(J)), **fields)
    B, K = draw(st.integers(1, J + 1)), draw(st.integers(1, 6))
    joints = np.stack([rng.permutation(max(B, K))[:K] for _ in range(V)])
    weights = np.where(joints < B, rng.random((V, K)) + 0.1, 0)
    weights[~weights.any(axis=1), 0] = 1
    joints = np.where(joints < B, joints, 0)
    return Mesh(
        "skin",
        positions,
        triangles,
        joints=joints,
        weights=mw.normalize_weights(weights)[0],
        joint_list=rng.integers(0, J, B),
        inverse_bind=f32(rng.normal(size=(B, 3, 4))),
        node=draw(st.integers(-1, J - 1)),
        **fields,
    )


@st.composite
def a_clip(
    draw: st.DrawFn, rng: np.random.Generator, name: str, skeleton: Skeleton, animated: list[int]
) -> Clip:
    tracks: dict[tuple[str, int], Track] = {}
    keyed = [("translation", 3), ("rotation", 4), ("scale", 3)]
    for _ in range(draw(st.integers(0, 4))):
        path, width = draw(st.sampled_from(keyed))
        target = int(rng.integers(len(skeleton)))
        kind = draw(st.sampled_from(["step", "linear", "cubic"]))
        T = draw(st.integers(2 if kind == "cubic" else 1, 4))
        values = f32(rng.normal(size=(T, 3, width) if kind == "cubic" else (T, width)))
        if path == "rotation" and kind == "cubic":
            values[:, 1] = unit(rng, T, 4)
        elif path == "rotation":
            values = unit(rng, T, 4)
        tracks[path, target] = Track(target, path, f32(np.cumsum(rng.uniform(0.1, 1, T))), values, kind)  # type: ignore[arg-type]
    # One set of keys for all morphs: others are rewritten to it, which the tests below look at.
    T, kind = draw(st.integers(2, 4)), draw(st.sampled_from(["step", "linear", "cubic"]))
    times = f32(np.cumsum(rng.uniform(0.1, 1, T)))
    for channel in animated if draw(st.booleans()) else ():
        values = f32(rng.normal(size=(T, 3, 1) if kind == "cubic" else (T, 1)))
        tracks["morph", channel] = Track(channel, "morph", times, values, kind)  # type: ignore[arg-type]
    more = draw(st.sampled_from([{}, {"rate": 30.0}, {"additive": True}, {"duration": 9.5}]))
    clip = Clip(name, skeleton, list(tracks.values()), **more)  # type: ignore[arg-type]
    moments = clip.duration * rng.random(draw(st.integers(0, 2)))
    return clip.replace(events=tuple(Event(t, f"step{i}") for i, t in enumerate(moments.tolist())))


@given(character=characters(), suffix=st.sampled_from([".glb", ".gltf"]))
@settings(
    max_examples=repeats(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_any_character_comes_back(
    tmp_path_factory: pytest.TempPathFactory, character: Character, suffix: str
):
    folder = tmp_path_factory.mktemp("again")
    assert_same(character, again(character, folder, "hero" + suffix))


def test_random_characters_pass_the_validator(tmp_path: Path, errors_of: Validator):
    files: list[Path] = []

    @given(character=characters())
    @settings(
        max_examples=40,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def save(character: Character) -> None:
        files.append(tmp_path / f"{len(files)}.glb")
        gltf.write(character, files[-1])

    save()
    assert errors_of(*files) == []


# The corners, each a character of its own.


def joints_not_depth_first() -> Character:
    skeleton = Skeleton(
        ("hips", "left", "right", "left end"), [-1, 0, 0, 1], rest_pose(np.random.default_rng(0), 4)
    )
    return Character(skeleton, (grid(joint=3), grid("other", joint=2)))


def skin_across_two_roots() -> Character:
    skeleton = Skeleton(("left", "right", "right end"), [-1, -1, 1])
    mesh = grid().replace(
        joints=np.array([[0, 1], [1, 0], [0, 1], [1, 0]]),
        weights=np.full((4, 2), 0.5),
        joint_list=[0, 2],
        inverse_bind=np.tile(np.eye(4)[:3], (2, 1, 1)),
        node=0,
    )
    return Character(skeleton, (mesh, grid("prop", joint=1)))


def several_meshes_on_one_node() -> Character:
    skinned = grid("skinned").replace(inverse_bind=f32(np.random.default_rng(0).normal(size=(1, 3, 4))))
    return Character(bones(), (grid("a"), grid("b"), skinned, skinned.replace(name="floating", node=-1)))


def joint_with_two_inverse_binds() -> Character:
    binds = np.tile(f32(np.eye(4)[:3]), (2, 1, 1))
    binds[1, 0, 3] = 2
    mesh = grid().replace(
        joints=[[0, 1]] * 4, weights=[[0.25, 0.75]] * 4, joint_list=[1, 1], inverse_bind=binds, node=-1
    )
    return Character(bones(), (mesh,))


def nine_influences() -> Character:
    rng = np.random.default_rng(3)
    skeleton = bones(300)
    joints = np.stack([rng.permutation(300)[:9] for _ in range(4)])
    weights = mw.normalize_weights(rng.random((4, 9)))[0]
    binds = f32(rng.normal(size=(300, 3, 4)))
    return Character(
        skeleton,
        (
            grid().replace(
                joints=joints, weights=weights, joint_list=np.arange(300), inverse_bind=binds, node=0
            ),
        ),
    )


def sections_that_share_vertices() -> Character:
    sections = (Section(0, 1, 1, "front"), Section(1, 1, 0))
    return Character(bones(), (grid(sections=sections),), materials=(Material("a"), Material("b")))


def vertices_without_triangles() -> Character:
    cloud = Mesh.rigid(
        "cloud", f32(np.random.default_rng(0).normal(size=(5, 3))), np.zeros((0, 3), np.uint32), 1
    )
    return Character(bones(), (cloud,))


def no_normals() -> Character:
    return Character(bones(), (grid(normals=None),))


def dual_quaternions_and_hidden() -> Character:
    blended = grid("mixed", skinning="blended", dual_quaternion_weights=f32([0, 0.25, 0.5, 1]))
    return Character(bones(), (grid(skinning="dual_quaternion", visible=False), blended))


def instances() -> Character:
    first = grid()
    return Character(bones(), (first, first.replace(joint_list=[2], node=2)))


def meshes_in_another_order_than_their_nodes() -> Character:
    return Character(bones(), (grid("late", joint=2), grid("early", joint=0)))


def every_material() -> Character:
    from PIL import Image as Pillow

    def encoded(kind: str) -> bytes:
        buffer = io.BytesIO()
        Pillow.new("RGB", (4, 4), (200, 100, 50)).save(buffer, kind)
        return buffer.getvalue()

    images = (
        Image("colour", "image/png", encoded("PNG")),
        Image("photo", "image/jpeg", encoded("JPEG")),
        Image("web", "image/webp", encoded("WEBP")),
    )
    moved = Texture(0, 0, "clamp", "mirror", "nearest", "linear_mipmap_nearest", (0.5, 0.25), 0.75, (2, 3))
    full = Material(
        "full",
        (0.1, 0.2, 0.3, 0.4),
        0.25,
        0.75,
        (2, 4, 1),
        moved,
        Texture(1),
        Texture(1, 1),
        0.5,
        Texture(0),
        0.25,
        Texture(2),
        "mask",
        0.75,
        True,
        True,
    )
    mesh = grid(
        uvs=(f32(np.random.default_rng(0).random((4, 2))),),
        sections=(Section(0, 1, 0), Section(1, 1, 1)),
    )
    return Character(bones(), (mesh,), materials=(full, Material(alpha_mode="blend")), images=images)


def faces(clip: bool = True) -> tuple[Skeleton, Mesh]:
    skeleton = bones(
        2,
        morph_names=("unused", "smile", "blink"),
        rest=Pose.identity(2, 3).replace(morphs=f32([0.5, 0.25, 0])),
    )
    rng = np.random.default_rng(5)
    targets = (
        MorphTarget("smile a", 1, f32(rng.normal(size=(4, 3))), f32(rng.normal(size=(4, 3)))),
        MorphTarget("blink", 2, f32([[1, 2, 3]]), vertices=[2]),
    )
    return skeleton, grid(morph_targets=targets)


def channel_that_drives_two_meshes() -> Character:
    skeleton, mesh = faces()
    other = mesh.replace(name="brow", joint_list=[1], node=1, morph_targets=mesh.morph_targets[:1])
    track = Track(1, "morph", f32([0, 1]), f32([[0], [1]]), "linear")
    return Character(skeleton, (mesh, other), [Clip("talk", skeleton, [track])])  # type: ignore[arg-type]


def clip_without_tracks() -> Character:
    skeleton = bones()
    return Character(skeleton, (), [Clip("still", skeleton, [], duration=2.0, events=(Event(1.0, "blink"),))])  # type: ignore[arg-type]


CORNERS = [
    joints_not_depth_first,
    skin_across_two_roots,
    several_meshes_on_one_node,
    joint_with_two_inverse_binds,
    nine_influences,
    sections_that_share_vertices,
    vertices_without_triangles,
    no_normals,
    dual_quaternions_and_hidden,
    instances,
    meshes_in_another_order_than_their_nodes,
    every_material,
    channel_that_drives_two_meshes,
    clip_without_tracks,
]


@pytest.mark.parametrize("make", CORNERS)
def test_corner_comes_back(make: Callable[[], Character], tmp_path: Path):
    character = make()
    assert_same(character, again(character.replace(name="corner"), tmp_path).replace(name=character.name))


def test_corners_pass_the_validator(tmp_path: Path, errors_of: Validator):
    files = [tmp_path / f"{make.__name__}{suffix}" for make in CORNERS for suffix in (".glb", ".gltf")]
    for file in files:
        gltf.write(next(m for m in CORNERS if m.__name__ == file.stem)(), file)
    assert errors_of(*files) == []


def test_instances_are_written_and_read_once(tmp_path: Path):
    path = tmp_path / "hero.glb"
    gltf.write(instances(), path)
    assert len(document_of(path)["meshes"]) == 1
    first, second = gltf.read(Source.open(path), LoadOptions()).meshes
    assert first.positions is second.positions


def document_of(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])  # type: ignore[no-any-return]


def test_plain_file_carries_no_notes_but_its_name(tmp_path: Path):
    character = skinned_bar().load()
    path = tmp_path / "hero.glb"
    gltf.write(character, path)
    document = document_of(path)
    assert document["scenes"][0].pop("extras") == {"marrow": {"name": character.name}}
    assert "extras" not in json.dumps(document)
    assert [n.get("skin") for n in document["nodes"]] == [0, None, None]


def test_rigid_mesh_is_a_plain_node_mesh(tmp_path: Path):
    path = tmp_path / "hero.glb"
    gltf.write(Character(bones(), (grid(joint=1),)), path)
    document = document_of(path)
    assert "skins" not in document
    assert document["nodes"][1]["mesh"] == 0


# Morph weights: glTF keys all targets of a mesh together.


@pytest.mark.parametrize(
    "kinds",
    [("linear", "linear"), ("step", "step"), ("step", "linear"), ("cubic", "linear"), ("cubic", "step")],
)
def test_morph_tracks_with_other_keys_move_the_same(
    kinds: tuple[str, str], tmp_path: Path, errors_of: Validator
):
    rng = np.random.default_rng(9)
    skeleton, mesh = faces()
    tracks = []
    for channel, kind, times in ((1, kinds[0], [0, 0.5, 2]), (2, kinds[1], [0.25, 1, 1.5, 3])):
        values = f32(rng.normal(size=(len(times), 3, 1) if kind == "cubic" else (len(times), 1)))
        tracks.append(Track(channel, "morph", f32(times), values, kind))  # type: ignore[arg-type]
    clip = Clip("talk", skeleton, tracks)  # type: ignore[arg-type]
    loaded = again(Character(skeleton, (mesh,), [clip]), tmp_path)  # type: ignore[arg-type]
    times = np.linspace(0, 3.2, 201) + 1e-4
    assert_allclose(loaded.clips["talk"].sample(times).morphs, clip.sample(times).morphs, atol=1e-5)
    assert errors_of(tmp_path / "hero.glb") == []


def in_betweens(*weights: float) -> tuple[Skeleton, Mesh]:
    skeleton = bones(2, morph_names=("smile",), rest=Pose.identity(2, 1).replace(morphs=f32([0.25])))
    rng = np.random.default_rng(6)
    targets = tuple(MorphTarget(f"at {w}", 0, f32(rng.normal(size=(4, 3))), full_weight=w) for w in weights)
    return skeleton, grid(morph_targets=targets)


@pytest.mark.parametrize("kind", ["step", "linear", "cubic"])
@pytest.mark.parametrize("stops", [(0.5, 1.0), (1.0, 0.5), (-1.0, 0.5, 2.0), (2.0,)])
def test_in_betweens_deform_the_same_here_and_in_other_programs(
    stops, kind, tmp_path: Path, errors_of: Validator
):
    skeleton, mesh = in_betweens(*stops)
    values = f32([[-0.5], [1.5], [0.25], [0.75]])
    if kind == "cubic":
        values = np.stack([values * 0, values, values * 0], axis=1)
    clip = Clip("talk", skeleton, [Track(0, "morph", f32([0, 1, 2, 3]), values, kind)])  # type: ignore[arg-type]
    character = Character(skeleton, (mesh,), [clip])  # type: ignore[arg-type]
    loaded = again(character, tmp_path)
    assert errors_of(tmp_path / "hero.glb") == []
    # A reader that knows nothing of notes sees targets of their own.
    foreign = without_notes(tmp_path / "hero.glb")
    assert len(foreign.skeleton.morph_names) == len(stops)
    assert loaded.skeleton.morph_names == ("smile",)
    assert [t.full_weight for t in loaded.meshes[0].morph_targets] == list(stops)
    # Between keys a spline through in-betweens is flattened; elsewhere nothing but rounding is lost.
    tolerance = 2e-3 if kind == "cubic" and len(stops) > 1 else 1e-5
    for time in [0.0, 0.13, 0.5, 0.99, 1.7, 2.4, 3.0]:
        expected = mw.skin(character, clip.sample(time)).positions
        for other in (loaded, foreign):
            assert_allclose(
                mw.skin(other, other.clips["talk"].sample(time)).positions, expected, atol=tolerance
            )
    expected = mw.skin(character, skeleton.rest).positions
    for other in (loaded, foreign):
        assert_allclose(mw.skin(other, other.skeleton.rest).positions, expected, atol=1e-6)


def without_notes(path: Path) -> Character:
    """The file as a program that ignores extras reads it."""
    data = path.read_bytes().replace(b'"marrow":', b'"worram":')
    return gltf.read(Source(path, data), LoadOptions())


def test_morph_that_moves_no_mesh_is_lost_with_a_warning(tmp_path: Path):
    skeleton, mesh = faces()
    clip = Clip("talk", skeleton, [Track(0, "morph", f32([0, 1]), f32([[0], [1]]))])  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="'unused'"):
        loaded = again(Character(skeleton, (mesh,), [clip]), tmp_path)  # type: ignore[arg-type]
    assert loaded.skeleton.morph_names == skeleton.morph_names


# Data glTF does not allow.


def test_data_is_mended_to_what_gltf_allows(tmp_path: Path, errors_of: Validator):
    skeleton = bones(2, rest=Pose.identity(2).replace(rotation=f32([[0, 0, 0, 2], [0, 0, 0, 1]])))
    mesh = grid(
        normals=f32([[0, 0, 2], [0, 0, 0], [0, 0, 1], [1, 1, 0]]),
        tangents=f32([[1, 0, 0, 0.5], [2, 0, 0, -1], [0, 0, 0, 1], [1, 0, 0, 1]]),
        colors=f32([[2, -1, 0.5, 1]] * 4),
        sections=(Section(0, 1, 0),),
    ).replace(
        joints=[[0, 0, 1]] * 4,
        weights=[[0.25, 0.25, 0.5004]] * 4,
        joint_list=[0, 1],
        inverse_bind=np.tile(np.eye(4)[:3], (2, 1, 1)),
    )
    tracks = [
        Track(
            0,
            "rotation",
            f32([0, 0, 1, 1, 1, 2]),
            f32([[0, 0, 0, 1], [0, 0, 0, 3], [1, 0, 0, 0], [0, 5, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]),
        ),
        Track(0, "translation", f32([1]), f32([[[0, 0, 0], [1, 2, 3], [0, 0, 0]]]), "cubic"),
        Track(1, "rotation", f32([0, 1]), f32(np.full((2, 3, 4), 3)), "cubic"),
    ]
    material = Material("m", (2, 0, 0, 1), metallic=3, base_color_texture=None)
    clip = Clip("jump", skeleton, tracks)  # type: ignore[arg-type]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        loaded = again(Character(skeleton, (mesh,), [clip], (material,)), tmp_path)  # type: ignore[arg-type]
    lines = " ".join(str(w.message) for w in said)
    for words in (
        "colours from 0 to 1",
        "name a joint twice",
        "scaled to sum to 1",
        "unit length",
        "'m': base_color",
    ):
        assert words in lines
    assert errors_of(tmp_path / "hero.glb") == []
    assert_allclose(
        loaded.clips["jump"].sample([0.9999, 1.0]).rotation[:, 0], [[1, 0, 0, 0], [0, 0, 1, 0]], atol=1e-3
    )
    assert loaded.clips["jump"].sample(5.0).translation[0].tolist() == [1, 2, 3]
    assert_allclose(loaded.meshes[0].weights[:, :3], [[0.5 / 1.0004, 0, 0.5004 / 1.0004]] * 4, atol=1e-6)
    assert loaded.meshes[0].sections == mesh.sections
    assert_array_equal(
        loaded.meshes[0].triangles, mesh.triangles, "triangles without a section keep their place"
    )


def test_texture_without_coordinates_still_passes_the_validator(tmp_path: Path, errors_of: Validator):
    character = every_material()
    character = character.replace(meshes=(character.meshes[0].replace(uvs=()),))
    assert_same(character.replace(name="x"), again(character.replace(name="x"), tmp_path))
    assert errors_of(tmp_path / "hero.glb") == []


def test_image_of_another_format_becomes_png(tmp_path: Path, errors_of: Validator):
    from PIL import Image as Pillow

    buffer = io.BytesIO()
    Pillow.new("RGB", (2, 2), (1, 2, 3)).save(buffer, "BMP")
    character = Character(bones(), images=(Image("old", "image/bmp", buffer.getvalue()),))
    with pytest.warns(UserWarning, match="PNG"):
        loaded = again(character, tmp_path)
    assert loaded.images[0].media_type == "image/png"
    assert errors_of(tmp_path / "hero.glb") == []


@pytest.mark.parametrize(
    ("character", "message"),
    [
        (lambda: Character(bones(), (grid(uvs=(np.full((4, 2), np.nan),)),)), "TEXCOORD_0"),
        (
            lambda: Character(bones(), (grid().replace(inverse_bind=np.full((1, 3, 4), np.inf)),)),
            "inverse bind",
        ),
        (
            lambda: Character(bones(), (Mesh.rigid("none", np.zeros((0, 3)), np.zeros((0, 3), int), 0),)),
            "no vertices",
        ),
        (
            lambda: Character(bones(rest=Pose.identity(3).replace(translation=np.full((3, 3), np.nan)))),
            "rest pose",
        ),
        (lambda: clip_of(Track(0, "scale", [0, 1], [[1, 1, 1], [np.nan, 1, 1]])), "scale of 'bone0'"),
        (
            lambda: Character(bones(), materials=(Material(normal_scale=1, metallic=float("nan")),)),
            "materials",
        ),
        (lambda: Character(bones(), name="\ud800"), "cannot be written as text"),
        (lambda: clip_of(Track(0, "scale", [-1, 1], np.ones((2, 3)))), "before zero"),
    ],
)
def test_what_gltf_cannot_hold_is_an_error_that_names_it(
    character: Callable[[], Character], message: str, tmp_path: Path
):
    with pytest.raises(FormatError, match=message):
        gltf.write(character(), tmp_path / "hero.glb")
    assert list(tmp_path.iterdir()) == []


def clip_of(track: Track) -> Character:
    skeleton = bones()
    return Character(skeleton, (), [Clip("c", skeleton, [track])])  # type: ignore[arg-type]


def test_arrays_of_a_gltf_lie_beside_it(tmp_path: Path):
    assert_same(
        skinned_bar().load().replace(name="x"),
        again(skinned_bar().load().replace(name="x"), tmp_path, "my hero.gltf"),
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["my hero.bin", "my hero.gltf"]


def test_other_programs_see_the_same_vertices(tmp_path: Path):
    trimesh = needed("trimesh")
    path = tmp_path / "hero.glb"
    rng = np.random.default_rng(2)
    skeleton = Skeleton(("a", "b"), [-1, 0], rest_pose(rng, 2))
    character = Character(skeleton, (grid("first", joint=0), grid("second", joint=1)))
    gltf.write(character, path)
    scene = trimesh.load(path, process=False)
    found = scene.to_geometry().vertices
    expected = mw.skin(character, skeleton.rest).positions
    order = np.lexsort(np.round(expected, 4).T), np.lexsort(np.round(found, 4).T)
    assert_allclose(found[order[1]], expected[order[0]], atol=1e-5)


def test_saving_twice_gives_the_same_bytes(tmp_path: Path):
    character = every_material()
    gltf.write(character, tmp_path / "a.glb")
    gltf.write(replace(character), tmp_path / "b.glb")
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_damaged_notes_are_reported_and_passed_over(tmp_path: Path):
    path = tmp_path / "hero.glb"
    gltf.write(channel_that_drives_two_meshes(), path)
    data = path.read_bytes().replace(b'"channels":[1,2]', b'"channels":[1,9]')
    character = gltf.read(Source(path, data), LoadOptions())
    assert "do not fit" in str(character.report)
    assert len(character.skeleton.morph_names) == 3
    data = path.read_bytes().replace(b'"channels":[1,2]', b'"channels":"foo"')
    assert "could not be read" in str(gltf.read(Source(path, data), LoadOptions()).report)


def test_unit_rotations_stay_bit_for_bit(tmp_path: Path):
    rng = np.random.default_rng(4)
    rotation = f32(quaternion.normalize(rng.normal(size=(50, 4))))
    skeleton = bones(50, rest=Pose.identity(50).replace(rotation=rotation))
    assert_array_equal(again(Character(skeleton), tmp_path).skeleton.rest.rotation, rotation)


def test_morph_tracks_come_back_in_their_order(tmp_path: Path) -> None:
    """A file has one channel for all morphs of a mesh; a clip may move some of them, in any order."""
    hero = mw.samples.mannequin()
    wave = hero.clips["wave"]
    moved = [t.target for t in wave.tracks if t.path == "morph"]
    assert moved != sorted(moved)
    mw.save(hero.replace(clips=[wave]), tmp_path / "wave.glb")
    assert mw.load(tmp_path / "wave.glb", cache=False).clips["wave"] == wave
