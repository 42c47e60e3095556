"""Makes docs/dataset/samples.webp, the sheet of docs/dataset.md: python tools/docs/dataset_pictures.py"""

from __future__ import annotations

import tempfile
from pathlib import Path

import marrow as mw
from marrow.dataset.film_strips import film_strips, mesh_of

OUT = Path(__file__).resolve().parents[2] / "docs" / "dataset"


def main() -> None:
    person = mw.samples.mannequin().replace(meshes=(), materials=(), images=(), reduced=(), lod=None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        for clip in (
            "wave",
            "crouch",
            "jump",
            "attack",
            "turn_left",
            "walk",
            "run",
            "jog",
            "walk_back",
            "strafe_left",
        ):
            motion = person.clips[clip]
            if motion.duration < 1:
                motion = motion.then(motion).then(motion).renamed(clip)
            mw.save(person.replace(clips=(motion,)), folder / "in" / f"{clip}.marrow")
        made = mw.dataset.build(
            folder / "in", folder / "out", features="rotations_6d positions contacts", mirror=True, split=1,
            character="mannequin",
        )  # fmt: skip
        character, _ = mesh_of(made, None)
        film_strips(made["train"], count=5, seed=3, character=character).save(OUT / "samples.webp")


if __name__ == "__main__":
    main()
