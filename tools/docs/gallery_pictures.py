"""Draws the stills of the gallery that no other page has: `python tools/docs/gallery_pictures.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import marrow as mw

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from website.characters import another_body, few_clips, loose_tail  # noqa: E402

FOLDER = ROOT / "docs" / "gallery"
SIZE = (800, 500)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    mw.render(few_clips(), clip="run", time=0.3, size=SIZE).save(FOLDER / "before.webp")
    mw.render(another_body(), clip="run", time=0.3, size=SIZE).save(FOLDER / "after.webp")
    pet = mw.Animator(*loose_tail())
    for _ in range(90):
        pet.update(1 / 60)
    mw.render(pet, camera="150,25", size=SIZE).save(FOLDER / "springs.webp")


if __name__ == "__main__":
    main()
