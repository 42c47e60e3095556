"""Sums of clips in registers: where each joint has a lane of its own, the pose that is being summed up stays with the
lanes, and goes to the stack when another operation wants it. That halves the memory that sums go through."""

from __future__ import annotations

from typing import Any

from marrow.kernels.language.types import FLOAT, INTEGER, kind_of
from marrow.kernels.language.wgsl_lanes import WgslEmitter
from marrow.kernels.language.wgsl_printer import WgslPrinter
from marrow.kernels.language.wgsl_text import WgslArray
from marrow.kernels.operations import PoseWork, sums
from marrow.kernels.operations.packed_joints import add_packed_joints
from marrow.kernels.pose_layout import ROWS

__all__ = ["BEFORE", "INSTEAD", "declarations", "registers_text"]

INSTEAD = {sums.run_sample: "begin_sum", sums.run_accumulate: "add_to_sum"}
BEFORE = "put_sum_down(); barrier(); "
_SUMS = """fn put_sum_down() {
  if (summed < 0) { return; }
  let at = room + summed + lane;
  if (lane < batch.lanes) {
{store}
  }
  if (lane < batch.morph_lanes) { scratch[at + 10 * batch.row] = p10; }
  summed = -1;
}
fn take_sum_up(top: i32) {
  if (summed == top) { return; }
  put_sum_down();
  let at = room + top + lane;
  if (lane < batch.lanes) {
{load}
  }
  if (lane < batch.morph_lanes) { p10 = scratch[at + 10 * batch.row]; }
  summed = top;
}
fn begin_sum(n: i32, top: i32, argument: i32, time: real, weight: real) {
  put_sum_down();
{put_packed}  let found = frame_at(argument, time);
  if (lane < batch.lanes) { put_clip(lane, found.x, found.y, f32(found.z), f32(weight)); }
  if (lane < batch.morph_lanes) { put_clip_morphs(10 * batch.row + lane, found.x, found.y, f32(found.z), f32(weight)); }
  summed = top;
}
fn add_to_sum(n: i32, top: i32, argument: i32, time: real, weight: real) {
{add_packed}  take_sum_up(top);
  let found = frame_at(argument, time);
  if (lane < batch.lanes) { add_clip(lane, found.x, found.y, f32(found.z), f32(weight)); }
  if (lane < batch.morph_lanes) { add_clip_morphs(10 * batch.row + lane, found.x, found.y, f32(found.z), f32(weight)); }
}"""

_PACKED = {
    "put_packed": "  if ({packed} >= 0) { add_packed_joints(argument, time, weight, 0.0, top); return; }\n",
    # Each lane finds on the stack what it has put there.
    "add_packed": "  if ({packed} >= 0) { put_sum_down(); add_packed_joints(argument, time, weight, 1.0, top); return; }\n",
}


def declarations() -> list[str]:
    """The registers: ten numbers of a joint and a morph weight, and whose they are."""
    return [*(f"var<private> p{r}: f32;" for r in range(ROWS + 1)), "var<private> summed: i32 = -1;"]


def registers_text(printer: WgslPrinter) -> str:
    """The functions, which call the lane formulas of clips with registers for a stack."""
    world = printer.world
    printer.root(sums.frame_at, [kind_of(PoseWork), INTEGER, FLOAT])
    packed = {"put_packed": "", "add_packed": ""}
    if sums.add_packed not in world.left_out:
        printer.root(add_packed_joints, [kind_of(PoseWork), INTEGER, FLOAT, FLOAT, FLOAT, INTEGER])
        where = world.arrays["clip_packed"].place
        assert where is not None
        packed = {name: text.replace("{packed}", where("argument")) for name, text in _PACKED.items()}
    rows = {"i": 0, "i + batch.row": 1, **{f"i + batch.row * {r}": r for r in range(2, ROWS)}}
    stack = WgslArray("registers", lambda at: f"p{rows[at]}")
    morphs = WgslArray("registers", lambda at: f"p{ROWS}")
    place = world.arrays["bank"].place
    assert place is not None
    bank = WgslArray("bank", place)

    def written(name: str, block: Any, *first: Any) -> str:
        emitter = WgslEmitter()
        lanes = [emitter.lane("t"), emitter.lane("w")]
        block.formula(emitter, "i", *first, bank, "a", "b", *lanes, stack if first else morphs, 0)
        return "\n".join([f"fn {name}(i: i32, a: i32, b: i32, t: f32, w: f32) {{", *emitter.text(), "}"])

    lines = [f"    scratch[at + {r} * batch.row] = p{r};" for r in range(ROWS)]
    loads = [f"    p{r} = scratch[at + {r} * batch.row];" for r in range(ROWS)]
    return "\n".join(
        [
            written("put_clip", sums.put_sample, "batch.row"),
            written("add_clip", sums.add_sample, "batch.row"),
            written("put_clip_morphs", sums.put_morphs),
            written("add_clip_morphs", sums.add_morphs),
            _SUMS.replace("{store}", "\n".join(lines))
            .replace("{load}", "\n".join(loads))
            .replace("{put_packed}", packed["put_packed"])
            .replace("{add_packed}", packed["add_packed"]),
        ]
    )
