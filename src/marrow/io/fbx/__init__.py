"""FBX: binary and ASCII in, through the `ufbx` package in a process of its own (`marrow.io.reader_process`); binary out,
by `marrow.io.fbx.writing`.

The native code runs in the reader's process (`child_process` and the `*_walk` modules), which hands the scene over as plain
data (`plain_scene`). What it means is worked out here (`convert`), and files beside it are opened here, by the rules of
`Source.neighbour`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from marrow.errors import FormatError, MarrowError, MissingExtraError, ResourceLimitError
from marrow.io.fbx.caches import with_caches
from marrow.io.fbx.completeness import check_complete, is_ascii
from marrow.io.fbx.convert import Converted, convert
from marrow.io.fbx.diagnosis import diagnosed
from marrow.io.fbx.levels import with_lod_groups
from marrow.io.fbx.moved_skins import with_moved_skins
from marrow.io.fbx.plain_scene import PlainDocument, parse_answer
from marrow.io.fbx.textures import FbxImageNotes, with_images
from marrow.io.finite_check import check_finite
from marrow.io.reader_process import Reader, ask
from marrow.io.source import LoadOptions, Source
from marrow.model import Character
from marrow.report import Report, ReportBuilder

__all__ = ["read", "write"]

READER = Reader("FBX", "marrow.io.fbx.child_process", "ufbx", "", library="ufbx")
# What the scene of a file of any size may take as plain data, and what each of its bytes adds.
BASE_BYTES, BYTES_PER_BYTE = 256 << 20, 16


def read(source: Source, options: LoadOptions) -> Character:
    """The character in an FBX file."""
    try:
        with np.errstate(all="ignore"):
            return _read(source, options)
    except FormatError as error:
        if error.path is not None:
            raise
        raise type(error)(error.message, path=source.path, place=error.place, remedy=error.remedy) from None
    except MissingExtraError:
        raise
    except (MarrowError, ValueError, OverflowError, IndexError, KeyError) as error:
        raise FormatError(f"does not fit together: {error}", path=source.path) from None
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # no file may bring its caller down
        raise FormatError(
            f"does not fit together: {type(error).__name__}: {error}", path=source.path
        ) from error


def write(
    character: Character,
    path: Path,
    *,
    units: str | None = None,
    up: str | None = None,
    preset: str | None = None,
    textures: str = "embed",
    rate: float | None = None,
) -> None:
    """Writes binary FBX, see `marrow.io.fbx.writing.writer`."""
    # Reading is common and saving rare: the writer is imported when it is first needed.
    from marrow.io.fbx.writing.writer import write as save

    save(character, path, units=units, up=up, preset=preset, textures=textures, rate=rate)


def _read(source: Source, options: LoadOptions) -> Character:
    report = ReportBuilder()
    data, size = source.data, len(source.data)
    if is_ascii(bytes(data[:4096])):
        report.extend(Report(tuple(check_complete(bytes(data)))))
    asked = {"scale": options.scale, "rate": options.rate, "cages": options.subdivide is not None}
    answer = ask(READER, data, asked, size=size, path=source.path)
    if len(answer) > BASE_BYTES + BYTES_PER_BYTE * size:
        raise ResourceLimitError("unfolds to more than a file of its size may hold")
    scene = parse_answer(answer)
    if scene.document.error:
        raise FormatError(f"is not a readable FBX file: {_reason(scene.document, bytes(data))}")
    made = convert(scene, size, options.rate, report, options.subdivide)
    check_finite(made.character)
    return _completed(made, source)


def _completed(made: Converted, source: Source) -> Character:
    """The character with what lies beside its file, and with what follows from the whole of it."""
    images = made.materials
    notes = FbxImageNotes(images.wanted, images.packed, images.factors)
    character = with_images(made.character, notes, source)
    cached = {note.mesh for note in made.caches.caches}
    if cached:
        character = with_caches(character, made.caches, source)
    bound_at = {i: matrix for i, matrix in made.bound_at.items() if i not in cached}
    if bound_at:
        character = with_moved_skins(character, bound_at)
    if made.groups.meshes:
        character = with_lod_groups(character, made.groups)
    return character


def _reason(document: PlainDocument, data: bytes) -> str:
    """In words: what ufbx says, and what can be seen of the file."""
    kind = document.error.removesuffix("Error")
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in kind).strip()
    said = document.said.strip()
    told = [] if words in ("unknown", "ufbx") else [words]
    told += [said] if said and said.lower() not in ("failed to load", words) else []
    seen = diagnosed(data)
    return "; ".join([*told, seen] if seen else told) or "it is damaged"
