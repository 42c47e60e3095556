"""Cameras and lights of a stage (UsdGeomCamera, UsdLux), each on the node of its prim, and what moves about them.

Brightness is told by what light falls: lux from afar, candela of points and spots, nits of surfaces. UsdLux has nits of the
light's own surface, or with `normalize` what all of the surface sends.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.io.usd.composition import drawn_prims
from marrow.io.usd.motion import key_codes
from marrow.io.usd.nodes import Nodes, UsdRig
from marrow.io.usd.notes import UsdPlacedNotes
from marrow.io.usd.stage import StageFacts
from marrow.model import Curve, JointCamera, JointLight
from marrow.model.joint_camera import curve_name

__all__ = ["PlacedPrims", "camera_of", "light_of"]

Array = NDArray[Any]
MOST = 10_000


class PlacedPrims:
    """The cameras and lights of a stage, and the prims they come from."""

    def __init__(self, stage: Any, nodes: Nodes, own: UsdRig | None) -> None:
        from pxr import UsdGeom, UsdLux

        self.cameras: list[JointCamera] = []
        self.lights: list[JointLight] = []
        self._prims: dict[tuple[Literal["camera", "light"], str], Any] = {}
        for prim in drawn_prims(stage):
            camera = prim.IsA(UsdGeom.Camera)
            if not camera and not (prim.HasAPI(UsdLux.LightAPI) and prim.IsA(UsdGeom.Xformable)):
                continue
            if prim.IsA(UsdGeom.Gprim):
                nodes.report.add(
                    "dropped", str(prim.GetPath()), "it shines as a light; its surface alone is read"
                )
                continue
            group: list[Any] = self.cameras if camera else self.lights
            if len(group) >= MOST:
                nodes.report.add("dropped", str(prim.GetPath()), f"is beyond {MOST} cameras or lights")
                continue
            self._add(prim, camera, group, nodes, own)

    def _add(self, prim: Any, camera: bool, group: list[Any], nodes: Nodes, own: UsdRig | None) -> None:
        joint, name = nodes.nearest(prim), str(prim.GetDisplayName() or prim.GetName())
        notes = nodes.placed.get(prim.GetPath())
        try:
            made = camera_of(prim, name, max(joint, 0)) if camera else light_of(prim, name, max(joint, 0))
            if notes is not None:
                made = _as_noted(made, notes)
                if own is None or made.joint >= len(own.joints):
                    raise ValidationError("its joint is gone")
                made = replace(made, joint=int(own.joints[made.joint]))
        except ValidationError as error:
            nodes.report.add("dropped", str(prim.GetPath()), str(error))
            return
        taken, n = {item.name for item in group}, 2
        while made.name in taken:
            made, n = replace(made, name=f"{name}_{n}"), n + 1
        group.append(made)
        self._prims["camera" if camera else "light", made.name] = prim

    def curves(self, facts: StageFacts) -> tuple[Curve, ...]:
        """What changes over time about them, on the timeline."""
        out: list[Curve] = []
        for (kind, name), prim in self._prims.items():
            if prim.HasCustomDataKey("marrow"):
                continue  # the clips that marrow wrote have their own
            codes: set[float] = set()
            for attribute in prim.GetAttributes():
                if attribute.GetNumTimeSamples() > 1 and not attribute.GetName().startswith("xformOp"):
                    codes.update(attribute.GetTimeSamples())
            inside = key_codes(sorted(codes), facts)
            if len(inside) < 2 or len(inside) > 1_000_000:
                continue
            read = camera_of if kind == "camera" else light_of
            try:
                rows = [_numbers(read(prim, name, 0, code)) for code in inside]
            except ValidationError:
                continue
            times = np.array([facts.seconds(code) for code in inside], np.float32)
            for field in rows[0]:
                values = [row.get(field) for row in rows]
                if None not in values and len(set(values)) > 1:
                    out.append(Curve(curve_name(kind, name, field), times, np.array(values, np.float32)))
        return tuple(out)


def _numbers(placed: JointCamera | JointLight) -> dict[str, float]:
    if isinstance(placed, JointCamera):
        seen = {"size": placed.size} if placed.kind == "orthographic" else {"fov": placed.fov}
        return {**seen, "near": placed.near}
    red, green, blue = placed.color
    colors = {"color[0]": red, "color[1]": green, "color[2]": blue}
    return {"intensity": placed.intensity, "outer": placed.outer, "inner": placed.inner, **colors}


def _as_noted(made: Any, notes: UsdPlacedNotes) -> Any:
    """What marrow wrote, where the stage still says it."""
    fields = dict(notes.fields)
    for key in ("rotation", "color", "size"):
        if isinstance(fields.get(key), list):
            fields[key] = tuple(fields[key])
    try:
        known = type(made)(**fields)
    except (TypeError, ValidationError):
        return made
    if known.kind != made.kind:
        return made
    mine, theirs = _numbers(made), _numbers(known)
    if any(abs(mine[k] - theirs[k]) > 1e-4 * max(1.0, abs(theirs[k])) for k in mine):
        return replace(made, name=known.name, joint=known.joint, rotation=known.rotation)
    return known


def _value(prim: Any, name: str, code: Any, default: Any) -> Any:
    attribute = prim.GetAttribute(name)
    found = attribute.Get(code) if attribute and attribute.HasValue() else None
    return default if found is None else found


def _number(prim: Any, name: str, code: Any, default: float) -> float:
    value = _value(prim, name, code, default)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else default


def camera_of(prim: Any, name: str, joint: int, code: Any = None) -> JointCamera:
    """A UsdGeomCamera; apertures and focal lengths are tenths of the stage's unit."""
    from pxr import Usd

    code = Usd.TimeCode.EarliestTime() if code is None else code
    wide = max(_number(prim, "horizontalAperture", code, 20.955), 1e-6)
    high = max(_number(prim, "verticalAperture", code, 15.2908), 1e-6)
    focal = max(_number(prim, "focalLength", code, 50.0), 1e-6)
    near, far = (float(v) for v in _value(prim, "clippingRange", code, (1.0, 1e6)))
    flat = str(_value(prim, "projection", code, "perspective")) == "orthographic"
    near = near if math.isfinite(near) and (near > 0 or flat) else 0.01
    extras = {
        key: _number(prim, key, code, 0.0)
        for key in ("focusDistance", "fStop", "horizontalApertureOffset", "verticalApertureOffset")
        if _number(prim, key, code, 0.0) != 0
    }
    if abs(focal - 50.0) > 1e-6 or abs(wide - 20.955) > 1e-6:
        extras["focalLength"], extras["horizontalAperture"] = focal, wide
    seen: dict[str, Any] = {"size": high / 10} if flat else {"fov": 2 * math.atan(high / 2 / focal)}
    return JointCamera(
        name,
        joint,
        "orthographic" if flat else "perspective",
        aspect=wide / high,
        near=near,
        far=far if math.isfinite(far) and near < far < 9.9e5 else None,
        extras={"usd": extras} if extras else {},
        **seen,
    )


def light_of(prim: Any, name: str, joint: int, code: Any = None) -> JointLight:
    """A light of UsdLux."""
    from pxr import Usd, UsdGeom, UsdLux

    square = float(UsdGeom.GetStageMetersPerUnit(prim.GetStage())) ** 2  # metres of a unit of surface
    code = Usd.TimeCode.EarliestTime() if code is None else code
    kind = str(prim.GetTypeName())
    strength = _number(prim, "inputs:intensity", code, 1.0) * 2.0 ** min(
        _number(prim, "inputs:exposure", code, 0.0), 60
    )
    strength = min(max(strength, 0.0), 1e30)
    color = np.clip(np.array(_value(prim, "inputs:color", code, (1, 1, 1)), np.float64), 0, None)
    if bool(_value(prim, "inputs:enableColorTemperature", code, False)):
        warm = _number(prim, "inputs:colorTemperature", code, 6500.0)
        color = color * np.array(UsdLux.BlackbodyTemperatureAsRgb(min(max(warm, 1000.0), 10000.0)))
    shares = bool(_value(prim, "inputs:normalize", code, False))
    radius = max(_number(prim, "inputs:radius", code, 0.5), 1e-6)
    extras: dict[str, Any] = {"type": kind}
    options: dict[str, Any] = {
        "color": tuple(float(v) for v in color),
        "shadows": bool(_value(prim, "inputs:shadow:enable", code, True)),
    }
    cone = _number(prim, "inputs:shaping:cone:angle", code, 90.0) if prim.HasAPI(UsdLux.ShapingAPI) else 90.0
    if kind == "DistantLight":
        extras["angle"] = _number(prim, "inputs:angle", code, 0.53)
        return JointLight(name, joint, "directional", intensity=strength, extras={"usd": extras}, **options)
    if kind.startswith("DomeLight"):
        if _value(prim, "inputs:texture:file", code, None) is not None:
            extras["texture"] = str(_value(prim, "inputs:texture:file", code, "").path)
        return JointLight(name, joint, "ambient", intensity=strength, extras={"usd": extras}, **options)
    if kind in ("RectLight", "DiskLight", "CylinderLight", "PortalLight"):
        wide, high = (max(_number(prim, f"inputs:{k}", code, 1.0), 1e-6) for k in ("width", "height"))
        if kind == "DiskLight":
            wide = high = 2 * radius
        elif kind == "CylinderLight":
            wide, high = max(_number(prim, "inputs:length", code, 1.0), 1e-6), 2 * radius
        area = (
            wide
            * high
            * (math.pi / 4 if kind == "DiskLight" else math.pi if kind == "CylinderLight" else 1.0)
        )
        if cone >= 90:
            nits = strength / area if shares else strength
            return JointLight(
                name, joint, "area", intensity=nits, size=(wide, high), extras={"usd": extras}, **options
            )
        strength = square * (strength if shares else strength * area)
    else:
        extras["radius"] = radius
        # A sphere of radius r is a disk of r as seen from any side.
        strength = square * (strength / 4 if shares else strength * math.pi * radius**2)
    if cone < 90:
        outer = math.radians(max(cone, 1e-3))
        soft = min(max(_number(prim, "inputs:shaping:cone:softness", code, 0.0), 0.0), 1.0)
        return JointLight(
            name,
            joint,
            "spot",
            intensity=strength,
            outer=outer,
            inner=outer * (1 - soft),
            extras={"usd": extras},
            **options,
        )
    return JointLight(name, joint, "point", intensity=strength, extras={"usd": extras}, **options)
