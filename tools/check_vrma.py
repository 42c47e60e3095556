"""Holds VRMA files that marrow writes to `@pixiv/three-vrm-animation`: clips of other characters go onto VRM avatars, are
written as `.vrma`, and are played there on the same avatar. Bones must be where marrow has them.

    npm install three @pixiv/three-vrm @pixiv/three-vrm-animation        (in a folder of its own)
    python tools/check_vrma.py FOLDER --avatar ami.vrm --motion Xbot.glb --motion dance.bvh
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import marrow as mw

MOMENTS = 10


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path, help="where the npm packages are")
    asked.add_argument("--avatar", action="append", required=True)
    asked.add_argument("--motion", action="append", default=[])
    given = asked.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory() as room:
        tasks, wanted = [], []
        for name in given.avatar:
            avatar = mw.load(name)
            clips = list(avatar.clips.values())
            for motion in given.motion:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    clips += list(mw.load(name, clips=motion).clips.values())[len(avatar.clips) :]
            for clip in clips:
                file = Path(room) / f"{len(tasks)}.vrma"
                mw.save(mw.Character(avatar.skeleton, clips=[clip], vrm=avatar.vrm), file)
                times = np.linspace(0, clip.duration, MOMENTS)
                tasks.append(
                    {
                        "avatar": str(Path(name).resolve()),
                        "motion": str(file),
                        "clip": 0,
                        "times": times.tolist(),
                    }
                )
                wanted.append((avatar, clip, times))
        script = given.folder / "check_vrma.mjs"  # packages are found from where the script is
        shutil.copyfile(Path(__file__).with_suffix(".mjs"), script)
        done = subprocess.run(["node", str(script)], input=json.dumps(tasks), capture_output=True, text=True)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return 1
    for (avatar, clip, times), rows in zip(wanted, json.loads(done.stdout)):
        places = np.asarray(clip.skeleton.to_model(clip.sample(times)))[..., 3]
        eyes = ("leftEye", "rightEye")  # three-vrm turns them on its next update
        bones = [(bone, j) for bone, j in avatar.skeleton.humanoid.items() if bone not in eyes]
        off = max(
            float(np.linalg.norm(np.array(row["bones"][bone]) - places[t, j]))
            for t, row in enumerate(rows)
            for bone, j in bones
            if bone in row["bones"]
        )
        faces = 0.0
        for curve in clip.curves:
            if curve.name.startswith("expression:") and curve.name[11:] in rows[0]["weights"]:
                shown = np.array([row["weights"][curve.name[11:]] for row in rows])
                faces = max(faces, float(np.abs(np.clip(curve.sample(times), 0, 1) - shown).max()))
        print(f"{avatar.name[:30]:30} {clip.name[:30]:30} bones {off:.2e} m   expressions {faces:.2e}")
        worst = max(worst, off)
    print(f"{len(wanted)} clips, {worst:.2e} m at worst")
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
