"""OBJ and PLY in: every way to write a corner, materials, colours, byte orders, strips; held against trimesh; mutants."""

from __future__ import annotations

import io
import random
import struct

import numpy as np
import PIL.Image
import pytest
import trimesh

import marrow as mw
from marrow.errors import FormatError

SQUARE = """
# a square and a triangle
mtllib paint.mtl
o first
v 0 0 0 1 0 0
v 1 0 0 0 1 0
v 1 1 0 0 0 1
v 0 1 0 1 1 1
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vn 0 0 1
usemtl red
f 1/1/1 2/2/1 3/3/1 4/4/1
o second
v 0 0 1 0.5 0.5 0.5
  v 1 0 1 0.5 0.5 0.5
v 0 1 \\
 1 0.5 0.5 0.5
usemtl blue
f -3//-1 -2//-1 -1//-1
"""
PAINT = """
newmtl red
Kd 1 0.5 0.25
d 0.5
Ns 98
map_Kd -s 1 1 1 paint folder/skin.png
newmtl blue
Kd 0 0 1
Pr 0.25
Pm 1
"""


def png():
    out = io.BytesIO()
    PIL.Image.new("RGB", (2, 2), (9, 8, 7)).save(out, "PNG")
    return out.getvalue()


def loaded(tmp_path, name, data, **options):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return mw.load(path, cache=False, **options)


def test_an_obj_file_with_all_it_may_have(tmp_path):
    (tmp_path / "paint.mtl").write_text(PAINT)
    (tmp_path / "paint folder").mkdir()
    (tmp_path / "paint folder" / "skin.png").write_bytes(png())
    hero = loaded(tmp_path, "hero.obj", SQUARE)
    first, second = hero.meshes
    assert (first.name, second.name, hero.skeleton.names) == ("first", "second", ("root",))
    assert first.positions.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert first.uvs[0].tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]]
    assert first.triangles.tolist() == [[0, 1, 2], [0, 2, 3]] and (first.normals == [0, 0, 1]).all()
    assert first.colors.tolist() == [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]]
    np.testing.assert_allclose(
        second.colors[:, :3], 0.2140411, atol=1e-6
    )  # half of a screen's white in linear light
    assert second.positions.tolist() == [[0, 0, 1], [1, 0, 1], [0, 1, 1]] and not second.uvs
    red, blue = hero.materials
    assert red.base_color == (1, 0.5, 0.25, 0.5) and red.alpha_mode == "blend"
    assert red.roughness == pytest.approx((2 / 100) ** 0.5)
    assert hero.images[red.base_color_texture.image].data == png()
    assert (blue.roughness, blue.metallic) == (0.25, 1)
    assert [s.material for m in hero.meshes for s in m.sections] == [0, 1]
    assert mw.load(SQUARE.encode(), cache=False, scale=2).meshes[0].positions.max() == 2


@pytest.mark.parametrize("corner", ["{0}", "{0}/{0}", "{0}//{0}", "{0}/{0}/{0}"])
@pytest.mark.parametrize("negative", [False, True])
def test_corners_are_read_in_every_way_they_are_written(tmp_path, corner, negative):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6, 3)).round(6)
    text = "".join(f"v {x} {y} {z}\nvt {x} {y}\nvn 0 1 0\n" for x, y, z in points)
    faces = [[1, 2, 3], [1, 3, 4, 5], [6, 2, 1]]
    for face in faces:
        text += "f " + " ".join(corner.format(i - 7 if negative else i) for i in face) + "\r\n"
    mesh = loaded(tmp_path, "a.obj", text).meshes[0]
    assert mesh.triangle_count == 4
    found = {tuple(np.round(p, 5)) for p in mesh.positions.tolist()}
    assert found == {tuple(np.round(np.float32(p).astype(float), 5)) for p in points}
    assert bool(mesh.uvs) == (corner.count("/") > 0 and "//" not in corner)


def test_a_file_that_mixes_ways_to_write_corners(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0.5 0.25\nf 1/1 2 3/1\nf 1 3/1 4\n"
    mesh = loaded(tmp_path, "a.obj", text).meshes[0]
    assert mesh.triangle_count == 2 and [0.5, 0.75] in mesh.uvs[0].tolist()


@pytest.mark.parametrize("suffix", ["obj", "ply"])
def test_models_are_what_trimesh_reads(tmp_path, suffix):
    shape = trimesh.creation.icosphere(2)
    shape.visual.vertex_colors = np.random.default_rng(1).integers(0, 256, (len(shape.vertices), 4), np.uint8)
    shape.export(tmp_path / f"ball.{suffix}")
    mesh = mw.load(tmp_path / f"ball.{suffix}", cache=False).meshes[0]
    np.testing.assert_allclose(mesh.positions[mesh.triangles], shape.triangles, atol=1e-6)
    channels = shape.visual.vertex_colors[shape.faces][..., :3] / 255.0
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    np.testing.assert_allclose(
        mesh.colors[mesh.triangles][..., :3], linear, atol=2e-3 if suffix == "obj" else 1e-6
    )


def ply(order="ascii", extra="", faces=None):
    """Four points with normals, colours and UVs, and a quad and a triangle."""
    name = {"ascii": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    head = f"ply\nformat {name} 1.0\ncomment made by hand\n{extra}element vertex 4\n"
    head += "".join(f"property float {n}\n" for n in ("x", "y", "z", "nx", "ny", "nz", "s", "t"))
    head += "".join(f"property uchar {n}\n" for n in ("red", "green", "blue"))
    faces = [[0, 1, 2, 3], [0, 2, 1]] if faces is None else faces
    head += f"element face {len(faces)}\nproperty list uchar int vertex_indices\nproperty uchar flags\nend_header\n"
    rows = [(x, y, 0, 0, 0, 1, x, y, 255, 0, 128) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    if order == "ascii":
        body = "".join(" ".join(map(str, row)) + "\n" for row in rows)
        body += "".join(f"{len(f)} {' '.join(map(str, f))} 7\n" for f in faces)
        return head.encode() + body.encode()
    body = b"".join(struct.pack(f"{order}8f3B", *row) for row in rows)
    return head.encode() + body + b"".join(struct.pack(f"{order}B{len(f)}iB", len(f), *f, 7) for f in faces)


@pytest.mark.parametrize("faces", [None, [[0, 1, 2], [0, 2, 3]]])
def test_ply_is_the_same_in_text_and_both_orders_of_bytes(tmp_path, faces):
    made = [
        loaded(tmp_path, f"{k}.ply", ply(order, faces=faces)) for k, order in enumerate(("ascii", "<", ">"))
    ]
    mesh = made[0].meshes[0]
    assert mesh.vertex_count == 4 and mesh.triangle_count == (3 if faces is None else 2)
    assert mesh.colors[0].tolist() == pytest.approx([1, 0, 0.2158605, 1], abs=1e-6)
    assert mesh.uvs[0].tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]] and (mesh.normals == [0, 0, 1]).all()
    for other in made[1:]:
        for name in ("positions", "normals", "colors", "triangles"):
            assert np.array_equal(getattr(other.meshes[0], name), getattr(mesh, name))


def test_strips_of_triangles_and_textures_of_ply(tmp_path):
    head = "ply\nformat ascii 1.0\ncomment TextureFile skin.png\nelement vertex 5\nproperty float x\nproperty float y\n"
    head += "property float z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n"
    points = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 1\n"
    (tmp_path / "skin.png").write_bytes(png())
    hero = loaded(tmp_path, "s.ply", head + points + "8 0 1 2 3 -1 1 4 3\n")
    mesh = hero.meshes[0]
    triangles = mesh.positions[mesh.triangles]
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert len(triangles) == 3 and (across[:, 2] > 0).all()
    assert hero.images[hero.materials[0].base_color_texture.image].data == png()


def test_what_marrow_writes_it_reads(tmp_path):
    hero = mw.load(SQUARE.encode(), cache=False)
    for name in ("a.obj", "a.ply"):
        mw.save(hero, tmp_path / name)
        again = mw.load(tmp_path / name, cache=False)
        assert sum(m.triangle_count for m in again.meshes) == sum(m.triangle_count for m in hero.meshes)
        assert "root" in again.skeleton.names


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "not there"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "not there"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "counted from 1"),
        ("a.obj", "v 0 0\nf 1 1 1\n", "2 numbers"),
        ("a.obj", "v 0 nan 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite"),
        ("a.obj", "v a b c\n", "not numbers"),
        ("a.obj", "v 0 0 0\n", "no polygons"),
        ("a.obj", "hello\n", "no points"),
        ("a.ply", "ply\nformat ascii 1.0\n", "does not end"),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nend_header\n1\n",
            "ends before",
        ),
        ("a.ply", "ply\nformat odd 1.0\nend_header\n", "does not know"),
        ("a.ply", ply()[:-30], "ends before|not numbers"),
        ("a.ply", ply("<")[:-5], "ends before"),
        ("a.ply", ply(faces=[[0, 1, 9]]), "not there"),
        ("a.ply", ply("<", faces=[]), "no polygons"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, name, data, words):
    with pytest.raises(FormatError, match=words):
        loaded(tmp_path, name, data)


@pytest.mark.parametrize(
    "data", [SQUARE.encode(), ply(), ply("<"), ply(">")], ids=["obj", "ascii", "little", "big"]
)
def test_mutants_are_read_or_refused(tmp_path, data):
    rng = random.Random(3)
    for k in range(150):
        mutant = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 8))):
            at = rng.randrange(len(mutant))
            mutant[at] = rng.choice(
                (rng.randrange(256), ord("9"), ord("-"), ord("/"), ord("\n"), mutant[at] ^ 1)
            )
        whole = bytes(mutant[: rng.randrange(len(mutant))]) if k % 4 == 0 else bytes(mutant)
        try:
            character = loaded(tmp_path, "m.ply" if whole.startswith(b"ply") else "m.obj", whole)
        except FormatError:
            continue
        assert all(np.isfinite(m.positions).all() for m in character.meshes)
