"""An artist's pipeline: a character and recordings come in, a checked GLB with its clips and a contact sheet go out.

    python examples/artist_pipeline.py hero.fbx takes/*.bvh -o hero_game.glb
    python examples/artist_pipeline.py                 # with a delivery made of the mannequin

The same from a shell: marrow mend, marrow convert --clips-from, marrow clip loop, marrow sheet.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

import marrow as mw

BODY = [
    "pelvis",
    "spine*",
    "neck",
    "head",
    "clavicle*",
    "*arm_?",
    "hand*",
    "thigh_?",
    "calf_?",
    "foot*",
    "ball*",
]


def delivery(folder):
    """What often comes in: a character in centimetres that looks backwards, takes of another rig."""
    hero = mw.samples.mannequin().replace(reduced=())
    folder.mkdir(exist_ok=True)
    still = hero.replace(clips=(), name="hero")
    mw.save(still.turned_to("-z").converted(units="cm"), folder / "hero.glb")
    takes = []
    for name in ("walk", "run", "wave"):
        takes.append(folder / f"{name}.bvh")
        mw.save(hero.replace(clips=(hero.clips[name],)), takes[-1], joints=BODY)
    return folder / "hero.glb", takes


def fitted(hero, take):
    """The first motion of a file on the character, as a loop where it nearly is one, with the steps marked."""
    found = mw.load(take)
    tool = mw.Retargeter(found, hero)
    clip = tool.retarget(found.clips[0]).renamed(take.stem)
    first, last = (hero.skeleton.to_model(clip.in_place().sample(t))[:, :, 3] for t in (0.0, clip.duration))
    apart = float(np.linalg.norm(first - last, axis=1).max())
    loops = apart < 0.15
    how = f"a loop, its ends were {1000 * apart:.0f} mm apart" if loops else "no loop"
    print(f"  {take.name}: {clip.duration:.2f} s, {how}")
    return (clip.looped(0.15) if loops else clip).with_contacts()


def main():
    arguments = argparse.ArgumentParser(description="From a delivery to a game.")
    arguments.add_argument("character", nargs="?", type=Path)
    arguments.add_argument("takes", nargs="*", type=Path)
    arguments.add_argument("-o", "--out", type=Path, default=Path("hero_game.glb"))
    wanted = arguments.parse_args()
    path, takes = (wanted.character, wanted.takes) if wanted.character else delivery(Path("delivery"))

    print(f"{path}:")
    hero, first = mw.mend(
        mw.load(path)
    )  # units and facing come first: motion is fitted to what it stands like
    hero, second = mw.mend(hero.with_clips([fitted(hero, take) for take in takes]))
    left = [line for line in second if line.kind not in ("repaired", "info")]
    for line in (*first, *second):
        if line.kind == "repaired" or line in left:
            print(f"  {line}")
    with warnings.catch_warnings(record=True) as told:
        mw.save(hero, wanted.out)
    for warning in told:
        print(f"  {warning.message}")
    again = mw.load(wanted.out)
    print(f"{wanted.out}: {', '.join(again.clips)}; {len(left)} points left to a person")
    mw.contact_sheet(again, times=5, size=(120, 150), camera="side").save("artist_pipeline.png")
    print("artist_pipeline.png: the clips as they will be played")


if __name__ == "__main__":
    main()
