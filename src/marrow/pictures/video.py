"""Moving pictures to files: H.264, VP9 and AV1 through PyAV, GIF, WebP and APNG through Pillow.

Frames are encoded in a thread of their own, while the next ones are drawn. What is written so far has no name: a process
that is killed leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import fractions
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from marrow.errors import (
    FormatError,
    MarrowError,
    MissingExtraError,
    ValidationError,
    WrongTypeError,
    file_error,
)
from marrow.io.atomic import replacing
from marrow.model import _validate
from marrow.pictures.animated_images import write_apng, write_gif, write_webp
from marrow.pictures.mp4 import index_first
from marrow.pyodide import IN_BROWSER
from marrow.rendering.frame import Frame

__all__ = ["CODECS", "VIDEO_SUFFIXES", "Codec", "VideoWriter"]

Array = NDArray[Any]
Codec = Literal["h264", "vp9", "av1"]
CODECS: tuple[Codec, ...] = ("h264", "vp9", "av1")
_BY_SUFFIX: dict[str, tuple[Codec, ...]] = {
    ".mp4": ("h264", "vp9", "av1"),
    ".mov": ("h264",),
    ".mkv": ("h264", "vp9", "av1"),
    ".webm": ("vp9", "av1"),
}
"""Codecs a container takes, the usual one first."""
_MUXERS = {".mp4": "mp4", ".mov": "mov", ".mkv": "matroska", ".webm": "webm"}
_PILLOW = {".gif": write_gif, ".apng": write_apng, ".webp": write_webp}
VIDEO_SUFFIXES = (*_BY_SUFFIX, *_PILLOW)
"""Suffixes of files that move."""
_ENCODERS: dict[Codec, tuple[str, dict[str, str]]] = {
    "h264": ("libx264", {"crf": "18", "preset": "veryfast"}),
    "vp9": (
        "libvpx-vp9",
        {"crf": "24", "b": "0", "deadline": "realtime", "cpu-used": "6", "row-mt": "1"},
    ),
    "av1": ("libsvtav1", {"crf": "28", "preset": "9", "svtav1-params": "enable-overlays=0"}),
}
GIF_RATE = 50
"""The most frames a second of a GIF: its times are hundredths of a second, and viewers take one of them for ten."""
WAITING = 3
"""Frames that may wait to be encoded."""


class VideoWriter:
    """A file that frames are added to.

        with VideoWriter("walk.mp4", (1280, 720), rate=30) as video:
            for time in times:
                video.add(mw.render(hero, clip="walk", time=time, size=video.size))

    `.mp4`, `.mov`, `.mkv` and `.webm` need `pip install 'marrow-engine[video]'`; `.gif`, `.webp` and `.apng` need nothing.
    `transparent` keeps alpha: in `.webm` (VP9), `.webp`, `.gif` and `.apng`. Videos have even sizes: `size` says what
    became of an odd one. The file takes its place when the block ends well.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        size: tuple[int, int],
        *,
        rate: float = 30.0,
        codec: Codec | None = None,
        transparent: bool = False,
    ) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise WrongTypeError(f"video: expected a path to write to, got {_validate.shown(path)}")
        self.path = Path(path)
        suffix = self.path.suffix.lower()
        if suffix not in VIDEO_SUFFIXES:
            raise FormatError(
                f"a video cannot be written as {suffix or 'a file without a suffix'!r}",
                path=path,
                remedy=f"use one of {', '.join(VIDEO_SUFFIXES)}",
            )
        self.codec = _codec(suffix, codec, transparent, self.path)
        self.rate = _validate.number("video", "rate", rate, low=0, above=True, high=1000.0)
        if suffix == ".gif" and self.rate > GIF_RATE:
            raise ValidationError(
                f"video.rate: a GIF shows at most {GIF_RATE} frames a second, got {self.rate:g}: what is faster, viewers "
                f"play slowly; say rate={GIF_RATE} or less (--rate), or write .webp or .apng"
            )
        self.transparent = _validate.flag("video", "transparent", transparent)
        try:
            width, height = size
        except (TypeError, ValueError):
            raise ValidationError(
                f"video: size: expected (width, height), got {_validate.shown(size)}"
            ) from None
        width, height = (_validate.integer("video", "size", side, low=1) for side in (width, height))
        if self.codec is not None:
            width, height = width + width % 2, height + height % 2
            _load_av()
        self.size = (width, height)
        self.count = 0
        # Without threads, in a browser, all frames wait until the block ends.
        self._queue: queue.Queue[Array | None] = queue.Queue(0 if IN_BROWSER else WAITING)
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> VideoWriter:
        try:
            # Without a name where the system can do that: nothing is left of it, whatever happens to the process.
            self._file = tempfile.TemporaryFile(dir=self.path.parent)
        except OSError as error:
            raise file_error(error, "cannot be written", self.path) from None
        self._thread = threading.Thread(target=self._encode, name="marrow video", daemon=True)
        if not IN_BROWSER:
            self._thread.start()
        return self

    def add(self, frame: Frame | Array) -> None:
        """One more frame: a `Frame`, or its pixels `(H, W, 4)` or `(H, W, 3)`, uint8, of the writer's `size`."""
        pixels = frame.pixels if isinstance(frame, Frame) else _validate.numbers("video", frame)
        expected = (self.size[1], self.size[0])
        if pixels.dtype != np.uint8 or pixels.shape[:2] != expected or pixels.shape[2:] not in ((4,), (3,)):
            raise ValidationError(
                f"video: expected frames of {self.size[0]} x {self.size[1]} uint8 pixels, got {pixels.dtype} {pixels.shape}"
            )
        if pixels.shape[2] == 3:
            pixels = np.concatenate([pixels, np.full((*expected, 1), 255, np.uint8)], axis=2)
        if self._thread is None:
            raise ValidationError("video: frames are added inside a `with` block")
        self._put(pixels)
        self.count += 1

    def _put(self, item: Array | None) -> None:
        while self._error is None:
            try:
                self._queue.put(item, timeout=0.1)
            except queue.Full:
                continue
            return
        raise self._told()

    def _told(self) -> BaseException:
        error = self._error
        if isinstance(error, (OSError, ValueError, RuntimeError)) and not isinstance(error, MarrowError):
            return FormatError(f"the {self.codec or 'picture'} encoder failed: {error}", path=self.path)
        assert error is not None
        return error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        thread, file = self._thread, self._file
        assert thread is not None
        assert file is not None
        self._thread = None
        try:
            if kind is not None:
                self._stop(error)
                return
            if self.count == 0:
                self._stop(ValidationError("video: it has no frames"))
                raise self._told()
            self._put(None)
            if IN_BROWSER:
                self._encode()
            else:
                thread.join()
            if self._error is not None:
                raise self._told()
            file.seek(0)
            with replacing(self.path) as out:
                if self.path.suffix.lower() in (".mp4", ".mov"):
                    index_first(file, out)
                else:
                    shutil.copyfileobj(file, out, 1 << 20)
        finally:
            if not IN_BROWSER:
                thread.join()
            file.close()

    def _stop(self, error: BaseException | None) -> None:
        """Lets the encoder end at once, whatever it waits for."""
        self._error = self._error or error or RuntimeError("stopped")
        with contextlib.suppress(queue.Empty):
            while True:
                self._queue.get_nowait()
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)

    def _frames(self) -> Iterator[Array]:
        """The frames as they come; an error elsewhere ends them."""
        while (item := self._queue.get()) is not None:
            yield item
        if self._error is not None:
            raise _Stopped

    def _encode(self) -> None:
        try:
            assert self._file is not None
            if self.codec is None:
                write = cast("Any", _PILLOW[self.path.suffix.lower()])
                write(self._file, self._frames(), self.rate, self.transparent)
            else:
                self._encode_video(self._file)
        except _Stopped:
            pass
        except BaseException as error:  # told where the frames come from
            self._error = error

    def _encode_video(self, file: IO[bytes]) -> None:
        av = _load_av()
        assert self.codec is not None
        name, options = _ENCODERS[self.codec]
        suffix = self.path.suffix.lower()
        with av.open(file, "w", format=_MUXERS[suffix]) as container:
            rate = fractions.Fraction(self.rate).limit_denominator(1001 * 60)
            stream = container.add_stream(name, rate=rate, options=dict(options))
            stream.width, stream.height = self.size
            stream.pix_fmt = "yuva420p" if self.transparent else "yuv420p"
            context = stream.codec_context
            # BT.709 with the usual (limited) range, and said so: players need not guess.
            context.color_range, context.colorspace = av.video.reformatter.ColorRange.MPEG, 1
            context.color_primaries, context.color_trc = 1, 1
            context.thread_count = 0
            converter = av.video.reformatter.VideoReformatter()
            for k, pixels in enumerate(self._frames()):
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgba")
                frame = converter.reformat(
                    frame,
                    format=stream.pix_fmt,
                    dst_colorspace=av.video.reformatter.Colorspace.ITU709,
                    dst_color_range=av.video.reformatter.ColorRange.MPEG,
                )
                frame.pts, frame.time_base = k, 1 / rate
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))


class _Stopped(Exception):
    """Somebody else has failed, or given up."""


def _codec(suffix: str, codec: str | None, transparent: bool, path: Path) -> Codec | None:
    if suffix in _PILLOW:
        if codec is not None:
            raise ValidationError(f"codec: {suffix} has none; leave it out, or write .mp4 or .webm")
        return None
    takes = _BY_SUFFIX[suffix]
    if codec is not None and codec not in CODECS:
        raise ValidationError(f"codec: expected one of {', '.join(CODECS)}, got {_validate.shown(codec)}")
    if codec is not None and codec not in takes:
        raise ValidationError(f"codec: {suffix} takes {' or '.join(takes)}, not {codec}")
    chosen: Codec = takes[0] if codec is None else codec  # type: ignore[assignment]
    if transparent and (suffix not in (".webm", ".mkv") or codec not in (None, "vp9")):
        raise ValidationError(
            f"{path}: {chosen} in {suffix} cannot be transparent; write .webm (VP9), .webp, .apng or .gif"
        )
    return "vp9" if transparent else chosen


def _load_av() -> Any:
    os.environ.setdefault("SVT_LOG", "1")  # the AV1 encoder writes pages about itself to stderr
    try:
        import av
        import av.video.reformatter
    except ImportError:
        raise MissingExtraError("av", "video", "writing videos") from None
    return av
