"""Binary messages with a drawing: what views draw over an actor, of which a page is sent what it does not have yet.

A message is `DRAWING_HEADER`, a JSON text (`DrawingInfo`, up to a whole word) and arrays end to end. Arrays have names, and
stay until others of the same name come: the colours of a surface are sent once, the ends of lines with every frame.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.scene.colors import MAPS
from marrow.scene.views.drawing import Ghost, Legend, Lines, Paint, SurfaceLines
from marrow.studio.description import (
    BufferInfo,
    DrawingInfo,
    DrawingText,
    LabelInfo,
    LegendInfo,
    PaintInfo,
    SurfaceLinesInfo,
)

if TYPE_CHECKING:
    from marrow.studio.actor import Picture
    from marrow.studio.drawings import PictureDrawing

__all__ = ["Known", "drawing_parts", "pack_drawing", "unpack_drawing"]

Array = NDArray[Any]
DRAWING_MAGIC = 0x4D525744
DRAWING_HEADER = struct.Struct("<4I")
"""magic, frame, slot, bytes of the JSON text (without what fills it up to a whole word)."""
TYPES = {"float32": "<f4", "uint32": "<u4", "uint16": "<u2", "uint8": "u1"}


class Known:
    """What a page has of a slot's drawing: the digests of its text and its arrays."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}

    def news(self, name: str, data: bytes) -> bool:
        """Whether it has not got these bytes under that name; from now on it has."""
        digest = hashlib.blake2b(data, digest_size=16).digest()
        if self._digests.get(name) == digest:
            return False
        self._digests[name] = digest
        return True


def pack_drawing(drawn: PictureDrawing, picture: Picture, known: Known) -> bytes | None:
    """The message that brings a page from what it has to a drawing; None where it has all of it."""
    text, arrays = drawing_parts(drawn, picture)
    told = known.news("", msgspec.json.encode(text))
    parts: list[bytes] = []
    table: dict[str, BufferInfo] = {}
    at = 0
    for name, (dtype, array) in arrays.items():
        data = np.ascontiguousarray(array, TYPES[dtype]).tobytes()
        # The shape too: an array of no lines and one of no labels have the same bytes.
        if not known.news(name, data + bytes(str(array.shape), "ascii")):
            continue
        table[name] = BufferInfo(at, dtype, list(array.shape))  # type: ignore[arg-type]
        data += bytes(-len(data) % 4)
        parts.append(data)
        at += len(data)
    if not told and not parts:
        return None
    words = msgspec.json.encode(DrawingInfo(text if told else None, table))
    head = DRAWING_HEADER.pack(DRAWING_MAGIC, picture.frame & 0xFFFFFFFF, picture.slot, len(words))
    return b"".join([head, words, bytes(-len(words) % 4), *parts])


def unpack_drawing(data: bytes) -> tuple[int, int, DrawingInfo, dict[str, Array]]:
    """The inverse, for tests and other clients: frame, slot, text and arrays that are new."""
    if len(data) < DRAWING_HEADER.size or len(data) % 4:
        raise ValidationError("not a drawing of the studio")
    magic, frame, slot, length = DRAWING_HEADER.unpack_from(data)
    begin = DRAWING_HEADER.size + length + -length % 4
    if magic != DRAWING_MAGIC or begin > len(data):
        raise ValidationError("not a drawing of the studio")
    info = msgspec.json.decode(data[DRAWING_HEADER.size : DRAWING_HEADER.size + length], type=DrawingInfo)
    arrays = {}
    for name, buffer in info.arrays.items():
        count = int(np.prod(buffer.shape, dtype=np.int64))
        array = np.frombuffer(data, TYPES[buffer.dtype], count, begin + buffer.offset)
        arrays[name] = array.reshape(buffer.shape)
    return frame, slot, info, arrays


def drawing_parts(
    drawn: PictureDrawing, picture: Picture
) -> tuple[DrawingText, dict[str, tuple[str, Array]]]:
    """A drawing as its text and its arrays, each with its type."""
    drawing = drawn.drawing
    arrays: dict[str, tuple[str, Array]] = {}
    # Pages skin no tangents where nothing but a view would need them: such lines are told where they are.
    laid = [part for part in drawing.surface_parts if part.along != "tangent"]
    loose = [part.lines for part in drawing.surface_parts if part.along == "tangent"]
    lines = Lines.joined([*loose, *drawing.parts])
    arrays["line_start"] = "float32", lines.start
    arrays["line_end"] = "float32", lines.end
    arrays["line_color"] = "uint8", _bytes(lines.colors)
    arrays["line_width"] = "float32", lines.widths
    arrays["line_hidden"] = "float32", lines.hidden
    places = [(*label.at, label.rank, label.length) for label in drawing.labels]
    arrays["label_at"] = "float32", np.reshape(places, (-1, 5))
    text = DrawingText(
        [LabelInfo(label.text, label.color) for label in drawing.labels],
        [_legend(legend) for legend in drawing.legends],
        list(dict.fromkeys(drawing.notes)),
        [_surface_lines(lines, k, arrays) for k, lines in enumerate(laid)],
        [
            _paint(level, paint, k, drawn.instances.get(level, []), arrays)
            for k, ((_, level), paint) in enumerate(sorted(drawing.paints.items(), key=lambda one: one[0]))
        ],
        _ghosts(drawing.ghosts, picture, arrays),
    )
    return text, arrays


def _bytes(colors: Array) -> Array:
    return np.round(np.clip(colors, 0.0, 1.0) * 255).astype(np.uint8)


def _legend(legend: Legend) -> LegendInfo:
    ramp = [tuple(color) for color in MAPS[legend.ramp].tolist()] if legend.ramp else []
    low, high = (legend.words(v) if legend.ramp else "" for v in (legend.low, legend.high))
    return LegendInfo(legend.title, low, high, ramp, list(legend.entries))  # type: ignore[arg-type]


def _surface_lines(lines: SurfaceLines, k: int, arrays: dict[str, tuple[str, Array]]) -> SurfaceLinesInfo:
    arrays[f"surface{k}_start"] = "uint32", lines.start
    if lines.end is not None:
        arrays[f"surface{k}_end"] = "uint32", lines.end
    same = lines.colors.strides[0] == 0  # one colour for all
    arrays[f"surface{k}_color"] = "uint8", _bytes(lines.colors[:1] if same else lines.colors)
    # A length that follows the pose by a hair's breadth is no news.
    length = float(f"{lines.length:.3g}")
    who = [int(n) for n in lines.posed.instances[: lines.instances]]
    return SurfaceLinesInfo(lines.posed.level, lines.along, length, lines.width, lines.hidden, who)


def _paint(
    level: int, paint: Paint, k: int, instances: list[int], arrays: dict[str, tuple[str, Array]]
) -> PaintInfo:
    who: list[int] = []
    if paint.mode == "vertices" and paint.colors is not None:
        colors = np.asarray(paint.colors)
        if colors.ndim == 2 and len(colors) and colors.strides[0] == 0:
            colors = colors[:1]  # one colour for all vertices
        elif colors.ndim == 3:
            who = instances
        arrays[f"paint{k}"] = "uint8", _bytes(colors)
    return PaintInfo(level, paint.mode, paint.strength, paint.lit, who)  # type: ignore[arg-type]


def _ghosts(ghosts: list[Ghost], picture: Picture, arrays: dict[str, tuple[str, Array]]) -> int:
    """Ghosts as instances of their own: matrices, weights of morph targets, places and colours."""
    actor, clip = picture.actor, picture.clip
    if not ghosts or clip is None:
        return 0
    from marrow.animation.additive import sample_shown
    from marrow.animation.kinematics import skinning_matrices

    times = np.concatenate([ghost.times for ghost in ghosts])
    pose = sample_shown(clip, times)
    channels = pose.morphs.reshape(len(times), pose.morph_count)
    arrays["ghost_matrices"] = (
        "float32",
        skinning_matrices(actor.character, actor.character.skeleton.to_model(pose)),
    )
    arrays["ghost_morphs"] = "float32", actor.targets_of(np.ascontiguousarray(channels, np.float32))
    arrays["ghost_placements"] = (
        "float32",
        np.concatenate([np.repeat(picture.placements[g.instance][None], len(g.times), 0) for g in ghosts]),
    )
    arrays["ghost_colors"] = "uint8", _bytes(np.concatenate([ghost.colors for ghost in ghosts]))
    return len(times)
