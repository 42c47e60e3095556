"""Angles are radians in the API; what was meant as degrees is refused, with words that say so."""

import inspect
import math

import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import FootLock, FootPlacement, Graph, LookAt, OrientationWarp, Parameter, TwoBoneIK
from marrow.scene.camera_fit import direction_of
from marrow.windows import CameraControls

HERO = mw.samples.mannequin()
SCENE = mw.Scene(HERO)
HEAD = {"head": 1.0}
GOAL = (0.0, 1.5, 2.0)
WAY = OrientationWarp("walk", "way", "pelvis")


def graph(node, **parameters):
    return mw.Animator(HERO, Graph(node, parameters))


DEGREES = {
    "LookAt.limit": lambda: graph(LookAt("idle", HEAD, GOAL, limit=75)),
    "LookAt.speed": lambda: graph(LookAt("idle", HEAD, GOAL, speed=120)),
    "TwoBoneIK.bend": lambda: graph(TwoBoneIK("idle", "hand_l", GOAL, bend=(2, 150))),
    "FootLock.turn": lambda: graph(FootLock("walk", turn=45)),
    "FootPlacement.tilt": lambda: graph(FootPlacement("walk", tilt=40)),
    "OrientationWarp.limit": lambda: graph(OrientationWarp("walk", 0.5, "pelvis", limit=60)),
    "OrientationWarp.angle": lambda: graph(OrientationWarp("walk", -30, "pelvis")),
    "a parameter's value": lambda: graph(WAY, way=Parameter(default=30)),
    "a parameter's range": lambda: graph(WAY, way=Parameter(range=(-45, 45))),
    "a parameter that wraps": lambda: graph(WAY, way=Parameter(wrap=(-180, 180))),
    "random_view.fov": lambda: mw.scene.random_view(SCENE, seed=1, fov=(25, 60)),
    "random_view.elevation": lambda: mw.scene.random_view(SCENE, seed=1, elevation=(-5, 45)),
    "Camera.perspective.fov": lambda: mw.Camera.perspective((0, 1, 4), (0, 1, 0), fov=50),
    "SpotLight.outer": lambda: mw.SpotLight((0, 3, 0), (0, -1, 0), outer=30),
    "SpotLight.inner": lambda: mw.SpotLight((0, 3, 0), (0, -1, 0), inner=20),
    "CameraControls.fov": lambda: CameraControls(fov=40),
    "CameraControls.yaw": lambda: CameraControls(yaw=90),
    "CameraControls.pitch": lambda: CameraControls(pitch=20),
    "CameraControls.orbit": lambda: CameraControls().orbit(90, 0),
    "CameraControls.look": lambda: CameraControls().look(0, -45),
    "a camera as numbers": lambda: direction_of((45, 20)),
    "a camera's elevation": lambda: direction_of((0.5, 20)),
}


@pytest.mark.parametrize("name", DEGREES)
def test_degrees_are_refused_with_the_way_to_say_them(name):
    with pytest.raises(ValidationError, match=r"radians.*math\.radians\(-?\d+\)"):
        DEGREES[name]()


def test_cameras_are_typed_in_degrees_and_computed_in_radians():
    typed, computed = direction_of("45,20,2"), direction_of((math.radians(45), math.radians(20), 2))
    assert typed == computed and typed.azimuth == math.radians(45)


def test_a_yaw_that_goes_round_and_round_stays_a_yaw():
    controls = CameraControls()
    for _ in range(40):
        controls.yaw += 0.5
    assert controls.yaw == pytest.approx(math.remainder(20.0, math.tau))


def test_a_graph_turns_by_radians():
    """A look that may turn by 0.3 does so, seen from the body."""
    animator = graph(LookAt("idle", HEAD, (5.0, 1.6, 0.0), limit=0.3))
    plain = graph("idle")
    animator.update(0.0), plain.update(0.0)
    head = HERO.skeleton.index("head")
    a, b = (who.model_matrices[head, :, :3].astype(float) for who in (animator, plain))
    turned = math.acos((float((a * b).sum()) - 1) / 2)
    assert turned == pytest.approx(0.3, abs=1e-4)


def test_defaults_are_angles_too():
    for function in (mw.Camera.perspective, mw.scene.random_view, CameraControls, mw.SpotLight):
        for name, parameter in inspect.signature(function).parameters.items():
            if name in ("fov", "elevation", "yaw", "pitch", "inner", "outer"):
                values = parameter.default if isinstance(parameter.default, tuple) else (parameter.default,)
                assert all(abs(v) < math.pi for v in values), f"{function.__qualname__}({name}=)"
