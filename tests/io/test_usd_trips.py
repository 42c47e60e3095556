"""USD there and back: what comes back is what was saved, however often it goes, and UsdSkel sees it too."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from io_worlds import everything, same

import marrow as mw
from marrow.errors import MarrowError, ResourceLimitError
from marrow.io.source import LoadOptions, Source
from marrow.io.usd.reader import read_stage
from marrow.report import Report
from surroundings import needed

needed("pxr")


def there_and_back(character: mw.Character, path: Path, **options: object) -> mw.Character:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(character, path, **options)
    return read_stage(Source.open(path), LoadOptions())


def equal(a: mw.Character, b: mw.Character) -> None:
    """Asserts that both have the same values; USD's binary files do not keep the sign of zero."""
    if a != b:
        same(a, b)


def bare(character: mw.Character) -> mw.Character:
    """Without its report and levels of detail, and UVs as float32 has them with V turned round."""

    def turned(mesh: mw.Mesh) -> mw.Mesh:
        flipped = [np.stack([uv[:, 0], 1 - (1 - uv[:, 1])], axis=1) for uv in mesh.uvs]
        return mesh.replace(uvs=tuple(flipped))

    meshes = tuple(map(turned, character.meshes))
    return character.replace(report=Report(), reduced=(), lod=None, meshes=meshes)


def said(character: mw.Character, path: Path) -> str:
    """The warnings of saving."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mw.save(character, path)
    return "\n".join(str(w.message) for w in caught)


def validated(path: Path) -> list[str]:
    """What all of USD's own validators say."""
    from pxr import Usd, UsdValidation

    found = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(found).Validate(Usd.Stage.Open(str(path)))
    return [f"{e.GetName()}: {e.GetMessage()}" for e in errors]


def points_by_usd(path: Path, seconds: float) -> list[np.ndarray]:
    """The points of each prim in order, by UsdSkel itself: blend shapes, then linear skinning."""
    from pxr import Usd, UsdGeom, UsdSkel, Vt

    stage = Usd.Stage.Open(str(path))
    code = seconds * stage.GetTimeCodesPerSecond()
    root, cache, out = UsdSkel.Root(stage.GetDefaultPrim()), UsdSkel.Cache(), {}
    cache.Populate(root, Usd.PrimDefaultPredicate)
    for binding in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
        query = cache.GetSkelQuery(binding.GetSkeleton())
        for target in binding.GetSkinningTargets():
            prim = target.GetPrim()
            points = Vt.Vec3fArray(UsdGeom.PointBased(prim).GetPointsAttr().Get())
            if target.HasBlendShapes() and query.GetAnimQuery():
                weights = query.GetAnimQuery().ComputeBlendShapeWeights(code)
                weights = target.GetBlendShapeMapper().Remap(weights)
                shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim))
                parts = shapes.ComputeSubShapeWeights(weights)
                named = shapes.ComputeBlendShapePointIndices()
                assert shapes.ComputeDeformedPoints(
                    *parts, named, shapes.ComputeSubShapePointOffsets(), points
                )
            assert target.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), points, code)
            out[prim.GetPath()] = np.array(points)
    prims = [p.GetPath() for p in stage.Traverse() if p.IsA(UsdGeom.PointBased)]
    return [out.get(path, np.zeros((0, 3))) for path in prims]


def seen_alike(character: mw.Character, path: Path, times: list[float], atol: float = 1e-5) -> None:
    """UsdSkel puts every vertex of the first clip where marrow does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(character, path)
    for time in times:
        pose = character.clips[0].sample(time) if character.clips else character.skeleton.rest
        mine = mw.skin(character, pose, normals=False, tangents=False).positions
        for mesh, ours, theirs in zip(character.meshes, _split(character, mine), points_by_usd(path, time)):
            if mesh.skinning == "linear":
                np.testing.assert_allclose(theirs, ours, atol=atol, err_msg=f"{mesh.name} at {time}")


# -------------------- the whole of a character


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz", ".usd"])
def test_a_bit_of_everything_comes_back_to_the_bit(tmp_path: Path, suffix: str) -> None:
    hero = everything()
    found = there_and_back(hero, tmp_path / f"all{suffix}")
    assert not found.report.lines
    equal(hero.replace(report=Report()), found.replace(report=Report()))
    assert validated(tmp_path / f"all{suffix}") == []


def test_a_sample_is_the_same_after_three_trips(tmp_path: Path) -> None:
    lizard = bare(mw.samples.lizard())
    now = lizard
    for trip in range(3):
        now = there_and_back(now, tmp_path / f"{trip}.usda")
        equal(lizard, bare(now))
    for clip in lizard.clips.values():
        times = np.linspace(0, clip.duration, 10)
        mine = mw.skin(lizard, clip.sample(times)).positions
        yours = mw.skin(now, now.clips[clip.name].sample(times)).positions
        np.testing.assert_array_equal(mine, yours)


@pytest.mark.parametrize(
    "name", ["Fox.glb", "InterpolationTest.glb", "AnimatedMorphCube.glb", "maya_game_sausage_7500_binary.fbx"]
)
def test_characters_of_the_corpus_are_the_same_after_three_trips(
    tmp_path: Path, corpus: Path, name: str
) -> None:
    hero = bare(mw.load(corpus / name))
    now = hero
    for trip in range(3):
        path = tmp_path / f"{trip}.usdc"
        now = mw.load(_saved(now, path), cache=False)
        equal(hero, bare(now))
    assert validated(path) == []
    size = float(np.ptp(mw.skin(hero, hero.skeleton.rest).positions))
    seen_alike(hero, path, [clip.duration / 3 for clip in list(hero.clips.values())[:1]], 1e-5 * size)


def _saved(character: mw.Character, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(character, path)
    return path


def _split(character: mw.Character, points: np.ndarray) -> list[np.ndarray]:
    return np.split(points, character.vertex_offsets[1:-1])


# -------------------- names


ODD = (
    "",
    "",
    "a/b",
    "a.b",
    "a b",
    "A",
    "a",
    "a",
    "1",
    "한글",
    "한국",
    '"quoted"',
    "tab\tand\nline",
    "back\\slash",
    "\0",
    "é",
)


def test_names_of_any_kind_come_back(tmp_path: Path) -> None:
    """Joints below one parent, meshes, materials, morphs, clips, curves and sockets called as nobody should."""
    rest = mw.Pose.identity(len(ODD) + 1, len(ODD))
    sockets = tuple(mw.Socket(name, i) for i, name in enumerate(ODD))
    skeleton = mw.Skeleton(("root", *ODD), [-1] + [0] * len(ODD), rest, ODD, sockets)
    triangle = np.eye(3, dtype=np.float32)
    meshes = []
    for i, name in enumerate(ODD):
        target = mw.MorphTarget(name, i, triangle)
        sections = (mw.Section(0, 1, i, name),)
        meshes.append(
            mw.Mesh.rigid(name, triangle, [[0, 1, 2]], i, morph_targets=(target,), sections=sections)
        )
    materials = tuple(mw.Material(name) for name in ODD)
    clips = []
    for i, name in enumerate(dict.fromkeys(ODD)):
        track = mw.Track(i, "translation", [0, 1], [[0, 0, 0], [i, 0, 0]])
        curves = tuple(mw.Curve(n, [0, 1], [0, 1]) for n in dict.fromkeys(ODD))
        clips.append(mw.Clip(name, skeleton, [track], curves=curves))
    hero = mw.Character(skeleton, tuple(meshes), tuple(clips), materials, name="한글 / hero")
    for suffix in (".usda", ".usdc"):
        found = there_and_back(hero, tmp_path / f"odd{suffix}")
        equal(hero, found.replace(report=Report()))
    assert validated(tmp_path / "odd.usdc") == []


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    hero = mw.Character(mw.Skeleton(("a\udc80",), [-1]))
    with pytest.raises(MarrowError, match="cannot be written as text"):
        mw.save(hero, tmp_path / "a.usda")
    assert not list(tmp_path.iterdir())


def test_a_file_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MarrowError, match="UTF-8"):
        mw.save(mw.Character(mw.Skeleton(("a",), [-1])), tmp_path / "h\udc80.usda")
    assert not list(tmp_path.iterdir())


# -------------------- clips


def rod(**more: object) -> tuple[mw.Skeleton, mw.Mesh]:
    """Two joints and a triangle on each."""
    rest = mw.Pose.identity(2)
    rest.translation[1] = (0, 1, 0)
    skeleton = mw.Skeleton(("base", "tip"), [-1, 0], rest, **more)
    inverse = np.linalg.inv(np.array([np.eye(4), [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]]))
    positions = np.float32([[0, 0, 0], [1, 0, 0], [0, 2, 0]])
    weights = np.float32([[1, 0], [0.5, 0.5], [0, 1]])
    return skeleton, mw.Mesh(
        "rod", positions, [[0, 1, 2]], [[0, 1]] * 3, weights, [0, 1], inverse[:, :3].astype(np.float32)
    )


def turns(*degrees: float) -> np.ndarray:
    half = np.radians(degrees) / 2
    return np.stack([0 * half, 0 * half, np.sin(half), np.cos(half)], axis=1).astype(np.float32)


@pytest.mark.parametrize(
    ("times", "kind"),
    [
        ([0.1, 0.7, 1.158], "linear"),
        ([0.1, 0.7, 1.158], "step"),
        ([-0.5, 0.25, 0.25], "linear"),
        ([0.0, 0.0, 0.0], "linear"),
        ([0.0, 0.5, 0.5], "step"),
    ],
)
def test_keys_come_back_at_their_own_times(tmp_path: Path, times: list[float], kind: str) -> None:
    skeleton, mesh = rod()
    tracks = [
        mw.Track(1, "rotation", times, turns(0, 40, 90), kind),  # type: ignore[arg-type]
        mw.Track(0, "rotation", [0, 1 / 3, 2], turns(0, 5, -30)),
        mw.Track(1, "scale", [0.2], [[1.1, 1 / 3, 1.0]]),
    ]
    hero = mw.Character(skeleton, (mesh,), (mw.Clip("a", skeleton, tracks),), name="h")
    found = there_and_back(hero, tmp_path / "h.usda")
    equal(hero, found.replace(report=Report()))
    if kind == "step":
        step = times[1] - 1e-3
        assert found.clips["a"].sample(step).rotation[1].tolist() == turns(0)[0].tolist()
        np.testing.assert_allclose(
            points_by_usd(tmp_path / "h.usda", step)[0], mw.skin(hero, hero.clips["a"].sample(step)).positions,
            atol=1e-3,
        )  # fmt: skip


@pytest.mark.parametrize("duration", [0.0, 0.5, 1.0, 1.75])
def test_the_length_of_a_clip_stays_and_its_end_is_sampled(tmp_path: Path, duration: float) -> None:
    from pxr import Usd

    skeleton, mesh = rod()
    track = mw.Track(1, "rotation", [0, 1], turns(0, 90))
    clips = (mw.Clip("cut", skeleton, [track], duration), mw.Clip("still", skeleton, duration=duration))
    hero = mw.Character(skeleton, (mesh,), clips, name="h")
    equal(hero, there_and_back(hero, tmp_path / "h.usda").replace(report=Report()))
    stage = Usd.Stage.Open(str(tmp_path / "h.usda"))
    assert stage.GetEndTimeCode() == max(duration, 1.0) * stage.GetTimeCodesPerSecond()
    samples = stage.GetAttributeAtPath("/h/Animations/cut.rotations")
    assert samples.GetTimeSamples()[-1] == stage.GetEndTimeCode()


def test_keys_of_different_joints_do_not_add_up(tmp_path: Path) -> None:
    """USD has one list of times for all joints; each gets back its own keys, and UsdSkel sees the same motion."""
    skeleton, mesh = rod()
    tracks = [
        mw.Track(0, "rotation", [0, 0.3, 1], turns(0, 50, -20)),
        mw.Track(1, "rotation", [0, 0.7, 0.9], turns(10, 170, 0)),
        mw.Track(1, "translation", [0, 0.45], [[0, 1, 0], [0, 2, 0]]),
    ]
    hero = mw.Character(skeleton, (mesh,), (mw.Clip("a", skeleton, tracks, rate=24),), name="h")
    found = there_and_back(hero, tmp_path / "h.usda")
    assert [t.times.tolist() for t in found.clips["a"].tracks] == [t.times.tolist() for t in tracks]
    seen_alike(hero, tmp_path / "h.usda", [0, 0.15, 0.3, 0.5, 0.8, 1.0])


def test_cubic_keys_come_back_and_others_see_them_as_closely_as_is_said(tmp_path: Path) -> None:
    skeleton, mesh = rod()
    keys = np.zeros((3, 3, 4), np.float32)
    keys[:, 1] = turns(0, 80, 0)
    keys[:, 0, 2] = keys[:, 2, 2] = (1, -1, 2)
    track = mw.Track(1, "rotation", [0, 0.5, 1.0], keys, "cubic")
    hero = mw.Character(skeleton, (mesh,), (mw.Clip("spline", skeleton, [track]),), name="h")
    lines = said(hero, tmp_path / "h.usda")
    assert "clip 'spline': USD has no cubic keys" in lines and "degrees off" in lines
    equal(hero, read_stage(Source.open(tmp_path / "h.usda"), LoadOptions()).replace(report=Report()))
    seen_alike(hero, tmp_path / "h.usda", [0.1, 0.26, 0.61, 0.9], atol=2 * np.radians(0.03))


def test_scales_beyond_half_precision_come_back_and_are_said(tmp_path: Path) -> None:
    skeleton, mesh = rod()
    track = mw.Track(1, "scale", [0, 1], [[1, 1, 1], [1.23456, 1, 99.999]])
    hero = mw.Character(skeleton, (mesh,), (mw.Clip("grow", skeleton, [track]),), name="h")
    assert "half precision" in said(hero, tmp_path / "h.usda")
    equal(hero, read_stage(Source.open(tmp_path / "h.usda"), LoadOptions()).replace(report=Report()))


def test_a_rate_samples_the_clip_and_its_end(tmp_path: Path) -> None:
    skeleton, mesh = rod()
    track = mw.Track(1, "rotation", [0, 0.11], turns(0, 90))
    hero = mw.Character(skeleton, (mesh,), (mw.Clip("a", skeleton, [track]),), name="h")
    found = there_and_back(hero, tmp_path / "h.usda", rate=50).clips["a"]
    np.testing.assert_allclose(found.tracks[0].times, [0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.11], atol=1e-7)
    assert found.duration == hero.clips["a"].duration


def test_too_many_samples_are_refused_with_their_number(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("marrow.io.usd.writing.samples.MAX_VALUES", 15)
    skeleton, mesh = rod()
    tracks = [mw.Track(j, "rotation", [0, j + 1], turns(0, 1)) for j in (0, 1)]
    hero = mw.Character(skeleton, (mesh,), (mw.Clip("a", skeleton, tracks),))
    with pytest.raises(ResourceLimitError, match="clip 'a': needs 3 samples of 2 joints"):
        mw.save(hero, tmp_path / "h.usda")
    assert not list(tmp_path.iterdir())


# -------------------- meshes


def test_morphs_keep_their_weights_at_rest_and_their_in_betweens(tmp_path: Path) -> None:
    """Targets at 0.5 and 3 of one channel, one below zero, one on a channel that another mesh turns up further."""
    rest = mw.Pose.identity(1, 4).replace(morphs=np.float32([0.25, 0, 0.5, 0]))
    skeleton = mw.Skeleton(("root",), [-1], rest, ("smile", "frown", "both", "alone"))
    points = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])

    def target(name: str, channel: int, x: float, at: float, **more: object) -> mw.MorphTarget:
        return mw.MorphTarget(
            name, channel, np.float32([[x, 0, 0], [0, x, 1]]), vertices=[0, 2], full_weight=at, **more
        )

    one = (
        target("half", 0, 1, 0.5),
        target("far", 0, -2, 3.0),
        target("down", 1, 5, -1.0),
        target("a", 2, 1, 1.0),
    )
    two = (target("b", 2, 4, 4.0), mw.MorphTarget("c", 0, points, normals=points, tangents=points))
    normals = np.tile(np.float32([0, 0, 1]), (3, 1))
    meshes = (
        mw.Mesh.rigid("one", points, [[0, 1, 2]], 0, morph_targets=one),
        mw.Mesh.rigid("two", points, [[0, 1, 2]], 0, morph_targets=two, normals=normals),
    )
    hero = mw.Character(skeleton, meshes, name="h")
    equal(hero, there_and_back(hero, tmp_path / "h.usda").replace(report=Report()))
    seen_alike(hero, tmp_path / "h.usda", [0.0], atol=1e-6)
    tracks = [mw.Track(c, "morph", [0, 1], [[-1.5], [4.5]]) for c in (0, 1, 2)]
    moving = hero.replace(clips=(mw.Clip("a", skeleton, tracks),))
    equal(moving, there_and_back(moving, tmp_path / "m.usda").replace(report=Report()))
    seen_alike(moving, tmp_path / "m.usda", [0, 0.1, 0.25, 0.3, 0.4, 0.8, 1.0], atol=1e-5)


def test_meshes_bound_in_several_poses_move_alike_in_usd(tmp_path: Path) -> None:
    """USD has one bind pose: a second inverse bind matrix of a joint, one that cannot be inverted, and a joint that a mesh
    names twice."""
    skeleton, mesh = rod()
    rng = np.random.default_rng(3)
    other = mesh.inverse_bind.copy()
    other[1] = rng.normal(size=(3, 4))
    flat = mesh.inverse_bind.copy()
    flat[0, 2] = 0
    twice = {"joint_list": [1, 1], "inverse_bind": np.stack([mesh.inverse_bind[1], other[1]])}
    meshes = (
        mesh,
        mesh.replace(name="other", inverse_bind=other),
        mesh.replace(name="flat", inverse_bind=flat),
        mesh.replace(name="twice", **twice),
    )
    tracks = [mw.Track(j, "rotation", [0, 1], turns(0, 70)) for j in (0, 1)]
    hero = mw.Character(skeleton, meshes, (mw.Clip("a", skeleton, tracks),), name="h")
    equal(hero, there_and_back(hero, tmp_path / "h.usda").replace(report=Report()))
    seen_alike(hero, tmp_path / "h.usda", [0, 0.4, 1.0], atol=1e-5)


def test_vertices_without_triangles_survive(tmp_path: Path) -> None:
    skeleton, mesh = rod()
    target = mw.MorphTarget("up", 0, mesh.positions)
    skeleton = mw.Skeleton(skeleton.names, skeleton.parents, skeleton.rest, ("up",))
    dots = mesh.replace(
        name="dots", triangles=np.zeros((0, 3), np.uint32), sections=(), morph_targets=(target,)
    )
    dots = dots.replace(colors=np.float32([[1, 0, 0, 1], [0, 1, 0, 0.5], [0, 0, 1, 1]]))
    none = mesh.replace(
        name="none", positions=np.zeros((0, 3)), triangles=np.zeros((0, 3), np.uint32), sections=(),
        joints=np.zeros((0, 2), np.uint16), weights=np.zeros((0, 2)),
    )  # fmt: skip
    track = mw.Track(1, "rotation", [0, 1], turns(0, 90))
    hero = mw.Character(skeleton, (mesh, dots, none), (mw.Clip("a", skeleton, [track]),), name="h")
    equal(hero, there_and_back(hero, tmp_path / "h.usdc").replace(report=Report()))
    assert validated(tmp_path / "h.usdc") == []
    theirs = points_by_usd(tmp_path / "h.usdc", 1.0)[1]
    np.testing.assert_allclose(theirs[2], [-1, 1, 0], atol=1e-6)


def test_a_mesh_that_is_there_again_is_written_once(tmp_path: Path) -> None:
    count = 20
    skeleton = mw.Skeleton(tuple(f"n{i}" for i in range(count)), [-1] * count)
    points = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    one = mw.Mesh.rigid("part", points, np.arange(300).reshape(-1, 3), 0)
    meshes = tuple(
        one.replace(joint_list=[i], node=i, name=f"part{i % 3}", inverse_bind=one.inverse_bind * (i + 1))
        for i in range(count)
    )
    hero = mw.Character(skeleton, meshes, name="h")
    equal(hero, there_and_back(hero, tmp_path / "all.usda").replace(report=Report()))
    assert validated(tmp_path / "all.usda") == []
    there_and_back(hero.replace(meshes=meshes[:1]), tmp_path / "one.usda")
    one_size, all_size = ((tmp_path / f"{n}.usda").stat().st_size for n in ("one", "all"))
    assert all_size < 3 * one_size


def test_the_scale_at_rest_keeps_its_signs(tmp_path: Path) -> None:
    rest = mw.Pose.identity(2)
    rest.scale[:] = [[1, -1, 1], [-2, 1, -1]]
    rest.rotation[:] = -turns(30, 200)
    skeleton = mw.Skeleton(("a", "b"), [-1, 0], rest)
    track = mw.Track(1, "rotation", [0, 1], turns(0, 10))
    hero = mw.Character(skeleton, clips=(mw.Clip("c", skeleton, [track]),), name="h")
    equal(hero, there_and_back(hero, tmp_path / "h.usda").replace(report=Report()))


# -------------------- limits


def test_deeply_nested_joints_are_refused_with_the_number(tmp_path: Path) -> None:
    count = 20_000
    deep = mw.Skeleton(tuple(f"node{i}" for i in range(count)), np.arange(-1, count - 1))
    with pytest.raises(ResourceLimitError, match=r"20000 joints, up to 20000 deep, would take \d{4} MiB"):
        mw.save(mw.Character(deep), tmp_path / "deep.usda")
    assert not list(tmp_path.iterdir())


def test_many_joints_of_one_name_are_no_trouble(tmp_path: Path) -> None:
    count = 20_000
    wide = mw.Skeleton(("joint",) * count, [-1] + [0] * (count - 1))
    found = there_and_back(mw.Character(wide, name="wide"), tmp_path / "wide.usda")
    assert found.skeleton == wide


def test_a_character_without_joints_comes_back(tmp_path: Path) -> None:
    empty = mw.Character(mw.Skeleton((), []), materials=(mw.Material("alone"),), name="h")
    equal(empty, there_and_back(empty, tmp_path / "h.usda").replace(report=Report()))
