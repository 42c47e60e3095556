"""Operations that keep something from one update to the next, `LEGS` and `LOOK`: against their specification over many
updates, run once or several times in each, with gaps in between."""

import numpy as np
import pytest
from test_operations import World

from marrow.kernels.operations import OPERATION, codes, run_reference
from marrow.kernels.operations.legs import LEG_SET, LEG_VECTORS
from marrow.kernels.operations.limbs import CHAIN, ROUND
from marrow.math import quaternion


def compared(world, reference, operations):
    rows = world.run(operations)
    expected = run_reference([tuple(o) for o in np.array(operations, OPERATION).tolist()], reference)
    t, q, _, _ = (a[0] for a in world.bank.layout.unpack(rows))
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    q = np.where((q * expected[1]).sum(-1, keepdims=True) < 0, -q, q)
    np.testing.assert_allclose(t, expected[0], atol=2e-3)
    np.testing.assert_allclose(q, expected[1], atol=2e-3)
    return rows


def header(world, rng, stamp, dt):
    """The same header for the kernel, and as it is in float64."""
    turn = quaternion.normalize(rng.normal(size=4) * [0.02, 0.05, 0.02, 0] + [0, 0, 0, 1])
    world.vectors[0, 6:15] = [(stamp - 1) % (ROUND - 1) + 1, dt, *(rng.normal(size=3) * 0.03), *turn]
    return world.vectors[0, 6:15].astype(float)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("first", [1, ROUND - 5])
def test_legs_over_many_updates(seed, first):
    world, rng = World(seed % 4), np.random.default_rng(seed)
    legs = world.legs
    legs.what, legs.radius = 6 if seed % 2 else 7, 0.25
    legs.pitches = seed >= 2
    changed = {"what": legs.what, "radius": legs.radius, "pitches": legs.pitches}
    world.constants(LEG_SET, legs, **{**world.fields["legs"], **changed})
    place = world.places["legs"]
    reference = world.reference()
    stamp = first
    for k in range(14):
        told = header(world, rng, stamp, float(rng.uniform(0, 0.05)))
        legs.dt, legs.move, legs.turn = told[1], told[2:5], told[5:9]
        for i, leg in enumerate(legs.legs):
            down, lands = float(rng.choice([0.0, 1.0, -1.0])), rng.normal(size=2) * rng.choice([0.0, 0.3])
            heights = rng.normal() * 0.2 + rng.normal(size=10) * rng.choice([0.005, 0.1])
            if rng.random() < 0.2:
                heights[rng.integers(0, 10, 3)] = np.nan
            at = slice(18 + LEG_VECTORS * i, 18 + LEG_VECTORS * (i + 1))
            world.vectors[0, at] = [down, *lands, float(rng.choice([0.0, 0.1])), *heights]
            new = world.vectors[0, at].astype(float)
            leg.down, leg.lands, leg.wait, leg.heights = new[0], new[1:3], new[3], new[4:]
        time = 0.3 + 0.02 * k
        program = [(codes.SAMPLE, 1, time, 1.0), (codes.LEGS, place, 0.0, 1.0)]
        rows = compared(world, reference, program)
        # Again, and only looking: the same.
        np.testing.assert_array_equal(world.run(program), rows)
        np.testing.assert_array_equal(world.run([program[0], (codes.LEGS, place, 1.0, 1.0)]), rows)
        gap = 3 if k == 9 else 1
        stamp += gap
        for leg in legs.legs:
            leg.before, leg.now = (leg.now, {}) if gap == 1 else ({}, {})
        legs.before, legs.now = (legs.now, {}) if gap == 1 else ({}, {})


@pytest.mark.parametrize("seed", range(3))
def test_a_look_that_is_limited_in_speed(seed):
    world, rng = World(seed), np.random.default_rng(seed)
    kept = world.bank.layout.size + world.bank.layout.inertia_size
    world.constants(CHAIN, world.chain, **{**world.fields["chain"], "memory": kept})
    at = world.places["chain"]
    reference, state = world.reference(), {}
    key = ("look", at)
    for k in range(12):
        told = header(world, rng, k + 1, 0.1)
        # As `LookChain` is frozen, each update has one of its own.
        chain = type(world.chain)(**{**vars(world.chain), "rate": float(np.float32(0.3)), "dt": told[1]})
        reference.constants[at], reference.memory[key] = chain, state
        program = [(codes.SAMPLE, 1, 0.3, 1.0), (codes.LOOK, at, 0.0, 1.0)]
        rows = compared(world, reference, program)
        np.testing.assert_array_equal(world.run(program), rows)
        state = {"before": state["now"]}
