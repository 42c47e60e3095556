"""Videos: frames are decoded again, counted and compared."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import marrow as mw
from marrow.errors import FormatError, MissingExtraError, ValidationError
from marrow.pictures import animated_images as animations
from surroundings import HANG_SECONDS, needed

av = needed("av")
COLORS = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (128, 128, 128), (200, 150, 100)]


def pictures(size, count, *, alpha=False):
    """Stripes of known colours below a band whose grey counts the frames; the lower left is transparent."""
    W, H = size
    for k in range(count):
        pixels = np.full((H, W, 4), 255, np.uint8)
        for i, color in enumerate(COLORS):
            pixels[:, i * W // 7 : (i + 1) * W // 7, :3] = color
        pixels[: H // 4, :, :3] = min(10 + 12 * k, 255)
        if alpha:
            pixels[3 * H // 4 :, : W // 2, 3] = 0
        yield pixels


def decoded(path, alpha):
    if path.suffix in (".gif", ".webp", ".apng"):
        image = Image.open(path)
        frames, lasts = [], []
        for k in range(image.n_frames):
            image.seek(k)
            frames.append(np.asarray(image.convert("RGBA")))
            lasts.append(image.info["duration"] / 1000)
        return frames, float(np.sum(lasts)), image
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        decoder = av.CodecContext.create("libvpx-vp9", "r") if alpha else stream.codec_context
        frames = [f for packet in file.demux(stream) for f in decoder.decode(packet)]
        first = frames[0]
        return [f.to_ndarray(format="rgba") for f in frames], len(frames) / float(stream.average_rate), first


@pytest.mark.parametrize(
    ("name", "codec", "alpha", "size"),
    [
        ("a.mp4", None, False, (285, 161)),
        ("a.mp4", "av1", False, (280, 160)),
        ("a.mkv", "vp9", False, (280, 160)),
        ("a.mov", "h264", False, (280, 160)),
        ("a.webm", None, False, (280, 160)),
        ("a.webm", None, True, (280, 160)),
        ("a.webm", "av1", False, (281, 160)),
        ("a.gif", None, False, (281, 161)),
        ("a.gif", None, True, (280, 160)),
        ("a.webp", None, True, (281, 161)),
        ("a.webp", None, False, (281, 161)),
        ("a.apng", None, True, (281, 161)),
    ],
)
def test_frames_come_back_in_number_order_colour_and_time(tmp_path, name, codec, alpha, size):
    path = tmp_path / name
    with mw.VideoWriter(path, size, rate=20, codec=codec, transparent=alpha) as video:
        even = codec is not None or path.suffix in (".mp4", ".webm", ".mkv", ".mov")
        W, H = video.size
        assert (tuple(side + side % 2 for side in size) if even else size) == (W, H)
        assert not path.exists()
        for pixels in pictures(video.size, 12, alpha=alpha):
            video.add(pixels)
    frames, seconds, first = decoded(path, alpha)
    assert len(frames) == video.count == 12
    assert seconds == pytest.approx(12 / 20, abs=1e-6)
    lossless = path.suffix == ".apng"
    near = 0 if lossless else 12 if path.suffix == ".gif" else 6
    for k, frame in enumerate(frames):
        assert frame.shape == (H, W, 4)
        band = np.median(frame[4 : H // 4 - 8, 4 : W - 4, :3], axis=(0, 1))
        assert np.abs(band - (10 + 12 * k)).max() <= (10 if path.suffix == ".gif" else near / 2)
        for i, color in enumerate(COLORS):
            middle = frame[H // 2, (2 * i + 1) * W // 14, :3].astype(int)
            assert np.abs(middle - color).max() <= near, (i, middle)
        if alpha:
            assert frame[-8, 8, 3] == 0
            assert frame[-8, -8, 3] == frame[H // 2, 8, 3] == 255
        elif path.suffix != ".gif":
            assert (frame[..., 3] == 255).all()
    if hasattr(first, "colorspace"):
        assert (first.colorspace, first.color_range) == (1, 1)  # BT.709, limited: said, not guessed
        assert first.format.name == ("yuva420p" if alpha else "yuv420p")
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_an_mp4_has_its_index_first(tmp_path):
    path = tmp_path / "a.mp4"
    with mw.VideoWriter(path, (64, 48)) as video:
        for pixels in pictures((64, 48), 5):
            video.add(pixels)
    data = path.read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_frames_of_a_gif_take_palettes_of_their_own_where_colours_change():
    out = io.BytesIO()
    frames = [np.full((32, 32, 4), (*color, 255), np.uint8) for color in COLORS]
    animations.write_gif(out, iter(frames), 10, False)
    image = Image.open(out)
    for k, color in enumerate(COLORS):
        image.seek(k)
        assert np.abs(np.asarray(image.convert("RGB"))[16, 16].astype(int) - color).max() <= 12


def test_times_are_rounded_so_that_nothing_is_lost():
    assert sum(animations.ticks(30, 100, k) for k in range(300)) == 1000
    assert sum(animations.ticks(23.976, 1000, k) for k in range(24)) == 1001
    for rate in (50, 49.9, 45, 40, 33.3):  # what a GIF may have: viewers slow down frames of one hundredth
        assert min(animations.ticks(rate, 100, k) for k in range(500)) >= 2


def test_errors_leave_nothing_and_say_what_to_do(tmp_path, monkeypatch):
    def write(writer, fails=False):
        with writer as video:
            for pixels in pictures((64, 48), 50):
                video.add(pixels)
                if fails:
                    raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        write(mw.VideoWriter(tmp_path / "a.mp4", (64, 48)), fails=True)
    with pytest.raises(ValidationError, match="no frames"), mw.VideoWriter(tmp_path / "a.gif", (64, 48)):
        pass
    with pytest.raises(ValidationError, match="64 x 48"), mw.VideoWriter(tmp_path / "a.gif", (64, 48)) as v:
        v.add(np.zeros((10, 10, 4), np.uint8))
    for name, options, words in (
        ("a.avi", {}, r"use one of .*\.mp4"),
        ("a.mp4", {"transparent": True}, r"\.webm"),
        ("a.webm", {"codec": "h264"}, "takes vp9 or av1"),
        ("a.gif", {"codec": "h264"}, "has none"),
        ("a.mp4", {"codec": "divx"}, "h264, vp9, av1"),
        ("a.mp4", {"rate": 0}, "rate"),
        ("a.mp4", {"rate": float("nan")}, "rate"),
        ("a.gif", {"rate": 60}, "at most 50 frames a second"),
    ):
        with pytest.raises((FormatError, ValidationError), match=words):
            mw.VideoWriter(tmp_path / name, (64, 48), **options)
    with pytest.raises(FormatError, match="written"), mw.VideoWriter(tmp_path / "no" / "a.gif", (64, 48)):
        pass
    writer = mw.VideoWriter(tmp_path / "a.gif", (64, 48))

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setitem(sys.modules["marrow.pictures.video"]._PILLOW, ".gif", fail)
    with pytest.raises(FormatError, match="the disk is full"):
        write(writer)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtraError, match=r"marrow-engine\[video\]"):
        mw.VideoWriter(tmp_path / "a.mp4", (64, 48))
    assert not list(tmp_path.iterdir())


def test_a_process_that_is_killed_leaves_nothing(tmp_path):
    code = f"""
import numpy as np, marrow as mw
with mw.VideoWriter({str(tmp_path / "a.mp4")!r}, (320, 240)) as video:
    for k in range(10**9):
        video.add(np.full((240, 320, 4), k % 256, np.uint8))
        if k == 60:
            print("ready", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.kill()
        process.wait(HANG_SECONDS)
    assert not list(tmp_path.iterdir())
