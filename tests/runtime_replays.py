"""Recorded calls of a crowd, made by chance, and what Python, libmarrow and the web runtime answer: numbers over all
bytes of results.

A recording is a list of steps `[name, *arguments]` of plain numbers and names: `marrow` plays it with `play_python`
and `play_native`, node and
browsers with `tests/runtime/player.mjs`. After `look` a step's results are hashed: matrices, model matrices, morphs,
root, travel,
events and states."""

from __future__ import annotations

from typing import Any

import numpy as np

import marrow as mw

FIELDS = ("instance", "kind", "event", "source", "weight", "time")


MAKE_POSES = ("update", "look", "glance", "add", "remove", "reset", "snapshot", "save", "play")
"""Steps that use the poses of this moment: who answers for the ground by hand does so before these."""


def hashed(*arrays: Any) -> str:
    """A number over the bytes of arrays, as `player.mjs` has it."""
    found = []
    for array in arrays:
        raw = np.ascontiguousarray(array).tobytes()
        words = np.frombuffer(raw + b"\0" * (-len(raw) % 4), np.uint32)
        factors = (2 * np.arange(len(words), dtype=np.uint64) + 1) * np.uint64(0x9E3779B1) & np.uint64(
            0xFFFFFFFF
        )
        mixed = (words ^ words >> np.uint32(15)).astype(np.uint64) * factors
        found.append(f"{int((mixed & np.uint64(0xFFFFFFFF)).sum()) & 0xFFFFFFFF:08x}")
    return " ".join(found)


def hashed_events(events: Any) -> str:
    return hashed(*(events[name] for name in FIELDS))


def ground_at_random(rng: np.random.Generator, N: int) -> dict[str, Any]:
    """A height, one each, an array of them, triangles, or who is asked."""
    kind = rng.choice(["none", "height", "heights", "field", "mesh", "asked"])
    if kind == "height":
        return {"height": float(rng.normal(0, 0.05))}
    if kind == "heights":
        return {"heights": rng.normal(0, 0.05, N).tolist()}
    if kind == "field":
        return {"field": rng.normal(0, 0.05, (5, 4)).tolist(), "spacing": 1.5, "origin": [-3.0, -2.0]}
    if kind == "mesh":
        x, z = np.meshgrid(np.linspace(-6, 6, 9), np.linspace(-6, 6, 9))
        places = np.stack([x.ravel(), rng.normal(0, 0.05, x.size), z.ravel()], axis=1)
        corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
        triangles = np.concatenate(
            [corner[:, None] + [0, 9, 1], corner[:, None] + [1, 9, 10], rng.integers(0, len(places), (20, 3))]
        )
        return {"positions": places.tolist(), "triangles": triangles.tolist()}
    return {} if kind == "none" else {"asked": float(rng.normal(0, 0.05))}


def springs_at_random(rng: np.random.Generator, name: str) -> list[Any]:
    """Settings of a chain, the wind, whether parts are made, all as it was."""
    kind = rng.choice(["spring", "wind", "exact", "springs_reset"], p=[0.7, 0.15, 0.1, 0.05])
    if kind == "wind":
        return ["wind", rng.normal(0, 1, 3).tolist()]
    if kind == "exact":
        return ["exact", bool(rng.random() < 0.5)]
    if kind == "springs_reset":
        return ["springs_reset"]
    ranges = {
        "stiffness": (0, 4),
        "drag": (0, 1),
        "gravity": (-2, 2),
        "radius": (0, 0.1),
        "limit": (0, np.pi),
    }
    some = {key: float(rng.choice([0.0, rng.uniform(*ends)], p=[0.1, 0.9])) for key, ends in ranges.items()}
    return ["spring", name, {key: value for key, value in some.items() if rng.random() < 0.5}]


def recording(
    rng: np.random.Generator,
    N: int,
    steps: int,
    *,
    numbers: tuple[str, ...] = (),
    bools: tuple[str, ...] = (),
    triggers: tuple[str, ...] = (),
    vectors: tuple[str, ...] = (),
    slots: tuple[tuple[str, str], ...] = (),
    overrides: tuple[tuple[str, int], ...] = (),
    grounds: bool = False,
    springs: tuple[str, ...] = (),
    low: float = -1.0,
    high: float = 4.0,
    longest: float = 1.0,
    crowd: bool = False,
    looks: float = 0.6,
) -> list[list[Any]]:
    """Calls at random: parameters, triggers, slots, updates of all lengths; with `crowd` instances that come, go,
    start over, wait and go back
    to a moment."""
    made: list[list[Any]] = []
    rare, saved = 0.1, False

    def some() -> list[int]:
        return np.flatnonzero(rng.random(N) < 0.5).tolist()

    for _ in range(steps):
        for name in numbers:
            if rng.random() < rare:
                made.append(["set", name, rng.uniform(low, high, N).tolist()])
        for name in vectors:
            if rng.random() < rare:
                made.append(["set", name, rng.uniform(-1, 2, 3 * N).tolist()])
        for name in bools:
            if rng.random() < rare:
                made.append(["set", name, (rng.random(N) < 0.5).astype(float).tolist()])
        made += [["trigger", name, some()] for name in triggers if rng.random() < rare]
        for slot, clip in slots:
            if rng.random() < rare:
                made.append(["slot", slot, clip, bool(rng.random() < 0.5), bool(rng.random() < 0.3), some()])
            elif rng.random() < rare / 3:
                made.append(["slot_stop", slot, 0.2, some()])
        for name, k in overrides:
            if rng.random() < 2 * rare:
                turns = rng.normal(0, 1, (k, 4)) + np.array([0, 0, 0, 1.0])
                turns /= np.linalg.norm(turns, axis=1, keepdims=True)
                given = [turns.tolist(), rng.normal(0, 0.3, (k, 3)).tolist()]
                kept = [g if rng.random() < 0.7 else None for g in given]
                made.append(["override", name, *kept, float(rng.choice([0.0, 0.4, 1.0]))])
        if grounds and rng.random() < 2 * rare:
            made.append(["ground", ground_at_random(rng, N)])
        for name in springs:
            if rng.random() < 2 * rare:
                made.append(springs_at_random(rng, name))
        if crowd and rng.random() < rare:
            what = rng.choice(["add", "remove", "reset", "every", "speed", "root", "snapshot", "restore"])
            if what == "add" and N < 12:
                made.append(["add", 2])
                N += 2
            elif what == "remove" and N > 3:
                made.append(["remove", [0, N // 2]])
                N -= 2
            elif what == "reset":
                made.append(["reset", some()])
            elif what == "every":
                made.append(["every", rng.integers(1, 4, N).tolist()])
            elif what == "speed":
                made.append(["speed", rng.uniform(0, 2, N).tolist()])
            elif what == "root":
                turn = rng.uniform(-3, 3)
                made.append(
                    [
                        "root",
                        rng.uniform(-5, 5, 3).tolist(),
                        [0.0, float(np.sin(turn / 2)), 0.0, float(np.cos(turn / 2))],
                        some(),
                    ]
                )
            elif what == "snapshot":
                made.append(["snapshot"])
                saved = N
            elif what == "restore" and saved:
                made.append(["restore"])
                N = saved
                if grounds:  # Python goes back to surfaces and functions too
                    made.append(["ground", ground_at_random(rng, N)])
        dt = rng.choice([1 / 60, rng.uniform(0, 0.1), rng.uniform(0, longest), 0.0], p=[0.6, 0.3, 0.05, 0.05])
        made.append(["update", float(dt)])
        if rng.random() < looks:
            made.append(["look"])
        elif rng.random() < 0.2:
            made.append(["glance"])
    return [*made, ["look"]]


def play_python(
    character: mw.Character, graph: Any, count: int, steps: list[list[Any]], **options: Any
) -> list[str]:
    """What Python answers."""
    a = mw.Animator(character, graph, count=count, threads=1, **options)
    machines = list(a.evaluation.compiled.machines)
    found, saved = [], None
    for what, *given in steps:
        if what == "set":
            name, values = given
            a[name] = (
                np.reshape(values, (a.count, 3))
                if len(values) == 3 * a.count and np.ndim(a[name]) == 2
                else values
            )
        elif what == "trigger":
            a.trigger(given[0], instances=np.array(given[1], np.int64))
        elif what == "slot":
            slot, clip, queue, loop, who = given
            a.slots[slot].play(clip, queue=queue, loop=loop, instances=np.array(who, np.int64))
        elif what == "slot_stop":
            a.slots[given[0]].stop(seconds=given[1], instances=np.array(given[2], np.int64))
        elif what == "play":
            clip, fade, loop, speed, start, who = given
            a.cross_fade(
                clip,
                fade,
                loop=loop,
                speed=speed,
                start=None if start < 0 else start,
                instances=np.array(who, np.int64),
            )
        elif what == "montage":
            name, section, who = given
            a.montages[name].play(section, instances=np.array(who, np.int64))
        elif what == "jump":
            a.montages[given[0]].jump_to(given[1], instances=np.array(given[2], np.int64))
        elif what == "next":
            a.montages[given[0]].set_next(given[1], given[2], instances=np.array(given[3], np.int64))
        elif what == "save":
            a.instances.save_pose(given[0], instances=np.array(given[1], np.int64))
        elif what == "add":
            a.instances.add(given[0])
        elif what == "remove":
            a.instances.remove(given[0])
        elif what == "reset":
            a.instances.reset(np.array(given[0], np.int64))
        elif what == "every":
            a.instances.update_every = given[0]
        elif what == "speed":
            a.speed = np.array(given[0])
        elif what == "root":
            a.root.set(given[0], given[1], instances=np.array(given[2], np.int64))
        elif what == "override":
            a.overrides[given[0]].set(rotation=given[1], translation=given[2], weight=given[3])
        elif what == "ground":
            a.ground = python_ground(given[0])
        elif what == "spring":
            a.springs[given[0]].set(**given[1])
        elif what == "wind":
            a.springs.wind = given[0]
        elif what == "exact":
            a.springs.exact = given[0]
        elif what == "springs_reset":
            a.springs.reset()
        elif what == "snapshot":
            saved = a.snapshot()
        elif what == "restore":
            a.restore(saved)
        elif what == "update":
            a.update(given[0])
        elif what == "glance":
            _ = a.matrices
        elif what == "look":
            places = np.concatenate([a.root.translation, a.root.rotation], axis=1)
            motion = np.concatenate([a.root.motion.translation, a.root.motion.rotation], axis=1)
            palette, morphs = a.evaluation.matrices_and_morphs()
            states = [",".join(a.state(m)) for m in machines]
            numbers = hashed(palette, a.model_matrices, morphs, places, motion)
            found.append(f"{numbers} {hashed_events(a.events._happened)} {'|'.join(states)}")
        else:
            raise ValueError(what)
    return found


def python_ground(given: dict[str, Any]) -> Any:
    if "field" in given:
        return mw.HeightField(given["field"], given["spacing"], tuple(given["origin"]))
    if "positions" in given:
        return mw.GroundMesh(given["positions"], np.array(given["triangles"]))
    if "asked" in given:
        return lambda places: sloped(places, given["asked"])
    return given.get("height", given.get("heights"))


def sloped(places: Any, height: float) -> Any:
    """Ground that rises to one side, as `player.mjs` has it."""
    return height + 0.05 * places[:, 0]


def native_ground(crowd: Any, given: dict[str, Any], by_hand: bool) -> Any:
    runtime = crowd.character.runtime
    if "field" in given:
        return runtime.height_field(given["field"], given["spacing"], tuple(given["origin"]))
    if "positions" in given:
        return runtime.ground_mesh(given["positions"], given["triangles"])
    if "asked" in given:
        return "by hand" if by_hand else (lambda places: sloped(places, given["asked"]))
    return given.get("height", given.get("heights"))


def answered(crowd: Any, height: float) -> None:
    """Answers whatever is asked by hand."""
    while len(asked := crowd.asked()[0]):
        crowd.answer(sloped(asked[:, [0, 2]], height))


def play_native(crowd: Any, steps: list[list[Any]]) -> list[str]:
    """What libmarrow answers, by `marrow.runtime.native`."""
    found, saved, height, grounds = [], b"", 0.0, []
    names = crowd.character.names
    for what, *given in steps:
        if grounds and grounds[-1] == "by hand" and what in MAKE_POSES:
            answered(crowd, height)
        if what in ("set", "trigger", "add", "remove", "reset", "update"):
            getattr(crowd, what)(*given)
        elif what == "slot":
            slot, clip, queue, loop, who = given
            crowd.slot_play(slot, clip, queue=queue, how=int(loop), instances=who)
        elif what == "slot_stop":
            crowd.slot_stop(given[0], given[1], given[2])
        elif what == "play":
            clip, fade, loop, speed, start, who = given
            crowd.play(clip, fade, loop=loop, speed=speed, start=start, instances=who)
        elif what in ("montage", "jump", "next"):
            crowd.montage_call(what, *given)
        elif what == "save":
            crowd.save_pose(*given)
        elif what == "every":
            crowd.set_interval(given[0])
        elif what == "speed":
            crowd.set_speed(given[0])
        elif what == "root":
            crowd.set_root(given[0], given[1], given[2])
        elif what == "override":
            crowd.override(given[0], rotation=given[1], translation=given[2], weight=given[3])
        elif what == "ground":
            height = given[0].get("asked", 0.0)
            grounds.append(native_ground(crowd, given[0], by_hand=len(grounds) % 2 == 0))
            crowd.set_ground(grounds[-1])
        elif what == "spring":
            crowd.set_spring(given[0], **given[1])
        elif what == "wind":
            crowd.set_wind(given[0])
        elif what == "exact":
            crowd.set_exact(given[0])
        elif what == "springs_reset":
            crowd.reset_springs()
        elif what == "snapshot":
            saved = crowd.snapshot()
        elif what == "restore":
            crowd.restore(saved)
        elif what == "glance":
            _ = crowd.matrices
        elif what == "look":
            states = [",".join(crowd.states(k)) for k in range(len(names["machines"])) if crowd.has_states(k)]
            results = (crowd.matrices, crowd.model_matrices, crowd.morphs, crowd.root, crowd.travel)
            found.append(f"{hashed(*results)} {hashed_events(crowd.events)} {'|'.join(states)}")
        else:
            raise ValueError(what)
    return found
