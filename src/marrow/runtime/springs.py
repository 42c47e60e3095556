"""What the runtimes have to know of joints that swing, so that their settings can be changed while they run."""

from __future__ import annotations

from typing import Any

from marrow.graph.compiled import CompiledGraph
from marrow.graph.spring_plan import SpringPlan, named_chains
from marrow.kernels.operations.spring_set import SPRING_SET

__all__ = ["SETTINGS", "spring_tables"]

SETTINGS = 7
"""Numbers of a joint: stiffness, drag, gravity (a vector), radius, limit."""
LANES = 16


def spring_tables(compiled: CompiledGraph) -> dict[str, list[Any]]:
    """Chains: the first of their joints, and how many. Joints: where in the constants are the first of their numbers,
    what is the matter with their block, and their radii, the first and how many; and their settings. Vectors of the
    world that are winds."""
    chains: list[tuple[int, int]] = []
    joints: list[tuple[int, int, int, int]] = []
    values: list[tuple[float, ...]] = []
    for path, those in named_chains(compiled.springs).values():
        chains.append((len(joints), len(those)))
        plan = compiled.springs[path]
        places, own = _places(compiled, plan), {s.joint: s for s in plan.joints}
        joints += [places[j] for j in those]
        values += [
            (own[j].stiffness, own[j].drag, *own[j].gravity, own[j].radius, own[j].limit) for j in those
        ]
    winds = sorted({plan.wind for plan in compiled.springs.values()})
    return {
        "spring_chains": chains,
        "spring_joints": joints,
        "spring_values": values,
        "spring_winds": winds,
    }


def _places(compiled: CompiledGraph, plan: SpringPlan) -> dict[int, tuple[int, int, int, int]]:
    """Where in the graph's constants the numbers of each joint lie."""
    fields, begin = plan.fields, {"i": plan.at, "f": int(compiled.procedurals.ints[plan.at])}

    def where(name: str) -> int:
        first, each = SPRING_SET.place(name)
        return begin[SPRING_SET.fields[name].letter] + first + sum(w * int(fields[e]) for w, e in each)

    lanes, lists, radii = where("lanes"), where("lists"), where("radii")
    found = {}
    for b, row in enumerate(fields["lane_joint"]):
        first, count, _ = fields["lists"][b]
        for lane, joint in enumerate(row):
            if joint >= 0:
                at = lanes + b * SPRING_SET.fields["lanes"].width + lane
                found[int(joint)] = at, lists + 3 * b + 2, radii + LANES * int(first) + lane, int(count)
    return found
