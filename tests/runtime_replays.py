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


def play_native(crowd: Any, steps: list[list[Any]]) -> list[str]:
    """What libmarrow answers, by `marrow.runtime.native`."""
    found, saved = [], b""
    names = crowd.character.names
    for what, *given in steps:
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
