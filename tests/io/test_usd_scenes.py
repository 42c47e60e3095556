"""USD as studios use it: instancers, shapes, variants, cameras and lights in; cameras, lights and crowds out."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_usd import read, square, stage
from test_usd_trips import there_and_back, validated

import builders
import marrow as mw
from marrow.errors import FormatError, UnknownNameError, ValidationError
from marrow.graph import ClipNode, Graph
from marrow.model import JointCamera, JointLight
from surroundings import needed

needed("pxr")


def skinned_strip() -> mw.Character:
    return builders.character(3, joints=5)


def bend_clip(skeleton: mw.Skeleton) -> mw.Clip:
    """Joints that turn and a root that moves, with keys at times of their own."""
    rng = np.random.default_rng(4)
    tracks = [
        mw.Track(j, "rotation", np.linspace(0.1 * j, 1.2, 4), builders.rotations(rng, (4,)))
        for j in range(len(skeleton))
    ]
    tracks.append(mw.Track(0, "translation", [0.0, 0.5, 1.2], rng.normal(size=(3, 3))))
    return mw.Clip("bend", skeleton, tracks, 1.3)


FIELD = f"""
def PointInstancer "Field"
{{
    double3 xformOp:translate = (0, 5, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    int[] protoIndices = [0, 1, 0, 7]
    point3f[] positions.timeSamples = {{
        0: [(1, 0, 0), (2, 0, 0), (3, 0, 0), (9, 9, 9)], 24: [(1, 0, 0), (2, 1, 0), (3, 0, 0), (9, 9, 9)] }}
    quath[] orientations = [(1, 0, 0, 0), (0.70710678, 0, 0, 0.70710678), (1, 0, 0, 0), (1, 0, 0, 0)]
    float3[] scales = [(1, 1, 1), (2, 2, 2), (1, 3, 1), (1, 1, 1)]
    int64[] invisibleIds = [2]
    rel prototypes = [</Field/Protos/Leaf>, </Field/Protos/Twig>]
    def Scope "Protos"
    {{
        def Xform "Leaf"
        {{
            double3 xformOp:translate = (0, 0, 1)
            uniform token[] xformOpOrder = ["xformOp:translate"]
            def Mesh "LeafSurface" (prepend apiSchemas = ["MaterialBindingAPI"])
            {{ {square()} rel material:binding = </Paint> }}
        }}
        def Mesh "Twig" {{ {square()} }}
    }}
}}
def Material "Paint" {{}}
"""


def corners(character: mw.Character, number: int, time: float | None = None) -> np.ndarray:
    pose = character.skeleton.rest if time is None else character.clips[0].sample(time)
    starts = np.cumsum([0, *(len(mesh.positions) for mesh in character.meshes)])
    return np.asarray(mw.skin(character, pose).positions)[starts[number] : starts[number + 1]]


def test_point_instancers_place_their_prototypes(tmp_path: Path) -> None:
    made = read(stage(FIELD, 'metersPerUnit = 1\nupAxis = "Y"\ntimeCodesPerSecond = 24'), tmp_path)
    assert [mesh.name for mesh in made.meshes] == [
        "LeafSurface",
        "Twig",
    ]  # the third is hidden, the fourth has no prototype
    plain = np.asarray(
        read(stage(f'def Mesh "M" {{ {square()} }}'), tmp_path, "plain.usda").meshes[0].positions
    )
    assert_allclose(corners(made, 0), plain + np.array([1, 5, 1]), atol=1e-6)
    quarter = plain[:, [1, 0, 2]] * [-1, 1, 1]
    assert_allclose(corners(made, 1), 2 * quarter + [2, 5, 0], atol=2e-3)  # half floats
    assert_allclose(corners(made, 1, 1.0), 2 * quarter + [2, 6, 0], atol=2e-3)
    assert made.meshes[0].sections[0].material is not None  # what the prototype is bound to from outside


def test_instancers_inside_of_instances_and_of_each_other(tmp_path: Path) -> None:
    text = f"""
class Xform "Tree" {{ def PointInstancer "Inner" {{
    int[] protoIndices = [0, 0]
    point3f[] positions = [(0, 1, 0), (0, 2, 0)]
    rel prototypes = [</Tree/Inner/Leaf>]
    def Mesh "Leaf" {{ {square()} }} }} }}
def Xform "A" (
    instanceable = true
    inherits = </Tree>) {{}}
def PointInstancer "Wood" {{
    int[] protoIndices = [0, 0, 0]
    point3f[] positions = [(10, 0, 0), (20, 0, 0), (30, 0, 0)]
    rel prototypes = [</Wood/One>]
    def Xform "One" (inherits = </Tree>) {{}} }}
"""
    made = read(stage(text), tmp_path)
    assert len(made.meshes) == 2 + 3 * 2
    centres = {
        tuple(np.round(corners(made, k).mean(axis=0) - corners(made, 0).mean(axis=0), 3)) for k in range(8)
    }
    assert centres == {(x, y, 0) for x in (0, 10, 20, 30) for y in (0, 1)}


@pytest.mark.parametrize(
    ("kind", "settings", "size"),
    [
        ("Cube", "double size = 3", (3, 3, 3)),
        ("Sphere", "double radius = 2", (4, 4, 4)),
        ("Cylinder", 'double radius = 1\ndouble height = 6\nuniform token axis = "X"', (6, 2, 2)),
        ("Capsule", 'double radius = 1\ndouble height = 2\nuniform token axis = "Y"', (2, 4, 2)),
        ("Cone", "double radius = 1\ndouble height = 3", (2, 2, 3)),
        ("Plane", 'double width = 2\ndouble length = 5\nuniform token axis = "Y"', (5, 0, 2)),
    ],
)
def test_shapes_are_meshes(kind: str, settings: str, size: tuple[float, ...], tmp_path: Path) -> None:
    made = read(
        stage(f'def {kind} "S" {{ {settings}\ncolor3f[] primvars:displayColor = [(1, 0, 0)] }}'), tmp_path
    )
    (mesh,) = made.meshes
    found = np.ptp(mesh.positions, axis=0)
    if kind == "Plane":
        assert sorted(found) == sorted(size)
    else:
        assert_allclose(found, size, rtol=0.03, atol=1e-6)
    # Faces look outward, as their normals do.
    a, b, c = (mesh.positions[mesh.triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    real = np.linalg.norm(faces, axis=1) > 1e-9
    assert ((faces * mesh.normals[mesh.triangles[:, 0]]).sum(axis=1)[real] > 0).all()
    assert made.materials[0].base_color[:3] == (1, 0, 0)


VARIANTS = f"""
def Xform "Car" (
    variants = {{ string look = "red" }}
    prepend variantSets = ["look", "wheels"])
{{
    variantSet "look" = {{
        "red" {{ def Mesh "Red" {{ {square()} }} }}
        "blue" (
            variants = {{ string trim = "plain" }}
            prepend variantSets = "trim")
        {{
            def Mesh "Blue" {{ {square()} }}
            variantSet "trim" = {{
                "plain" {{
                }}
                "gold" {{
                    def Mesh "Gold" {{ {square()} }}
                }}
            }}
        }}
    }}
    variantSet "wheels" = {{
        "four" {{ def Mesh "Four" {{ {square()} }} }}
        "red" {{ def Mesh "RedWheels" {{ {square()} }} }}
    }}
}}
"""


@pytest.mark.parametrize(
    ("chosen", "meshes"),
    [
        ((), ["Red"]),
        (("blue",), ["Blue"]),
        (("look=blue", "trim=gold", "four"), ["Blue", "Four", "Gold"]),
        (("wheels=red",), ["Red", "RedWheels"]),
    ],
)
def test_variants_are_chosen_by_name(chosen: tuple[str, ...], meshes: list[str], tmp_path: Path) -> None:
    made = read(stage(VARIANTS), tmp_path, variants=chosen)
    assert sorted(mesh.name for mesh in made.meshes) == meshes
    assert "its variant 'look' is " in str(made.report)


def test_variants_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="look=blue"):
        read(stage(VARIANTS), tmp_path, variants=("look=green",))
    strip = skinned_strip()
    mw.save(strip, tmp_path / "s.glb")
    with pytest.raises(ValidationError, match="USD stages"):
        mw.load(tmp_path / "s.glb", variants="red")


def test_cameras_and_lights_of_a_stage(tmp_path: Path) -> None:
    text = """
def Xform "Rig" {
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 24: (0, 100, 0) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Camera "Main" { float focalLength.timeSamples = { 0: 24, 24: 48 }
        float horizontalAperture = 36
        float verticalAperture = 24
        float2 clippingRange = (10, 10000) }
    def SphereLight "Lamp" { float inputs:intensity = 30
        float inputs:exposure = 1
        float inputs:radius = 10
        color3f inputs:color = (1, 0.5, 0) }
    def SphereLight "Spot" (prepend apiSchemas = ["ShapingAPI"]) { float inputs:shaping:cone:angle = 30
        float inputs:shaping:cone:softness = 0.5
        bool inputs:normalize = 1
        float inputs:intensity = 40000 }
    def RectLight "Window" { float inputs:width = 200
        float inputs:intensity = 7 }
    def DomeLight "Sky" {}
    def DistantLight "Sun" { float inputs:intensity.timeSamples = { 0: 2, 24: 3 } }
}
"""
    made = read(stage(text, 'metersPerUnit = 0.01\nupAxis = "Y"\ntimeCodesPerSecond = 24'), tmp_path)
    (camera,) = made.cameras
    assert camera.fov == pytest.approx(2 * math.atan(0.5)) and camera.aspect == pytest.approx(1.5)
    assert (camera.near, camera.far) == pytest.approx((0.1, 100))
    lights = {light.name: light for light in made.lights}
    assert {name: light.kind for name, light in lights.items()} == {
        "Lamp": "point", "Spot": "spot", "Window": "area", "Sky": "ambient", "Sun": "directional",
    }  # fmt: skip
    assert lights["Lamp"].intensity == pytest.approx(60 * math.pi * 0.1**2)
    assert lights["Lamp"].color == pytest.approx((1, 0.5, 0))
    assert lights["Spot"].intensity == pytest.approx(1)
    assert (lights["Spot"].inner, lights["Spot"].outer) == pytest.approx((math.radians(15), math.radians(30)))
    assert lights["Window"].size == pytest.approx((2, 0.01))
    curves = {c.name: c for c in made.clips[0].curves}
    assert_allclose(
        curves["camera:Main:fov"].sample([0, 1]), [2 * math.atan(0.5), 2 * math.atan(0.25)], rtol=1e-6
    )
    assert_allclose(curves["light:Sun:intensity"].sample([0, 1]), [2, 3])
    where = made.skeleton.to_model(made.clips[0].sample(1.0))[camera.joint, :, 3]
    assert_allclose(where, [0, 1, 0], atol=1e-6)


def lit() -> mw.Character:
    strip = skinned_strip()
    last = len(strip.skeleton) - 1
    turn = (0.0, math.sin(0.3), 0.0, math.cos(0.3))
    return strip.replace(
        clips=[bend_clip(strip.skeleton)],
        cameras=(
            JointCamera("Camera.001", last, fov=0.7, aspect=1.6, near=0.05, far=50.0, rotation=turn),
            JointCamera("plan", 0, "orthographic", size=3.0),
        ),
        lights=(
            JointLight("bulb", last, "point", (1.0, 0.5, 0.25), 40.0, range=3.0),
            JointLight("spot", 0, "spot", intensity=7.0, inner=0.2, outer=0.5, shadows=False),
            JointLight("window", 0, "area", intensity=5.0, size=(2.0, 1.0)),
            JointLight("sun", 0, "directional", intensity=3.0),
            JointLight("sky", last, "ambient", intensity=0.3),
        ),
    )


@pytest.mark.parametrize("suffix", [".usda", ".usdz"])
def test_cameras_and_lights_come_back(suffix: str, tmp_path: Path) -> None:
    given = lit()
    once = there_and_back(given, tmp_path / f"a{suffix}")
    twice = there_and_back(once, tmp_path / f"b{suffix}")
    for made in (once, twice):
        assert made.cameras == given.cameras and made.lights == given.lights
        assert made.skeleton == given.skeleton and made.clips == given.clips
    assert validated(tmp_path / f"a{suffix}") == []


def test_other_programs_see_cameras_and_lights_where_the_joints_are(tmp_path: Path) -> None:
    from pxr import Gf, Usd, UsdGeom

    given, path = lit(), tmp_path / "lit.usda"
    there_and_back(given, path)
    found = Usd.Stage.Open(str(path))
    prims = {p.GetDisplayName() or p.GetName(): p for p in found.Traverse()}
    clip, rate = given.clips[0], found.GetTimeCodesPerSecond()
    camera = given.cameras[0]
    seen = UsdGeom.Camera(prims["Camera.001"]).GetCamera(0)
    assert math.radians(seen.GetFieldOfView(Gf.Camera.FOVVertical)) == pytest.approx(camera.fov)
    for time in (0.0, 0.6, 1.2):
        world = np.array(UsdGeom.XformCache(time * rate).GetLocalToWorldTransform(prims["Camera.001"])).T[:3]
        model = given.skeleton.to_model(clip.sample(time))[camera.joint]
        assert_allclose(world[:, 3], model[:, 3], atol=1e-5)
        turned = mw.math.quaternion.to_matrix(np.array(camera.rotation))
        assert_allclose(world[:, :3], model[:, :3] @ turned, atol=1e-5)
    # Read as if somebody else had written it.
    text = path.read_text().replace("int marrow = 1", "int other = 1")
    strange = read(text, tmp_path, "strange.usda")
    for kind in ("cameras", "lights"):
        for mine, theirs in zip(getattr(given, kind), getattr(strange, kind)):
            assert mine.kind == theirs.kind and mine.name == theirs.name
            if kind == "lights":
                assert theirs.intensity == pytest.approx(mine.intensity)


def usd_points(found: object, path: str, code: float) -> np.ndarray:
    """The points of a SkelRoot in the world, as UsdSkel itself skins them."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel

    root = UsdSkel.Root(found.GetPrimAtPath(path))  # type: ignore[attr-defined]
    cache, everything = UsdSkel.Cache(), Usd.TraverseInstanceProxies()
    cache.Populate(root, everything)
    out = []
    for binding in cache.ComputeSkelBindings(root, everything):
        transforms = cache.GetSkelQuery(binding.GetSkeleton()).ComputeSkinningTransforms(code)
        world = UsdGeom.XformCache(code).GetLocalToWorldTransform(binding.GetSkeleton().GetPrim())
        for target in binding.GetSkinningTargets():
            points = UsdGeom.PointBased(target.GetPrim()).GetPointsAttr().Get()
            assert target.ComputeSkinnedPoints(transforms, points, code)
            out += [world.Transform(Gf.Vec3d(*map(float, p))) for p in points]
    return np.array(out)


def placed(count: int) -> np.ndarray:
    out = np.tile(np.eye(3, 4), (count, 1, 1))
    out[:, 0, 3] = np.arange(count) * 2
    return out


def saved_scene(thing: object, path: Path, **options: object) -> object:
    from pxr import Usd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mw.save(thing, path, **options)
    assert validated(path) == []
    return Usd.Stage.Open(str(path))


def test_a_crowd_shares_its_character_and_its_clips(tmp_path: Path) -> None:
    strip = skinned_strip()
    clip = bend_clip(strip.skeleton)
    hero, length = strip.replace(clips=[clip], name="hero"), clip.duration
    times = np.array([0.0, 0.25, 0.25, 0.9]) * length
    places = placed(4)
    scene = mw.Scene(mw.Actor(hero, clip=0, time=times, transforms=places), lights=[mw.PointLight((0, 1, 0))])
    found = saved_scene(scene, tmp_path / "crowd.usdc", seconds=2 * length)
    assert len(found.GetPrototypes()) == 1  # type: ignore[attr-defined]
    animations = found.GetPrimAtPath("/Crowd/Animations").GetChildren()  # type: ignore[attr-defined]
    assert len(animations) == 3  # one, and the moments at which others begin
    rate = found.GetTimeCodesPerSecond()  # type: ignore[attr-defined]
    for t in (0.0, 0.3 * length, 0.95 * length, 1.6 * length):
        for i in range(4):
            at = times[i] + t
            wanted = np.asarray(mw.skin(hero, clip.sample(at if at <= length else at % length)).positions)
            wanted = wanted @ places[i, :, :3].T + places[i, :, 3]
            assert_allclose(usd_points(found, f"/Crowd/hero_{i}", t * rate), wanted, atol=1e-5)
    back = mw.load(tmp_path / "crowd.usdc", cache=False)
    assert len(back.meshes) == 4 and len(back.lights) == 1


def test_animators_are_recorded_and_brought_back(tmp_path: Path) -> None:
    strip = skinned_strip()
    clip = bend_clip(strip.skeleton)
    hero = strip.replace(clips=[clip], name="hero")
    crowd = mw.Animator(hero, Graph(ClipNode(clip.name)), count=3)
    crowd.update(0.1)
    before = crowd.pose.rotation.copy()
    scene = mw.Scene(mw.Actor(crowd, transforms=placed(3)))
    found = saved_scene(scene, tmp_path / "crowd.usda", seconds=0.5, rate=10)
    assert np.array_equal(crowd.pose.rotation, before)
    for frame in range(6):
        if frame:
            crowd.update(0.1)
        wanted = np.asarray(mw.skin(hero, crowd.matrices).positions)
        for i in range(3):
            got = usd_points(found, f"/Crowd/hero_{i}", frame)
            assert_allclose(got, wanted[i] + placed(3)[i, :, 3], atol=1e-5)
    assert len(found.GetPrimAtPath("/Crowd/Animations").GetChildren()) == 1  # all three do the same


def test_scenes_are_written_as_usd_alone(tmp_path: Path) -> None:
    scene = mw.Scene(skinned_strip())
    with pytest.raises(FormatError, match=r"written as USD.*usdc"):
        mw.save(scene, tmp_path / "x.glb")
    with pytest.raises(ValidationError, match="no actors"):
        mw.save(mw.Scene(), tmp_path / "x.usdc")
    with pytest.raises(UnknownNameError, match="compress"):
        mw.save(scene, tmp_path / "x.usdc", compress=True)
    saved_scene(scene, tmp_path / "still.usdz")
    assert not list(tmp_path.glob("x.*"))
