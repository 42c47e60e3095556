"""USD: small stages written by hand, and UsdSkel's own skinning as the judge."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.errors import FormatError, MarrowError
from marrow.io import usd
from marrow.io.source import LoadOptions, Source
from marrow.io.usd.reader import read_stage
from marrow.math import affine
from surroundings import needed

needed("pxr")

IDENTITY = "( (1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1) )"
UP_ONE = "( (1,0,0,0), (0,1,0,0), (0,0,1,0), (0,1,0,1) )"

ARM = f"""#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Y"
    startTimeCode = 10
    endTimeCode = 34
    timeCodesPerSecond = 24
)
def SkelRoot "Arm" (prepend apiSchemas = ["SkelBindingAPI"])
{{
    double3 xformOp:translate = (5, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    rel skel:skeleton = </Arm/Skel>
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        uniform token[] joints = ["Upper", "Upper/Lower"]
        uniform matrix4d[] bindTransforms = [{IDENTITY}, {UP_ONE}]
        uniform matrix4d[] restTransforms = [{IDENTITY}, {UP_ONE}]
        rel skel:animationSource = </Arm/Skel/Bend>
        def SkelAnimation "Bend"
        {{
            uniform token[] joints = ["Upper/Lower"]
            float3[] translations = [(0, 1, 0)]
            quatf[] rotations.timeSamples = {{
                10: [(1, 0, 0, 0)],
                34: [(0.70710678, 0, 0, 0.70710678)],
            }}
            half3[] scales = [(1, 1, 1)]
            uniform token[] blendShapes = ["Fat"]
            float[] blendShapeWeights.timeSamples = {{ 10: [0], 22: [1] }}
        }}
    }}
    def Mesh "Skin" (prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"])
    {{
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0)]
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        uniform token subdivisionScheme = "none"
        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = "vertex")
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "vertex")
        int[] primvars:skel:jointIndices = [0, 1, 0, 1, 0, 1, 0, 1] (
            elementSize = 2
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 0, 1, 0, 0, 1, 0.5, 0.5] (
            elementSize = 2
            interpolation = "vertex"
        )
        matrix4d primvars:skel:geomBindTransform = {IDENTITY}
        uniform token[] skel:blendShapes = ["Fat"]
        rel skel:blendShapeTargets = </Arm/Skin/Fat>
        def BlendShape "Fat"
        {{
            uniform vector3f[] offsets = [(2, 0, 0)]
            uniform int[] pointIndices = [1]
            uniform vector3f[] inbetweens:Half = [(0, 0, 3)] (weight = 0.5)
        }}
    }}
}}
"""


def read(text: str, folder: Path, name: str = "stage.usda", **options) -> mw.Character:
    path = folder / name
    path.write_text(text)
    return read_stage(
        Source.open(path, allow_outside=options.get("allow_outside", False)), LoadOptions(**options)
    )


def stage(body: str, head: str = 'metersPerUnit = 1\nupAxis = "Y"') -> str:
    return f"#usda 1.0\n({head}\n)\n{body}".replace(" }", "\n}")


def square(extra: str = "") -> str:
    return f"""point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        {extra}"""


def skinned(character: mw.Character, mesh: mw.Mesh, pose: mw.Pose) -> np.ndarray:
    """Linear blend skinning with morphs, written out."""
    from marrow.model.morph import target_weights

    positions = mesh.positions.astype(np.float64)
    weights = target_weights(mesh.morph_targets, pose.morphs)
    for weight, target in zip(weights, mesh.morph_targets):
        positions = positions + weight * target.dense(len(positions))
    model = character.skeleton.to_model(pose).astype(np.float64)
    matrices = affine.multiply(model[mesh.joint_list], mesh.inverse_bind)
    blended = (mesh.weights[..., None, None] * matrices[mesh.joints]).sum(axis=1)
    return affine.apply(blended, positions[:, None])[:, 0]


def test_prims_and_joints_form_one_tree(tmp_path):
    skeleton = read(ARM, tmp_path).skeleton
    assert skeleton.names == ("Arm", "Skel", "Skin", "Upper", "Lower")
    assert skeleton.parents.tolist() == [-1, 0, 0, 1, 3]
    np.testing.assert_allclose(skeleton.rest_model[4, :, 3], [5, 1, 0])


def test_animation_samples_become_keys_in_seconds(tmp_path):
    character = read(ARM, tmp_path)
    clip = character.clips["Bend"]
    assert (clip.duration, clip.rate) == (1.0, 24.0)
    keyed = {(t.target, t.path): t for t in clip.tracks}
    assert keyed[4, "rotation"].times.tolist() == [0, 1]
    np.testing.assert_allclose(keyed[4, "rotation"].values[1], [0, 0, 0.70710678, 0.70710678], atol=1e-6)
    assert keyed[0, "morph"].times.tolist() == [0, 0.5]
    assert not any(target == 3 for target, _ in keyed)


def test_skinning_agrees_with_numbers_by_hand(tmp_path):
    character = read(ARM, tmp_path)
    out = skinned(character, character.meshes[0], character.clips["Bend"].sample(1.0))
    # Lower turns 90 degrees about (5, 1): (6, 2) -> (4, 2); (5, 2) -> (4, 1), of which half stays at (5, 2).
    np.testing.assert_allclose(out, [[5, 0, 0], [8, 0, 0], [4, 2, 0], [4.5, 1.5, 0]], atol=1e-6)


def test_in_betweens_are_on_their_way(tmp_path):
    character = read(ARM, tmp_path)
    quarter = character.clips["Bend"].sample(0.125)  # weight 0.25: half of the in-between
    np.testing.assert_allclose(skinned(character, character.meshes[0], quarter)[1], [6, 0, 1.5], atol=1e-6)
    three = character.clips["Bend"].sample(0.375)  # weight 0.75: between the in-between and the whole
    np.testing.assert_allclose(skinned(character, character.meshes[0], three)[1], [7, 0, 1.5], atol=1e-6)


def test_skinning_agrees_with_usdskel_itself(tmp_path):
    """Random binds, rests, poses, a placed skeleton and a geometry bind transform: UsdSkel computes the
    points."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

    rng = np.random.default_rng(5)

    def placed() -> Gf.Matrix4d:
        turn = Gf.Rotation(Gf.Vec3d(*rng.normal(size=3)), float(rng.uniform(0, 300)))
        return Gf.Matrix4d(1).SetScale(1.5) * Gf.Matrix4d(turn, Gf.Vec3d(*rng.normal(size=3)))

    path = tmp_path / "random.usdc"
    made = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(made, 0.01)
    UsdGeom.SetStageUpAxis(made, UsdGeom.Tokens.z)
    made.SetStartTimeCode(0)
    made.SetEndTimeCode(2)
    made.SetTimeCodesPerSecond(4)
    root = UsdSkel.Root.Define(made, "/Root")
    UsdGeom.Xformable(root).AddTransformOp().Set(placed())
    skeleton = UsdSkel.Skeleton.Define(made, "/Root/Skel")
    UsdGeom.Xformable(skeleton).AddTransformOp().Set(placed())
    joints = ["a", "a/b", "a/b/c", "d"]
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray([placed() for _ in joints]))
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray([placed() for _ in joints]))
    animation = UsdSkel.Animation.Define(made, "/Root/Skel/Move")
    animation.CreateJointsAttr(["d", "a/b", "a"])
    for code in (0, 1, 2):
        turns = rng.normal(size=(3, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        animation.CreateTranslationsAttr().Set(
            Vt.Vec3fArray.FromNumpy(rng.normal(size=(3, 3)).astype("f4")), code
        )
        animation.CreateRotationsAttr().Set(Vt.QuatfArray([Gf.Quatf(*map(float, q)) for q in turns]), code)
        animation.CreateScalesAttr().Set(Vt.Vec3hArray([Gf.Vec3h(1, 1, 1)] * 3), code)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    mesh = UsdGeom.Mesh.Define(made, "/Root/Mesh")
    UsdGeom.Xformable(mesh).AddTransformOp().Set(placed())
    points = rng.normal(size=(6, 3)).astype("f4")
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
    mesh.CreateFaceVertexCountsAttr([3, 3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3, 4, 5])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointsAttr(["d", "a/b/c", "a"])  # the mesh's own order
    weights = rng.uniform(0.1, 1, (6, 5))
    weights /= weights.sum(axis=1, keepdims=True)
    binding.CreateJointIndicesPrimvar(False, 5).Set(Vt.IntArray(rng.integers(0, 3, 30).tolist()))
    binding.CreateJointWeightsPrimvar(False, 5).Set(Vt.FloatArray(weights.ravel().tolist()))
    binding.CreateGeomBindTransformAttr(placed())
    made.GetRootLayer().Save()

    character = read_stage(Source.open(path), LoadOptions())
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    skel_query, skin_query = cache.GetSkelQuery(skeleton), cache.GetSkinningQuery(mesh.GetPrim())
    for code in (0, 1, 2):
        transforms = skel_query.ComputeSkinningTransforms(code)
        moved = Vt.Vec3fArray.FromNumpy(points)
        assert skin_query.ComputeSkinnedPoints(transforms, moved, code)
        world = UsdGeom.Xformable(skeleton).ComputeLocalToWorldTransform(code)
        expected = np.array([world.Transform(Gf.Vec3d(*map(float, p))) for p in moved])
        expected = expected[:, [0, 2, 1]] * [0.01, 0.01, -0.01]
        mine = skinned(character, character.meshes[0], character.clips["Move"].sample(code / 4))
        np.testing.assert_allclose(mine, expected, atol=2e-6)


def test_z_up_and_centimetres_become_y_up_and_metres(tmp_path):
    text = stage(
        f"""def Xform "Top" {{
    double3 xformOp:translate = (100, 200, 300)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "Square" {{ {square()} }}
}}""",
        'upAxis = "Z"',
    )
    character = read(text, tmp_path)
    np.testing.assert_allclose(
        skinned(character, character.meshes[0], character.skeleton.rest)[2], [1.01, 3.0, -2.01], atol=1e-6
    )
    assert "centimetres" in str(character.report)
    doubled = read(text, tmp_path, scale=2)
    np.testing.assert_allclose(doubled.skeleton.rest.translation[0], [2, 6, -4], atol=1e-6)


def test_moving_prims_carry_their_meshes(tmp_path):
    text = stage(
        f"""def Xform "Door" {{
    float xformOp:rotateY.timeSamples = {{ 1: 0, 25: 90 }}
    uniform token[] xformOpOrder = ["xformOp:rotateY"]
    def Mesh "Leaf" {{ {square()} }}
}}"""
    )
    character = read(text, tmp_path)
    clip = character.clips["clip_0"]
    assert clip.duration == 1.0
    half = skinned(character, character.meshes[0], clip.sample(0.5))
    np.testing.assert_allclose(half[1], [np.sqrt(0.5), 0, -np.sqrt(0.5)], atol=1e-5)
    assert character.meshes[0].rigid_joint == character.skeleton.index("Leaf")


def test_reset_xform_stack_makes_a_root(tmp_path):
    text = stage("""def Xform "A" {
    double3 xformOp:translate = (1, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Xform "B" {
        double3 xformOp:translate = (0, 1, 0)
        uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate"]
    }
}""")
    skeleton = read(text, tmp_path).skeleton
    np.testing.assert_allclose(skeleton.rest_model[skeleton.index("B"), :, 3], [0, 1, 0])


def test_corners_of_different_values_become_vertices_of_their_own(tmp_path):
    uvs = "[(0,0), (1,0), (1,1), (0,1), (0,0), (1,0), (1,1), (1,1)]"
    faces = f"""point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (2,0,0), (2,1,0)]
    int[] faceVertexCounts = [4, 4]
    int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 5, 2]
    texCoord2f[] primvars:st = {uvs} (interpolation = "faceVarying")
    """
    mesh = read(stage(f'def Mesh "Two" {{ {faces} }}'), tmp_path).meshes[0]
    # Point 2 has one UV in both faces, point 1 has two.
    assert mesh.vertex_count == 7
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 2]]
    np.testing.assert_allclose(mesh.uvs[0][:4], [[0, 1], [1, 1], [1, 0], [0, 0]])


def test_left_handed_faces_are_turned_and_holes_left_out(tmp_path):
    text = stage(f'def Mesh "Left" {{ {square()}\nuniform token orientation = "leftHanded" }}')
    assert read(text, tmp_path).meshes[0].triangles.tolist() == [[0, 2, 1], [0, 3, 2]]
    holes = stage(
        """def Mesh "Holes" { point3f[] points = [(0,0,0), (1,0,0), (1,1,0)]
    int[] faceVertexCounts = [3, 3]
    int[] faceVertexIndices = [0, 1, 2, 2, 1, 0]
    int[] holeIndices = [1] }"""
    )
    assert read(holes, tmp_path).meshes[0].triangles.tolist() == [[0, 1, 2]]


def test_rigid_influences_and_points_without_weights(tmp_path):
    rigid = ARM.replace('interpolation = "vertex"\n        )', 'interpolation = "constant"\n        )')
    rigid = rigid.replace("[0, 1, 0, 1, 0, 1, 0, 1]", "[1, 0]").replace(
        "[1, 0, 1, 0, 0, 1, 0.5, 0.5]", "[1, 0]"
    )
    mesh = read(rigid, tmp_path).meshes[0]
    assert mesh.rigid_joint == 4
    bare = read(ARM.replace("[1, 0, 1, 0, 0, 1, 0.5, 0.5]", "[1, 0, 0, 0, 0, 3, 0.5, 0.5]"), tmp_path)
    out = skinned(bare, bare.meshes[0], bare.skeleton.rest)
    np.testing.assert_allclose(out[1], [6, 0, 0], atol=1e-6)
    assert "1 points without weights" in str(bare.report)
    assert "did not sum to 1 (worst: 3)" in str(bare.report)


def test_several_skeletons_share_one_timeline(tmp_path):
    twice = ARM + ARM.split(")\n", 1)[1].replace("Arm", "Leg")
    character = read(twice, tmp_path)
    assert [character.skeleton.names.count(n) for n in ("Upper", "Lower")] == [2, 2]
    assert list(character.clips) == ["clip_0"]
    assert character.skeleton.morph_names == ("Fat", "Fat_2")
    for mesh in character.meshes:
        out = skinned(character, mesh, character.clips[0].sample(1.0))
        np.testing.assert_allclose(out[2], [4, 2, 0], atol=1e-6)


def test_animations_beside_the_timeline_are_clips_too(tmp_path):
    more = (
        ARM
        + """
def SkelAnimation "Wave"
{
    uniform token[] joints = ["Upper"]
    float3[] translations = [(0, 0, 0)]
    quatf[] rotations.timeSamples = { 10: [(1, 0, 0, 0)], 22: [(0, 1, 0, 0)] }
    half3[] scales = [(1, 1, 1)]
}
"""
    )
    character = read(more, tmp_path)
    assert list(character.clips) == ["Bend", "Wave"]
    assert character.clips["Wave"].duration == 0.5


def test_samples_outside_the_range_are_cut_at_its_ends(tmp_path):
    text = ARM.replace("startTimeCode = 10", "startTimeCode = 22")
    clip = read(text, tmp_path).clips["Bend"]
    turn = next(t for t in clip.tracks if t.path == "rotation")
    assert turn.times.tolist() == [0, 0.5]
    np.testing.assert_allclose(turn.values[0], [0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8)], atol=1e-6)


def material(texture: str = "picture.png") -> str:
    return f"""
def Material "Paint"
{{
    token outputs:surface.connect = </Paint/Surface.outputs:surface>
    def Shader "Surface"
    {{
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </Paint/Picture.outputs:rgb>
        float inputs:metallic = 0.25
        float inputs:roughness = 0.75
        float inputs:opacity = 0.5
        token outputs:surface
    }}
    def Shader "Picture"
    {{
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @{texture}@
        token inputs:wrapS = "clamp"
        float2 inputs:st.connect = </Paint/Coordinates.outputs:result>
        float3 outputs:rgb
    }}
    def Shader "Coordinates"
    {{
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "other"
        float2 outputs:result
    }}
}}
def Material "Plain"
{{
    token outputs:surface.connect = </Plain/Surface.outputs:surface>
    def Shader "Surface"
    {{
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor = (1, 0.5, 0)
        token outputs:surface
    }}
}}
def Mesh "Wall" (prepend apiSchemas = ["MaterialBindingAPI"])
{{
    point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0)]
    int[] faceVertexCounts = [3, 3]
    int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "vertex")
    texCoord2f[] primvars:other = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "vertex")
    rel material:binding = </Plain>
    def GeomSubset "Half" (prepend apiSchemas = ["MaterialBindingAPI"])
    {{
        uniform token elementType = "face"
        uniform token familyName = "materialBind"
        int[] indices = [1]
        rel material:binding = </Paint>
    }}
}}
"""


def test_materials_textures_and_subsets(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG not really")
    character = read(stage(material()), tmp_path)
    mesh = character.meshes[0]
    assert mesh.triangles.tolist() == [[0, 2, 3], [0, 1, 2]]
    assert [(s.first, s.count, s.name) for s in mesh.sections] == [(0, 1, "Half"), (1, 1, "")]
    paint, plain = (character.materials[s.material] for s in mesh.sections)
    assert (paint.name, paint.metallic, paint.roughness, paint.alpha_mode) == ("Paint", 0.25, 0.75, "blend")
    assert paint.base_color == (1, 1, 1, 0.5)
    assert (paint.base_color_texture.wrap_u, paint.base_color_texture.uv_set) == ("clamp", 1)
    assert character.images[0].data == b"\x89PNG not really"
    assert plain.base_color == (1, 0.5, 0, 1)


def test_missing_textures_are_reported(tmp_path):
    character = read(stage(material()), tmp_path)
    assert not character.images
    assert "'picture.png': the file is not there" in str(character.report)


def picture(value: int) -> bytes:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("L", (2, 2), value).save(buffer, "PNG")
    return buffer.getvalue()


def test_separate_metallic_roughness_and_opacity_textures_are_packed(tmp_path):
    import io

    from PIL import Image

    for name, value in (("metal", 10), ("rough", 20), ("clear", 30)):
        (tmp_path / f"{name}.png").write_bytes(picture(value))

    def shader(name: str) -> str:
        kind = 'uniform token info:id = "UsdUVTexture"'
        return f'def Shader "{name}" {{ {kind}\n asset inputs:file = @{name}.png@\n float outputs:r }}'

    text = material().replace(
        "float inputs:metallic = 0.25", "float inputs:metallic.connect = </Paint/metal.outputs:r>"
    )
    text = text.replace(
        "float inputs:roughness = 0.75", "float inputs:roughness.connect = </Paint/rough.outputs:r>"
    )
    text = text.replace(
        "float inputs:opacity = 0.5", "float inputs:opacity.connect = </Paint/clear.outputs:r>"
    )
    text = text.replace(
        '    def Shader "Picture"',
        "\n".join(map(shader, ("metal", "rough", "clear"))) + '\n    def Shader "Picture"',
    )
    character = read(stage(text), tmp_path)
    paint = next(m for m in character.materials if m.name == "Paint")
    assert (paint.metallic, paint.roughness, paint.alpha_mode) == (1.0, 1.0, "blend")

    def pixel(texture):
        return Image.open(io.BytesIO(character.images[texture.image].data)).getpixel((0, 0))

    assert pixel(paint.metallic_roughness_texture)[1:] == (20, 10)
    assert pixel(paint.base_color_texture) == (255, 255, 255, 30)


def test_textures_come_out_of_a_package(tmp_path):
    (tmp_path / "stage.usda").write_text(stage(material()))
    package = tmp_path / "all.usdz"
    from pxr import UsdUtils

    (tmp_path / "picture.png").write_bytes(b"\x89PNG packed")
    assert UsdUtils.CreateNewUsdzPackage(str(tmp_path / "stage.usda"), str(package))
    assert "picture.png" in " ".join(zipfile.ZipFile(package).namelist())
    (tmp_path / "picture.png").unlink()
    (tmp_path / "stage.usda").unlink()
    character = read_stage(Source.open(package), LoadOptions())
    assert character.images[0].data == b"\x89PNG packed"


def test_nothing_outside_the_folder_is_read(tmp_path):
    (tmp_path / "secret.usda").write_text('#usda 1.0\n(defaultPrim = "S")\ndef Xform "S" {}')
    inner = tmp_path / "inner"
    inner.mkdir()
    text = stage('def Xform "A" (prepend references = @../secret.usda@) {}')
    with pytest.raises(FormatError, match="outside its own folder"):
        read(text, inner)
    assert "A" in read(text, inner, allow_outside=True).skeleton.names
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    character = read(stage(material("../picture.png")), inner)
    assert not character.images
    assert "outside its own folder" in str(character.report)
    (inner / "textures").mkdir()
    (inner / "textures" / "picture.png").write_bytes(b"\x89PNG by name")
    assert read(stage(material("../picture.png")), inner).images[0].data == b"\x89PNG by name"


def test_layers_beside_the_file_are_remembered_for_the_cache(tmp_path):
    part = tmp_path / "part.usda"
    part.write_text('#usda 1.0\n(defaultPrim = "S")\ndef Xform "S"\n{\n    def Xform "Below" {}\n}')
    path = tmp_path / "whole.usda"
    path.write_text(stage('def Xform "A" (prepend references = @./part.usda@) {}'))
    source = Source.open(path)
    assert "Below" in read_stage(source, LoadOptions()).skeleton.names
    assert part.resolve() in source.neighbours


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#usda 1.0\ndef Xform {", "could not read"),
        ("PXR-USDC garbage", "could not read"),
        (stage(""), "nothing that can be placed"),
        (stage(f'def Mesh "M" {{ {square()} }}').replace("[0, 1, 2, 3]", "[0, 1, 2, 9]"), "outside 0..3"),
        (stage(f'def Mesh "M" {{ {square()} }}').replace("[4]", "[5]"), "disagree"),
        (ARM.replace("[1, 0, 1, 0, 0, 1, 0.5, 0.5]", "[1, 0, 1]"), "influences"),
    ],
)
def test_damage_is_named(text, says, tmp_path):
    with pytest.raises(MarrowError, match=says):
        read(text, tmp_path)


def moving(
    times: dict[int, str], head: str = 'metersPerUnit = 0.01\nupAxis = "Y"\ntimeCodesPerSecond = 10'
) -> str:
    """A square whose points are given at time codes."""
    samples = ", ".join(f"{code}: {points}" for code, points in times.items())
    body = square().replace(
        "points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]", f"points.timeSamples = {{ {samples} }}"
    )
    return stage(f'def NurbsCurves "Ball" {{}}\ndef Mesh "M" {{ {body} }}', head)


FLAT, UP = "[(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]", "[(0, 0, 2), (1, 0, 4), (1, 1, 2), (0, 1, 2)]"


def test_points_that_change_over_time_are_a_morph(tmp_path):
    character = read(moving({5: FLAT, 15: UP}), tmp_path)
    assert "does not read NurbsCurves" in str(character.report)
    assert "2 moments" in str(character.report)
    clip = character.clips["cache"]
    assert clip.duration == pytest.approx(1.0)
    corner = mw.skin(character, clip.sample([0.0, 0.25, 1.0])).positions[:, 1]
    np.testing.assert_allclose(corner, [[0.01, 0, 0], [0.01, 0, 0.01], [0.01, 0, 0.04]], atol=1e-7)


def test_points_of_another_number_later_are_a_line(tmp_path):
    character = read(moving({5: FLAT, 15: "[(0, 0, 0)]"}), tmp_path)
    assert "do not fit the mesh" in str(character.report)
    assert not character.clips and character.meshes[0].vertex_count == 4


def test_attributes_that_artists_keyed_are_curves(tmp_path):
    keyed = """custom float userProperties:grip.timeSamples = { 10: 0, 22: 2, 34: 0 }
            custom float still.timeSamples = { 10: 1, 34: 1 }
            custom color3f glow.timeSamples = { 10: (0, 0, 0), 34: (0, 4, 0) }
            custom string words.timeSamples = { 10: "a", 34: "b" }
            half3[] scales"""
    heat = "custom double userProperties:heat.timeSamples = { 10: 0, 34: 1 }"
    other = f'def Xform "Other" {{ {heat} \n}}\n def Mesh "Skin"'
    text = ARM.replace("half3[] scales", keyed).replace('def Mesh "Skin"', other)
    order, upper = "uniform token[] xformOpOrder", heat.replace("0, 34: 1", "1, 34: 0")
    clip = read(text.replace(order, f"{upper}\n    {order}"), tmp_path).clips["Bend"]
    curves = {c.name: c for c in clip.curves}
    assert set(curves) == {"grip", "glow.y", "Arm.heat", "Other.heat"}
    np.testing.assert_allclose(curves["grip"].times, [0, 0.5, 1])
    np.testing.assert_allclose(curves["grip"].values, [0, 2, 0])
    np.testing.assert_allclose(curves["Arm.heat"].values, [1, 0])


def test_curves_come_back_from_a_stage(tmp_path):
    hero = read(ARM, tmp_path)
    kept = (mw.Curve("grip", [0.0, 0.5, 1.0], [0, 2, 0]), mw.Curve("hand l: grip", [0.0, 0.25], [1, 3]))
    clip = hero.clips["Bend"].replace(curves=kept)
    mw.save(hero.replace(clips=[clip]), tmp_path / "out.usda")
    back = {c.name: c for c in mw.load(tmp_path / "out.usda", cache=False).clips["Bend"].curves}
    assert set(back) == {"grip", "hand l: grip"}
    for curve in kept:
        np.testing.assert_allclose(back[curve.name].times, curve.times, atol=1e-6)
        np.testing.assert_allclose(back[curve.name].values, curve.values)


def test_what_was_read_from_a_stage_of_others_comes_back_from_one_of_our_own(tmp_path):
    hero = read(ARM, tmp_path)
    now = hero
    for name in ("one.usda", "two.usdc", "three.usdz"):
        mw.save(now, tmp_path / name)
        now = read_stage(Source.open(tmp_path / name), LoadOptions())
        assert now == hero


def test_hidden_meshes_are_marked(tmp_path):
    text = stage(f'def Mesh "M" {{ {square()}\ntoken visibility = "invisible" }}')
    assert not read(text, tmp_path).meshes[0].visible


def test_display_color_is_kept(tmp_path):
    one = stage(f'def Mesh "M" {{ {square("color3f[] primvars:displayColor = [(1, 0.5, 0.25)]")} }}')
    character = read(one, tmp_path)
    assert character.materials[0].base_color == (1, 0.5, 0.25, 1)
    each = square(
        'color3f[] primvars:displayColor = [(1,0,0), (0,1,0), (0,0,1), (1,1,1)] (interpolation = "vertex")'
    )
    assert read(stage(f'def Mesh "M" {{ {each} }}'), tmp_path).meshes[0].colors.tolist()[1] == [0, 1, 0, 1]


def test_instances_have_skeletons_of_their_own(tmp_path):
    (tmp_path / "arm.usda").write_text(ARM.replace('upAxis = "Y"', 'upAxis = "Y"\n    defaultPrim = "Arm"'))
    instance = "(prepend references = @./arm.usda@\ninstanceable = true)"
    moved = """{
    double3 xformOp:translate = (-3, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}"""
    timing = "startTimeCode = 10\nendTimeCode = 34\ntimeCodesPerSecond = 24\nmetersPerUnit = 1"
    character = read(stage(f'def "L" {instance}\n{moved}\ndef "R" {instance} {{}}', timing), tmp_path)
    pose = character.clips[0].sample(1.0)
    left, right = (skinned(character, mesh, pose) for mesh in character.meshes)
    np.testing.assert_allclose(left[2], [-4, 2, 0], atol=1e-6)
    np.testing.assert_allclose(right[2], [4, 2, 0], atol=1e-6)


def test_weights_without_a_skel_root_are_reported(tmp_path):
    assert "no skeleton below a SkelRoot" in str(
        read(ARM.replace("def SkelRoot", "def Xform"), tmp_path).report
    )


# the process around it


def test_the_reader_runs_in_a_process_of_its_own(tmp_path):
    path = tmp_path / "arm.usda"
    path.write_text(ARM)
    here = read_stage(Source.open(path), LoadOptions(scale=2))
    there = usd.read(Source.open(path), LoadOptions(scale=2))
    assert there.skeleton.names == here.skeleton.names
    np.testing.assert_array_equal(there.meshes[0].positions, here.meshes[0].positions)
    np.testing.assert_array_equal(
        there.clips["Bend"].sample(0.3).rotation, here.clips["Bend"].sample(0.3).rotation
    )


def test_failures_come_home_as_they_are(tmp_path):
    path = tmp_path / "bad.usda"
    path.write_text("#usda 1.0\ndef Xform {")
    with pytest.raises(FormatError, match="could not read it") as caught:
        usd.read(Source.open(path), LoadOptions())
    assert str(path) in str(caught.value)
    path.write_text(ARM.replace("[1, 0, 1, 0, 0, 1, 0.5, 0.5]", "[1, 0, 1]"))
    with pytest.raises(FormatError, match="/Arm/Skin: "):
        usd.read(Source.open(path), LoadOptions())


def test_values_of_the_wrong_type_are_an_error_of_the_file(tmp_path):
    path = tmp_path / "odd.usda"
    path.write_text(ARM.replace("point3f[] points", "token points").replace("[(0, 0, 0), (1, 0, 0)", '"x" #'))
    with pytest.raises(FormatError):
        usd.read(Source.open(path), LoadOptions())


def test_load_reads_stages_with_their_layers_and_notices_a_change_in_one(tmp_path, monkeypatch):
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path / "cache"))
    part = tmp_path / "part.usda"
    words = '#usda 1.0\n(defaultPrim = "S")\ndef Xform "S"\n{\n    def Xform "Below" {}\n}'
    part.write_text(words)
    path = tmp_path / "whole.usda"
    path.write_text(stage('def Xform "A" (prepend references = @./part.usda@) {}'))
    assert mw.load(path).skeleton.names == ("A", "Below")
    assert mw.load(path).skeleton.names == ("A", "Below")
    part.write_text(words.replace("Below", "Beneath"))
    assert mw.load(path).skeleton.names == ("A", "Beneath")
