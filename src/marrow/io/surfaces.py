"""OBJ and PLY: the surface of a character in one moment, or one file for each frame of a clip.

Both formats hold triangles and know no joints. Positions are the skinned ones, in metres, Y up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.visibility import visible_meshes
from marrow.errors import ValidationError
from marrow.io.atomic import replacing
from marrow.model import Character, Pose, _validate

__all__ = ["write"]

Array = NDArray[Any]
MAX_FRAMES = 100_000
_LINES = 4096


def write(
    character: Character,
    path: Path | str,
    *,
    clip: str | None = None,
    time: float | None = None,
    rate: float | None = None,
) -> None:
    """Writes the surface in one pose: that of `clip` at `time` seconds (default 0), or at rest without a clip.

    With `rate`, the whole clip is written, one file a frame: `walk.obj` becomes `walk.0000.obj`, `walk.0001.obj`, ...
    """
    target = Path(path)
    if not any(len(m.triangles) for m in character.meshes):
        raise ValidationError(f"save: {target.suffix} holds triangles, and the character has none")
    put = _obj if target.suffix.lower() == ".obj" else _ply
    for file, pose, when in _frames(character, target, clip, time, rate):
        _write_one(_shown(character, clip, when), pose, file, put)


def _shown(character: Character, clip: str | None, time: float) -> Character:
    """The character with the meshes that are shown; with all where none is."""
    still = np.array([m.visible for m in character.meshes])
    shown = still if clip is None else visible_meshes(character, character.clips[clip], time)
    if shown.all() or not any(s and len(m.triangles) for m, s in zip(character.meshes, shown)):
        return character
    return character.replace(meshes=tuple(m for m, s in zip(character.meshes, shown) if s))


def _frames(
    character: Character, path: Path, clip: str | None, time: float | None, rate: float | None
) -> Iterator[tuple[Path, Pose, float]]:
    if clip is None:
        if time is not None or rate is not None:
            raise ValidationError("save: time= and rate= need a clip=")
        yield path, character.skeleton.rest, 0.0
        return
    chosen = character.clips[clip]
    if time is not None:
        time = _validate.number("save", "time", time)
    if rate is not None:
        rate = _validate.frame_rate("save", rate)
    if rate is None:
        yield path, chosen.sample(time or 0.0), time or 0.0
        return
    if time is not None:
        raise ValidationError(f"save: expected time= or rate=, got time={time} and rate={rate}")
    count = math.floor(chosen.duration * rate + 1e-3) + 1
    if count > MAX_FRAMES:
        raise ValidationError(f"save: {count} frames are more files than a folder should hold; lower rate")
    digits = max(4, len(str(count - 1)))
    for i in range(count):
        yield path.with_name(f"{path.stem}.{i:0{digits}d}{path.suffix}"), chosen.sample(i / rate), i / rate


def _write_one(
    character: Character,
    pose: Pose,
    path: Path,
    put: Callable[[IO[bytes], Character, Array, Array | None], None],
) -> None:
    from marrow.skinning import skin

    normals = all(m.normals is not None for m in character.meshes)
    surface = skin(character, pose, normals=normals, tangents=False)
    with replacing(path) as file:
        put(file, character, surface.positions, surface.normals if normals else None)


def _obj(file: IO[bytes], character: Character, positions: Array, normals: Array | None) -> None:
    file.write(b"# written by marrow\n")
    start = 0
    uv_start = 0
    for mesh in character.meshes:
        end = start + mesh.vertex_count
        file.write(f"o {_word(mesh.name)}\n".encode())
        _rows(file, "v %.9g %.9g %.9g\n", positions[start:end])
        uvs = mesh.uvs[0] if mesh.uvs else None
        if uvs is not None:
            _rows(file, "vt %.9g %.9g\n", np.stack([uvs[:, 0], 1 - uvs[:, 1]], axis=1))
        if normals is not None:
            _rows(file, "vn %.6g %.6g %.6g\n", normals[start:end])
        columns, pattern = [start + 1], "%d"
        if uvs is not None:
            columns, pattern = [*columns, uv_start + 1], "%d/%d"
        if normals is not None:
            columns.append(start + 1)
            pattern += "/%d" if uvs is not None else "//%d"
        line = f"f {pattern} {pattern} {pattern}\n"
        sections = mesh.sections or ()
        covered = sum(s.count for s in sections) == len(mesh.triangles)
        parts = (
            [(s.first, s.count, s.material) for s in sections]
            if covered
            else [(0, len(mesh.triangles), None)]
        )
        for first, count, material in parts:
            if material is not None:
                file.write(
                    f"usemtl {_word(character.materials[material].name or f'material_{material}')}\n".encode()
                )
            corners = mesh.triangles[first : first + count].astype(np.int64)
            _rows(file, line, (corners[:, :, None] + np.array(columns)).reshape(len(corners), -1))
        start = end
        uv_start += 0 if uvs is None else mesh.vertex_count


def _rows(file: IO[bytes], line: str, values: Array) -> None:
    for i in range(0, len(values), _LINES):
        block = values[i : i + _LINES]
        file.write(((line * len(block)) % tuple(block.ravel().tolist())).encode())


def _word(name: str) -> str:
    return re.sub(r"\s+", "_", name.strip()) or "unnamed"


def _ply(file: IO[bytes], character: Character, positions: Array, normals: Array | None) -> None:
    names = ["x", "y", "z"] + (["nx", "ny", "nz"] if normals is not None else [])
    parts = [positions] + ([normals] if normals is not None else [])
    if all(m.uvs for m in character.meshes):
        names += ["s", "t"]
        uvs = np.concatenate([m.uvs[0] for m in character.meshes])
        parts.append(np.stack([uvs[:, 0], 1 - uvs[:, 1]], axis=1))
    offsets = character.vertex_offsets
    triangles = np.concatenate(
        [m.triangles.astype("<u4") + np.uint32(o) for m, o in zip(character.meshes, offsets)]
    )
    properties = "".join(f"property float {name}\n" for name in names)
    file.write(
        f"ply\nformat binary_little_endian 1.0\ncomment written by marrow\nelement vertex {len(positions)}\n"
        f"{properties}element face {len(triangles)}\nproperty list uchar uint vertex_indices\nend_header\n".encode()
    )
    file.write(np.concatenate(parts, axis=1).astype("<f4").tobytes())
    faces = np.empty(len(triangles), np.dtype([("n", "u1"), ("v", "<u4", 3)]))
    faces["n"], faces["v"] = 3, triangles
    file.write(faces.tobytes())
