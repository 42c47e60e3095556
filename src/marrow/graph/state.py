"""The state of a crowd: arrays of named records, one row per instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.kernels import control_tables as ct
from marrow.kernels.control_tables import CrowdState
from marrow.kernels.moments import PATH, PATH_SIZE

if TYPE_CHECKING:
    from marrow.graph.compiled import CompiledGraph
    from marrow.graph.instance_store import InstanceStore

__all__ = ["assign", "carry_over", "check_state", "copied", "new_state", "taken"]

Array = NDArray[Any]


def new_state(compiled: CompiledGraph, count: int) -> CrowdState:
    """The state of `count` instances at the beginning."""
    tables = compiled.tables
    state = CrowdState(
        instances=np.zeros(count, ct.INSTANCE_STATE),
        values=np.repeat(compiled.values[None], count, axis=0),
        goals=np.repeat(compiled.values[None], count, axis=0),
        travel=np.zeros((count, 7)),
        place=np.zeros((count, 7)),
        placed=np.zeros((count, 7)),
        shown_at=np.zeros((count, 7)),
        path=np.zeros((count, PATH if compiled.springs else 0)),
        leaves=np.zeros((count, len(tables.leaves)), ct.LEAF_STATE),
        groups=np.zeros((count, len(tables.groups)), ct.GROUP_STATE),
        machines=np.zeros((count, len(tables.machines)), ct.MACHINE_STATE),
        shares=np.zeros((count, len(tables.states)), ct.SHARE_STATE),
        slots=np.zeros((count, len(tables.slots)), ct.SLOT_STATE),
        voices=np.zeros((count, len(tables.slots) * ct.VOICES), ct.VOICE_STATE),
        queue=np.zeros((count, len(tables.slots) * ct.QUEUE), ct.QUEUE_STATE),
        following=np.repeat(compiled.following[None], count, axis=0),
        functions=np.zeros((count, len(tables.functions)), ct.FUNCTION_STATE),
    )
    for name in ("new", "interval", "wanted", "round"):
        state.instances[name] = 1
    state.instances["seed"] = np.arange(count)
    state.travel[:, 6] = state.place[:, 6] = state.placed[:, 6] = 1
    for plan in compiled.springs.values():
        state.path[:, 6], state.path[:, PATH_SIZE] = 1, plan.fields["size"]
    state.leaves["time"], state.leaves["new"] = tables.leaves["start"], 1
    state.slots["leader"], state.slots["stop"] = -1, -1.0
    for voices in (state.voices, state.queue):
        voices["montage"] = voices["section"] = -1
    return state


def copied(state: CrowdState) -> CrowdState:
    return CrowdState(*(array.copy() for array in state))


def taken(state: CrowdState, rows: Array) -> CrowdState:
    """Some instances (indices or a mask)."""
    return CrowdState(*(np.ascontiguousarray(array[rows]) for array in state))


def assign(state: CrowdState, rows: Array, other: CrowdState) -> None:
    """Replaces some instances by those of another crowd of the same graph."""
    for array, new in zip(state, other):
        array[rows] = new


def check_state(state: CrowdState, compiled: CompiledGraph) -> None:
    """Refuses a state that the kernel would read outside its tables with; one may have come from anywhere."""
    if not isinstance(state, CrowdState):
        raise WrongTypeError(f"expected the state of a crowd, got {type(state).__name__}")
    wanted = new_state(compiled, len(state.instances))
    for name, array, other in zip(CrowdState._fields, state, wanted):
        if array.dtype != other.dtype or array.shape != other.shape or not array.flags.c_contiguous:
            raise ValidationError(f"state.{name}: expected {other.shape} of {other.dtype}, got {array.shape}")
    tables, clips = compiled.tables, len(compiled.bank)
    limits = (
        ("instances", "side", 2), ("machines", "current", tables.machines["count"]),
        ("machines", "previous", tables.machines["count"]), ("slots", "waiting", ct.QUEUE + 1),
        ("voices", "clip", clips), ("queue", "clip", clips),
    )  # fmt: skip
    for table, field, limit in limits:
        values = getattr(state, table)[field]
        if ((values < 0) | (values >= limit)).any():
            raise ValidationError(f"state.{table}: {field} is out of range")
    for name in ("interval", "wanted", "round"):
        if (state.instances[name] < 1).any():
            raise ValidationError(f"state.instances: {name} is out of range")
    sections, montages = len(tables.sections), len(compiled.montages)
    signed = (
        ("slots: leader", state.slots["leader"], ct.VOICES), ("following", state.following, sections),
        ("voices: section", state.voices["section"], sections), ("queue: section", state.queue["section"], sections),
        ("voices: montage", state.voices["montage"], montages), ("queue: montage", state.queue["montage"], montages),
    )  # fmt: skip
    for name, values, limit in signed:
        if ((values < -1) | (values >= limit)).any():
            raise ValidationError(f"state.{name} is out of range")


def carry_over(old: CompiledGraph, source: InstanceStore, new: CompiledGraph, target: InstanceStore) -> None:
    """Takes from one graph's state what another knows by the same name or path; both of the same character."""
    before, after = source.state, target.state
    for name in ("clock", "new", "seed", "moment"):
        after.instances[name] = before.instances[name]
    after.place[:], after.placed[:] = before.place, before.placed
    for name, entry in new.parameters.items():
        other = old.parameters.get(name)
        if other is not None and other.type == entry.type:
            here, there = (
                slice(entry.column, entry.column + entry.width),
                slice(other.column, other.column + other.width),
            )
            after.values[:, here], after.goals[:, here] = before.values[:, there], before.goals[:, there]
    for leaf, other_leaf in _same_paths(old, new, "leaves"):
        if new.tables.leaves["clip"][leaf] == old.tables.leaves["clip"][other_leaf]:
            after.leaves[:, leaf] = before.leaves[:, other_leaf]
    for machine, other_machine in _same_paths(old, new, "machines"):
        _carry_machine(old, source, other_machine, new, target, machine)
    for name, slot in new.slots.items():
        if name in old.slots and old.slots[name].additive == slot.additive:
            a, b = slot.index, old.slots[name].index
            after.slots[:, a] = before.slots[:, b]
            for array, voices, size in (
                (after.voices, before.voices, ct.VOICES),
                (after.queue, before.queue, ct.QUEUE),
            ):
                array[:, a * size : (a + 1) * size] = voices[:, b * size : (b + 1) * size]
                _carry_montages(old, new, array[:, a * size : (a + 1) * size])
            # What it held lies in the old graph's memory.
            after.slots["held"][:, a] = after.slots["held_start"][:, a] = 0
    for group, other_group in _same_groups(old, new):
        after.groups[:, group] = before.groups[:, other_group]


def _carry_montages(old: CompiledGraph, new: CompiledGraph, voices: Array) -> None:
    """Montages go on in the section of the same name; one that is gone becomes a mere clip."""
    names = list(old.montages)
    for row in np.ndindex(voices.shape):
        name = names[voices["montage"][row]] if voices["montage"][row] >= 0 else None
        before, after = old.montages.get(name or ""), new.montages.get(name or "")
        section = -1
        if before is not None and after is not None and before.clip == after.clip:
            called = before.sections[voices["section"][row] - before.first]
            section = after.first + after.sections.index(called) if called in after.sections else -1
        voices["section"][row] = section
        voices["montage"][row] = list(new.montages).index(name) if name is not None and section >= 0 else -1


def _keys(compiled: CompiledGraph, table: str) -> list[str]:
    """The rows of a table by the name or path of their node."""
    called = {path: name for name, path in compiled.names.items()}
    paths = [compiled.paths[int(node)] for node in getattr(compiled.tables, table)["node"]]
    return [called.get(path, path) for path in paths]


def _same_paths(old: CompiledGraph, new: CompiledGraph, table: str) -> list[tuple[int, int]]:
    there = {key: k for k, key in enumerate(_keys(old, table))}
    return [(k, there[key]) for k, key in enumerate(_keys(new, table)) if key in there]


def _same_groups(old: CompiledGraph, new: CompiledGraph) -> list[tuple[int, int]]:
    """Sync groups whose first clips are the same node."""

    def first(compiled: CompiledGraph) -> dict[str, int]:
        keys, tables = _keys(compiled, "leaves"), compiled.tables
        return {keys[int(tables.links[g["first"]])]: k for k, g in enumerate(tables.groups) if g["count"]}

    there = first(old)
    return [(k, there[key]) for key, k in first(new).items() if key in there]


def _carry_machine(
    old: CompiledGraph,
    source: InstanceStore,
    there: int,
    new: CompiledGraph,
    target: InstanceStore,
    here: int,
) -> None:
    """A machine goes on in the state of the same name, in the middle of a transition where all states that are seen are
    left; where the state is gone, the machine begins anew."""
    names, others = new.machine_states[here], old.machine_states[there]
    first, count = (int(new.tables.machines[name][here]) for name in ("first", "count"))
    numbers = np.array([names.index(name) if name in names else -1 for name in others] or [0])
    if not names and not others:
        numbers = np.arange(int(old.tables.machines["count"][there]))
        numbers[numbers >= count] = -1
    was = source.state.machines[:, there]
    current = numbers[np.minimum(was["current"], len(numbers) - 1)]
    goes_on = (current >= 0) & (was["run"] != ct.STOPPED)
    rows = was.copy()
    rows["current"] = np.maximum(current, 0)
    rows["previous"] = np.maximum(numbers[np.minimum(was["previous"], len(numbers) - 1)], 0)
    rows["run"] = np.where(goes_on, rows["run"], ct.STOPPED)
    begin = int(old.tables.machines["first"][there])
    seen = source.state.shares[:, begin : begin + len(numbers)]
    fades = goes_on & ~((seen["weight"] > 0) & (numbers < 0)).any(axis=1)
    shares = target.state.shares[:, first : first + count]
    shares["weight"] = shares["start"] = np.arange(count) == rows["current"][:, None]
    for k in np.flatnonzero(numbers >= 0).tolist():
        shares[fades, numbers[k]] = seen[fades, k]
    # The fade of states that are gone ends where it goes.
    for name in ("seconds", "faded", "left"):
        rows[name][~fades] = 0
    inertial = _carry_inertia(old, source, there, new, target, here) & fades
    rows["inertia_seconds"][~inertial] = rows["inertia_time"][~inertial] = 0
    rows["profile"] = -1
    target.state.machines[:, here] = rows


def _carry_inertia(
    old: CompiledGraph,
    source: InstanceStore,
    there: int,
    new: CompiledGraph,
    target: InstanceStore,
    here: int,
) -> Array:
    """Takes over what is left of earlier transitions, where both graphs keep it. Returns for whom."""
    a, b = int(old.tables.machines["memory"][there]), int(new.tables.machines["memory"][here])
    if a < 0 or b < 0:
        return np.zeros(source.count, bool)
    size = new.bank.layout.inertia_size
    target.memory[:, b : b + size] = source.memory[:, a : a + size]
    # Profiles are constants of the old graph.
    return source.state.machines["profile"][:, there] < 0
