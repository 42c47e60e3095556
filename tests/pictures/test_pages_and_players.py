"""Sheets of many clips are cut to a page; videos show themselves in a notebook; long drawing shows how far it is."""

from __future__ import annotations

import base64
import importlib
import re

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.display import progress
from marrow.errors import ValidationError
from marrow.pictures import picture, sheet
from marrow.rendering.frame import Frame
from notebooks import FakeNotebook

drawing = importlib.import_module("marrow.pictures.picture")
CELL = (24, 24)


@pytest.fixture
def drawn(monkeypatch):
    """Which clips were drawn; nothing is, so that 40 clips take no time."""
    seen = []

    def moments(thing, times, *, clip=None, size, **options):
        seen.append(clip)
        return [Frame(np.full((size[1], size[0], 4), 128, np.uint8)) for _ in times]

    monkeypatch.setattr(drawing, "render_moments", moments)
    return seen


def dancer(count=40):
    bones = mw.Skeleton(("hips",), [-1])
    track = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [0, 0, 1]])
    return mw.Character(
        bones, clips=[mw.Clip(f"clip {i}", bones, [track]) for i in range(count)], name="dancer"
    )


def test_a_sheet_of_many_clips_is_cut_to_a_page_that_says_so(drawn):
    first = mw.contact_sheet(dancer(), size=CELL)
    assert drawn == [f"clip {i}" for i in range(12)]  # 72 pictures, six of each clip
    drawn.clear()
    last = mw.contact_sheet(dancer(), size=CELL, page=4)
    assert drawn == [f"clip {i}" for i in range(36, 40)]
    drawn.clear()
    whole = mw.contact_sheet(dancer(), size=CELL, page="all")
    assert len(drawn) == 40
    line, row = sheet.TEXT + 7, 24 + 2 * (sheet.TEXT + 7) + sheet.GAP
    assert whole.size[1] == 40 * row + sheet.GAP
    assert first.size[1] == 12 * row + sheet.GAP + line
    assert last.size[1] == 4 * row + sheet.GAP + line
    note = np.asarray(first)[-line:, :, :3]
    assert (note != sheet.PAPER).any()


def test_fewer_moments_make_room_for_more_clips_on_a_page(drawn):
    small = mw.contact_sheet(dancer(), times=1, size=CELL)
    assert len(drawn) == 40 and small.size[1] < 10 * 50


def test_a_page_that_does_not_exist_is_refused(drawn):
    for wrong in (0, 5, "last", 1.5):
        with pytest.raises(ValidationError, match="page"):
            mw.contact_sheet(dancer(), size=CELL, page=wrong)
    with pytest.raises(ValidationError, match="clips of one character"):
        mw.contact_sheet([dancer(), dancer()], size=CELL, page=2)
    assert not drawn


def test_the_command_says_which_page_it_wrote(drawn, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mw.save(dancer(), "dancer.marrow")
    assert run(["sheet", "dancer.marrow", "-o", "a.png", "--size", "24x24"]) == 0
    said = capsys.readouterr()
    assert "clips 1 to 12 of 40, page 1 of 4" in said.out + said.err
    assert run(["sheet", "dancer.marrow", "-o", "b.png", "--size", "24x24", "--page", "all"]) == 0
    said = capsys.readouterr()
    assert "page" not in said.out + said.err and len(drawn) == 52
    assert run(["sheet", "dancer.marrow", "-o", "c.png", "--size", "24x24", "--page", "9"]) != 0
    assert "page" in capsys.readouterr().err


def test_a_long_sheet_shows_how_far_it_is_clip_by_clip(drawn, monkeypatch):
    book, told = FakeNotebook(monkeypatch), []
    mw.contact_sheet(dancer(12), size=CELL, progress=lambda done, total: told.append((done, total)))
    assert told == [(k + 1, 12) for k in range(12)] and not book.outputs
    now = iter(range(0, 1000, 3))
    monkeypatch.setattr(progress, "monotonic", lambda: float(next(now)))
    mw.contact_sheet(dancer(12), size=CELL)
    assert book.outputs == [{"text/plain": f"sheet of dancer: 12 in {13 * 3} s"}]


@pytest.fixture
def filmed(monkeypatch, shared_renderer):
    """Videos of a doll of one joint, drawn by the renderer that tests share."""
    monkeypatch.setitem(picture._renderers, "forward", shared_renderer)

    def film(path, **options):
        return mw.render_video(dancer(1), path, duration=0.2, rate=10, size=(32, 32), **options)

    return film


def test_a_video_is_its_file_and_plays_in_a_notebook(filmed, tmp_path):
    video = filmed(tmp_path / "a <b>.gif")
    assert (video.frames, len(video), video.rate, video.size, video.duration) == (2, 2, 10.0, (32, 32), 0.2)
    assert video.path == tmp_path / "a <b>.gif"
    html = video._repr_html_()
    kept = re.search(r'<img src="data:image/gif;base64,([^"]+)"', html)
    assert kept and base64.b64decode(kept[1]) == video.path.read_bytes()
    assert "<b>" not in html and "a &lt;b&gt;.gif" in html
    assert repr(video).startswith("Video(") and "2 frames" in repr(video)


def test_films_have_a_player_with_controls(filmed, tmp_path):
    pytest.importorskip("av")
    for name, kind in (("a.mp4", "video/mp4"), ("a.webm", "video/webm")):
        html = filmed(tmp_path / name)._repr_html_()
        assert "<video controls loop" in html and f'src="data:{kind};base64,' in html
    odd = filmed(tmp_path / "a.mkv")._repr_html_()
    assert "<video" not in odd and "browsers do not play .mkv" in odd


def test_a_large_video_is_named_instead_of_kept_in_the_notebook(filmed, tmp_path, monkeypatch):
    player = importlib.import_module("marrow.pictures.player")
    video = filmed(tmp_path / "a.gif")
    monkeypatch.setattr(player, "MOST_BYTES", 10)
    html = video._repr_html_()
    assert "base64" not in html and "too large" in html
    video.path.unlink()
    assert "is gone" in video._repr_html_()
