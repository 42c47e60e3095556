"""VRM's MToon in pictures: two colours with a step between them, an outline, and words for what is not shown."""

import numpy as np
from solids import ball

import marrow as mw

CAMERA = mw.Camera.orthographic((0, 0, 5), (0, 0, 0), size=2.0, width=64, height=64, near=0.1, far=10)


def drawn(renderer, toon, *, light=(-1, 0, 0), ambient=0.0, unlit=True, **material):
    """A ball of MToon in light from one side (+X), on nothing."""
    made = mw.Material(
        base_color=(0.5, 0.1, 0.1, 1), metallic=0.0, unlit=unlit, extensions={"VRMC_materials_mtoon": toon}, **material
    )  # fmt: skip
    scene = mw.Scene(
        ball(0.7, made),
        lights=[mw.DirectionalLight(light, intensity=np.pi, shadows=False)],
        ground=False,
        environment=mw.Environment("transparent", ambient),
    )
    renderer.size, renderer.contact = (64, 64), False
    try:
        return renderer.render(scene, CAMERA).pixels.astype(int)
    finally:
        renderer.contact = True


TOON = {"shadeColorFactor": [0.05, 0.05, 0.3], "shadingToonyFactor": 1.0, "shadingShiftFactor": 0.0}


def test_a_step_between_lit_and_shade(renderer, deferred_renderer):
    for one in (renderer, deferred_renderer):
        row = drawn(one, TOON)[32]
        lit, shade = row[40:50], row[14:24]
        assert (lit == lit[0]).all() and (shade == shade[0]).all()  # flat on both sides
        assert lit[0][0] > 2 * lit[0][2] and shade[0][2] > 2 * shade[0][0]
        # The step lies where light grazes, and goes where the shift says.
        middle = np.argmax(row[:, 0] > 128)
        assert abs(middle - 32) <= 2
        shifted = drawn(one, TOON | {"shadingShiftFactor": -0.5})[32]
        assert abs(np.argmax(shifted[:, 0] > 128) - (32 + 0.5 * 0.7 * 32)) <= 2


def test_softness_follows_toony(renderer):
    def steps(toony):
        return len(np.unique(drawn(renderer, TOON | {"shadingToonyFactor": toony})[32, 14:50, 0]))

    assert steps(0.0) > 15 > 6 > steps(0.95)


def test_outlines_lie_around_the_body(renderer, deferred_renderer):
    line = {"outlineColorFactor": [0, 1, 0], "outlineLightingMixFactor": 0.0, "outlineWidthFactor": 0.1}
    for one in (renderer, deferred_renderer):
        plain = drawn(one, TOON)
        for mode, width, pixels in (("worldCoordinates", 0.1, 3.2), ("screenCoordinates", 0.05, 3.2)):
            found = drawn(one, TOON | line | {"outlineWidthMode": mode, "outlineWidthFactor": width})
            green = (found[..., 1] > 200) & (found[..., 0] < 90) & (found[..., 3] > 128)
            assert green.sum() > 200 and not (green & (plain[..., 3] > 128)).any()
            wider = (found[32, :, 3].sum() - plain[32, :, 3].sum()) / 255
            assert abs(wider - 2 * pixels) < (0.7 if one.samples > 1 else 2.0)  # whole pixels on both sides
        none = drawn(one, TOON | line)
        np.testing.assert_array_equal(none, drawn(one, TOON))


def test_what_is_not_shown_is_told(renderer):
    drawn(
        renderer,
        TOON | {"shadingToonyFactor": 7, "outlineWidthMode": "thick", "uvAnimationRotationSpeedFactor": 1.0},
    )
    said = "\n".join(map(str, renderer.materials.report))
    for words in (
        "shadingToonyFactor is out of range",
        "'thick' is not known",
        "uvAnimationRotationSpeedFactor is not shown",
    ):
        assert words in said
