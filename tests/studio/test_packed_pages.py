"""What pages carry packed, unpacked by the page's own code in Node: clips to the bit, meshes within what is said."""

import dataclasses
import json
import shutil
import subprocess
import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest

import marrow as mw
from marrow.animation import ClipBank
from marrow.studio.assets import describe
from marrow.studio.page.contents import _motion_info, gather
from marrow.studio.page.packed_meshes import pack_meshes
from marrow.studio.page.packed_motion import pack_motion
from marrow.studio.page.packing import PackedWriter
from surroundings import missing

WEB = Path(__file__).resolve().parents[2] / "web"


@pytest.fixture(scope="module")
def unpack(tmp_path_factory):
    """A function that has the page's code unpack what Python packed."""
    if shutil.which("node") is None or not (WEB / "node_modules").is_dir():
        missing("Node and the packages of web/")
    folder = tmp_path_factory.mktemp("unpack")
    script = folder / "unpack.mjs"
    build = [str(WEB / "node_modules" / ".bin" / "esbuild"), "test/unpack.ts", "--bundle", "--format=esm"]
    subprocess.run(
        [*build, "--platform=node", f"--outfile={script}", "--log-level=error"], cwd=WEB, check=True
    )

    def run(character):
        bank, described = ClipBank.of(character), describe(character, 0, None)
        motion, meshes = pack_motion(bank), pack_meshes(described)
        told = {
            "motion": _motion_info(bank, motion, 0, 0),
            "arrays": meshes.arrays,
            "bytes": meshes.info.buffer_bytes,
        }
        (folder / "case.json").write_bytes(msgspec.json.encode(told))
        (folder / "motion.bin").write_bytes(zlib.decompress(motion.data))
        (folder / "meshes.bin").write_bytes(zlib.decompress(meshes.data))
        subprocess.run(["node", str(script), str(folder)], check=True)
        rows = np.fromfile(folder / "rows.bin", "<f4").reshape(motion.rows.shape)
        return bank, motion, rows, described, meshes, (folder / "blob.bin").read_bytes()

    return run


def read(blob, info):
    return np.frombuffer(blob, info.dtype, int(np.prod(info.shape)), info.offset).reshape(info.shape)


def wild_character(seed):
    """Clips of every kind: still, turning all the way round, jumping sign, scaled, of one frame, with NaN, with
    huge numbers."""
    rng = np.random.default_rng(seed)
    names = tuple(f"j{i}" for i in range(20))
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, 20))]
    rest = mw.Pose.identity(20)
    rest.translation[:] = rng.normal(size=(20, 3))
    bones = mw.Skeleton(names, parents, rest, morph_names=("smile", "blink"))
    times = np.linspace(0, 1, 31)
    clips = []
    for k in range(4):
        tracks = []
        for joint in rng.choice(20, 9, replace=False).tolist():
            if rng.random() < 0.7:
                turns = np.cumsum(
                    rng.normal(size=(31, 4)) * rng.choice([0.0, 0.01, 0.4]), axis=0
                ) + rng.normal(size=4)
                turns /= np.linalg.norm(turns, axis=1, keepdims=True)
                turns *= rng.choice([-1.0, 1.0], (31, 1)) if rng.random() < 0.3 else 1.0
                tracks.append(mw.Track(joint, "rotation", times, turns))
            if rng.random() < 0.5:
                ways = np.cumsum(rng.normal(size=(31, 3)), axis=0) * rng.choice([0.0, 1e-3, 1.0, 1e7])
                tracks.append(mw.Track(joint, "translation", times, ways))
            if rng.random() < 0.3:
                tracks.append(mw.Track(joint, "scale", times, np.exp(rng.normal(size=(31, 3)))))
        tracks.append(mw.Track(int(rng.integers(0, 2)), "morph", times, rng.random(31)))
        clips.append(mw.Clip(f"clip{k}", bones, tracks))
    clips.append(mw.Clip("nothing", bones, []))
    return mw.Character(bones, clips=clips)


@pytest.mark.parametrize("seed", range(3))
def test_clips_are_played_to_the_bit_as_they_were_packed(unpack, seed):
    bank, motion, rows, *_ = unpack(wild_character(seed))
    assert rows.tobytes() == motion.rows.tobytes()
    # Every number is within a step of what it was, and rotations are rotations.
    layout, before = bank.layout, bank.rows.reshape(rows.shape)
    turns = [slice((3 + c) * layout.joints, (3 + c) * layout.joints + layout.J) for c in range(4)]
    was, now = (
        np.stack([table[:, s] for s in turns], axis=-1).astype(np.float64) for table in (before, rows)
    )
    angle = 2 * np.arccos(np.clip(np.abs((was * now).sum(-1)) / np.linalg.norm(was, axis=-1), 0, 1))
    assert (angle <= 4 * np.array(motion.steps) + 1e-3).all()
    assert np.abs(np.linalg.norm(now, axis=-1) - 1).max() < 1e-6
    ways = slice(0, 3 * layout.joints)
    assert np.abs(before[:, ways] - rows[:, ways]).max() <= motion.step


def test_numbers_that_are_none_come_through():
    writer = PackedWriter()
    with pytest.raises(ValueError):
        writer.whole(np.array([1 << 40]))
    bank = ClipBank.of(wild_character(7))
    broken = bank.rows.copy()
    broken[bank.layout.size * 3 + 5] = np.nan
    broken[bank.layout.size * 3 + 3 * bank.layout.joints + 1] = np.inf
    packed = pack_motion(bank.replace(rows=broken))
    assert np.isnan(packed.rows.ravel()[bank.layout.size * 3 + 5])


def test_meshes_are_within_what_is_said(unpack):
    hero = mw.samples.mannequin()
    kept = hero.replace(clips=(hero.clips["walk"],))
    _, motion, rows, described, meshes, blob = unpack(kept)
    assert rows.tobytes() == motion.rows.tobytes() and motion.error < 1e-3
    whole = [(0, described.info.meshes, meshes.info.meshes)]
    whole += [
        (1 + k, a.meshes, b.meshes) for k, (a, b) in enumerate(zip(described.info.levels, meshes.info.levels))
    ]
    for _, before, after in whole:
        for was, now in zip(before, after):
            assert (
                "tangents" not in now.buffers and "uv0" not in now.buffers
            )  # nothing in the page looks at them
            for name, info in now.buffers.items():
                a, b = read(described.blob, was.buffers[name]), read(blob, info)
                if name in ("triangles", "joints"):
                    np.testing.assert_array_equal(a, b)
                elif name == "weights":
                    np.testing.assert_allclose(b, a, atol=6e-4)
                    np.testing.assert_allclose(b.sum(axis=1), 1.0, atol=1e-6)
                elif name == "normals":
                    assert (np.einsum("ij,ij->i", a.astype(float), b) > np.cos(np.radians(0.06))).all()
                elif name == "morph_normals":
                    np.testing.assert_allclose(b, a, atol=6e-4)
                else:
                    assert np.linalg.norm(a - b, axis=-1).max() <= 1.01 * meshes.position_error
    assert len(meshes.data) < 420_000 and len(motion.data) < 20_000
    assert json.loads(msgspec.json.encode(meshes.info))["buffer_bytes"] == len(blob)


def test_what_a_scaled_joint_carries_is_as_exact_as_the_rest():
    """Many files have a root that scales by 100: a step below it is a hundred steps in the world."""
    skeleton = mw.Skeleton(
        ("root", "arm", "hand"),
        [-1, 0, 1],
        mw.Pose(
            [[0, 0, 0], [0, 0.01, 0], [0, 0.01, 0]],
            np.tile(np.float32([0, 0, 0, 1]), (3, 1)),
            [[100] * 3, [1] * 3, [1] * 3],
        ),
    )
    times = np.linspace(0, 1, 31, dtype=np.float32)
    way = np.stack([0.003 * np.sin(5 * times), 0.01 + 0 * times, 0 * times], 1)
    clip = mw.Clip("wave", skeleton, [mw.Track(2, "translation", times, way)])
    made = pack_motion(ClipBank.of(mw.Character(skeleton, (), [clip])))
    assert 0 < made.error < 1e-4 * 2, "of a skeleton of two metres"


def test_a_page_of_packed_clips_has_their_frames():
    hero = mw.samples.mannequin()
    bare = hero.replace(meshes=(), reduced=(), images=(), materials=())
    walk = hero.clips["walk"]
    pages = [gather(bare.replace(clips=[clip])) for clip in (walk, walk.compressed())]
    sizes = [len(page.parts["motion"]) for page in pages]
    assert 0.8 * sizes[0] < sizes[1] < 1.3 * sizes[0]


def test_a_mesh_in_centimetres_is_as_exact_as_one_in_metres():
    """What is said of vertices is said in metres of the character, whatever the units of its mesh."""
    hero = mw.samples.mannequin()
    hero = hero.replace(clips=(), reduced=())
    grown = [
        dataclasses.replace(
            mesh,
            positions=100 * mesh.positions,
            inverse_bind=mesh.inverse_bind * np.float32([0.01, 0.01, 0.01, 1]),
            morph_targets=(),
        )
        for mesh in hero.meshes
    ]
    plain = hero.replace(meshes=[dataclasses.replace(mesh, morph_targets=()) for mesh in hero.meshes])
    errors = [gather(character).position_error for character in (plain, hero.replace(meshes=grown))]
    assert errors[0] == pytest.approx(errors[1], rel=1e-4) and errors[0] < 1e-4
