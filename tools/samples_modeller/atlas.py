"""Where each part of the mannequin lies on its texture."""

from __future__ import annotations

import numpy as np

from samples_modeller import rig
from samples_modeller.assembly import Surface
from samples_modeller.grid import on_grid
from samples_modeller.rig import LANDMARKS
from samples_modeller.sdf import Array
from samples_modeller.uv import Chart

__all__ = ["charts"]

PARTS = {
    "head": ("head",),
    "trunk": ("pelvis", "spine", "neck", "clavicle"),
    "arm": ("upperarm", "lowerarm"),
    "hand": ("hand", "thumb", "index", "middle", "ring", "pinky"),
    "leg": ("thigh", "calf"),
    "foot": ("foot", "ball"),
}


def _frame(up: Array, front: Array) -> Array:
    up = up / np.linalg.norm(up)
    front = front - up * (up @ front)
    front = front / np.linalg.norm(front)
    return np.column_stack([np.cross(up, front), up, front])


def charts(surface: Surface, joints: Array) -> tuple[list[Chart], Array]:
    """The charts, and the chart of each triangle `(F,)`."""
    names, _, _ = rig.bind_frames()
    part_of_joint = np.array([_part(name) for name in names])
    side_of_joint = np.array([-1 if name.endswith("_r") else 1 for name in names])
    leading = joints[:, 0][surface.triangles]
    # The part most corners belong to; whatever the order of the corners, so that left and right agree.
    part = np.sort(part_of_joint[leading], axis=1)[:, 1]
    side = np.sign(side_of_joint[leading].sum(1))
    facing = surface.normals[surface.triangles].mean(1)

    out: list[Chart] = []
    chart_of = np.full(len(surface.triangles), -1)

    def add(chart: Chart, mask: Array) -> None:
        chart_of[mask & (chart_of < 0)] = len(out)
        out.append(chart)

    at = {k: np.array(v) for k, v in LANDMARKS.items()}
    x, y, z = np.eye(3)
    flat_top = np.column_stack([x, -z, y])
    flat_bottom = np.column_stack([x, z, -y])
    upright = np.eye(3)
    add(Chart(at["head"], flat_top, (0.28, 0.76, 0.10, 0.10), False), (part == 0) & (facing[:, 1] > 0.8))
    add(Chart(at["head"] + [0, 0, 0.015], upright, (0.01, 0.76, 0.26, 0.23), True), part == 0)
    add(Chart(at["spine_03"], flat_top, (0.40, 0.76, 0.18, 0.10), False), (part == 1) & (facing[:, 1] > 0.75))
    add(
        Chart(at["pelvis"], flat_bottom, (0.40, 0.88, 0.12, 0.10), False),
        (part == 1) & (facing[:, 1] < -0.75),
    )
    add(Chart(at["pelvis"], upright, (0.01, 0.01, 0.40, 0.73), True), part == 1)
    shoulder, elbow, wrist = rig.arm_points()
    hand = rig.hand_frame()
    for s, column in ((1, 0.43), (-1, 0.72)):
        flip = np.array([s, 1, 1])
        mine = side == s
        arm = _frame((shoulder - wrist) * flip, z)
        add(Chart(elbow * flip, arm, (column, 0.40, 0.12, 0.34), True), (part == 2) & mine)
        back_of_hand = _frame(-hand.along * flip, -hand.palm * flip)
        is_palm = on_grid(facing @ (hand.palm * flip)) > 0
        add(
            Chart(wrist * flip, back_of_hand * [-1, 1, -1], (column + 0.13, 0.58, 0.14, 0.16), False),
            (part == 3) & mine & is_palm,
        )
        add(Chart(wrist * flip, back_of_hand, (column + 0.13, 0.40, 0.14, 0.16), False), (part == 3) & mine)
        leg = _frame((at["hip"] - at["ankle"]) * flip, z)
        add(Chart(at["knee"] * flip, leg, (column, 0.01, 0.17, 0.37), True), (part == 4) & mine)
        add(
            Chart(at["ball"] * flip, flat_bottom, (column + 0.18, 0.01, 0.09, 0.17), False),
            (part == 5) & mine & (facing[:, 1] < -0.6),
        )
        # Around the foot's length, slit at the sole.
        add(
            Chart(at["ball"] * flip, _frame(-z, y), (column + 0.18, 0.20, 0.09, 0.18), True),
            (part == 5) & mine,
        )
    return out, chart_of


def _part(joint: str) -> int:
    if joint == "root":
        return 1
    return next(i for i, prefixes in enumerate(PARTS.values()) if joint.startswith(prefixes))
