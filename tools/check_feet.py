"""Walks and runs over uneven ground and measures feet on the skin: `python tools/check_feet.py [CLIPS...] [--rate 60]`.

For every clip and ground: how far soles are inside the ground while they stand and while they swing, how far their pitch is
from that of the tread, how far they are off what they stand on while they bear weight, and while they only push off with
the heel up (on stairs a leg is at its full length before the clip of a plane says that the foot leaves), how far they
slide (all the worst of all frames), and the acceleration of the pelvis against that of the clip on a plane, or of `walk`
where that is more: on a step every gait has to rise as fast, and a slow one has next to no acceleration of its own.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import marrow as mw

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import terrain

CLIPS = ("walk_slow", "walk", "walk_fast", "jog", "run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("clips", nargs="*", default=list(CLIPS))
    parser.add_argument("--rate", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--warm-up", type=float, default=0.5, help="seconds that are not measured")
    options = parser.parse_args()
    hero = mw.samples.mannequin()
    print(
        "| clip | ground | stance inside mm | swing inside mm | pitch deg | off mm | leaves early mm | "
        "slide mm/frame | pelvis |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    walk = terrain.walk(hero, "walk", terrain.slope(0), seconds=2.0, rate=options.rate).pelvis
    for clip in options.clips:
        flat = max(walk, terrain.walk(hero, clip, terrain.slope(0), seconds=2.0, rate=options.rate).pelvis)
        for name, ground in terrain.GROUNDS.items():
            seen = terrain.walk(
                hero, clip, ground, seconds=options.seconds, rate=options.rate, warm_up=options.warm_up
            )
            lengths = (seen.stance_inside, seen.swing_inside)
            print(
                f"| {clip} | {name} | {' | '.join(f'{1e3 * v:.0f}' for v in lengths)} | {seen.pitch:.1f} | "
                f"{1e3 * seen.off:.0f} | {1e3 * seen.early:.0f} | "
                f"{1e3 * seen.slide:.1f} | {seen.pelvis / flat:.1f} x {flat:.1f} m/s2 |"
            )


if __name__ == "__main__":
    main()
