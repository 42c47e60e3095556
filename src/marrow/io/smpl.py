"""SMPL bodies and the motion recorded for them, as their `.npz` files have them.

- A body model (SMPL, SMPL+H, SMPL-X: `v_template`, `f`, `weights`, `J_regressor`, `kintree_table`) becomes a skinned
  character. The first shape directions are morph channels `shape_0`, `shape_1`, ...; they move the skin, not the
  joints. Pose correctives (`posedirs`) are left out.
- Motion (AMASS: `poses`, `trans`, a frame rate) becomes a skeleton of average proportions with one clip. Give it to a
  body by `mw.load("smplx.npz", clips="walk_poses.npz")`. AMASS is Z up; marrow turns it to Y up.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.math import quaternion
from marrow.model import Character, Clip, Mesh, MorphTarget, Pose, Skeleton, Track, normalize_weights
from marrow.report import ReportBuilder

__all__ = ["body_arrays", "body_character", "is_smpl", "joints", "read"]

Array = NDArray[Any]
MAX_BYTES = 2 << 30
# What a small file may unpack to: zeros pack a thousand to one, real models about five to one.
SMALL_BYTES, MOST_RATIO = 64 << 20, 40
SHAPES = 10
DEFAULT_RATE = 120.0
_WANTED = (
    "v_template", "f", "weights", "J_regressor", "kintree_table", "shapedirs",
    "poses", "trans", "mocap_framerate", "mocap_frame_rate", "fps",
)  # fmt: skip
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
    """Whether a zip archive lists the arrays of a body or of its motion at its end."""
    tail = bytes(data[-(1 << 16) :])
    body = b"v_template.npy" in tail and b"weights.npy" in tail
    return body or (b"poses.npy" in tail and b"trans.npy" in tail)


def read(source: Source, options: LoadOptions) -> Character:
    """The body or the motion in an `.npz` file."""
    arrays = _arrays(source)
    report = ReportBuilder()
    try:
        made = body_character(arrays, report) if "v_template" in arrays else _motion(arrays, report)
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
    found: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            names = {info.filename: info for info in archive.infolist()}
            wanted = [n for n in names_wanted if f"{n}.npy" in names]
            most = min(MAX_BYTES, SMALL_BYTES + MOST_RATIO * len(source.data))
            size = sum(names[f"{n}.npy"].file_size for n in wanted)
            if size > most:
                raise ResourceLimitError(
                    f"unpacks to {size / 1e6:,.0f} MB, more than the {most / 1e6:,.0f} MB of a body model of its size",
                    path=source.path,
                )
            for name in wanted:
                with archive.open(f"{name}.npy") as member:
                    found[name] = np.lib.format.read_array(member, allow_pickle=False)
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise FormatError(
            f"cannot be read: {error}",
            path=source.path,
            remedy="sparse or pickled arrays must be saved as plain ones",
        ) from None
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


def _motion(arrays: dict[str, Array], report: ReportBuilder) -> Character:
    poses = arrays["poses"].reshape(len(arrays["poses"]), -1, 3).astype(np.float64)
    if not len(poses):
        raise ValueError("there are no frames")
    table = joints(poses.shape[1])
    names, parents, places = zip(*table)
    rest = Pose.identity(len(table)).replace(translation=np.array(places))
    skeleton = Skeleton(names, np.array(parents, np.int32), rest)
    rates = (arrays.get(k) for k in ("mocap_framerate", "mocap_frame_rate", "fps"))
    rate = next((float(np.asarray(r).reshape(-1)[0]) for r in rates if r is not None), DEFAULT_RATE)
    if not 1 <= rate <= 10_000:
        report.add("repaired", "mocap_framerate", f"{rate:g} frames a second became {DEFAULT_RATE:g}")
        rate = DEFAULT_RATE
    angle = np.linalg.norm(poses, axis=-1)
    axis = poses / np.where(angle > 0, angle, 1)[..., None]
    turns = quaternion.from_axis_angle(np.where(angle[..., None] > 0, axis, [1.0, 0, 0]), angle)
    # The body's own frame is Y up, the world it was recorded in Z up.
    upright = quaternion.from_axis_angle([1.0, 0.0, 0.0], -np.pi / 2)
    turns[:, 0] = quaternion.multiply(upright, turns[:, 0])
    moves = quaternion.rotate(upright, arrays["trans"].reshape(len(poses), 3).astype(np.float64))
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
