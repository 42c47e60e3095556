"""FBX out: what is written is read back the same, by marrow, by ufbx alone and by three.js."""

import struct
import warnings

import io_worlds
import numpy as np
import pytest
from fbx_worlds import random_character

import check_fbx
import marrow as mw
from marrow.errors import FormatError
from marrow.io.fbx.writing import records
from surroundings import repeats


def saved(character, path, **options):
    """Writes a file; the warnings of that."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mw.save(character, path, **options)
    return [str(w.message) for w in caught]


def again(character, path, **options):
    saved(character, path, **options)
    return mw.load(path, cache=False)


def farthest(character, path, reader, moments=4, home=None):
    """How far the corners of triangles are from where they should be, as a part of the character's size."""
    shots = check_fbx.shots_of(character, moments)
    truth = check_fbx.truth_of(character, shots)
    size = max(float(np.ptp(np.concatenate(t), axis=0).max()) for t in truth)
    if reader == "marrow":
        found = check_fbx.by_marrow(path, shots)
    else:
        found = check_fbx.by_program(reader, path, shots, home=home)
    return max(check_fbx.worst(w, f) / size for w, f in zip(truth, found))


@pytest.mark.parametrize("seed", range(repeats(30)))
def test_random_characters_come_back(seed, tmp_path):
    who = random_character(seed)
    saved(who, tmp_path / "x.fbx", up="z" if seed % 2 else "y", units=("cm", "m", "in")[seed % 3])
    assert farthest(who, tmp_path / "x.fbx", "marrow") < 1e-5


@pytest.mark.parametrize("seed", range(1000, 1000 + repeats(5)))
def test_ufbx_sees_any_interpolation_as_marrow_does(seed, tmp_path):
    who = random_character(seed, interpolations=("linear", "step", "cubic"))
    saved(who, tmp_path / "x.fbx")
    assert farthest(who, tmp_path / "x.fbx", "ufbx") < 1e-5


@pytest.mark.parametrize("seed", range(2000, 2000 + repeats(5)))
def test_three_js_shows_tame_characters_as_marrow_does(seed, tmp_path, node_tools):
    who = random_character(seed, tame=True)
    saved(who, tmp_path / "x.fbx")
    assert farthest(who, tmp_path / "x.fbx", "three", home=node_tools) < 1e-5


def test_real_files_are_the_same_in_ufbx(corpus, tmp_path):
    for name in ("Fox.glb", "maya_game_sausage_7500_binary_combined.fbx"):
        who = mw.load(corpus / name)
        saved(who, tmp_path / "x.fbx")
        assert farthest(who, tmp_path / "x.fbx", "ufbx", 10) < 1e-6, name


def test_second_trip_changes_nothing_and_bytes_are_the_same(tmp_path):
    for seed in (3, 7, 11):
        once = again(random_character(seed), tmp_path / "a.fbx")
        twice = again(once, tmp_path / "b.fbx")
        assert all(clip.duration == pytest.approx(2.25) for clip in once.clips.values())
        saved(once, tmp_path / "c.fbx")
        assert (tmp_path / "b.fbx").read_bytes() == (tmp_path / "c.fbx").read_bytes()
        assert once.skeleton.names == twice.skeleton.names
        assert once.materials == twice.materials
        for a, b in zip(once.meshes, twice.meshes, strict=True):
            assert a.name == b.name
            assert a.sections == b.sections
            for field in ("positions", "triangles", "joints", "joint_list", "colors"):
                assert np.array_equal(getattr(a, field), getattr(b, field)), field
            for field in ("weights", "normals", "inverse_bind"):
                np.testing.assert_allclose(getattr(a, field), getattr(b, field), atol=1e-6, err_msg=field)
            for u, v in zip(a.uvs, b.uvs, strict=True):
                assert np.array_equal(u, v)
            for u, v in zip(a.morph_targets, b.morph_targets, strict=True):
                assert (u.name, u.channel, u.full_weight) == (v.name, v.channel, v.full_weight)
                assert np.array_equal(u.positions, v.positions)
        for a, b in zip(once.clips.values(), twice.clips.values(), strict=True):
            assert (a.name, a.duration, a.start) == (b.name, b.duration, b.start)
            times = np.linspace(0, a.duration, 40)
            for x, y in zip(
                once.skeleton.to_model(a.sample(times)), twice.skeleton.to_model(b.sample(times))
            ):
                np.testing.assert_allclose(x, y, atol=1e-5)


def test_everything_that_is_lost_is_said(tmp_path):
    who = io_worlds.everything()
    lines = saved(who, tmp_path / "x.fbx")
    text = "\n".join(lines)
    for what in ("events", "additive", "tangents", "names of its parts", "variants", "VRM", "sockets", "humanoid",
                 "mirrored", "cut out by alpha", "without a material", "inverse bind"):  # fmt: skip
        assert what in text, what
    back = mw.load(tmp_path / "x.fbx", cache=False)
    assert set(who.skeleton.names) <= set(back.skeleton.names)
    assert back.materials[0].replace(extensions={}) == who.materials[0]
    assert back.meshes[0].skinning == "blended"
    assert [t.full_weight for t in back.meshes[0].morph_targets][:2] == pytest.approx([0.5, 1.0])


def test_properties_and_visibility_are_curves(tmp_path):
    who = random_character(4)
    times, values = np.float32([0, 0.5, 1]), np.float32([0, 1, 0.25])
    curves = (
        mw.Curve("grip", times, values),
        mw.Curve("visibility:joint_1", np.float32([0, 0.5, 0.500001]), np.float32([1, 1, 0])),
    )
    bones = who.skeleton.replace(names=tuple(f"joint_{j}" for j in range(len(who.skeleton))))
    clip = mw.Clip("c", bones, curves=curves, duration=1.0)
    back = again(mw.Character(bones, clips=(clip,)), tmp_path / "x.fbx").clips["c"]
    found = {c.name: c for c in back.curves}
    np.testing.assert_allclose(found["grip"].sample([0.25, 0.5, 0.75]), [0.5, 1, 0.625], atol=1e-6)
    np.testing.assert_allclose(found["visibility:joint_1"].sample([0.25, 0.75]), [1, 0])


def test_levels_become_a_lod_group(tmp_path):
    who = random_character(6)
    coarse = tuple(m.replace(triangles=m.triangles[:1], sections=()) for m in who.meshes)
    level = mw.Level(coarse, mw.Lod.of(coarse, len(who.skeleton), screen_size=0.25))
    who = who.replace(reduced=(level,), lod=None)
    once = again(who, tmp_path / "a.fbx")
    twice = again(once.replace(name="random"), tmp_path / "b.fbx")
    for back in (once, twice):
        assert [len(m.triangles) for m in back.reduced[0].meshes] == [1] * len(coarse)
        assert back.reduced[0].lod.screen_size == pytest.approx(0.25)
    assert once.skeleton.names == twice.skeleton.names
    assert farthest(who, tmp_path / "a.fbx", "marrow") < 1e-5


def test_textures_are_in_the_file_or_beside_it(tmp_path):
    picture = b"\x89PNG\r\n\x1a\n" + bytes(100)
    look = mw.Material(
        "skin",
        base_color_texture=mw.Texture(0),
        normal_texture=mw.Texture(1),
        occlusion_texture=mw.Texture(1),
    )
    images = (mw.Image("a/colour", "image/png", picture), mw.Image("a/colour", "image/png", picture + b"2"))
    base = random_character(8)
    meshes = tuple(m.replace(sections=(mw.Section(0, len(m.triangles), 0),)) for m in base.meshes)
    who = mw.Character(base.skeleton, meshes, (), (look,), images)
    inside = again(who, tmp_path / "in.fbx")
    beside = again(who, tmp_path / "out.fbx", textures="link")
    assert sorted(p.name for p in (tmp_path / "out_textures").iterdir()) == ["colour.png", "colour_1.png"]
    for back in (inside, beside):
        assert [i.data for i in back.images] == [i.data for i in images]
        assert back.materials == (look,)


def test_one_mesh_on_many_nodes_is_one_geometry(tmp_path):
    bones = mw.Skeleton(tuple(f"n{i}" for i in range(50)), np.full(50, -1))
    points = np.random.default_rng(0).normal(size=(3000, 3)).astype(np.float32)
    one = mw.Mesh.rigid("m", points, np.arange(3000).reshape(-1, 3), 0)
    meshes = [one.replace(joint_list=np.array([j]), node=j, name=f"n{j}") for j in range(50)]
    back = again(mw.Character(bones, tuple(meshes)), tmp_path / "x.fbx")
    assert len(back.meshes) == 50
    assert (tmp_path / "x.fbx").stat().st_size < 300_000
    assert back.meshes[0].positions is back.meshes[49].positions


def test_odd_characters(tmp_path):
    lone = mw.Character(mw.Skeleton(("only",), [-1]))
    assert again(lone, tmp_path / "x.fbx").skeleton.names == ("only",)
    J = repeats(10_000)
    many = mw.Skeleton(tuple(f"j{i}" for i in range(J)), (np.arange(J) + 1) // 2 - 1)
    assert len(again(mw.Character(many), tmp_path / "x.fbx").skeleton) == J
    empty = mw.Mesh.rigid("empty", np.zeros((0, 3)), np.zeros((0, 3), int), 0)
    assert any(
        "without triangles" in line for line in saved(lone.replace(meshes=(empty,)), tmp_path / "x.fbx")
    )
    with pytest.raises(FormatError, match="no joints"):
        mw.save(mw.Character(mw.Skeleton((), [])), tmp_path / "none.fbx")
    rest = mw.Pose(np.full((1, 3), np.nan), np.array([[0, 0, 0, 1.0]]), np.ones((1, 3)))
    with pytest.raises(FormatError, match="finite"):
        mw.save(mw.Character(mw.Skeleton(("a",), [-1], rest)), tmp_path / "none.fbx")
    with pytest.raises(FormatError, match="text"):
        mw.save(mw.Character(mw.Skeleton(("\ud800",), [-1])), tmp_path / "none.fbx")
    assert not (tmp_path / "none.fbx").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["x.fbx"]


def test_wrong_options_are_refused(tmp_path):
    who = random_character(1)
    for options in (
        {"units": "parsec"},
        {"up": "x"},
        {"preset": "word"},
        {"textures": "away"},
        {"rate": -1},
        {"colour": 1},
    ):
        with pytest.raises(mw.MarrowError):
            mw.save(who, tmp_path / "x.fbx", **options)


def test_large_files_have_wide_offsets(tmp_path, monkeypatch):
    who = random_character(5)
    before = again(who, tmp_path / "x.fbx")
    monkeypatch.setattr(records, "_LIMIT_32", 1000)
    after = again(who, tmp_path / "y.fbx")
    assert struct.unpack_from("<I", (tmp_path / "y.fbx").read_bytes(), 23) == (7500,)
    assert before == after.replace(name="x")


@pytest.mark.parametrize("preset", ["unreal", "maya", "blender", "three.js"])
def test_presets_say_their_axes_and_units(preset, tmp_path):
    who = random_character(9)
    saved(who, tmp_path / "x.fbx", preset=preset)
    data = (tmp_path / "x.fbx").read_bytes()
    unit = 1.0 if preset in ("unreal", "maya") else 100.0
    at = data.index(b"UnitScaleFactor")
    assert struct.pack("<d", unit) in data[at : at + 60]
    assert farthest(who, tmp_path / "x.fbx", "marrow") < 1e-5


def test_a_rate_samples_the_clips(tmp_path):
    who = random_character(1, interpolations=("cubic",))
    back = again(who, tmp_path / "x.fbx", rate=60.0)
    for name, clip in who.clips.items():
        for t in np.arange(0, 2, 1 / 60)[::17]:
            ours, theirs = (
                who.skeleton.to_model(clip.sample(t)),
                back.skeleton.to_model(back.clips[name].sample(t)),
            )
            np.testing.assert_allclose(theirs[: len(ours)], ours, atol=1e-4)


@pytest.mark.parametrize(("keys", "file"), [(37.5, 75), (30.0, 30), (1.0, 24), (12.5, 25), (29.97, 29.97)])
def test_the_file_names_a_rate_that_no_program_rounds_where_there_is_one(keys, file, tmp_path) -> None:
    bones = mw.Skeleton(("root",), [-1])
    move = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [0, 1, 0]])
    mw.save(mw.Character(bones, clips=[mw.Clip("move", bones, [move], rate=keys)]), tmp_path / "x.fbx")
    assert mw.load(tmp_path / "x.fbx", cache=False).clips["move"].rate == pytest.approx(file)


def test_a_clip_that_holds_still_lasts_as_long(tmp_path):
    bones = mw.Skeleton(("a", "b"), (-1, 0))
    held = mw.Track(1, "translation", [0.25, 1.5], [[0, 1, 0]] * 2)  # the same at all keys
    moving = mw.Track(0, "translation", [0, 0.5], [[0, 0, 0], [1, 0, 0]])
    turned = mw.Track(1, "rotation", [0, 3.0], [[0, 0, 0.6, 0.8]] * 2)
    step = mw.Track(1, "translation", [0, 2.0], [[0, 1, 0]] * 2, "step")
    clips = [
        mw.Clip("held", bones, (held,)),
        mw.Clip("both", bones, (held, moving)),
        mw.Clip("turned", bones, (turned,)),
        mw.Clip("longer", bones, (held,), 4.0),
        mw.Clip("step", bones, (step,)),
    ]
    back = again(mw.Character(bones, clips=clips), tmp_path / "x.fbx")
    for clip in clips:
        found = back.clips[clip.name]
        assert found.duration == pytest.approx(clip.duration, abs=1e-6), clip.name
        times = np.linspace(0, clip.duration, 9)
        ours, theirs = clip.sample(times), found.sample(times)
        np.testing.assert_allclose(theirs.translation[:, -2:], ours.translation, atol=1e-6)
        np.testing.assert_allclose(theirs.rotation[:, -2:], ours.rotation, atol=1e-6)
