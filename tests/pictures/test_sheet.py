"""Contact sheets, `marrow render`, `marrow sheet` and the pictures of `marrow check --html`, as a user calls them."""

import base64
import importlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import marrow as mw
from marrow.cli.app import run
from marrow.errors import MissingExtraError, NoAdapterError, ValidationError
from marrow.pictures import picture, sheet

cli_sheet = importlib.import_module("marrow.cli.sheet")


@pytest.fixture(scope="module", autouse=True)
def drawn(shared_renderer):
    """All pictures here are drawn by the renderer that tests share."""
    before = dict(picture._renderers)
    picture._renderers["forward"] = shared_renderer
    yield
    picture._renderers.clear()
    picture._renderers.update(before)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """A folder with two characters of few triangles, one of them with two clips, and a broken file between them."""
    folder = tmp_path_factory.mktemp("shelf")
    hero, lizard = (make().levels[-1] for make in (mw.samples.mannequin, mw.samples.lizard))
    mw.save(hero.replace(clips=(hero.clips["walk"], hero.clips["wave"])), folder / "hero.glb")
    mw.save(lizard, folder / "small.glb")
    (folder / "broken.glb").write_bytes(b"glTF\2\0\0\0 and then nothing that makes sense")
    (folder / "notes.txt").write_text("no character")
    return folder


@pytest.fixture
def here(shelf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path.parent / "cache"))
    return tmp_path


def call(capsys, *words):
    code = run([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out + said.err


def cells(frame, size, columns, *, top):
    """The pictures of a row, as they lie on the sheet."""
    W, H = size
    return [
        np.asarray(frame)[top : top + H, sheet.GAP + k * (W + sheet.GAP) :][:, :W] for k in range(columns)
    ]


def test_a_sheet_has_clips_from_top_to_bottom_and_times_from_left_to_right(shelf):
    hero = mw.load(shelf / "hero.glb")
    made = mw.contact_sheet(hero, times=3, size=(48, 64))
    line = sheet.TEXT + 7
    assert made.size == (3 * 52 + 4, 2 * (64 + 2 * line + 4) + 4)
    for row, clip in enumerate(("walk", "wave")):
        top = sheet.GAP + row * (64 + 2 * line + 4) + line
        length = hero.clips[clip].duration
        times = [length * (k + 0.5) / 3 for k in range(3)]
        for cell, alone in zip(
            cells(made, (48, 64), 3, top=top),
            picture.render_moments(hero, times, clip=clip, size=(48, 64)),
        ):
            np.testing.assert_array_equal(cell, np.asarray(alone))
    chosen = mw.contact_sheet(hero, clips="wave", times=[0.0, 0.5], size=(48, 64))
    assert chosen.size[0] == 2 * 52 + 4


def test_a_bad_file_costs_one_cell_with_its_reason(shelf, here, capsys):
    code, said = call(capsys, "sheet", shelf, "-o", "all.png", "--size", "64x48", "--columns", "3")
    assert code == 0, said
    made = Image.open(here / "all.png").convert("RGBA")
    assert made.size == (3 * 68 + 4, 48 + sheet.TEXT + 7 + 4 + 4)
    broken, hero, small = cells(made, (64, 48), 3, top=sheet.GAP)
    assert broken[2, 2, :3].tolist() == [252, 238, 239]
    assert (broken[..., :3] == sheet.BAD).all(axis=-1).any()  # there are letters in it
    for cell in (hero, small):
        assert np.asarray(cell)[..., :3].std(axis=(0, 1)).min() > 5
    told = []
    mw.contact_sheet(shelf, size=(32, 32), progress=lambda done, whole: told.append((done, whole)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(mw.MarrowError):
        mw.contact_sheet(shelf / "broken.glb")
    (here / "empty").mkdir()
    with pytest.raises(ValidationError, match="no file in it"):
        mw.contact_sheet(here / "empty")
    for wrong in ({"times": 0}, {"size": (1, 1)}, {"clips": "no such clip"}):
        with pytest.raises(mw.MarrowError):
            mw.contact_sheet(mw.load(shelf / "hero.glb"), **wrong)


def test_workers_draw_the_same_pixels_and_one_that_dies_costs_one_cell(shelf, here, capsys, monkeypatch):
    words = ("sheet", shelf, "--size", "64x48", "--columns", "3")
    assert call(capsys, *words, "-o", "one.png")[0] == 0
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setattr(cli_sheet, "CALL", "crashing_sheet:draw")
    code, said = call(capsys, *words, "-o", "two.png", "--workers", "2")
    assert code == 0, said
    one, two = (
        cells(Image.open(f"{name}.png").convert("RGBA"), (64, 48), 3, top=sheet.GAP)
        for name in ("one", "two")
    )
    np.testing.assert_array_equal(one[:2], two[:2])  # the broken one and the hero
    assert (two[2][..., :3] == sheet.BAD).all(axis=-1).any() and not np.array_equal(one[2], two[2])
    monkeypatch.setenv("MARROW_GPU", "no such adapter")  # no file is to blame for that
    code, said = call(capsys, *words, "-o", "none.png", "--workers", "1")
    assert code != 0 and "no such adapter" in said and not (here / "none.png").exists()


def test_a_picture_and_a_video_from_the_command_line(shelf, here, capsys):
    hero = shelf / "hero.glb"
    code, said = call(
        capsys, "render", hero, "-o", "a.png", "--clip", "walk", "--time", "0.3", "--size", "80x60", "--camera",
        "45,20", "--background", "white",
    )  # fmt: skip
    assert code == 0, said
    made = np.asarray(Image.open("a.png").convert("RGBA"))
    same = mw.render(
        mw.load(hero), clip="walk", time=0.3, size=(80, 60), camera="45,20", background=(1.0, 1.0, 1.0)
    )
    np.testing.assert_array_equal(made, np.asarray(same))
    assert call(capsys, "render", hero, "-o", "a.png")[0] == 2  # it is there already
    for words, suffix, frames in (
        (("--clip", "wave", "--duration", "0.2", "--rate", "10"), "apng", 2),
        (("--turntable", "--duration", "0.3", "--rate", "10", "--transparent"), "webp", 3),
        (("--graph", "mannequin", "--set", "speed=2", "--duration", "0.2", "--rate", "10"), "gif", 2),
        (("--crowd", "3", "--duration", "0.2", "--rate", "10"), "gif", 2),
        ((str(shelf / "small.glb"), "--duration", "0.2", "--rate", "10"), "gif", 2),
        (("--compare", str(shelf / "small.glb"), "--duration", "0.2", "--rate", "10"), "gif", 2),
    ):
        who = "mannequin" if "--graph" in words else hero
        code, said = call(capsys, "render", who, *words, "-o", f"v.{suffix}", "--size", "48", "-f")
        assert code == 0, said
        assert Image.open(f"v.{suffix}").n_frames == frames
    assert sorted(p.suffix for p in here.iterdir()) == [".apng", ".gif", ".png", ".webp"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("hero.xyz", "-o", "a.png"), "no such file"),
        (("mannequin", "-o", "a.xyz"), "ends in .png"),
        (("mannequin", "-o", "a.png", "--size", "big"), "WIDTHxHEIGHT"),
        (("mannequin", "-o", "a.png", "--background", "plaid"), "#20242a"),
        (("mannequin", "-o", "a.png", "--camera", "frnt"), "did you mean 'front'"),
        (("mannequin", "-o", "a.png", "--clip", "wolk"), "did you mean 'walk'"),
        (("mannequin", "-o", "a.png", "--view", "skeletn"), "skeleton"),
        (("mannequin", "-o", "a.png", "--duration", "2"), "is a picture"),
        (("mannequin", "-o", "a.png", "--set", "speed=2"), "--graph"),
        (("mannequin", "-o", "a.gif", "--graph", "mannequin", "--set", "speed"), "NAME=VALUE"),
        (("mannequin", "-o", "a.gif", "--graph", "mannequin"), "--duration"),
        (("mannequin", "-o", "a.mp4", "--transparent"), ".webm"),
        (("mannequin", "-o", "a.gif", "--rate", "60"), "at most 50"),
        (("mannequin", "-o", "a.png", "--graph", "manequin"), "did you mean the sample 'mannequin'"),
        (("mannequin", "-o", "a.png", "--scale", "0"), "load.scale: expected more than 0"),
        (("mannequin", "-o", "no/a.png"), "does not exist"),
    ],
)
def test_wrong_calls_say_what_to_do(here, capsys, words, says):
    code, said = call(capsys, "render", *words)
    assert code == 2
    assert says in said
    assert "fault inside" not in said
    assert not list(here.iterdir())


def test_what_is_missing_names_its_remedy(here, capsys, monkeypatch):
    def missing(render_path="forward"):
        raise MissingExtraError("wgpu", "gpu", "computing on the GPU")

    monkeypatch.setattr(picture, "shared_renderer", missing)
    code, said = call(capsys, "render", "mannequin", "-o", "a.png")
    assert code == 1
    assert "pip install 'marrow-engine[" in said
    code, said = call(capsys, "check", "lizard", "--html", "a.html")
    assert code == 0
    assert "no pictures" in said
    assert "<img" not in (here / "a.html").read_text()

    def none(render_path="forward"):
        raise NoAdapterError("no GPU was found")

    monkeypatch.setattr(picture, "shared_renderer", none)
    code, said = call(capsys, "render", "mannequin", "-o", "a.png")
    assert code == 1
    assert "no GPU was found" in said


def test_the_page_of_findings_shows_the_character_and_the_moment(here, capsys):
    hero = mw.samples.mannequin().levels[-1]
    wave = hero.clips["wave"]
    times = np.arange(91, dtype=np.float32) / 30
    turns = np.tile(np.array([0, 0, 0, 1], np.float32), (91, 1))
    turns[40] = [0, 0, np.sin(0.7), np.cos(0.7)]
    arm = hero.skeleton.index("upperarm_l")
    pop = mw.Clip('it\'s "odd"', hero.skeleton, [mw.Track(arm, "rotation", times, turns)])
    mw.save(hero.replace(clips=(pop, wave)), "odd.glb")
    (here / "broken.glb").write_bytes(b"glTF\2\0\0\0")
    code, said = call(capsys, "check", "odd.glb", "broken.glb", "--html", "a.html")
    assert code == 1
    page = (here / "a.html").read_text()
    assert "cannot be read" in page
    found = re.findall(r"<img alt='([^']*)' src='data:image/png;base64,([^']*)'", page)
    assert found[0][0] == "the character"
    assert Image.open(io.BytesIO(base64.b64decode(found[0][1]))).size == (560, 360)
    shown = [Image.open(io.BytesIO(base64.b64decode(data))).size for words, data in found if "odd" in words]
    assert (450, 190) in shown, said  # the moment, and those before and after it
    code, _ = call(capsys, "check", "odd.glb", "--html", "b.html", "--no-pictures")
    assert "<img" not in (here / "b.html").read_text()
