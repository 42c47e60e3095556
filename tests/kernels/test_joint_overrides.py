"""The kernel that places joints, against its specification in float64; and control kernels with absurd phases."""

import numpy as np
import pytest

from marrow.kernels import control_motion
from marrow.kernels.joint_overrides import OVERRIDE_HEAD, OVERRIDE_JOINT, override_joints
from marrow.math import affine, quaternion, transform

PARENTS = np.array([-1, 0, 1, 1, 3, 0], np.int32)
JP = 16
JOINTS = np.array(
    [[1, 2], [3, 0], [4, 1]], np.int32
)  # parents first, each with its number among what is told


def parent_of(j, t, r, s):
    """The model-space matrix and rotation of what a joint hangs on."""
    chain = []
    while (j := int(PARENTS[j])) >= 0:
        chain.insert(0, j)
    matrix, turn = affine.identity(dtype=np.float64), quaternion.identity(dtype=np.float64)
    for j in chain:
        matrix = affine.multiply(matrix, transform.compose(t[j], r[j], s[j]))
        turn = quaternion.multiply(turn, r[j])
    return matrix, turn


def specified(t, r, s, told, weight, mode, space):
    """Joint after joint: the rotation by slerp, the translation straight."""
    for j, k in JOINTS.tolist():
        matrix, above = parent_of(j, t, r, s)
        turn, place = quaternion.normalize(told[k, :4]), told[k, 4:]
        if space == "model":
            if mode == "offset":
                turn = quaternion.multiply(turn, quaternion.multiply(above, r[j]))
                place = affine.apply(matrix, t[j][None])[0] + place
            turn = quaternion.multiply(quaternion.conjugate(above), turn)
            place = affine.apply(affine.invert(matrix), place[None])[0]
        elif mode == "offset":
            turn, place = quaternion.multiply(r[j], turn), t[j] + place
        r[j] = quaternion.slerp(r[j], turn, weight)
        t[j] = t[j] + weight * (place - t[j])


@pytest.mark.parametrize("mode", ["set", "offset"])
@pytest.mark.parametrize("space", ["local", "model"])
def test_joints_are_placed_as_specified(mode, space):
    rng, n, k = np.random.default_rng(3), 40, len(JOINTS)
    t, s = rng.normal(0, 0.5, (n, 6, 3)), rng.uniform(0.5, 1.5, (n, 6, 3))
    r = quaternion.normalize(rng.normal(size=(n, 6, 4)))
    told = np.zeros((n, 2 + OVERRIDE_HEAD + OVERRIDE_JOINT * k))
    weights = rng.choice([0.0, 0.3, 1.0], n)
    told[:, 2], told[:, 3], told[:, 4] = weights, 1, 1
    each = told[:, 2 + OVERRIDE_HEAD :].reshape(n, k, 7)
    each[:] = rng.normal(size=(n, k, 7))
    memory = np.zeros((n, 5 + 10 * JP), np.float32)
    rows = memory[:, 5:].reshape(n, 10, JP)
    for first, values in ((0, t), (3, r), (7, s)):
        rows[:, first : first + values.shape[2], :6] = np.swapaxes(values, 1, 2)
    before, every = memory.copy(), np.arange(n)
    (seen,) = override_joints(
        memory, PARENTS, every, told, every, JOINTS, 2, 5, JP, int(mode == "offset"), int(space == "model")
    )
    assert seen == (weights > 0).sum()
    np.testing.assert_array_equal(memory[weights == 0], before[weights == 0])
    for i in np.flatnonzero(weights > 0):
        specified(t[i], r[i], s[i], each[i], weights[i], mode, space)
        found = np.swapaxes(rows[i], 0, 1)[:6]
        np.testing.assert_allclose(found[:, :3], t[i], atol=2e-4)
        side = np.sign((found[:, 3:7] * r[i]).sum(-1, keepdims=True))
        np.testing.assert_allclose(found[:, 3:7] * side, r[i], atol=1e-5)


class Counted:
    """Numbers that are read from zero on, as kernels read."""

    def __getitem__(self, index):
        assert 0 <= index <= 3, index
        return float(index)


@pytest.mark.parametrize("phase", [0.0, 2.5, -1e-17, 1e17, -1e17, 1e300, -1e300, 3e16 + 2, -(3e16 + 2)])
def test_phases_beyond_all_measure_are_read_within_their_knots(phase):
    class Graph:
        numbers, clips = Counted(), [{"duration": 1.0}]

    control_motion.knot_time(Graph, {"knots": 0, "clip": 0}, 3, phase)
