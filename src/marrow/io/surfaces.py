"""OBJ and PLY out: the surface of a character in one moment, or one file for each frame of a clip (`models` reads them).

Both formats hold triangles and know no joints. Positions are the skinned ones, in metres, Y up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.additive import sample_shown
from marrow.animation.visibility import visible_meshes
from marrow.errors import FormatError, ResourceLimitError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.source import LoadOptions, Source
from marrow.model import Character, Mesh, Pose, _validate

__all__ = ["read", "write"]

Array = NDArray[Any]
MAX_FRAMES = 100_000
# Vertices and triangles of one file, over all nodes that show a mesh. Text takes a hundred bytes for each.
MAX_OBJ, MAX_PLY = 5_000_000, 20_000_000
_LINES, _VERTICES = 4096, 1 << 20


def read(source: Source, options: LoadOptions) -> Character:
    """The model in an OBJ or PLY file, as a character of one joint."""
    from marrow.io.models import obj, ply

    is_ply = bytes(source.data[:3]) == b"ply"
    try:
        return (ply if is_ply else obj).read(source, options)
    except FormatError as error:
        if error.path is not None:
            raise
        raise type(error)(error.message, path=source.path, place=error.place, remedy=error.remedy) from None
    except (ValidationError, OverflowError) as error:
        raise FormatError(f"does not fit together: {error}", path=source.path) from None


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
    text = target.suffix.lower() == ".obj"
    for file, pose, when in _frames(character, target, clip, time, rate):
        shown = _shown(character, clip, when)
        _check_size(shown, file, MAX_OBJ if text else MAX_PLY)
        with replacing(file) as out:
            (_obj if text else _ply)(out, shown, pose)


def _check_size(character: Character, path: Path, most: int) -> None:
    """A few bytes of a file can show one mesh on thousands of nodes."""
    vertices = character.vertex_count
    triangles = sum(len(m.triangles) for m in character.meshes)
    if vertices > most or triangles > 2 * most:
        raise ResourceLimitError(
            f"{len(character.meshes)} meshes have {vertices:,} vertices and {triangles:,} triangles; such a file holds at "
            f"most {most:,} and {2 * most:,}",
            path=path,
            remedy="write a .glb, which stores a mesh once, or fewer meshes",
        )


def _skinned(character: Character, pose: Pose) -> Iterator[tuple[Mesh, Array, Array | None]]:
    """Each mesh with its positions and normals in that pose; normals are None for all where one has none."""
    from marrow.skinning import skin

    normals = all(m.normals is not None for m in character.meshes)
    for meshes in _groups(character.meshes):
        surface = skin(character.replace(meshes=meshes, reduced=()), pose, normals=normals, tangents=False)
        start = 0
        for mesh in meshes:
            end = start + mesh.vertex_count
            turned = surface.normals[start:end] if normals and surface.normals is not None else None
            yield mesh, surface.positions[start:end], turned
            start = end


def _groups(meshes: tuple[Mesh, ...]) -> Iterator[tuple[Mesh, ...]]:
    """Meshes that are skinned in one go: not so many that their vertices take much memory."""
    group: list[Mesh] = []
    size = 0
    for mesh in meshes:
        if group and size + mesh.vertex_count > _VERTICES:
            yield tuple(group)
            group, size = [], 0
        group.append(mesh)
        size += mesh.vertex_count
    if group:
        yield tuple(group)


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
        yield path, sample_shown(chosen, time or 0.0), time or 0.0
        return
    if time is not None:
        raise ValidationError(f"save: expected time= or rate=, got time={time} and rate={rate}")
    count = math.floor(chosen.duration * rate + 1e-3) + 1
    if count > MAX_FRAMES:
        raise ValidationError(f"save: {count} frames are more files than a folder should hold; lower rate")
    digits = max(4, len(str(count - 1)))
    for i in range(count):
        yield (
            path.with_name(f"{path.stem}.{i:0{digits}d}{path.suffix}"),
            sample_shown(chosen, i / rate),
            i / rate,
        )


def _obj(file: IO[bytes], character: Character, pose: Pose) -> None:
    file.write(b"# written by marrow\n")
    start = uv_start = 0
    for mesh, positions, normals in _skinned(character, pose):
        file.write(f"o {_word(mesh.name)}\n".encode())
        _rows(file, "v %.9g %.9g %.9g\n", positions)
        uvs = mesh.uvs[0] if mesh.uvs else None
        if uvs is not None:
            _rows(file, "vt %.9g %.9g\n", np.stack([uvs[:, 0], 1 - uvs[:, 1]], axis=1))
        if normals is not None:
            _rows(file, "vn %.6g %.6g %.6g\n", normals)
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
            if not count:
                continue  # points and lines, which are kept as vertices alone
            if material is not None:
                file.write(
                    f"usemtl {_word(character.materials[material].name or f'material_{material}')}\n".encode()
                )
            corners = mesh.triangles[first : first + count].astype(np.int64)
            _rows(file, line, (corners[:, :, None] + np.array(columns)).reshape(count, -1))
        start += mesh.vertex_count
        uv_start += 0 if uvs is None else mesh.vertex_count


def _rows(file: IO[bytes], line: str, values: Array) -> None:
    for i in range(0, len(values), _LINES):
        block = values[i : i + _LINES]
        file.write(((line * len(block)) % tuple(block.ravel().tolist())).encode())


def _word(name: str) -> str:
    return re.sub(r"\s+", "_", name.strip()) or "unnamed"


def _ply(file: IO[bytes], character: Character, pose: Pose) -> None:
    normals = all(m.normals is not None for m in character.meshes)
    uvs = all(m.uvs for m in character.meshes)
    names = ["x", "y", "z"] + (["nx", "ny", "nz"] if normals else []) + (["s", "t"] if uvs else [])
    properties = "".join(f"property float {name}\n" for name in names)
    triangles = sum(len(m.triangles) for m in character.meshes)
    file.write(
        f"ply\nformat binary_little_endian 1.0\ncomment written by marrow\nelement vertex {character.vertex_count}\n"
        f"{properties}element face {triangles}\nproperty list uchar uint vertex_indices\nend_header\n".encode()
    )
    for mesh, place, normal in _skinned(character, pose):
        parts = [place] + ([normal] if normal is not None else [])
        if uvs:
            parts.append(np.stack([mesh.uvs[0][:, 0], 1 - mesh.uvs[0][:, 1]], axis=1))
        file.write(np.concatenate(parts, axis=1).astype("<f4").tobytes())
    for mesh, offset in zip(character.meshes, character.vertex_offsets):
        faces = np.empty(len(mesh.triangles), np.dtype([("n", "u1"), ("v", "<u4", 3)]))
        faces["n"], faces["v"] = 3, mesh.triangles.astype("<u4") + np.uint32(offset)
        file.write(faces.tobytes())
