"""Wrong calls: whatever is passed for any argument of the public surface, the answer is a result or a MarrowError.

Each case is a call that works. Every argument of it is then exchanged, one at a time, for everything that a tired user,
a file or a network might put there.
"""

import inspect

import numpy as np
import pytest

import marrow as mw
from builders import character, pose
from hostile import exchange, hostile
from marrow.math import affine, quaternion

HERO = character(0, morphs=2, dual_quaternion_weights=np.full(60, 0.5))
BONES, BODY = HERO.skeleton, HERO.meshes[0]
J = len(BONES)
POSES = pose(np.random.default_rng(0), BONES, (2,))
MODEL = BONES.to_model(POSES)
CLIP = mw.Clip(
    "turn",
    BONES,
    (mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 1, 0, 0]]),),
    events=(mw.Event(0.5, "hit"),),
)
PACKED = CLIP.compressed().packed
SAMPLED = CLIP.resampled()
WHOLE = HERO.replace(clips=[CLIP], cameras=[mw.JointCamera("eye", 0)], lights=[mw.JointLight("lamp", 0)])

HOSTILE = hostile(
    NaN_array=np.full((2, J, 3, 4), np.nan),
    a_pose=BONES.rest,
    poses=POSES,
    a_clip=CLIP,
    clips=WHOLE.clips,
    a_character=WHOLE,
    a_mesh=BODY,
)

MESH = {f: getattr(BODY, f) for f in BODY.__dataclass_fields__}
TARGET = BODY.morph_targets[0]
FLOOR = [[0.0, 0, 0], [0, 0, 1], [1, 0, 0]]
CALLS = {
    mw.Skeleton: {"names": ("a", "b"), "parents": [-1, 0], "rest": None, "morph_names": (), "sockets": ()},
    mw.Socket: {"name": "s", "joint": 0, "translation": [0] * 3, "rotation": [0, 0, 0, 1], "scale": [1] * 3},
    mw.JointCamera: {"name": "eye", "joint": 0, "kind": "perspective", "fov": 0.7, "size": 2.0, "near": 0.1, "far": 9.0},
    mw.JointLight: {"name": "lamp", "joint": 0, "kind": "spot", "color": [1, 1, 1], "intensity": 2.0, "size": [1, 1]},
    WHOLE.camera: {"name": "eye"},
    WHOLE.light: {"name": "lamp"},
    mw.Hinge: {"name": "h", "joint": 0, "axis": [1, 0, 0], "lower": -1.0, "upper": 1.0, "slides": False},
    mw.Pose: {"translation": [[0] * 3], "rotation": [[0, 0, 0, 1]], "scale": [[1] * 3], "morphs": [0.0]},
    mw.Pose.identity: {"joints": 2, "morphs": 1, "shape": (2,)},
    POSES.broadcast_to: {"shape": (3, 2)},
    POSES.reshape: {"shape": (2, 1)},
    POSES.__getitem__: {"index": 0},
    POSES.copy: {},
    POSES.replace: {"morphs": POSES.morphs},
    mw.Mesh: MESH,
    mw.Mesh.rigid: {"name": "r", "positions": np.zeros((3, 3)), "triangles": [[0, 1, 2]], "joint": 0},
    BODY.replace: {"weights": BODY.weights},
    BODY.reordered: {},
    mw.Section: {"first": 0, "count": 1, "material": None, "name": ""},
    mw.MorphTarget: {"name": "m", "channel": 0, "positions": np.zeros((3, 3)), "vertices": [0, 1, 2], "full_weight": 1},
    TARGET.dense: {"vertex_count": 60, "field": "positions"},
    mw.Material: {f: getattr(mw.Material(), f) for f in mw.Material.__dataclass_fields__},
    mw.Texture: {f: getattr(mw.Texture(0), f) for f in mw.Texture.__dataclass_fields__},
    mw.Image: {"name": "i", "media_type": "image/png", "data": b""},
    mw.Event: {"time": 0.0, "name": "e"},
    mw.Curve: {"name": "c", "times": [0.0, 1.0], "values": [0.0, 1.0]},
    mw.Track: {"target": 0, "path": "scale", "times": [0.0], "values": [[1] * 3], "interpolation": "linear"},
    mw.Clip: {f: getattr(CLIP, f) for f in CLIP.__dataclass_fields__},
    mw.Tracks.pack: {"tracks": tuple(CLIP.tracks)},
    mw.Tracks: {"table": CLIP.tracks.table, "times": CLIP.tracks.times, "values": CLIP.tracks.values},
    CLIP.tracks.__getitem__: {"index": 0},
    CLIP.sample: {"time": 0.5, "loop": True},
    CLIP.resampled: {"rate": 30.0},
    CLIP.replace: {"duration": 2.0},
    CLIP.compressed: {"error": 1e-3, "character": None, "rate": 30.0},
    mw.PackedMotion: {f: getattr(PACKED, f) for f in PACKED.__dataclass_fields__},
    SAMPLED.sample: {"time": 0.5, "loop": True},
    mw.Clips: {"clips": [CLIP]},
    WHOLE.clips.__getitem__: {"key": 0},
    WHOLE.clips.__contains__: {"key": "turn"},
    WHOLE.clips.get: {"key": "turn"},
    mw.Character: {f: getattr(WHOLE, f) for f in WHOLE.__dataclass_fields__},
    mw.Lod: {f: getattr(WHOLE.lod, f) for f in mw.Lod.__dataclass_fields__},
    mw.Level: {"meshes": WHOLE.meshes, "lod": WHOLE.lod, "report": WHOLE.report},
    WHOLE.mesh: {"name": "random"},
    WHOLE.with_variant: {"name": None},
    WHOLE.with_meshes: {"change": lambda mesh: mesh, "factor": 1.0},
    WHOLE.with_clips: {"clips": [CLIP]},
    WHOLE.with_joint: {
        "name": "extra", "parent": 0, "translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "follow": None,
    },
    WHOLE.replace: {"meshes": WHOLE.meshes},
    WHOLE.converted: {
        "world": "unreal", "up": None, "forward": None, "handedness": None, "units": None, "back": False,
    },
    mw.samples.mannequin().in_metres: {},
    mw.samples.mannequin().turned_to: {"axis": "-z"},
    BONES.index: {"joint": 0},
    BONES.__contains__: {"joint": "joint_0"},
    BONES.morph_index: {"morph": 0},
    BONES.children: {"joint": 0},
    BONES.descendants: {"joint": 0},
    BONES.ancestors: {"joint": 0},
    BONES.mask: {"joint": [0, 1], "depth_falloff": 1.0, "weight": 0.5},
    mw.Skeleton(("a",), [-1], sockets=(mw.Socket("grip", 0),)).socket: {"name": "grip"},
    BONES.to_model: {"pose": POSES, "from_joint": 1, "out": MODEL.copy()},
    BONES.from_model: {"model": MODEL},
    mw.additive: {"clip": CLIP, "reference": 0.5, "name": "n", "rate": 30.0},
    mw.limit_influences: {"mesh": BODY, "influences": 2},
    mw.normalize_weights: {"weights": BODY.weights},
    mw.pack_weights: {"weights": BODY.weights, "bits": 8},
    mw.unpack_weights: {"packed": mw.pack_weights(BODY.weights)},
    mw.skinning_matrices: {"character": WHOLE, "model": MODEL, "out": np.empty((2, J, 3, 4), np.float32)},
    mw.skin: {
        "thing": WHOLE, "pose": POSES, "skinning": "blended", "influences": 3, "normals": True, "tangents": True,
        "morphs": [0.5, 0.5], "skeleton": None, "threads": 1, "out": mw.skin(WHOLE, POSES),
    },
    mw.bounds: {
        "thing": WHOLE, "pose": POSES, "exact": False, "skinning": "blended", "morphs": [0.5, 0.5], "skeleton": None,
        "threads": 1,
    },
    mw.blend: {"poses": [BONES.rest, BONES.rest], "weights": [0.5, 0.5]},
    mw.sample_clips: {"clips": [CLIP], "which": [0, 0], "time": [0.0, 0.5], "loop": True},
    mw.subdivide: {"character": WHOLE, "levels": 1},
    mw.retarget: {"clip": CLIP, "onto": WHOLE, "source": None, "map": None, "profile": None, "hands": False,
                  "scale": 1.0, "units": 1.0, "calibration": "drop"},
    mw.retarget_profile: {"character": WHOLE},
    mw.RetargetProfile: {"pose": None, "chains": {}, "root": "travel", "contacts": "auto", "hands": "auto",
                         "contact_weights": None, "scale": None, "morphs": {}, "clips": {}},
    mw.HeightField: {"heights": [[0.0, 1.0], [2.0, 3.0]], "spacing": 1.0, "origin": (0.0, 0.0)},
    mw.HeightField(np.zeros((2, 2)), 1.0).__call__: {"places": [[0.0, 0.0]]},
    mw.HeightField(np.zeros((2, 2)), 1.0).query: {"points": [[0.0, 0.0, 0.0]], "reach": 1.0, "depth": 2.0},
    mw.GroundMesh: {"positions": FLOOR, "triangles": [[0, 1, 2]]},
    mw.GroundMesh.of: {"thing": mw.samples.mannequin()},
    mw.GroundMesh(FLOOR, [[0, 1, 2]]).query: {"points": [[0.1, 0, 0.1]], "reach": 1.0, "depth": 2.0, "threads": 1},
    mw.samples.load: {"name": "mannequin"},
    mw.samples.mannequin: {"influences": 8},
    mw.samples.lizard: {"influences": 8},
    mw.Report: {"lines": ()},
    mw.ReportLine: {"kind": "info", "place": "", "message": "x"},
    mw.Report((mw.ReportLine("info", "", "x"),)).__getitem__: {"index": 0},
    mw.live: {"frames": [], "motion": "coco", "skeleton": None, "rate": 30.0, "up": None, "fit": 3},
    quaternion.from_euler: {"angles": [0.0, 0.0, 0.0], "order": "xyz"},
    quaternion.to_euler: {"q": [0.0, 0.0, 0.0, 1.0], "order": "xyz"},
    affine.identity: {"shape": (2,)},
}  # fmt: skip
# Arrays of numbers go straight to NumPy there: only the options are marrow's own.
NUMPY = {quaternion.from_euler: "angles", quaternion.to_euler: "q", affine.identity: "shape"}


def called(function, arguments):
    """Calls with keywords where there are some, else by position (`__getitem__` of NumPy-like things)."""
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    return (
        function(*arguments.values()) if inspect.Parameter.VAR_POSITIONAL in kinds else function(**arguments)
    )


@pytest.mark.parametrize(
    "function", [mw.load, mw.save, mw.bake_runtime, mw.export_page], ids=lambda f: f.__name__
)
def test_any_wrong_argument_for_files_is_a_marrow_error(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # any word is a path
    mw.save(WHOLE, tmp_path / "hero.glb")
    if function is mw.load:
        good = {"path": tmp_path / "hero.glb", "scale": None, "clips": (), "influences": None}
        good |= {"rate": None, "motion": None, "up": None, "allow_outside": False, "cache": False}
    elif function is mw.save:
        good = {"character": WHOLE, "path": tmp_path / "other.glb"}
    elif function is mw.export_page:
        monkeypatch.setattr("marrow.studio.page.export.page_of", lambda contents: ("", {}))  # 2 MB each time
        good = {"thing": WHOLE, "path": tmp_path / "hero.html", "graph": None, "clips": None}
        good |= {"count": 1, "texture_size": None, "max_bytes": None}
    else:
        good = {"character": WHOLE, "graph": None, "path": tmp_path / "hero.mrt"}
        good |= {"skins": True, "springs": True, "constraints": True}
    wrongly(function, good)


def wrongly(function, good, left_out=None):
    exchange(
        lambda **arguments: called(function, arguments),
        good,
        HOSTILE,
        name=named(function),
        left_out=left_out,
    )


def named(function):
    return getattr(function, "__qualname__", str(function))


@pytest.mark.parametrize("function", CALLS, ids=named)
def test_any_wrong_argument_is_a_marrow_error(function):
    wrongly(function, CALLS[function], NUMPY.get(function))


def test_the_whole_surface_is_called():
    """A new public name needs a case above. Graphs, motion, files, pictures and the studio have such tests of
    their own."""
    elsewhere = {
        "Animator",
        "Graph",
        "Events",
        "RootMotionDelta",
        "Snapshot",
        "StudioView",
        "load",
        "load_graph",
        "Controller",
        "LivePoses",
        "Mended",
        "bake_runtime",
        "export_page",
        "mend",
        "save",
    }
    elsewhere |= {
        "faces",  # tests/motion/test_faces.py
        "ik",  # tests/ik/test_wrong_ik.py
        "matching",  # tests/matching/test_motion_matching.py
        "motion",
        "BoneMap",
        "Retargeter",
        "lod",
        "gpu",
        "rendering",
        "scene",
        "pictures",
        "windows",
        "dataset",
    }
    elsewhere |= {
        *mw.rendering.__all__,
        *mw.scene.__all__,
        *mw.pictures.__all__,
    }  # tests/pictures/test_wrong_pictures.py
    elsewhere |= {"window", *mw.windows.__all__}  # tests/windows/test_wrong_windows.py
    elsewhere |= {"save_graph", "view", "graph", "errors", "samples", "__version__", "MarrowError"}
    returned = {
        "BakedRuntime",
        "Bounds",
        "ExportedPage",
        "InfluenceLimit",
        "Palette",
        "ResamplingError",
        "SampledClip",
        "Surface",
    }
    missing = {n for n in mw.__all__ if getattr(mw, n) not in CALLS} - elsewhere - returned
    assert not missing
    for noun in (mw.Skeleton, mw.Pose, mw.Mesh, mw.Clip, mw.Character, mw.MorphTarget, mw.SampledClip):
        for name, method in vars(noun).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                assert any(f"{noun.__name__}.{name}" == named(f) for f in CALLS), f"{noun.__name__}.{name}"


class TestWords:
    """Mistakes that are easily made get words that say what to do."""

    @pytest.mark.parametrize(
        ("mistake", "words"),
        [
            (lambda: mw.Event("foot_l", 0.2), r"the time comes first: Event\(0.2, 'foot_l'\)"),
            (lambda: mw.Track("hips", "scale", [0], [[1] * 3]), r"use skeleton.index\('hips'\)"),
            (lambda: mw.Track("smile", "morph", [0], [[1]]), r"use skeleton.morph_index\('smile'\)"),
            (lambda: mw.Character(BONES, clips={"turn": CLIP}), r"of a dict pass its values\(\)"),
            (lambda: mw.Character(BONES, clips=CLIP), r"Character.clips: expected a sequence of Clip, got a Clip"),
            (lambda: mw.Character(BONES, meshes=BODY), "Character.meshes: expected a sequence of Mesh, got a Mesh"),
            (lambda: WHOLE.clips[3], r"clip 3 does not exist: expected 0\.\.0"),
            (lambda: WHOLE.clips[1.0], "use the name of a clip or its number"),
            (lambda: mw.Socket("grip", "hand"), r"Socket\('grip'\).joint: expected a whole number, got 'hand'"),
            (lambda: mw.Mesh.rigid("prop", [[0, 0, 0]], [[0, 0, 0]], "hand"), r"use skeleton.index\(name\)"),
            (lambda: CLIP.sample("now"), "expected a time in seconds"),
            (lambda: CLIP.resampled(rate=0), "rate: expected more than 0"),
            (lambda: POSES[5], r"batch shape \(2,\) cannot be indexed with 5"),
            (lambda: CLIP.replace(events=[mw.Event(1.5, "hit")]), r"'hit' at 1.5 s is outside the clip's 0\.\.1 s"),
            (lambda: mw.Event(float("nan"), "hit"), "Event.time: expected a finite number"),
            (lambda: mw.skin(WHOLE, MODEL, morphs=[1]), r"morphs: expected 2 morph weights \(..., 2\), got shape \(1,\)"),
            (lambda: quaternion.from_euler([0, 0, 0], "xyw"), "order must name axes x, y or z"),
        ],
    )  # fmt: skip
    def test_says_what_to_do(self, mistake, words):
        with pytest.raises(mw.MarrowError, match=words):
            mistake()

    def test_numpy_integers_index_clips_tracks_and_joints(self):
        one = np.int64(0)
        assert WHOLE.clips[one] is CLIP and CLIP.tracks[one] == CLIP.tracks[0] and BONES.index(one) == 0
        assert WHOLE.clips[np.uint8(0)] is WHOLE.clips[-1]
