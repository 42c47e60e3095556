"""The shaders that are kept as text, to be read and to see when they change; `make generated` keeps new ones."""

from __future__ import annotations

from marrow.gpu.ik_shader import PASSES, ik_shader_text
from marrow.gpu.passes import MORPH_WEIGHTS, split_source
from marrow.gpu.pose_shader import ALONE, PoseShader, shader_text
from marrow.gpu.skin_source import Variant, compute_source


def shaders() -> dict[str, str]:
    plain = Variant("linear", 2, 1, 8, 32)
    packed = Variant("blended", 2, 2, 8, 8, table=True, octahedral=True, morphs=True)
    dual = Variant("dual_quaternion", 2, 1, 16, 16)
    solver = {f"ik_{part}.wgsl": ik_shader_text(part, double=True) for part in PASSES}
    return solver | {
        "skin_linear.wgsl": compute_source(plain),
        "skin_dual_quaternion.wgsl": compute_source(dual),
        "skin_blended_packed.wgsl": compute_source(packed),
        "morph_weights.wgsl": MORPH_WEIGHTS,
        "dual_quaternions.wgsl": split_source(),
        "pose_programs.wgsl": shader_text(PoseShader(lanes=64, jumps=True)),
        "pose_programs_alone.wgsl": shader_text(PoseShader(operations=ALONE, double=True)),
    }
