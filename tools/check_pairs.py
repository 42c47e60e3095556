"""Motions onto characters, measured on the skin: `python tools/check_pairs.py --motions DIR... --characters FILE...`.

Nothing here is shared with what plants feet: joints come from the bone map, the skin is deformed by this file, plants are
found by its own rule, and the floor is at zero. One row a pair, the worst first:

- `knee`: the largest knee speed by the source's largest
- `sink`: how deep the skin of the feet is under the floor, in mm, in the 95th of 100 frames (and at the most)
- `drift`: how far a planted sole moves more than the source's heel or ball does, in mm
- `legs`, `arms`: degrees between the bones of source and target, the 95th of 100 (and the median)
- `bones`: the most that a bone of a leg changes its length
- `body`: how deep the skin of all but the feet is under the floor, in mm, in the 95th of 100 frames
- `meet`: where the source's hands are the nearest to each other, and under 0.2 m apart: how far the skins of the target's
  hands are apart, in mm
- `inside`: how deep hands are in the skin of trunk and head, in mm, in the 95th of 100 frames
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import marrow as mw
from marrow.motion import Retargeter

PERSON = 0.85
SIDES = ("left", "right")


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    t = 2 * np.cross(q[:3], v)
    return v + q[3] * t + np.cross(q[:3], t)


def foot_skin(character: mw.Character, joints: set[int]) -> list[tuple[np.ndarray, ...]]:
    """Of each mesh the vertices that go with `joints` by more than half: their joints, weights and places in them."""
    out = []
    for mesh in character.meshes:
        mine = np.isin(mesh.joint_list, list(joints))[mesh.joints]
        picked = np.flatnonzero((mesh.weights * mine).sum(axis=1) > 0.5)
        if not len(picked):
            continue
        at = np.append(mesh.positions[picked].astype(float), np.ones((len(picked), 1)), axis=1)
        bind = mesh.inverse_bind.astype(float)[mesh.joints[picked]]
        local = np.einsum("vkij,vj->vki", bind, at)
        out.append((mesh.joint_list[mesh.joints[picked]], mesh.weights[picked].astype(float), local))
    return out


def skinned(model: np.ndarray, parts: list[tuple[np.ndarray, ...]]) -> np.ndarray:
    """Vertices `(T, V, 3)`."""
    out = []
    for joints, weights, local in parts:
        total = 0.0
        for k in range(joints.shape[1]):
            m = model[:, joints[:, k]].astype(float)
            total = total + weights[:, k, None] * (
                np.einsum("tvij,vj->tvi", m[..., :3], local[:, k]) + m[..., 3]
            )
        out.append(total)
    return np.concatenate(out, axis=1)


def normals(model: np.ndarray, character: mw.Character, joints: set[int]) -> np.ndarray:
    """The normals `(T, V, 3)` of what `foot_skin` finds, turned by the joint that holds them the most."""
    out = []
    for mesh in character.meshes:
        mine = np.isin(mesh.joint_list, list(joints))[mesh.joints]
        picked = np.flatnonzero((mesh.weights * mine).sum(axis=1) > 0.5)
        if len(picked):
            most = np.argmax(mesh.weights[picked], axis=1)
            local = mesh.joints[picked, most]
            turn = model[:, mesh.joint_list[local], :, :3] @ mesh.inverse_bind[local][..., :3]
            n = np.einsum("tvij,vj->tvi", turn, mesh.normals[picked])
            out.append(n / np.maximum(np.linalg.norm(n, axis=-1, keepdims=True), 1e-12))
    return np.concatenate(out, axis=1)


def nearest(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of points `(T, A, 3)` the nearest of `(T, B, 3)`: which, and how far, `(T, A)`."""
    far = np.linalg.norm(a[:, :, None] - b[:, None], axis=-1)
    return far.argmin(axis=2), far.min(axis=2)


def body(
    row: dict, tool: Retargeter, target: mw.Character, was: np.ndarray, here: np.ndarray, size: float
) -> None:
    """Floor under the whole skin, hands that meet, hands in the body."""
    chains = {c.name: c.target for c in tool.map}
    below = target.skeleton.descendants
    feet = {int(j) for s in SIDES for j in below(skin_joint(tool, target, chains[f"{s}_leg"][2]))}
    some = np.unique(np.linspace(0, len(here) - 1, 120).round().astype(int))
    rest = foot_skin(target, set(range(len(target.skeleton))) - feet)
    if rest:
        deep = np.maximum(-skinned(here[some], rest)[..., 1].min(axis=1), 0) * 1000 / size
        row["body"], row["body most"] = float(np.percentile(deep, 95)), float(deep.max())
    if any(len(c) < 3 for s in SIDES for c in (tool.map[f"{s}_arm"].source, chains[f"{s}_arm"])):
        return
    hands = [{int(j) for j in below(chains[f"{s}_arm"][2])} for s in SIDES]
    parts = [foot_skin(target, h) for h in hands]
    if not all(parts):
        return
    apart = np.linalg.norm(
        was[:, tool.map["left_arm"].source[2]] - was[:, tool.map["right_arm"].source[2]], axis=-1
    )
    met = np.argsort(apart)[: max(len(apart) // 50, 1)]
    if apart[met[0]] < 0.2 * size:
        left, right = (skinned(here[met], p) for p in parts)
        thin = [slice(None, None, max(p.shape[1] // 250, 1)) for p in (left, right)]
        gap = nearest(left[:, thin[0]], right[:, thin[1]])[1].min(axis=1)
        row["meet"] = float(np.median(gap)) * 1000 / size
    core = {j for n in ("hips", "pelvis", "spine", "head") for j in chains.get(n, ())}
    trunk = foot_skin(target, core)
    if trunk:
        few = some[::2]
        skin, out = skinned(here[few], trunk), normals(here[few].astype(float), target, core)
        step = slice(None, None, max(skin.shape[1] // 700, 1))
        skin, out = skin[:, step], out[:, step]
        deep = np.zeros(len(few))
        for p in parts:
            points = skinned(here[few], p)
            points = points[:, :: max(points.shape[1] // 60, 1)]
            which, far = nearest(points, skin)
            at = np.take_along_axis(skin, which[..., None], 1)
            n = np.take_along_axis(out, which[..., None], 1)
            depth = -((points - at) * n).sum(-1)
            depth = np.where(depth > 0.5 * far, depth, 0)
            deep = np.maximum(deep, np.maximum(depth, 0).max(axis=1))
        row["inside"] = float(np.percentile(deep, 95)) * 1000 / size


def angle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    cos = (a * b).sum(-1) / np.maximum(np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1), 1e-12)
    return np.degrees(np.arccos(np.clip(cos, -1, 1)))


def plants(place: np.ndarray, seconds: float, size: float) -> list[tuple[int, int]]:
    """Runs of frames in which a point `(T, 3)` is low and slower than 0.1 m/s, for 0.15 s or longer."""
    speed = np.linalg.norm(np.diff(place, axis=0), axis=-1) / seconds
    still = np.append(speed < 0.1 * size, False) & (
        place[:, 1] < np.percentile(place[:, 1], 10) + 0.03 * size
    )
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still, [0]])))
    runs = list(zip(edges[::2], edges[1::2]))
    return [(a, b) for a, b in runs if (b - a) * seconds >= 0.15]


def skin_joint(tool: Retargeter, target: mw.Character, joint: int) -> int:
    """The joint that carries the skin of a foot: where legs end before their feet, what lies there and has skin."""
    at, skeleton = tool.target.rest_model[..., 3].astype(float), target.skeleton
    if joint < len(skeleton) and foot_skin(target, set(skeleton.descendants(joint).tolist())):
        return joint
    above = set(tool.target.ancestors(joint))
    far = np.linalg.norm(at[: len(skeleton)] - at[joint], axis=1)
    for j in np.argsort(far):
        if far[j] > 0.15 * tool.leg_t:
            break
        if int(j) not in above and foot_skin(target, set(skeleton.descendants(int(j)).tolist())):
            return int(j)
    return min(joint, len(skeleton) - 1)


def touching(skin: np.ndarray, joint: np.ndarray, t: int, size: float) -> np.ndarray:
    """Where the skin is over time, `(T, 3)`, that is under a joint in frame `t`: the mean of the six vertices nearest to it
    over the ground, of those that are the lowest then but for 3 cm."""
    low = skin[t, :, 1] < skin[t, :, 1].min() + 0.03 * size
    near = np.linalg.norm((skin[t] - joint[t])[:, [0, 2]], axis=1)
    return skin[:, np.argsort(np.where(low, near, np.inf))[:6]].mean(axis=1)


def measure(
    source: mw.Character, clip: mw.Clip, target: mw.Character, *, whole: bool = True
) -> dict[str, float | str]:
    """The figures of a pair; `whole`: those of hands and trunk too, which take longer."""
    tool = Retargeter(source, target, clip=clip)
    start = time.process_time()
    made = tool.retarget(clip)
    spent = time.process_time() - start
    if tool.exact or not tool.map.humanoid:
        raise mw.MarrowError("a copy, or no body with two legs")
    if made.duration < clip.duration - 1e-6:
        clip = clip.without_calibration()
    rate = made.rate or 30.0
    count = min(round(made.duration * rate) + 1, 3000)
    if count < 5:
        raise mw.MarrowError("no motion")
    times = np.arange(count) / rate
    pose = clip.sample(times)
    world = tool.world(pose)
    there, here = source.skeleton.to_model(pose), target.skeleton.to_model(made.sample(times))
    was, now = turned(world, there[..., 3].astype(float)) * tool.scale, here[..., 3].astype(float)
    size = tool.leg_t / PERSON
    row: dict[str, float | str] = {"frames": count}
    speeds, bones, dirs = [[], []], [], {"legs": [], "arms": []}
    for side in SIDES:
        for limb in ("leg", "arm"):
            if f"{side}_{limb}" not in tool.map:
                continue
            pair = tool.map[f"{side}_{limb}"]
            if min(len(pair.source), len(pair.target)) < 3:
                continue
            mine = pair.target
            if mine[2] >= len(target.skeleton):
                mine = (*mine[:2], skin_joint(tool, target, mine[2]))
            segments = [
                [at[:, c[k + 1]] - at[:, c[k]] for k in (0, 1)] for at, c in ((was, pair.source), (now, mine))
            ]
            dirs[f"{limb}s"] += [angle(a, b) for a, b in zip(*segments)]
            if limb == "leg":
                for k, (thigh, shin) in enumerate(segments):
                    bend = angle(thigh, shin)
                    speeds[k].append(np.abs(np.diff(bend)).max() * rate)
                for bone in segments[1]:
                    length = np.linalg.norm(bone, axis=-1)
                    bones.append(np.ptp(length) / length.mean())
    row["source knee"] = max(speeds[0])
    row["knee"] = max(speeds[1]) / max(*speeds[0], 60.0)
    for name, found in dirs.items():
        if found:
            row[name], row[f"{name} median"] = float(np.percentile(found, 95)), float(np.median(found))
    row["bones"] = float(max(bones))
    sinks, drifts = [], [0.0]
    for side in SIDES:
        foot_s = tool.map[f"{side}_leg"].source[2]
        foot_t = skin_joint(tool, target, tool.map[f"{side}_leg"].target[2])
        parts = foot_skin(target, set(target.skeleton.descendants(foot_t).tolist()))
        if not parts:
            continue
        skin = skinned(here, parts)
        sinks.append(np.maximum(-skin[..., 1].min(axis=1), 0.0))
        toes = f"{side}_toes"
        ball_s = tool.map[toes].source[0] if toes in tool.map else None
        spot = tool.map[toes].target[0] if toes in tool.map else None
        for joint, under in ((foot_s, foot_t), (ball_s, spot)):
            if joint is None or under is None:
                continue
            for a, b in plants(was[:, joint], 1 / rate, size):
                patch = touching(skin, now[:, under], (a + b) // 2, size)
                own, theirs = (
                    p[a:b][:, [0, 2]] - p[a:b][:, [0, 2]].mean(axis=0) for p in (patch, was[:, joint])
                )
                moved = np.linalg.norm(own, axis=-1).max() - np.linalg.norm(theirs, axis=-1).max()
                drifts.append(float(moved))
    if sinks:
        deepest = np.max(sinks, axis=0) * 1000 / size
        row["sink"], row["sink most"] = float(np.percentile(deepest, 95)), float(deepest.max())
    row["drift"] = max(drifts) * 1000 / size
    if whole:
        body(row, tool, target, was, here, size)
    row["us"] = spent / count * 1e6
    return row


def files(given: list[Path], suffixes: tuple[str, ...]) -> list[Path]:
    out: list[Path] = []
    for path in given:
        out += sorted(p for p in path.rglob("*") if p.suffix in suffixes) if path.is_dir() else [path]
    return out


def opened(path: Path) -> mw.Character:
    return mw.samples.mannequin() if path.name == "mannequin" else mw.load(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--motions", type=Path, nargs="+", required=True)
    parser.add_argument("--characters", type=Path, nargs="+", required=True)
    parser.add_argument("--most", type=int, default=0, help="frames to take of a motion; 0: all")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    targets = [(p, opened(p)) for p in files(given.characters, (".glb", ".vrm", ".fbx"))]
    rows: list[dict[str, float | str]] = []
    for motion in files(given.motions, (".bvh", ".glb", ".fbx", ".vrma")):
        try:
            source = opened(motion)
            clip = max(source.clips.values(), key=lambda c: c.duration)
        except (mw.MarrowError, ValueError) as error:
            print(f"{motion.name}: {error}", file=sys.stderr)
            continue
        if given.most and clip.duration > given.most / 60:
            clip = clip.trimmed(0.0, given.most / 60) if hasattr(clip, "trimmed") else clip
        for path, target in targets:
            try:
                row = measure(source, clip, target)
            except mw.MarrowError as error:
                print(f"{motion.name} -> {path.name}: {str(error)[:150]}", file=sys.stderr)
                continue
            rows.append({"motion": motion.stem, "character": path.stem} | row)
    names = [
        "knee",
        "source knee",
        "sink",
        "sink most",
        "drift",
        "legs",
        "legs median",
        "arms",
        "arms median",
        "bones",
        "body",
        "body most",
        "meet",
        "inside",
        "us",
    ]
    rows.sort(key=lambda r: max(r["knee"] / 1.3, r.get("sink", 0) / 12, r["drift"] / 5), reverse=True)
    print(f"{'':64}" + "".join(f"{n:>12}" for n in names))
    for r in rows:
        print(
            f"{r['motion'][:40] + ' -> ' + r['character'][:20]:64}"
            + "".join(f"{r.get(n, np.nan):12.3g}" for n in names)
        )
    for n in names:
        v = [r[n] for r in rows if n in r] or [np.nan]
        print(f"{n:>12}: median {np.median(v):.3g}, 90 %: {np.percentile(v, 90):.3g}, most {max(v):.3g}")
    good = [r["knee"] <= 1.3 and r.get("sink", 0) <= 12 and r["drift"] <= 5 for r in rows]
    print(f"{sum(good)} of {len(good)} pairs within: knees 1.3, sink 12 mm, drift 5 mm")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
