"""Archives of packed motion: the very same words again, and no damage that leads anywhere."""

import json
from dataclasses import replace

import numpy as np
import pytest
from test_packed_clips import body, motion

import marrow as mw
from marrow.animation.archive import archived_words, expanded_words
from marrow.animation.skin_reach import morph_reach
from marrow.cli.app import run
from marrow.errors import ValidationError
from marrow.kernels.archive_coder import expand_numbers
from marrow.model import Clip, Mesh, MorphTarget, Pose, Skeleton
from marrow.model.packed_motion import PackedMotion


@pytest.mark.parametrize(
    ("joints", "frames", "options"),
    [(20, 70, {}), (3, 1, {}), (40, 33, {"morphs": 5}), (9, 40, {"scale": True})],
)
def test_an_archive_gives_back_the_words(joints, frames, options):
    skeleton = body(joints, morphs=options.pop("morphs", 0), seed=joints)
    packed = motion(skeleton, frames, seed=frames, **options).compressed().packed
    data = packed.archived()
    again = PackedMotion.from_archive(data)
    assert again == packed and np.array_equal(again.words, packed.words)
    assert len(data) < packed.nbytes or frames == 1


def test_captured_like_motion_is_a_quarter_smaller_still():
    hero = mw.samples.mannequin()
    for name in ("walk", "idle", "breathe"):
        packed = hero.clips[name].compressed().packed
        assert len(packed.archived()) < 0.78 * packed.nbytes, name


def test_still_far_and_additive_clips():
    skeleton = body(5, seed=1)
    still = Clip.from_poses("still", skeleton, skeleton.rest.broadcast_to((30,)), 30.0).compressed().packed
    assert PackedMotion.from_archive(still.archived()) == still
    pose = skeleton.rest.broadcast_to((50,))
    way = np.array(pose.translation)
    way[:, 0] = np.linspace([0, 0, 0], [900, 1, -4000], 50)
    far = Clip.from_poses("far", skeleton, replace(pose, translation=way.astype(np.float32)), 30.0)
    packed = far.compressed(error=1e-3).packed
    assert PackedMotion.from_archive(packed.archived()) == packed


def test_files_keep_archives(tmp_path):
    hero = mw.samples.mannequin()
    small = hero.replace(clips=[hero.clips[n].compressed() for n in ("walk", "run")], meshes=(), reduced=())
    mw.save(small, tmp_path / "words.marrow")
    mw.save(small, tmp_path / "archive.marrow", archive=True)
    again = mw.load(tmp_path / "archive.marrow")
    assert (
        again.clips["walk"] == small.clips["walk"] and again.clips["run"].packed == small.clips["run"].packed
    )
    sizes = [(tmp_path / f"{name}.marrow").stat().st_size for name in ("archive", "words")]
    assert sizes[0] < sizes[1]
    with pytest.raises(ValidationError, match="archive"):
        mw.save(small, tmp_path / "x.marrow", archive="yes")


def test_damaged_archives_are_refused_or_other_motion():
    packed = motion(body(12, morphs=2, seed=4), 40, seed=5).compressed().packed
    data, rng, refused = packed.archived(), np.random.default_rng(3), 0
    for k in range(150):
        damaged = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            damaged[int(rng.integers(len(damaged) if k % 2 else 90))] = int(rng.integers(256))
        if k % 10 == 0:
            damaged = damaged[: int(rng.integers(len(damaged)))]
        # What says how much there is may ask for a lot; that is looked at elsewhere.
        damaged[8:20] = data[8:20]
        try:
            PackedMotion.from_archive(bytes(damaged))
        except ValidationError:
            refused += 1
    assert refused > 20
    for wrong in (b"", b"mwpa", data[:60], b"nope" + data[4:]):
        with pytest.raises(ValidationError):
            PackedMotion.from_archive(wrong)


def test_archives_are_expanded_to_the_same_numbers_by_plain_python():
    packed = motion(body(4, seed=7), 24, seed=8).compressed().packed
    seen = []
    run = type(expand_numbers).__call__

    def both(self, *arguments):
        copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        result = run(self, *arguments)
        if self is expand_numbers:
            names = list(self.kinds)
            frame = self.frame(**dict(zip(names, copies)))
            self.run_plainly(frame)
            seen.append(all(np.array_equal(a, b) for a, b in zip(arguments, copies)))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(expand_numbers), "__call__", both)
        words = expanded_words(archived_words(packed), 24, 4, 0)
    assert np.array_equal(words, packed.words) and len(seen) >= 4 and all(seen)


def test_the_commands_pack_and_say_how_small_and_how_far_off(tmp_path, capsys):
    hero = mw.samples.mannequin()
    few = hero.replace(clips=[hero.clips["walk"], hero.clips["turn_left"]], reduced=(), images=())
    mw.save(few, tmp_path / "few.marrow")
    source = str(tmp_path / "few.marrow")

    def call(*arguments):
        assert run([str(a) for a in arguments]) == 0
        return capsys.readouterr().out

    said = call("clip", "compress", source, tmp_path / "small.marrow", "--clip", "walk", "--error", "0.0002")
    assert "walk:" in said and "times smaller" in said and "turn_left:" not in said
    call("convert", source, tmp_path / "all.marrow", "--compress", "clips")
    call("convert", source, tmp_path / "keys.glb", "--compress", "clips+meshopt")
    call("convert", source, tmp_path / "keys.fbx", "--compress", "clips")
    assert len(mw.load(tmp_path / "keys.fbx").clips) == 2
    assert run(["convert", source, str(tmp_path / "keys.usda"), "--compress", "clips"]) == 2
    packed = {name: mw.load(tmp_path / f"{name}.marrow").clips for name in ("small", "all")}
    assert packed["small"]["walk"].packed.limit == 2e-4 and packed["small"]["turn_left"].packed is None
    assert all(clip.packed.error <= 1e-4 for clip in packed["all"].values())
    fewer = mw.load(tmp_path / "keys.glb").clips["walk"]
    assert len(fewer.tracks.values) < len(few.clips["walk"].tracks.values)
    facts = json.loads(call("info", "--json", tmp_path / "all.marrow"))[0]["clips"]
    assert all(clip["packed"]["ratio"] > 10 and clip["packed"]["error"] <= 1e-4 for clip in facts)
    assert ": 1, off by" in call("info", tmp_path / "all.marrow")


def test_morphs_count_where_they_are_seen():
    """A mesh in units that its joint makes a hundred times larger: its deltas are a hundred times larger, too."""
    rest = Pose(np.zeros((1, 3)), np.array([[0.0, 0, 0, 1]]), np.full((1, 3), 100.0), np.zeros(1))
    skeleton = Skeleton(("root",), np.array([-1]), rest, morph_names=("m",))
    triangle = np.array([[0.0, 0, 0], [0.01, 0, 0], [0, 0.01, 0]], np.float32)
    target = MorphTarget("m", channel=0, positions=triangle)
    bind = np.hstack([np.eye(3), np.zeros((3, 1))])[None].astype(np.float32)
    influences = np.zeros((3, 1), np.uint16), np.ones((3, 1), np.float32)
    mesh = Mesh(
        "m", triangle, np.array([[0, 1, 2]]), *influences, np.array([0]), bind, morph_targets=(target,)
    )
    character = mw.Character(skeleton, meshes=(mesh,))
    assert morph_reach(skeleton, character)[0] == pytest.approx(1.0)


def test_archives_of_an_earlier_version_are_refused_in_words():
    packed = motion(body(4, seed=3), 40, seed=4).compressed().packed
    data = bytearray(archived_words(packed))
    assert data[0] > 128
    data[0] -= 128
    with pytest.raises(ValidationError, match="earlier version"):
        expanded_words(bytes(data), packed.frame_count, packed.joint_count, packed.morph_count)
