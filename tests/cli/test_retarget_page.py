"""`marrow retarget --html`: figures with their limits, moments and pictures, in one file."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

import marrow as mw
from marrow.cli import _retarget_pictures
from marrow.cli._retarget_page import ClipEntry, FileEntry, motion_page
from marrow.cli.app import run
from marrow.motion.quality import FootQuality, MotionQuality
from marrow.motion.quality_figures import figures_of
from marrow.motion.visible_quality import VisibleQuality

FINE = FootQuality(0.0, 0.0, 0.0)


def quality(**seen: float) -> MotionQuality:
    usual = {"legs": 1.0, "arms": 0.5, "knee_speed": 100.0, "source_knee_speed": 100.0}
    return MotionQuality("walk", FINE, FINE, 1.0, 0.1, 0.0, (), VisibleQuality(**(usual | seen)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seen", "name", "verdict"),
    [
        ({"sink": 0.013, "sink_at": 0.5}, "skin of the feet in the ground", "look"),
        ({"depth": 0.5}, "any skin in the ground", "bad"),
        ({"slide": 0.0707}, "soles slide", "bad"),
        ({"knee_speed": 140.0}, "knees against the source's", "look"),
        ({"legs": 97.0}, "legs off the source's", "bad"),
        ({"arms": None}, "arms off the source's", "look"),
        ({"contacts": 4, "lost": 3}, "contacts lost", "bad"),
    ],
)
def test_what_people_see_is_not_called_well(seen: dict[str, float], name: str, verdict: str) -> None:
    found = {figure.name: figure.verdict for figure in figures_of(quality(**seen), 1.0)}
    assert found.pop(name) == verdict
    assert set(found.values()) == {"good"}


def test_limits_grow_with_the_body() -> None:
    def verdict(size: float) -> str:
        return figures_of(quality(sink=0.02), size)[0].verdict

    assert (verdict(1.0), verdict(2.0)) == ("look", "good")


def test_the_page_escapes_names_and_counts_faults() -> None:
    good, bad = (ClipEntry(n, figures_of(quality(slide=s), 1.0)) for n, s in (("a", 0.0), ("<b>", 0.1)))
    page = motion_page(
        "hero.glb", [FileEntry("walk.bvh", ["info: units"], [good, bad]), FileEntry("x", error="no")]
    )
    assert "2 clips" in page and "1 with faults people see" in page
    assert "&lt;b&gt;" in page and "<b>" not in page
    assert page.index("soles slide", page.index("&lt;b&gt;")) < page.index(
        "any skin", page.index("&lt;b&gt;")
    )


def test_a_page_is_written_with_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retarget_pictures, "SIZE", (32, 32))
    monkeypatch.setattr(_retarget_pictures, "SMALL", (16, 16))
    monkeypatch.setattr(_retarget_pictures, "MOMENTS", 2)
    hero = mw.samples.mannequin()
    motion, target, page = (tmp_path / name for name in ("walk.bvh", "body.glb", "report.html"))
    with pytest.warns(UserWarning, match="move against their parents"):
        mw.save(mw.Character(hero.skeleton, clips=[hero.clips["walk"].trimmed(0.0, 0.4)]), motion)
    mw.save(hero.replace(clips=(), meshes=()), target)
    call = ["retarget", str(motion), str(target), "--html", str(page)]
    assert run(call) == 0
    text = page.read_text()
    pictures = re.findall(r"data:image/webp;base64,([A-Za-z0-9+/=]+)", text)
    assert len(pictures) >= 2 and all(base64.b64decode(p)[8:12] == b"WEBP" for p in pictures)
    assert "soles slide" in text and "walk.bvh" in text
    assert run(call) != 0, "it is not replaced"
