"""SMPL bodies and the motion recorded for them, as their `.npz` files have them.

- A body model (SMPL, SMPL+H, SMPL-X: `v_template`, `f`, `weights`, `J_regressor`, `kintree_table`) becomes a skinned
  character. The first shape directions are morph channels `shape_0`, `shape_1`, ...; they move the skin, not the
  joints. Pose correctives (`posedirs`) are left out.
- Motion (AMASS: `poses`, `trans`, a frame rate) becomes a skeleton of average proportions with one clip. Give it to a
  body by `mw.load("smplx.npz", clips="walk_poses.npz")`. AMASS is Z up; marrow turns it to Y up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.motion_arrays.preparation import UPRIGHT
from marrow.io.numpy_files import npz_arrays, npz_names
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.math import quaternion
from marrow.model import Character, Clip, Mesh, MorphTarget, Pose, Skeleton, Track, normalize_weights
from marrow.report import ReportBuilder

__all__ = ["body_arrays", "body_character", "is_smpl", "joints", "motion_character", "read"]

Array = NDArray[Any]
SHAPES = 10
DEFAULT_RATE = 120.0
_WANTED = (
    "v_template", "f", "weights", "J_regressor", "kintree_table", "shapedirs",
    "poses", "trans", "mocap_framerate", "mocap_frame_rate", "fps", "framerate",
    "root_orient", "pose_body", "pose_hand", "pose_jaw", "pose_eye",
    "global_orient", "body_pose", "transl", "left_hand_pose", "right_hand_pose", "jaw_pose", "leye_pose", "reye_pose",
)  # fmt: skip
_RATES = ("mocap_framerate", "mocap_frame_rate", "fps", "framerate")
# name, parent and place against the parent in metres, of a body of average proportions in its T-pose.
_BODY: tuple[tuple[str, int, tuple[float, float, float]], ...] = (
    ("pelvis", -1, (0.0, 0.0, 0.0)),
    ("left_hip", 0, (0.06, -0.09, -0.02)),
    ("right_hip", 0, (-0.06, -0.09, -0.02)),
    ("spine1", 0, (0.0, 0.12, -0.04)),
    ("left_knee", 1, (0.04, -0.38, 0.0)),
    ("right_knee", 2, (-0.04, -0.38, 0.0)),
    ("spine2", 3, (0.0, 0.14, 0.03)),
    ("left_ankle", 4, (-0.02, -0.42, -0.04)),
    ("right_ankle", 5, (0.02, -0.42, -0.04)),
    ("spine3", 6, (0.0, 0.06, 0.0)),
    ("left_foot", 7, (0.04, -0.06, 0.12)),
    ("right_foot", 8, (-0.04, -0.06, 0.12)),
    ("neck", 9, (0.0, 0.21, -0.03)),
    ("left_collar", 9, (0.08, 0.11, -0.02)),
    ("right_collar", 9, (-0.08, 0.11, -0.02)),
    ("head", 12, (0.0, 0.09, 0.05)),
    ("left_shoulder", 13, (0.12, 0.05, -0.02)),
    ("right_shoulder", 14, (-0.12, 0.05, -0.02)),
    ("left_elbow", 16, (0.26, -0.01, -0.03)),
    ("right_elbow", 17, (-0.26, -0.01, -0.03)),
    ("left_wrist", 18, (0.27, 0.01, 0.0)),
    ("right_wrist", 19, (-0.27, 0.01, 0.0)),
)
_HANDS = (("left_hand", 20, (0.09, -0.01, -0.01)), ("right_hand", 21, (-0.09, -0.01, -0.01)))
_FACE = (
    ("jaw", 15, (0.0, 0.0, 0.03)),
    ("left_eye", 15, (0.03, 0.06, 0.08)),
    ("right_eye", 15, (-0.03, 0.06, 0.08)),
)
_FINGERS = (
    ("index", 0.1, 0.03),
    ("middle", 0.11, 0.0),
    ("pinky", 0.08, -0.04),
    ("ring", 0.1, -0.02),
    ("thumb", 0.04, 0.04),
)


def is_smpl(data: bytes | memoryview) -> bool:
    """Whether a zip archive holds the arrays of a body or of its motion."""
    names = set(npz_names(data))
    return any(
        wanted <= names
        for wanted in (
            {"v_template", "weights"}, {"poses", "trans"}, {"root_orient", "pose_body"}, {"global_orient", "body_pose"},
        )
    )  # fmt: skip


def read(source: Source, options: LoadOptions) -> Character:
    """The body or the motion in an `.npz` file."""
    arrays = _arrays(source)
    report = ReportBuilder()
    try:
        body = "v_template" in arrays
        made = body_character(arrays, report) if body else motion_character(arrays, options, report)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise FormatError(f"its arrays do not fit together: {error}", path=source.path) from None
    return scaled(made, options.scale).replace(report=report.build())


def body_arrays(path: str) -> dict[str, Array]:
    """All arrays of a body model, pose correctives too. Pickles are not read: opening one runs whatever is in it."""
    if str(path).lower().endswith(".pkl"):
        raise FormatError(
            "is a pickle, which is not read: opening one runs whatever code is in it",
            path=path,
            remedy='convert it once, where you trust it: python -c "import pickle, sys, numpy as np; '
            "d = pickle.load(open(sys.argv[1], 'rb'), encoding='latin1'); "
            "np.savez(sys.argv[1][:-3] + 'npz', **{k: np.asarray(v.todense() if hasattr(v, 'todense') else v) "
            'for k, v in d.items() if not isinstance(v, (str, bytes, dict))})" MODEL.pkl',
        )
    found = _arrays(Source.open(path), (*_WANTED, "posedirs"))
    missing = [k for k in ("v_template", "f", "weights", "J_regressor", "kintree_table") if k not in found]
    if missing:
        raise FormatError(f"is no body model: it lacks {', '.join(missing)}", path=path)
    return found


def _arrays(source: Source, names_wanted: tuple[str, ...] = _WANTED) -> dict[str, Array]:
    found = npz_arrays(source.data, source.path, names_wanted)
    for name, array in found.items():
        if array.dtype.kind not in "fiu" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
            raise FormatError("is not made of finite numbers", path=source.path, place=name)
    return found


def joints(count: int) -> list[tuple[str, int, tuple[float, float, float]]]:
    """Name, parent and place of the joints of a SMPL (24), SMPL+H (52) or SMPL-X (55) body."""
    table = list(_BODY)
    if count == 24:
        return [*table, *_HANDS]
    if count == 55:
        table += _FACE
    if count not in (22, 52, 55):
        raise ValueError(f"a body has 22, 24, 52 or 55 joints, not {count}")
    for side, wrist, sign in (("left", 20, 1.0), ("right", 21, -1.0)) if count > 22 else ():
        for finger, reach, across in _FINGERS:
            parent = wrist
            for i in range(3):
                length = reach if i == 0 else 0.03
                table.append(
                    (f"{side}_{finger}{i + 1}", parent, (sign * length, 0.0, across if i == 0 else 0.0))
                )
                parent = len(table) - 1
    return table


def _whole_poses(arrays: dict[str, Array]) -> tuple[Array, Array | None, str]:
    """Rotation vectors of all joints `(T, J, 3)`, the root's places where there are some, and what kind of file has
    them so."""
    if "poses" in arrays:
        poses = arrays["poses"].reshape(len(arrays["poses"]), -1, 3)
        return poses.astype(np.float64), arrays.get("trans"), "AMASS"
    if "pose_body" in arrays:
        parts = [
            arrays[k]
            for k in ("root_orient", "pose_body", "pose_jaw", "pose_eye", "pose_hand")
            if k in arrays
        ]
        kind = "SMPL-X's parts (root_orient, pose_body)"
    else:
        rest = ("jaw_pose", "leye_pose", "reye_pose", "left_hand_pose", "right_hand_pose")
        parts = [arrays[k] for k in ("global_orient", "body_pose", *rest) if k in arrays]
        kind = "SMPL's parameters (global_orient, body_pose)"
    T = len(parts[0])
    rows = [np.asarray(p, np.float64).reshape(T, -1) for p in parts]
    whole = np.concatenate(rows, axis=1)
    if whole.shape[1] % 3 or whole.shape[1] // 3 not in (22, 24, 52, 55):
        whole = np.concatenate(rows[:2], axis=1)  # hands as principal components, or no known face
    moves = arrays.get("trans", arrays.get("transl"))
    return whole.reshape(T, -1, 3), moves, kind


def _up_of(turns: Array, kind: str, given: str | None, report: ReportBuilder) -> str:
    """The axis that is up: AMASS has Z, of others the body tells."""
    if given is not None:
        report.add("info", "up", f"{given} is up (as it was said)")
        return given
    middle = np.median(quaternion.rotate(turns, [0.0, 1.0, 0.0]), axis=0)
    k = int(np.argmax(np.abs(middle)))
    seen = ("-" if middle[k] < 0 else "") + "xyz"[k] if abs(middle[k]) > 0.75 else ""
    up = "z" if kind == "AMASS" else seen or "y"
    told = "as AMASS has it" if kind == "AMASS" else "told by the body" if seen else "assumed"
    report.add("info", "up", f"{up} is up ({told})" + ("" if up == "y" else "; it was turned to Y up"))
    if seen and seen != up:
        report.add("warning", "up", f"the body stands along {seen}: if that is up, load it with up={seen!r}")
    return up


def motion_character(arrays: dict[str, Array], options: LoadOptions, report: ReportBuilder) -> Character:
    """A skeleton of average proportions that moves as the arrays say."""
    poses, moved, kind = _whole_poses(arrays)
    if not len(poses):
        raise ValueError("there are no frames")
    if moved is not None and np.abs(moved).max(initial=0) > 1e9:
        raise ValueError("a place of the root is too large to be one")
    if not np.isfinite(poses).all():
        raise ValueError("rotations are not finite")
    table = joints(poses.shape[1])
    names, parents, places = zip(*table)
    rest = Pose.identity(len(table)).replace(translation=np.array(places))
    skeleton = Skeleton(names, np.array(parents, np.int32), rest)
    rates = (arrays.get(k) for k in _RATES)
    rate = next((float(np.asarray(r).reshape(-1)[0]) for r in rates if r is not None), 0.0)
    told = "as the file says"
    if options.rate is not None:
        rate, told = options.rate, "as it was said"
    elif not 1 <= rate <= 10_000:
        if rate:
            report.add("repaired", "mocap_framerate", f"{rate:g} frames a second became {DEFAULT_RATE:g}")
        rate, told = DEFAULT_RATE, "assumed; rate= says another"
    angle = np.linalg.norm(poses, axis=-1)
    axis = poses / np.where(angle > 0, angle, 1)[..., None]
    turns = quaternion.from_axis_angle(np.where(angle[..., None] > 0, axis, [1.0, 0, 0]), angle)
    size = {22: "SMPL", 24: "SMPL", 52: "SMPL-H", 55: "SMPL-X"}[len(table)]
    report.add(
        "info",
        "motion",
        f"{kind}: rotations of the {len(table)} joints of {size}; {rate:g} frames a second ({told}), metres",
    )
    # The body's own frame is Y up, the world it was recorded in often Z up.
    upright = quaternion.from_matrix(UPRIGHT[_up_of(turns[:, 0], kind, options.up, report)])
    turns[:, 0] = quaternion.multiply(upright, turns[:, 0])
    moves = np.zeros((len(poses), 3)) if moved is None else moved.reshape(len(poses), 3).astype(np.float64)
    if moved is None:
        report.add(
            "warning", "trans", "the file has no places of the root: the body turns and bends in one place"
        )
    moves = quaternion.rotate(upright, moves)
    times = np.arange(len(poses)) / rate
    tracks = [Track(0, "translation", times, moves)]
    for j in range(len(table)):
        flips = np.cumprod(np.where((turns[1:, j] * turns[:-1, j]).sum(1) < 0, -1.0, 1.0))
        turns[1:, j] *= flips[:, None]
        tracks.append(Track(j, "rotation", times, turns[:, j]))
    report.add(
        "info", "skeleton", "the file holds no body: its joints are those of one of average proportions"
    )
    return Character(skeleton, clips=[Clip("motion", skeleton, tracks, rate=rate)])  # type: ignore[arg-type]


def body_character(arrays: dict[str, Array], report: ReportBuilder) -> Character:
    """The character of a body model's arrays."""
    points = arrays["v_template"].reshape(-1, 3).astype(np.float64)
    weights = arrays["weights"].astype(np.float64)
    V, J = weights.shape
    if len(points) != V:
        raise ValueError(f"{len(points)} vertices and weights for {V}")
    parents = arrays["kintree_table"][0].astype(np.int64)
    parents = np.where((parents < 0) | (parents >= J), -1, parents).astype(np.int32)
    places = arrays["J_regressor"].astype(np.float64).reshape(J, V) @ points
    local = places - np.where(parents[:, None] >= 0, places[np.maximum(parents, 0)], 0)
    try:
        names = tuple(name for name, _, _ in joints(J))
    except ValueError:
        names = tuple(f"joint_{j}" for j in range(J))
    channels, targets = [], []
    shapes = arrays.get("shapedirs")
    for i in range(min(SHAPES, shapes.shape[-1]) if shapes is not None else 0):
        channels.append(f"shape_{i}")
        targets.append(MorphTarget(f"shape_{i}", i, shapes[..., i].reshape(V, 3)))  # type: ignore[index]
    if targets:
        report.add(
            "info",
            "shapedirs",
            f"the first {len(targets)} are morphs of the skin; joints stay where they are",
        )
    report.add("dropped", "posedirs", "pose correctives are not applied")
    rest = Pose.identity(J).replace(translation=local, morphs=np.zeros(len(channels)))
    skeleton = Skeleton(names, parents, rest, tuple(channels))
    K = max(1, min(int((weights > 1e-6).sum(1).max(initial=1)), 16))
    order = np.argsort(-weights, axis=1, kind="stable")[:, :K]
    kept, _ = normalize_weights(np.take_along_axis(weights, order, axis=1))
    binds = np.concatenate([np.repeat(np.eye(3)[None], J, axis=0), -places[:, :, None]], axis=2)
    body = Mesh(
        "body", points, arrays["f"].reshape(-1, 3).astype(np.uint32), order.astype(np.uint16), kept,
        np.arange(J), binds, normals=_normals(points, arrays["f"].reshape(-1, 3)), morph_targets=tuple(targets),
    )  # fmt: skip
    return Character(skeleton, (body,))


def _normals(points: Array, triangles: Array) -> Array:
    from marrow.io.gltf.primitives import smooth_normals

    return smooth_normals(points, triangles.astype(np.int64))
