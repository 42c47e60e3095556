"""Packs many clips and measures, by the decoder of the tests, how far off they are: around joints, and on the skin.

    python tools/check_compression.py [--cmu CMU_FOLDER] [--every 11] [--corpus FOLDER] [--seconds 20]

Of `una-dinosauria/cmu-mocap` every 11th file with at most 3,000,000 bytes: some 200. Of a folder of characters every
clip. Each is measured at random times, at frames and between; clips longer than `--seconds` are cut. It ends with 1 where
one is over its limit.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import marrow as mw
from compression_table import LIMIT, decoded_pose, without_ends, worst_error
from marrow.errors import MarrowError
from marrow.io.registry import FORMATS
from marrow.model import Clip

SKIN_TIMES = 4
ROUNDING = 3e-6
"""What float32 takes of two skins of a person's size."""


def cmu_clips(folder: Path, every: int) -> Iterator[tuple[str, mw.Character | None, Clip]]:
    names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*.bvh") if p.stat().st_size <= 3_000_000)
    for name in names[::every]:
        yield name, None, without_ends(mw.load(folder / name))


def corpus_clips(folder: Path) -> Iterator[tuple[str, mw.Character | None, Clip]]:
    suffixes = {suffix for form in FORMATS for suffix in form.suffixes}
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in suffixes):
        try:
            character = mw.load(path)
        except MarrowError as error:
            print(f"{path.name}: not read: {str(error)[:80]}", file=sys.stderr)
            continue
        for clip in character.clips.values():
            yield f"{path.name} {clip.name}", character if character.meshes else None, clip


def extent_of(character: mw.Character) -> float:
    """How large it is, in metres; a person at least."""
    points = np.concatenate([m.positions for m in character.meshes if len(m.positions)])
    return max(
        float(np.abs(points).max(initial=1.0)),
        float(np.abs(character.skeleton.rest_model[:, :, 3]).max()),
        1.0,
    )


def on_the_skin(character: mw.Character, clip: Clip, packed: Clip) -> float:
    """The largest distance of a vertex at a few times."""
    frames, worst = clip.resampled(), 0.0
    motion = packed.packed
    assert motion is not None
    for at in np.random.default_rng(7).uniform(0, motion.frame_count - 1, SKIN_TIMES):
        mine = mw.skin(character, decoded_pose(packed, float(at)), normals=False, tangents=False).positions
        true = mw.skin(character, frames.sample(at / motion.rate), normals=False, tangents=False).positions
        worst = max(worst, float(np.linalg.norm(mine.astype(np.float64) - true, axis=-1).max(initial=0.0)))
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cmu", type=Path)
    parser.add_argument("--every", type=int, default=11)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    clips = [cmu_clips(options.cmu, options.every)] if options.cmu else []
    clips += [corpus_clips(options.corpus)] if options.corpus else []
    count, over, worst, refused = 0, 0, 0.0, 0
    warnings.simplefilter("ignore")
    for source in clips:
        for name, character, clip in source:
            if clip.duration > options.seconds:
                clip = clip.trimmed(0.0, options.seconds)
            try:
                packed = clip.compressed(error=LIMIT, character=character)
            except MarrowError as error:
                refused += 1
                print(f"{name}: refused: {str(error)[:110]}")
                continue
            found = [] if clip.additive else [worst_error(clip, packed)] if character is None else []
            if character is not None and not clip.additive:
                found.append(max(on_the_skin(character, clip, packed) - ROUNDING * extent_of(character), 0.0))
            error = max(found, default=0.0)
            count, worst, over = count + 1, max(worst, error), over + (error > LIMIT)
            if error > LIMIT:
                print(f"{name}: {error * 1000:.4f} mm")
    print(f"{count} clips, {over} over {LIMIT * 1000} mm, {worst * 1000:.4f} mm at most, {refused} refused")
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
