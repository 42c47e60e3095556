"""Cards of hair: blended sheets of one mesh, listed in an order that does not fit the camera."""

import numpy as np
import pytest
import quads

import marrow as mw


@pytest.mark.parametrize("double_sided", [False, True])
def test_what_is_solid_hides_what_is_behind_it_and_edges_are_blended_over(
    renderer, deferred_renderer, double_sided
):
    # Near the camera a red sheet, solid on the left, half seen through on the right; behind it, and drawn after it, a
    # green one.
    image = quads.picture(
        "sheets", [[[255, 0, 0, 255], [255, 0, 0, 128], [0, 255, 0, 255], [0, 255, 0, 255]]]
    )
    material = mw.Material(
        base_color_texture=mw.Texture(0, mag_filter="nearest", min_filter="nearest"),
        alpha_mode="blend",
        unlit=True,
        double_sided=double_sided,
    )
    one = quads.square(material, [image])
    mesh, ahead, half = one.meshes[0], np.array([0, 0, 0.5]), np.array([0.5, 0.0])
    points = np.concatenate([mesh.positions + ahead, mesh.positions - ahead]).astype(np.float32)
    u = mesh.uvs[0] * [0.5, 1.0]
    sheets = mw.Mesh.rigid(
        "sheets",
        points,
        np.concatenate([mesh.triangles, mesh.triangles + 4]),
        0,
        normals=np.tile([0, 0, 1], (8, 1)),
        uvs=(np.concatenate([u, u + half]).astype(np.float32),),
        sections=(mw.Section(0, 4, 0),),
    )
    for each in (renderer, deferred_renderer):
        found = quads.drawn(each, one.replace(meshes=(sheets,)))
        solid, thin = found[32, 16], found[32, 48]
        assert solid[0] > 0.8 and solid[1] < 0.2  # red: the green sheet is behind it
        assert thin[1] > 0.4  # and is seen where it is not hidden
        assert found[32, 16, 3] == found[32, 48, 3] == 1.0
