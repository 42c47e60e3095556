"""Copies of assets: equal by value, frozen, free of what was computed for the original, usable in other processes."""

import copy
import multiprocessing
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

import marrow as mw
from builders import character, pose
from marrow.animation import ClipBank

COPIERS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {p}": lambda a, p=p: pickle.loads(pickle.dumps(a, p))
        for p in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}
TURN = [[0, 0, 0, 1], [0, 1, 0, 0]]


def hero(seed=0):
    """A character with one of everything, skinned every way so that all that is derived is there."""
    who = character(seed, morphs=2, dual_quaternion_weights=np.linspace(0, 1, 60), uvs=(np.zeros((60, 2)),))
    bones = who.skeleton
    clip = mw.Clip(
        "turn", bones, (mw.Track(1, "rotation", [0, 1], TURN),), events=(mw.Event(0.5, "foot_l"),), rate=30.0
    )
    bones = mw.Skeleton(
        bones.names, bones.parents, bones.rest, bones.morph_names, sockets=(mw.Socket("grip", 3),)
    )
    who = who.replace(
        skeleton=bones,
        clips=[clip.replace(skeleton=bones)],
        materials=(mw.Material("skin", base_color_texture=mw.Texture(0)),),
        images=(mw.Image("skin", "image/png", b"png"),),
        report=mw.Report((mw.ReportLine("info", "here", "a line"),)),
    )
    use(who)
    return who


def use(who):
    """Fills what is kept beside an asset, and answers with numbers that depend on all of it."""
    poses = pose(np.random.default_rng(3), who.skeleton, (2,))
    results = [mw.skin(who, poses, skinning=m).positions for m in ("linear", "dual_quaternion", "blended")]
    box = mw.bounds(who, poses, exact=False)
    who.meshes[0].influence_counts, who.vertex_offsets, who.clips["turn"].key_rate
    crowd = mw.Animator(who, count=2)
    crowd.play("turn")
    crowd.update(0.25)
    return [*results, box.low, box.high, crowd.matrices, ClipBank.of(who).rows]


def arrays(thing):
    """Every array in an asset, at any depth."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, (tuple, mw.Clips)):
        for item in thing.values() if isinstance(thing, mw.Clips) else thing:
            yield from arrays(item)
    elif type(thing).__name__ == "Tracks":
        yield from (thing.table, thing.times, thing.values)
    elif hasattr(thing, "__dataclass_fields__"):
        for f in fields(thing):
            yield from arrays(getattr(thing, f.name))


HERO = hero()
ASSETS = {
    "character": HERO,
    "skeleton": HERO.skeleton,
    "socket": HERO.skeleton.sockets[0],
    "mesh": HERO.meshes[0],
    "morph target": HERO.meshes[0].morph_targets[0],
    "clip": HERO.clips[0],
    "clips": HERO.clips,
    "tracks": HERO.clips[0].tracks,
    "track": HERO.clips[0].tracks[0],
    "palette": HERO.palette,
    "sampled clip": HERO.clips[0].resampled(),
    "bank": ClipBank.of(HERO),
    "material": HERO.materials[0],
    "report": HERO.report,
}


@pytest.mark.parametrize("how", COPIERS)
@pytest.mark.parametrize("what", ASSETS)
def test_a_copy_is_equal_frozen_and_bare(what, how):
    original = ASSETS[what]
    twin = COPIERS[how](original)
    assert type(twin) is type(original)
    assert twin == original and hash(twin) == hash(original)
    if hasattr(twin, "__dataclass_fields__") and hasattr(twin, "__dict__"):
        assert set(vars(twin)) == {f.name for f in fields(twin)}, "something derived came along"
    for array in arrays(twin):
        assert not array.flags.writeable


@pytest.mark.parametrize("how", COPIERS)
def test_a_copy_gives_the_same_results_when_the_original_is_gone(how):
    original = hero(5)
    expected = [np.array(a) for a in use(original)]
    twin = COPIERS[how](original)
    assert twin.clips[0].skeleton is twin.skeleton
    del original
    for got, want in zip(use(twin), expected):
        np.testing.assert_array_equal(got, want)


def test_out_of_band_pickles_share_their_memory_and_stay_frozen():
    buffers = []
    data = pickle.dumps(HERO.meshes[0], 5, buffer_callback=buffers.append)
    assert len(buffers) > 5
    twin = pickle.loads(data, buffers=buffers)
    assert twin == HERO.meshes[0] and not any(a.flags.writeable for a in arrays(twin))


class TestEquality:
    def test_every_field_counts(self):
        """Whatever is changed in an asset makes it another one, down to one number of one array."""
        checked = 0
        for asset in (
            HERO.skeleton,
            HERO.meshes[0],
            HERO.meshes[0].morph_targets[0],
            HERO.clips[0].tracks[0],
        ):
            for f in fields(asset):
                value = getattr(asset, f.name)
                if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
                    changed = value.copy()
                    changed.flat[-1] += 1e-4
                elif f.name == "name":
                    changed = "another"
                else:
                    continue
                assert replace(asset, **{f.name: changed}) != asset, f.name
                checked += 1
        assert checked > 10

    def test_made_alike_is_equal(self):
        again = hero()
        assert again == HERO and again is not HERO and hash(again) == hash(HERO)
        assert {HERO: 1}[again] == 1
        assert hero(1) != HERO
        assert HERO.replace(name="x") != HERO

    def test_other_types_are_not_equal(self):
        for asset in ASSETS.values():
            assert asset != 1 and asset is not None and asset != "x"

    def test_the_order_of_clips_counts(self):
        a, b = (HERO.clips[0].replace(name=n) for n in "ab")
        assert mw.Clips((a, b)) == mw.Clips((a, b)) != mw.Clips((b, a))

    def test_tracks_compare_by_keys_wherever_they_lie(self):
        tracks = HERO.clips[0].tracks
        table = tracks.table.copy()
        table["time_start"] += 3
        shifted = type(tracks)(table, np.concatenate([[9, 9, 9], tracks.times]), tracks.values)
        assert shifted == tracks
        table["target"] += 1
        assert type(tracks)(table, shifted.times, tracks.values) != tracks

    def test_nan_equals_its_copy(self):
        positions = HERO.meshes[0].positions.copy()
        positions[0] = np.nan
        mesh = HERO.meshes[0].replace(positions=positions)
        assert copy.deepcopy(mesh) == mesh != HERO.meshes[0]

    def test_poses_compare_by_value_and_are_no_keys(self):
        rest = HERO.skeleton.rest
        assert rest.copy() == rest and rest.copy() is not rest
        moved = rest.copy()
        moved.translation[0, 0] += 1
        assert moved != rest and rest.broadcast_to((2,)) != rest
        with pytest.raises(TypeError, match="unhashable"):
            hash(rest)


def worker(who):
    """What a data loader's worker does with a character it was sent or inherited."""
    poses = pose(np.random.default_rng(3), who.skeleton, (400,))
    return mw.skin(who, poses, normals=False, threads=2).positions[::100], [
        a.flags.writeable for a in arrays(who)
    ]


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_workers_get_characters_that_work(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{method} does not exist here")
    expected, _ = worker(HERO)  # the parent's threads run before the fork, as in a training script
    with multiprocessing.get_context(method).Pool(2) as pool:
        for positions, writeable in pool.map(worker, [HERO, HERO]):
            np.testing.assert_array_equal(positions, expected)
            assert not any(writeable)


def _inherited(queue):
    queue.put(worker(HERO)[0])


def test_a_forked_process_uses_what_it_inherits():
    """As with a `Dataset` under `fork`: nothing is pickled, the child reads the parent's pages."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("fork does not exist here")
    expected, _ = worker(HERO)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_inherited, args=(queue,))
    child.start()
    np.testing.assert_array_equal(queue.get(), expected)
    child.join()
    assert child.exitcode == 0
