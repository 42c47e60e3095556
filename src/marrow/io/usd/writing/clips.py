"""Clips as SkelAnimations: every key at its own time. Notes tell which samples were keys of which track."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.losses import Losses
from marrow.io.usd.notes import NAMESPACE, UsdClipNotes, put
from marrow.io.usd.values import PrimNames, floats, halves3, identifier, quaternions, vectors3
from marrow.io.usd.writing.samples import Samples, check_size, key_codes, sampled
from marrow.io.usd.writing.skeleton import Channels
from marrow.math import quaternion
from marrow.model import Clip, Track
from marrow.model.clip import INTERPOLATIONS, PATHS

__all__ = ["CURVE_PREFIX", "animated", "check_of", "write_clip", "write_rest"]

Array = NDArray[Any]
CURVE_PREFIX = "userProperties:"
_LARGEST_HALF = 65504.0
_VISIBLE = 1e-5


def animated(clip: Clip) -> Array:
    """The joints that have tracks, in order."""
    table = clip.tracks.table
    return np.unique(table["target"][table["path"] < 3]).astype(np.int64)


def write_clip(
    stage: Any,
    where: str,
    clip: Clip,
    tokens: list[str],
    channels: Channels,
    codes_per_second: float,
    rate: float | None,
    path: object,
    losses: Losses,
) -> tuple[Any, float]:
    """The SkelAnimation of a clip, and the last time code it has. `rate`: sample it at that many frames a second."""
    place = f"clip {clip.name!r}"
    tracks = _tracks(clip, rate, place, path, losses)
    for t in tracks:
        if not np.isfinite(t.values).all():
            raise FormatError(f"its {t.path} of {t.target} is not finite", path=path, place=place)
    joints = np.array(sorted({t.target for t in tracks if t.path != "morph"}), np.int64)
    morphs = np.array(sorted({t.target for t in tracks if t.path == "morph"} | _shown(clip)), np.int64)
    end, worst = clip.duration * codes_per_second, np.zeros(4)
    parts = []
    for p in range(4):
        columns = morphs if p == 3 else joints
        mine = [(i, t) for i, t in enumerate(tracks) if t.path == PATHS[p]]
        base = _unkeyed(clip, p, columns)
        parts.append(sampled(mine, columns, base, codes_per_second, end, worst, path, place))
    parts[3].values[...] /= channels.full[morphs, None].astype(np.float32)
    halved = np.clip(parts[2].values, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16)
    prim = stage.DefinePrim(where, "SkelAnimation")
    names = [tokens[j] for j in joints.tolist()], [channels.tokens[m] for m in morphs.tolist()]
    _put_samples(prim, *names, parts, halved)
    tangents = [t.values[:, ::2].ravel() for t in tracks if t.interpolation == "cubic"]
    if tangents:
        _attribute(prim, "tangents", "FloatArray").Set(floats(np.concatenate(tangents)))
    curves, last = _put_curves(prim, clip, codes_per_second)
    named, keys = _keys(tracks, parts)
    notes = UsdClipNotes(
        clip.name,
        clip.duration,
        clip.rate,
        clip.additive,
        clip.start,
        [(e.time, e.name, e.duration, e.payload) for e in clip.events],
        named,
        keys,
        curves,
        check_of([(s.codes, s.values if p != 2 else halved) for p, s in enumerate(parts)]),
    )
    put(prim, notes, path)
    if prim.GetName() != clip.name and clip.name:
        prim.SetDisplayName(clip.name)
    _report(clip, worst, float(np.abs(halved.astype(np.float32) - parts[2].values).max(initial=0)), losses)
    return prim, max([end, last, *(float(s.codes[-1]) for s in parts if len(s.codes))])


def _keys(
    tracks: list[Track], parts: list[Samples]
) -> tuple[list[tuple[int, int, int, int]], list[list[int]]]:
    """For the notes: each track with the number of its row of samples, and those rows."""
    rows: dict[bytes, int] = {}
    named = []
    for i, t in enumerate(tracks):
        p = PATHS.index(t.path)
        mine = parts[p].rows[i]
        every = len(mine) == len(parts[p].codes)
        number = -1 if every else rows.setdefault(mine.astype(np.int64).tobytes(), len(rows))
        named.append((t.target, p, INTERPOLATIONS.index(t.interpolation), number))
    return named, [np.frombuffer(row, np.int64).tolist() for row in rows]


def write_rest(stage: Any, where: str, weights: Array, channels: Channels, path: object) -> Any:
    """A SkelAnimation that only holds the morphs at their weights at rest, which USD says nowhere else."""
    from pxr import UsdSkel

    prim = stage.DefinePrim(where, "SkelAnimation")
    made = UsdSkel.Animation(prim)
    made.CreateBlendShapesAttr(channels.tokens)
    made.CreateBlendShapeWeightsAttr(floats(weights / channels.full))
    put(prim, UsdClipNotes(rest=True), path)
    return prim


def check_of(parts: list[tuple[Array, Array]]) -> int:
    """A sum over codes and values, to know samples again."""
    check = 0
    for codes, values in parts:
        check = zlib.crc32(np.ascontiguousarray(codes, "<f8").tobytes(), check)
        half = values.dtype == np.float16
        check = zlib.crc32(np.ascontiguousarray(values, "<f2" if half else "<f4").tobytes(), check)
    return check


def _tracks(clip: Clip, rate: float | None, place: str, path: object, losses: Losses) -> list[Track]:
    """The tracks that count, of unit rotations; sampled at `rate` where there is one."""
    # Of two tracks of one property the later one counts, as in sampling.
    tracks = {(t.path, t.target): t for t in clip.tracks}
    if len(tracks) < len(clip.tracks):
        losses.add(place, "tracks that later ones of the same joint replace are left out")
    if rate is None:
        return [_unit(t) if t.path == "rotation" else t for t in tracks.values()]
    count = int(clip.duration * rate + 1e-6) + 1
    check_size(count * 10 * len(clip.skeleton), count, len(clip.skeleton), place, path)
    times = np.minimum(np.append(np.arange(count) / rate, clip.duration), clip.duration).astype(np.float32)
    if len(times) > 1 and times[-1] - times[-2] < 1e-3 / rate:
        times = np.delete(times, -2)
    wanted = [(path, target, PATHS.index(path)) for path, target in tracks]
    pose = clip.sample(times.astype(np.float64))
    fields = (pose.translation, pose.rotation, pose.scale, pose.morphs[..., None])
    return [Track(target, path, times, fields[p][:, target]) for path, target, p in wanted]


def _unit(track: Track) -> Track:
    """Rotation keys of unit length; a spline's tangents are scaled along with their key."""
    cubic = track.interpolation == "cubic"
    keys = (track.values[:, 1] if cubic else track.values).astype(np.float64)
    length = np.linalg.norm(keys, axis=1)
    off = np.abs(length - 1) > (1e-3 if cubic else 1e-6)
    if not off.any():
        return track
    values = track.values.astype(np.float64)
    if cubic:
        values[off] /= np.where(length[off] > 0, length[off], 1)[:, None, None]
        values[off, 1] = quaternion.normalize(keys[off])
    else:
        values[off] = quaternion.normalize(keys[off])
    return Track(track.target, track.path, track.times, values, track.interpolation)


def _shown(clip: Clip) -> set[int]:
    """Morph channels that are on at rest: they must be said, since USD takes zero for the others."""
    return set() if clip.additive else set(np.flatnonzero(clip.skeleton.rest.morphs).tolist())


def _unkeyed(clip: Clip, p: int, columns: Array) -> Array:
    """What the columns of a path are without a track `(n, C)`."""
    rest = clip.skeleton.rest
    values = (rest.translation, rest.rotation, rest.scale, rest.morphs[:, None])[p][columns]
    if clip.additive:
        return np.broadcast_to(
            np.array(((0, 0, 0), (0, 0, 0, 1), (1, 1, 1), (0,))[p], np.float32), values.shape
        )
    return np.asarray(values, np.float32)


def _report(clip: Clip, worst: Array, halved: float, losses: Losses) -> None:
    """Says what other programs see otherwise: how far straight pieces are from splines, scales, additive clips."""
    place = f"clip {clip.name!r}"
    for p, unit in enumerate((" m", " degrees", "", "")):
        if worst[p] > 0:
            off = float(np.degrees(worst[p]) if PATHS[p] == "rotation" else worst[p])
            what = f"USD has no cubic keys; other programs see {PATHS[p]}s in straight pieces, up to {{}}{unit} off"
            losses.add(place, what, off)
    if halved > _VISIBLE:
        losses.add(
            place, "UsdSkel has scales in half precision; other programs see them up to {} off", halved
        )
    if clip.additive:
        losses.add(place, "it is a difference to add to other motion; other programs play it as it is")


def _attribute(prim: Any, name: str, kind: str) -> Any:
    from pxr import Sdf

    return prim.CreateAttribute(f"{NAMESPACE}{name}", getattr(Sdf.ValueTypeNames, kind), True)


def _put_samples(
    prim: Any, joints: list[str], morphs: list[str], parts: list[Samples], halved: Array
) -> None:
    from pxr import Sdf, UsdSkel

    made = UsdSkel.Animation(prim)
    made.CreateJointsAttr(joints)
    layer = prim.GetStage().GetRootLayer()
    rows: list[tuple[Any, Array, Array, Callable[[Any], Any]]] = [
        (made.CreateTranslationsAttr(), parts[0].codes, parts[0].values, vectors3),
        (made.CreateRotationsAttr(), parts[1].codes, parts[1].values, quaternions),
        (made.CreateScalesAttr(), parts[2].codes, halved, halves3),
    ]
    if (halved.astype(np.float32) != parts[2].values).any():
        rows.append((_attribute(prim, "scales", "Float3Array"), parts[2].codes, parts[2].values, vectors3))
    if morphs:
        made.CreateBlendShapesAttr(morphs)
        rows.append((made.CreateBlendShapeWeightsAttr(), parts[3].codes, parts[3].values, floats))
    for attribute, codes, values, fill in rows:
        if not len(codes):
            attribute.Set(fill(values[0]))
            continue
        with Sdf.ChangeBlock():
            for code, value in zip(codes.tolist(), values):
                layer.SetTimeSample(attribute.GetPath(), code, fill(value))


def _put_curves(prim: Any, clip: Clip, codes_per_second: float) -> tuple[list[tuple[str, str]], float]:
    """The curves as attributes of their names, which other programs show; a name USD does not allow is a display name."""
    from pxr import Sdf

    names, found, last = PrimNames(), [], 0.0
    for curve in clip.curves:
        name = CURVE_PREFIX + names.of(curve.name, "")
        attribute = prim.CreateAttribute(name, Sdf.ValueTypeNames.Float, custom=True)
        if identifier(curve.name) != curve.name and curve.name:
            attribute.SetDisplayName(curve.name)
        codes = key_codes(curve.times, codes_per_second)
        for code, value in zip(codes.tolist(), curve.values.tolist()):
            attribute.Set(float(value), code)
        found.append((curve.name, name))
        last = max(last, float(codes[-1]))
    return found, last
