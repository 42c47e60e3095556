"""Memory that callers lend with `out=`: arrays that share some, with each other or with what is read, are refused."""

import re

import numpy as np
import pytest

import marrow as mw
from builders import character
from marrow.errors import ValidationError

HERO = character(3, morphs=2)
V, J, P = HERO.vertex_count, len(HERO.skeleton), len(HERO.palette)


def room(*shape):
    return np.zeros(shape, np.float32)


def surface(batch=()):
    return mw.Surface(room(*batch, V, 3), room(*batch, V, 3), room(*batch, V, 4))


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("skinning", ["linear", "dual_quaternion"])
@pytest.mark.parametrize("morphs", [False, True])
def test_skins_are_not_written_over_each_other(batch, skinning, morphs):
    rest = HERO.skeleton.rest
    pose = mw.skinning_matrices(HERO, HERO.skeleton.to_model(rest.broadcast_to(batch) if batch else rest))
    weights = np.ones((*batch, 2), np.float32)
    options = {"skinning": skinning, **({"morphs": weights} if morphs else {})}
    fine = surface(batch)
    assert mw.skin(HERO, pose, out=fine, **options) is fine
    expected = fine.positions.copy()
    memory = room(20 * max(1, *batch, 1) * V + P * 12 * 4)
    size = expected.size

    def lent(at, *shape):
        return memory[at : at + int(np.prod(shape))].reshape(shape)

    p, n, t = lent(0, *batch, V, 3), lent(size, *batch, V, 3), lent(2 * size, *batch, V, 4)
    # End to end is no overlap.
    assert mw.skin(HERO, pose, out=mw.Surface(p, n, t), **options).positions is p
    np.testing.assert_array_equal(p, expected)
    for out, words in (
        (mw.Surface(p, p, t), "out.normals: shares memory with out.positions"),
        (mw.Surface(p, lent(size - 1, *batch, V, 3), t), "out.normals: shares memory with out.positions"),
        (mw.Surface(p, n, lent(2 * size - 1, *batch, V, 4)), "out.tangents: shares memory with out.normals"),
    ):
        for _ in range(2):  # the second call is the one of a program that skins every frame
            with pytest.raises(ValidationError, match=re.escape(words)):
                mw.skin(HERO, pose, out=out, **options)
    inside = lent(size - 5, *pose.shape)
    inside[...] = pose
    with pytest.raises(ValidationError, match=r"out\.positions: shares memory with the matrices"):
        mw.skin(HERO, inside, out=mw.Surface(p, n, t), **options)
    np.testing.assert_array_equal(inside, pose)  # nothing was written
    mw.skin(HERO, pose, out=fine, **options)
    np.testing.assert_array_equal(fine.positions, expected)


def test_weights_of_morphs_are_not_written_over():
    memory = room(V * 3 + 2)
    p = memory[: V * 3].reshape(V, 3)
    with pytest.raises(ValidationError, match="the morph weights"):
        mw.skin(
            HERO,
            HERO.skeleton.rest_model,
            morphs=memory[V * 3 - 1 : V * 3 + 1],
            normals=False,
            out=mw.Surface(p),
        )


def test_matrices_are_not_written_over_what_they_are_made_of():
    memory = room(J * 12 + J * 10)
    out = memory[: J * 12].reshape(J, 3, 4)
    at = {"translation": 3, "rotation": 4, "scale": 3}
    rest = HERO.skeleton.rest
    for name, width in at.items():
        part = memory[J * 12 - 1 : J * 12 - 1 + J * width].reshape(J, width)
        part[...] = getattr(rest, name)
        with pytest.raises(ValidationError, match=f"pose.{name}"):
            HERO.skeleton.to_model(rest.replace(**{name: part}), out=out)
    model = HERO.skeleton.to_model(rest)
    with pytest.raises(ValidationError, match="model"):
        mw.skinning_matrices(HERO, model, out=model)
    # What only lies between rows shares nothing with them.
    rows = room(J * (P + 1), 3, 4)
    rows[:: P + 1] = model
    made = mw.skinning_matrices(HERO, rows[:: P + 1], out=rows[1 : P + 1])
    np.testing.assert_array_equal(made, mw.skinning_matrices(HERO, model))


def test_an_animator_does_not_write_over_its_own():
    solo = mw.Animator(HERO)
    solo.update(0.1)
    memory = room(2 * J, 3, 4)
    with pytest.raises(ValidationError, match="palette: shares memory with model"):
        solo.evaluation.write(model=memory[:J], palette=memory[J - 1 : J - 1 + P])
    solo.evaluation.write(model=memory[:J], palette=memory[J : J + P])
    with pytest.raises(ValidationError, match="writeable"):
        solo.evaluation.write(palette=solo.matrices)
