"""Cameras and lights as prims: UsdGeomCamera and UsdLux, where their joints are. UsdSkel's joints are no prims that
something could hang on, so each has its own place, which follows the joint through the first clip."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.losses import Losses
from marrow.io.usd.notes import UsdPlacedNotes, put
from marrow.io.usd.values import PrimNames, matrix
from marrow.math import affine, transform
from marrow.model import Character, Clip, JointCamera, JointLight

__all__ = ["write_light", "write_placed"]

Array = NDArray[Any]
RADIUS = 0.05
WIDE = 20.955
MOST_SAMPLES = 1_000_000


def write_placed(
    stage: Any, top: str, character: Character, clip: Clip | None, codes_per_second: float, names: PrimNames,
    path: object, losses: Losses,
) -> None:  # fmt: skip
    """The cameras and lights of a character, in scopes of their own."""
    from pxr import UsdGeom

    groups: tuple[tuple[str, tuple[JointCamera | JointLight, ...]], ...]
    groups = ("Cameras", character.cameras), ("Lights", character.lights)
    for title, group in groups:
        if not group:
            continue
        scope = f"{top}/{names.of(title, top)}"
        UsdGeom.Scope.Define(stage, scope)
        for placed in group:
            where = f"{scope}/{names.of(placed.name, scope)}"
            if isinstance(placed, JointCamera):
                prim = _camera(stage, where, placed)
            else:
                prim = write_light(stage, where, placed, losses)
            at = _place(prim, character, clip, placed, codes_per_second)
            put(
                prim,
                UsdPlacedNotes(dataclasses.asdict(placed), np.asarray(at, np.float64).reshape(-1).tolist()),
                path,
            )
            if prim.GetName() != placed.name and placed.name:
                prim.SetDisplayName(placed.name)


def _place(prim: Any, character: Character, clip: Clip | None, placed: Any, codes_per_second: float) -> Array:
    """Writes where it is, over time where its joint moves; the first place."""
    from pxr import UsdGeom

    skeleton = character.skeleton
    own = transform.compose(np.zeros(3), np.array(placed.rotation), np.ones(3))
    chain = {placed.joint, *skeleton.ancestors(placed.joint)}
    op = UsdGeom.Xformable(prim).AddTransformOp()
    tracks = [] if clip is None else [t for t in clip.tracks if t.path != "morph" and t.target in chain]
    if clip is None or not tracks or clip.additive:
        model = np.asarray(skeleton.to_model(skeleton.rest), np.float64)[placed.joint]
        made = affine.multiply(model, own)
        op.Set(matrix(made))
        return made
    times = np.unique(np.concatenate([t.times for t in tracks]))
    if any(t.path == "rotation" or t.interpolation != "linear" for t in tracks):
        rate = codes_per_second if clip.duration * codes_per_second < MOST_SAMPLES else 1.0
        times = np.unique(np.concatenate([times, np.arange(0, clip.duration, 1 / rate)]))
    times = times[:MOST_SAMPLES]
    model = np.asarray(skeleton.to_model(clip.sample(times.astype(np.float64))), np.float64)[:, placed.joint]
    made = affine.multiply(model, own)
    for time, m in zip(times.tolist(), made):
        op.Set(matrix(m), float(np.float64(time) * codes_per_second))
    return np.asarray(made[0])


def _camera(stage: Any, where: str, camera: JointCamera) -> Any:
    from pxr import Gf, UsdGeom

    made = UsdGeom.Camera.Define(stage, where)
    said = camera.extras.get("usd") if isinstance(camera.extras, dict) else None
    said = said if isinstance(said, dict) else {}
    wide = said.get("horizontalAperture")
    wide = float(wide) if isinstance(wide, (int, float)) and wide > 0 else WIDE
    aspect = camera.aspect or 1.5
    if camera.kind == "orthographic":
        made.CreateProjectionAttr(UsdGeom.Tokens.orthographic)
        high = camera.size * 10
        wide = high * aspect
    else:
        high = wide / aspect
        made.CreateFocalLengthAttr(high / 2 / math.tan(camera.fov / 2))
    made.CreateHorizontalApertureAttr(wide)
    made.CreateVerticalApertureAttr(high)
    far = camera.far if camera.far is not None else 1e6
    made.CreateClippingRangeAttr(Gf.Vec2f(camera.near, max(far, camera.near * 1.001)))
    for key, write in (("focusDistance", made.CreateFocusDistanceAttr), ("fStop", made.CreateFStopAttr)):
        if isinstance(said.get(key), (int, float)):
            write(float(said[key]))
    return made.GetPrim()


def write_light(stage: Any, where: str, light: JointLight, losses: Losses) -> Any:
    from pxr import Gf, UsdLux

    strength = light.intensity
    made: Any
    if light.kind == "directional":
        made = UsdLux.DistantLight.Define(stage, where)
    elif light.kind == "ambient":
        made = UsdLux.DomeLight.Define(stage, where)
    elif light.kind == "area":
        made = UsdLux.RectLight.Define(stage, where)
        made.CreateWidthAttr(light.size[0])
        made.CreateHeightAttr(light.size[1])
    else:
        made = UsdLux.SphereLight.Define(stage, where)
        made.CreateRadiusAttr(RADIUS)
        made.CreateNormalizeAttr(True)
        strength *= 4
    if light.kind == "spot":
        shape = UsdLux.ShapingAPI.Apply(made.GetPrim())
        shape.CreateShapingConeAngleAttr(math.degrees(light.outer))
        shape.CreateShapingConeSoftnessAttr(1 - light.inner / light.outer)
    made.CreateIntensityAttr(strength)
    made.CreateColorAttr(Gf.Vec3f(*light.color))
    if not light.shadows:
        UsdLux.ShadowAPI.Apply(made.GetPrim()).CreateShadowEnableAttr(False)
    if light.range is not None:
        losses.add(f"light {light.name!r}", "USD's lights have no range; other programs see it without one")
    return made.GetPrim()
