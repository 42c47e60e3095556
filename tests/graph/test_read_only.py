"""What an animator or an asset shows cannot be written into: it would succeed and move nothing."""

import inspect

import numpy as np
import pytest

import marrow as mw

HERO = mw.samples.mannequin()


def arrays(value, where, depth=0):
    """All arrays that can be reached from a value by its public properties."""
    if isinstance(value, np.ndarray):
        yield where, value
    elif depth < 4 and isinstance(value, (tuple, list)):
        for k, item in enumerate(value[:3]):
            yield from arrays(item, f"{where}[{k}]", depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for key, item in list(value.items())[:3]:
            yield from arrays(item, f"{where}[{key!r}]", depth + 1)
    elif depth < 3 and type(value).__module__.startswith("marrow."):
        for name in dir(type(value)) if isinstance(value, mw.Animator) else dir(value):
            static = inspect.getattr_static(type(value), name, None)
            leads_on = name in ("character", "skeleton", "clips", "levels") and depth > 0
            if name.startswith("_") or leads_on or (callable(static) and not isinstance(static, property)):
                continue
            try:
                inner = getattr(value, name)
            except mw.MarrowError:  # an animator with a graph plays no clips by hand
                continue
            yield from arrays(inner, f"{where}.{name}", depth + 1)


def solo(count):
    who = mw.Animator(HERO, count=count)
    who.play("walk")
    who.update(0.3)
    return who


def crowd(levels):
    who = mw.Animator(HERO, mw.samples.mannequin_graph(), count=3)
    who.update(0.6)
    if levels:
        who.levels = [0, 1, 2]
    return who


WALK = HERO.clips["walk"]
SHOWN = {
    "solo": lambda: solo(None), "solos": lambda: solo(2), "crowd": lambda: crowd(False), "levels": lambda: crowd(True),
    "clip": lambda: WALK, "sampled": WALK.resampled, "skeleton": lambda: HERO.skeleton, "character": lambda: HERO,
}  # fmt: skip


@pytest.mark.parametrize("what", SHOWN)
def test_what_is_shown_cannot_be_written_into(what):
    found = dict(arrays(SHOWN[what](), what))
    assert len(found) > 2
    assert [where for where, array in found.items() if array.flags.writeable and array.size] == []


def test_what_methods_of_an_animator_show_cannot_be_written_into_either():
    who = crowd(True)
    shown = [who["speed"], *who.evaluation.matrices_and_morphs()]
    shown += [a for g in who.evaluation.level_groups() for a in (g.instances, g.matrices, g.morphs)]
    assert not any(a.flags.writeable for a in shown)
    for write in (
        lambda: who.pose.translation.__setitem__(0, 1.0),
        lambda: who["speed"].__setitem__(0, 2.0),
        lambda: who.root.translation.__setitem__(0, 1.0),
        lambda: who.instances.seeds.__setitem__(0, 7),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()


def test_what_is_the_callers_own_can_be_written_into():
    who = crowd(False)
    own = who.pose.copy()
    own.translation[0, 0] = 5.0
    assert mw.skin(HERO, own).positions.flags.writeable
    for pose in (HERO.clips["walk"].sample([0.1, 0.2]), mw.Pose.identity(3)):
        assert all(a.flags.writeable for a in (pose.translation, pose.rotation, pose.scale))
    out = np.zeros_like(who.matrices)
    who.evaluation.write(palette=out)
    np.testing.assert_array_equal(out, who.matrices)
    who.speed = np.ones(3)
    who.speed[1] = 0.0  # counts
    before = who.events.known and who.evaluation.inspect(1)
    who.update(0.1)
    assert who.evaluation.inspect(1).clips == before.clips and who.socket("hand_r").flags.writeable
