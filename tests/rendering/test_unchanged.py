"""What stays from one picture to the next: after pictures in which nothing changed every change is seen at once."""

import numpy as np
import pytest
from solids import at, ball, difference

import marrow as mw
from marrow import gpu

SIZE = (72, 48)
FIELDS = ("transforms", "tint", "levels", "visible", "shadows", "pose", "clip", "time")


@pytest.fixture(scope="module")
def pair(device):
    """Two alike: one that keeps what it drew, one that always draws new actors."""
    return [mw.Renderer(SIZE, device=device, samples=1, shadow_size=128) for _ in range(2)]


@pytest.fixture(scope="module")
def crowd(device, hero):
    people = mw.Animator(hero, mw.samples.mannequin_graph(), count=3)
    people["speed"] = [0.0, 1.5, 3.5]
    people.levels = [1, 2, 3]
    for _ in range(5):
        people.update(1 / 30)
    found = gpu.Crowd(people, device=device)
    yield found
    found.release()


def looking(x=0.0, aside=0.0):
    return mw.Camera.perspective((x, 1.5, 5), (aside, 0.8, 0), fov=0.5, width=SIZE[0], height=SIZE[1])


def anew(scene):
    """The same scene of new actors, which nobody has seen before."""
    made = []
    for actor in scene.actors:
        copy = mw.Actor(actor.crowd or actor.animator or actor.character)
        for name in FIELDS:
            value = getattr(actor, name)
            setattr(copy, name, np.array(value) if isinstance(value, np.ndarray) else value)
        made.append(copy)
    return mw.Scene(*made, lights=scene.lights, ground=False if scene.ground is None else scene.ground)


class Stage:
    """Three of something and what can happen to them. Arrays are written in place, as games do."""

    def __init__(self, what, count_changes):
        self.who = mw.Actor(what, transforms=at((-1, 0, 0), (0, 0, 0), (1, 0, 0)))
        self.scene, self.x = mw.Scene(self.who, lights=[mw.DirectionalLight()]), 0.0
        self.camera = looking()
        self.meshes = len(self.who.character.meshes)
        self.changes = [
            self.move, self.move, self.mirror, self.color, self.color_in_place, self.translucent, self.plain,
            self.hide, self.show, self.look, self.look_aside, self.look_again, self.sun, self.floor, self.shadows,
            self.another, self.alone,
        ]  # fmt: skip
        if count_changes:
            self.changes += [self.fewer, self.level, self.level_in_place, self.walk]

    def move(self):
        self.who.transforms[0, :, 3] += 0.1, 0.05, -0.3

    def mirror(self):
        self.who.transforms[-1, 0, 0] *= -1

    def color(self):
        self.who.tint = np.array([[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]])[: len(self.who.transforms)]

    def color_in_place(self):
        if self.who.tint is not None:
            self.who.tint[-1, :3] = self.who.tint[-1, :3][::-1]

    def translucent(self):
        self.who.tint = np.array([[1, 1, 1, 1], [1, 0.5, 0, 0.5], [0, 1, 1, 0.4]])[: len(self.who.transforms)]

    def plain(self):
        self.who.tint = None

    def hide(self):
        self.who.visible = np.ones((len(self.who.transforms), self.meshes), bool)
        self.who.visible[0] = False

    def show(self):
        self.who.visible = None

    def look(self):
        self.x += 0.4
        self.camera = looking(self.x)

    def look_aside(self):
        self.camera = looking(self.x, 2.5)

    def look_again(self):
        self.camera = looking(self.x)

    def sun(self):
        self.scene.lights[0] = mw.DirectionalLight((self.x - 0.7, -1, -0.5), softness=0.5)

    def floor(self):
        self.scene.ground = 0.2 if self.scene.ground == 0 else 0.0

    def shadows(self):
        self.who.shadows = not self.who.shadows

    def another(self):
        self.scene.actors.insert(0, mw.Actor(ball(), transforms=at((0, 1.2, 1))))

    def alone(self):
        self.scene.actors[:] = [self.who]

    def fewer(self):
        if len(self.who.transforms) > 2:
            self.plain()
            self.show()
            self.who.levels = "auto"
            self.who.transforms = self.who.transforms[:-1]

    def level(self):
        self.who.levels = np.arange(len(self.who.transforms))

    def level_in_place(self):
        if not isinstance(self.who.levels, str):
            self.who.levels[0] = 2 - self.who.levels[0]

    def walk(self):
        self.who.clip, self.who.time = self.who.character.clips["walk"], self.who.time + 0.3


@pytest.mark.parametrize("on_gpu", [False, True])
def test_changes_in_any_order(pair, hero, crowd, on_gpu):
    keeps, fresh = pair
    stage = Stage(crowd if on_gpu else hero, not on_gpu)
    order = np.random.default_rng(1).permutation(len(stage.changes))
    before, seen = None, 0
    for i in [None, *order.tolist()]:
        if i is not None:
            stage.changes[i]()
        found = keeps.render(stage.scene, stage.camera)
        wanted = fresh.render(anew(stage.scene), stage.camera)
        name = "nothing" if i is None else stage.changes[i].__name__
        assert difference(found, wanted) == 0, name
        assert difference(keeps.render(stage.scene, stage.camera), wanted) == 0, name
        seen += before is not None and difference(found, before) > 0
        before = found
    assert seen > 8  # the changes are ones that show


def test_every_change_is_drawn_after_pictures_without_any(pair, crowd):
    """One by one, and back: on the GPU, where most is kept."""
    keeps, fresh = pair
    silent = []
    for k in range(len(Stage(crowd, False).changes)):
        stage = Stage(crowd, False)
        before = [keeps.render(stage.scene, stage.camera) for _ in range(2)][1]
        stage.changes[k]()
        name = stage.changes[k].__name__
        found = keeps.render(stage.scene, stage.camera)
        assert difference(found, fresh.render(anew(stage.scene), stage.camera)) == 0, name
        assert len(keeps.shadows.fits) == len(fresh.shadows.fits) > 0 or name == "shadows"
        for a, b in zip(keeps.shadows.fits, fresh.shadows.fits):
            np.testing.assert_array_equal(a.matrix, b.matrix, name)
            np.testing.assert_array_equal(a.casters, b.casters, name)
        if difference(found, before) == 0:
            silent.append(name)
    assert silent == ["color_in_place", "plain", "show", "look_again", "alone"]  # as it was before


def test_other_levels_of_a_crowd_are_drawn(pair, crowd, hero):
    keeps, fresh = pair
    stage, people = Stage(crowd, False), crowd.animator
    for levels in ([1, 2, 3], [1, 2, 3], [3, 2, 1], [0, -1, 2]):
        people.levels = levels
        crowd.update(0.0)
        for _ in range(2):
            found = keeps.render(stage.scene, stage.camera)
            assert difference(found, fresh.render(anew(stage.scene), stage.camera)) == 0, levels


def test_scenes_and_views_in_turn(pair, hero):
    """One renderer for two scenes, and for a view that paints, which must leave nothing behind."""
    keeps, fresh = pair
    one, two = Stage(hero, True), Stage(hero, True)
    two.move()
    wanted = [fresh.render(anew(s.scene), s.camera) for s in (one, two)]
    painted = fresh.render(anew(one.scene), one.camera, view="levels")
    for k in (0, 0, 1, 0, 1, 1):
        assert difference(keeps.render((one, two)[k].scene, one.camera), wanted[k]) == 0
        assert difference(keeps.render(one.scene, one.camera, view="levels"), painted) == 0
        assert difference(keeps.render(one.scene, one.camera), wanted[0]) == 0


def test_nothing_is_written_twice(pair, crowd, monkeypatch):
    keeps, _ = pair
    stage, calls = Stage(crowd, False), []
    real = keeps.list._write
    monkeypatch.setattr(keeps.list, "_write", lambda *a: calls.append(1) or real(*a))
    for _ in range(3):
        keeps.render(stage.scene, stage.camera)
    fits = keeps.shadows.fits
    keeps.render(stage.scene, stage.camera)
    assert len(calls) == 1 and keeps.shadows.fits is fits
    stage.move()
    keeps.render(stage.scene, stage.camera)
    assert len(calls) == 2 and keeps.shadows.fits is not fits
    stage.who.transforms[0, 0, 3] = np.nan
    with pytest.raises(mw.MarrowError, match="not a number"):
        keeps.render(stage.scene, stage.camera)
