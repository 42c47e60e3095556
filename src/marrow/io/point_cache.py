"""Files of geometry caches: Maya's `.mc` and `.mcx` with the `.xml` that describes them, and `.pc2`.

Every size is checked against the bytes there are; what does not fit is a `FormatError`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError

__all__ = ["PointCache", "read_point_cache"]

Array = NDArray[Any]
TICKS = 6000.0  # of Maya, a second
MAX_MOMENTS = 100_000
MAX_POINT_BYTES = 1 << 30
_DATA = {b"FVCA": ">f4", b"DVCA": ">f8"}


@dataclass(frozen=True)
class PointCache:
    """`points (S, P, 3)` at `times (S,)` in seconds; `offsets` where they are added to the points of the mesh."""

    times: Array
    points: Array
    offsets: bool = False


def read_point_cache(name: str, channel: str, rate: float, fetch: Callable[[str], bytes]) -> PointCache:
    """The cache in the file `name`; `fetch` gives the bytes of it and of those it refers to. A `.pc2` counts frames of
    `rate` a second. Of several channels `channel` is read, or the first with positions."""
    data = fetch(name)
    if data[:12] == b"POINTCACHE2\0":
        return _read_pc2(data, rate)
    if data[:4] in (b"FOR4", b"FOR8"):
        return _gathered(channel, [(None, data)], "positions")
    return _read_described(name, channel, data, fetch)


def _read_pc2(data: bytes, rate: float) -> PointCache:
    if len(data) < 32:
        raise FormatError("is cut short")
    _, count, start, step, samples = struct.unpack("<iiffi", data[12:32])
    _check_size(count, samples)
    if 32 + 12 * count * samples > len(data) or not (np.isfinite([start, step]).all() and step > 0):
        raise FormatError(f"says {samples} moments of {count} points and has {len(data)} bytes")
    points = np.frombuffer(data, "<f4", 3 * count * samples, 32).reshape(samples, count, 3)
    return PointCache((start + step * np.arange(samples)) / rate, points)


def _check_size(count: int, samples: int) -> None:
    if count <= 0 or samples <= 0:
        raise FormatError("holds no points")
    if samples > MAX_MOMENTS or 12 * count * samples > MAX_POINT_BYTES:
        raise ResourceLimitError(
            f"holds {samples} moments of {count} points; at most {MAX_MOMENTS} and {MAX_POINT_BYTES >> 20} MiB are read"
        )


def _read_described(name: str, channel: str, data: bytes, fetch: Callable[[str], bytes]) -> PointCache:
    """The cache an `.xml` describes. Only attributes of its own few elements are looked at; nothing is expanded."""
    text = data[: 1 << 20].decode("utf-8", "replace")
    if "<Autodesk_Cache_File" not in text:
        raise FormatError("is no geometry cache that is known here (.xml, .mc, .mcx, .pc2)")
    kind = re.search(r"<cacheType[^>]*\bType=\"(\w+)\"", text)
    form = re.search(r"<cacheType[^>]*\bFormat=\"(\w+)\"", text)
    step = re.search(r"<cacheTimePerFrame[^>]*\bTimePerFrame=\"(\d{1,9})\"", text)
    span = re.search(r"<time[^>]*\bRange=\"(-?\d{1,9})-(-?\d{1,9})\"", text)
    meaning = "positions"
    for found in re.finditer(r"<channel\d+\b[^>]*>", text):
        named = re.search(r"\bChannelName=\"([^\"]*)\"", found[0])
        means = re.search(r"\bChannelInterpretation=\"([^\"]*)\"", found[0])
        if named and named[1] == channel and means:
            meaning = means[1]
    stem = re.sub(r"\.xml$", "", name, flags=re.IGNORECASE)
    suffix = "mc" if form and form[1] == "mcc" else form[1] if form and form[1] in ("mc", "mcx") else "mcx"
    if kind and kind[1] == "OneFilePerFrame":
        if not step or not span or not int(step[1]):
            raise FormatError("does not say when its frames are")
        first, last, per = int(span[1]), int(span[2]), int(step[1])
        count = (last - first) // per + 1
        if not 0 < count <= MAX_MOMENTS:
            raise FormatError(f"says it has {count} frames")
        parts: list[tuple[float | None, bytes]] = []
        for k in range(count):
            time = first + k * per
            frame, tick = divmod(time, per)
            part = f"{stem}Frame{frame}{f'Tick{tick}' if tick else ''}.{suffix}"
            try:
                parts.append((time, fetch(part)))
            except FormatError:
                if not parts:
                    raise
        return _gathered(channel, parts, meaning)
    return _gathered(channel, [(None, fetch(f"{stem}.{suffix}"))], meaning)


def _gathered(channel: str, parts: list[tuple[float | None, bytes]], meaning: str) -> PointCache:
    """The moments of one channel, in order."""
    titles = [title for _, title, _ in _arrays(parts[0][1])]
    wanted = channel if channel in titles else next((t for t in titles if not t.endswith("_normals")), None)
    if wanted is None:
        raise FormatError("holds no points")
    found: dict[float, Array] = {}
    size = 0
    for given, data in parts:
        for time, title, points in _arrays(data):
            if title != wanted:
                continue
            size = size or len(points)
            if len(points) != size:
                raise FormatError(f"has {size} points at first and {len(points)} later")
            when = time if time is not None else given if given is not None else 0.0
            found[when / TICKS] = points
            _check_size(size, len(found))
    if not found:
        raise FormatError(f"holds no points of {wanted!r}")
    times = sorted(found)
    points = np.stack([found[t] for t in times]).astype(np.float32)
    if not np.isfinite(points).all():
        raise FormatError("holds points that are not finite")
    return PointCache(np.array(times), points, meaning not in ("positions", "points"))


def _arrays(data: bytes) -> Iterator[tuple[float | None, str, Array]]:
    """Time, channel and points of everything in a `.mc` or `.mcx` file."""
    time: float | None = None
    title = ""
    for tag, body in _chunks(data, data[:4] == b"FOR8"):
        if tag == b"TIME" and len(body) >= 4:
            time = float(struct.unpack(">i", body[:4])[0])
        elif tag == b"CHNM":
            title = bytes(body).split(b"\0")[0].decode("utf-8", "replace")
        elif tag in _DATA:
            width = np.dtype(_DATA[tag]).itemsize * 3
            yield time, title, np.frombuffer(body[: len(body) // width * width], _DATA[tag]).reshape(-1, 3)


def _chunks(data: bytes, wide: bool) -> Iterator[tuple[bytes, memoryview]]:
    """The chunks of an IFF file (big endian, sizes of 32 or 64 bits), groups opened."""
    view, at, align = memoryview(data), 0, 8 if wide else 4
    head = 16 if wide else 8
    while at + head <= len(view):
        tag = bytes(view[at : at + 4])
        size = int.from_bytes(view[at + (8 if wide else 4) : at + head], "big")
        at += head
        if tag in (b"FOR4", b"FOR8"):
            at += 4  # what the group is called; its chunks follow
            continue
        if size > len(view) - at:
            raise FormatError(f"is cut short: {size} bytes in a file of {len(view)}")
        yield tag, view[at : at + size]
        at += size + -size % align
