"""Bakes a character, and a graph that moves it, into one file for the runtimes: what Python compiles once is all they
need."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.animator.playback import ADDITION, BODY, playback_graph
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.description import Graph
from marrow.graph.instance_fields import at_rest, empty_memory
from marrow.graph.lasting_events import LastingEvents
from marrow.graph.pose_program import PoseEvaluator
from marrow.graph.spring_plan import named_chains
from marrow.graph.state import new_state
from marrow.io.atomic import replacing
from marrow.kernels import control_tables as ct
from marrow.kernels.foot_probes import SHAPE
from marrow.model import _validate
from marrow.model.character import Character
from marrow.runtime.container import write_sections
from marrow.runtime.layout import NAMES, SIZES, TABLES, array_leaves, runtime_kernels
from marrow.runtime.skins import SkinSections, skin_sections
from marrow.runtime.springs import SETTINGS, spring_tables
from marrow.runtime.steps import BakedSteps, baked_steps, overridden

__all__ = ["BakedRuntime", "bake_runtime", "baked"]

Array = NDArray[Any]
TYPES = ("float", "bool", "trigger", "vector", "curve")
NO_RANGE = (-np.inf, np.inf)


@dataclass(frozen=True)
class BakedRuntime:
    """What a baked file holds, in numbers: its bytes, joints, clips, parameters, and bytes of state per instance."""

    path: str
    bytes: int
    joints: int
    clips: int
    parameters: tuple[str, ...]
    state_bytes: int
    skinned: bool


def bake_runtime(
    character: Character,
    graph: Graph | CompiledGraph | None,
    path: str | os.PathLike[str],
    *,
    skins: bool = True,
    springs: bool = True,
    constraints: bool = True,
) -> BakedRuntime:
    """Writes an `.mrt` file, which the runtimes for the web (`runtime/web`) and for C (`libmarrow`) play without
    Python, to the
    same bits. Without a graph they play clips by hand. `skins=False` leaves out what `mrw_skin` needs: who draws on a
    GPU reads
    matrices. What cannot be baked is an error that says where in the graph it stands."""
    skins, springs, constraints = (
        _validate.flag("bake_runtime", name, value)
        for name, value in (("skins", skins), ("springs", springs), ("constraints", constraints))
    )
    if not isinstance(path, (str, os.PathLike)):
        raise WrongTypeError(f"bake_runtime: path: expected the path of a file, got {_validate.shown(path)}")
    data, compiled = baked(character, graph, skins=skins, springs=springs, constraints=constraints)
    with replacing(path) as file:
        file.write(data)
    return BakedRuntime(
        os.fspath(path), len(data), len(character.skeleton), len(character.clips), tuple(compiled.parameters),
        compiled.state_bytes + 4 * compiled.memory, skins,
    )  # fmt: skip


def baked(
    character: Character,
    graph: Graph | CompiledGraph | None = None,
    *,
    skins: bool = False,
    springs: bool = True,
    constraints: bool = True,
) -> tuple[bytes, CompiledGraph]:
    """The bytes of such a file, and the graph as it was compiled."""
    if not isinstance(character, Character):
        raise WrongTypeError(f"bake_runtime: expected a Character, got {type(character).__name__}")
    if graph is None:
        compiled = playback_graph(character, springs=springs, constraints=constraints)
    elif isinstance(graph, CompiledGraph):
        compiled = graph
    elif isinstance(graph, Graph):
        compiled = compile_graph(graph, character, springs=springs, constraints=constraints)
    else:
        raise WrongTypeError(f"bake_runtime: expected a Graph or None, got {type(graph).__name__}")
    if compiled.character is not character:
        raise ValidationError(f"bake_runtime: the graph was compiled for {compiled.character!r}")
    runtime_kernels()
    for match in compiled.matches:
        raise ValidationError(
            f"bake_runtime: {match.path} is MotionMatch, whose search the runtimes do not have: bake a graph without it"
        )
    between = baked_steps(compiled)
    surface = skin_sections(character) if skins else SkinSections()
    sections = {
        **_tables(compiled, graph is not None, surface, between),
        **between.sections,
        **_names(compiled),
        **{name: getattr(compiled.tables, name.partition(".")[2]) for name in array_leaves("graph")},
        **{name: getattr(new_state(compiled, 1), name.partition(".")[2]) for name in array_leaves("state")},
        **_pose(compiled),
        **surface.sections,
    }
    file = io.BytesIO()
    write_sections(file, sections)
    return file.getvalue(), compiled


def _pose(compiled: CompiledGraph) -> dict[str, Array]:
    """What the pose kernel reads and nobody changes, as its evaluator binds it. Packed clips stay packed."""
    kept = PoseEvaluator.of(compiled)._make_frame().kept
    return {name: kept[f"work.{name.partition('.')[2]}"] for name in array_leaves("pose")}


def _tables(
    compiled: CompiledGraph, has_graph: bool, surface: SkinSections, between: BakedSteps
) -> dict[str, Array]:
    character, bank, layout = compiled.character, compiled.bank, compiled.bank.layout
    skeleton = character.skeleton
    sizes = {
        "joints": len(skeleton), "morphs": layout.M, "row_joints": layout.joints, "row_morphs": layout.morphs,
        "palette": len(character.palette), "pose_size": layout.size, "inertia_size": layout.inertia_size,
        "memory": compiled.memory, "vectors": max(compiled.vectors, 1), "depth": compiled.depth,
        "pose_depth": compiled.pose_depth, "longest": compiled.longest, "section": compiled.section, "sums": compiled.sums,
        "header": compiled.header, "travels": compiled.travels, "keeps": compiled.keeps, "springs": bool(compiled.springs),
        "listens": compiled.listens, "functions": len(compiled.functions), "has_graph": has_graph,
        "body": -1 if has_graph else compiled.slots[BODY].index,
        "addition": -1 if has_graph else compiled.slots[ADDITION].index, **surface.sizes,
        **between.sizes, "placed": compiled.placed,
    }  # fmt: skip
    assert tuple(sizes) == SIZES
    lasting, clips = LastingEvents(compiled), character.clips
    additive = [False, *(clips[name].additive for name in bank.index)]
    montages = [
        (compiled.slots[m.slot].index, bank.index[m.clip], m.first, len(m.sections))
        for m in compiled.montages.values()
    ]
    tables: dict[str, Any] = {
        "sizes": list(sizes.values()),
        "identity": np.frombuffer(compiled.identity.encode(), np.uint8),
        "memory": empty_memory(compiled, 1)[0],
        "rest": at_rest(compiled, 1)[0, : layout.size],
        "durations": bank.duration,
        "parents": skeleton.parents,
        "clip_flags": additive,
        "parameter_places": [
            (TYPES.index(p.type), p.column, p.width, p.index) for p in compiled.parameters.values()
        ],
        "parameter_values": [_parameter(compiled, name) for name in compiled.parameters],
        "machine_states": _machine_states(compiled),
        "slot_flags": [s.additive for s in compiled.slots.values()],
        "montage_places": montages,
        "montage_values": [(m.seconds, m.out_seconds, m.speed) for m in compiled.montages.values()],
        "world_vectors": [(*v.refs, v.column, v.direction) for v in compiled.world_vectors],
        "curve_columns": list(compiled.curves.values()),
        "saved_places": list(compiled.saved.values()),
        "lasts": lasting._lasts,
        "lasting": lasting._names,
        "rest_model": skeleton.rest_model.reshape(-1, 12),
        **between.tables,
        **spring_tables(compiled),
    }
    if set(tables) != set(TABLES):
        raise ValueError(f"sections: {set(tables) ^ set(TABLES)}")
    widths = {
        "parameter_places": 4, "parameter_values": 7, "machine_states": 3, "montage_places": 4, "montage_values": 3,
        "world_vectors": 5, "steps": 5, "override_joints": 2, "override_places": 2, "foot_shapes": SHAPE,
        "spring_chains": 2, "spring_joints": 4, "spring_values": SETTINGS,
    }  # fmt: skip
    found = {}
    for name, (dtype, axes) in TABLES.items():
        array = np.array(tables[name], dtype)
        found[name] = array.reshape(-1, widths[name]) if name in widths else array
        assert found[name].ndim == axes, name
    return found


def _parameter(compiled: CompiledGraph, name: str) -> tuple[float, ...]:
    """Seconds that a trigger waits, the range, what it begins with, and how long it takes to a new value."""
    entry, given = compiled.parameters[name], compiled.graph.parameters.get(name)
    low, high = NO_RANGE
    if given is not None:
        low, high = given.range or given.wrap or NO_RANGE
    begin = [*compiled.values[entry.column : entry.column + entry.width].tolist(), 0.0, 0.0][:3]
    return (entry.hold, low, high, *begin, 0.0 if given is None else given.smoothing)


def _machine_states(compiled: CompiledGraph) -> list[tuple[int, int, int]]:
    """For every machine by number: the first of its states' names, how many there are, and its node."""
    rows, at = [], 0
    for states, node in zip(compiled.machine_states, compiled.tables.machines["node"].tolist()):
        rows.append((at, len(states), node))
        at += len(states)
    return rows


def _names(compiled: CompiledGraph) -> dict[str, Array]:
    character = compiled.character
    called = {path: name for name, path in compiled.names.items()}
    machine_paths = [compiled.paths[int(node)] for node in compiled.tables.machines["node"]]
    lists: dict[str, Iterable[str]] = {
        "character": (character.name,),
        "graph": (compiled.graph.name,),
        "joints": character.skeleton.names,
        "morphs": character.skeleton.morph_names,
        "clips": ("", *compiled.bank.index),
        "parameters": compiled.parameters,
        "machines": machine_paths,
        "machine_names": [called.get(path, "") for path in machine_paths],
        "states": [state for states in compiled.machine_states for state in states],
        "slots": compiled.slots,
        "montages": compiled.montages,
        "sections": [name for entry in compiled.montages.values() for name in entry.sections],
        "events": compiled.event_names,
        "curves": compiled.curves,
        "nodes": compiled.paths,
        "saved": compiled.saved,
        "meshes": [mesh.name for mesh in character.meshes],
        "overrides": overridden(compiled),
        "springs": named_chains(compiled.springs),
    }
    found = {}
    for kind in NAMES:
        text = b"".join(
            str(name).replace("\0", "").encode("utf-8", "replace") + b"\0" for name in lists[kind]
        )
        found[f"names.{kind}"] = np.frombuffer(text, np.uint8)
    return found


assert len(TYPES) == 1 + max(ct.FLOAT, ct.BOOL, ct.TRIGGER, ct.VECTOR, ct.CURVE)
