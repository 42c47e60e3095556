"""Subdivision surfaces and NURBS of FBX files, held against closed forms; `tools/check_subdivision.py` compares with
what Maya and Blender made."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import Fbx, numbers

import marrow as mw
from marrow.errors import ResourceLimitError, ValidationError

POINTS = [c for x in (-1, 1) for y in (-1, 1) for z in (-1, 1) for c in (x, y, z)]
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
# The corners whose edges are listed are those of the first polygon.
CREASE = """
Edges: *4 { a: 0,1,2,3 }
LayerElementEdgeCrease: 0 { Version: 101
 Name: ""
 MappingInformationType: "ByEdge"
 ReferenceInformationType: "Direct"
 EdgeCrease: *4 { a: 1,1,1,1 } }
Layer: 0 { Version: 100
 LayerElement:  { Type: "LayerElementEdgeCrease"
 TypedIndex: 0 } }"""


def box(extra="", smooth=2):
    fbx = Fbx()
    root = fbx.node("root", "LimbNode")
    tip = fbx.node("tip", "LimbNode", root)
    node = fbx.node("box", "Mesh")
    levels = f"\nSmoothness: {smooth}\nPreviewDivisionLevels: 2\nRenderDivisionLevels: 2"
    geometry = fbx.mesh(node, POINTS, SIDES, levels + extra)
    halves = dict.fromkeys(range(4), 1.0), dict.fromkeys(range(4, 8), 1.0)
    fbx.skin(geometry, [(root, halves[0], (0, 0, 0)), (tip, halves[1], (0, 0, 0))])
    fbx.blend_shape(geometry, "up", [(100, dict.fromkeys(range(8), (0, 1, 0)))], 0)
    return fbx.text()


def loaded(data, **options):
    return mw.load(data, cache=False, **options)


def test_a_box_becomes_the_surface_with_its_weights_and_morphs():
    mesh = loaded(box(), subdivide=1).meshes[0]
    assert mesh.triangle_count == 48
    assert np.unique(np.round(np.abs(mesh.positions), 5)).tolist() == pytest.approx(
        [0, 5 / 9, 0.75, 1], abs=1e-5
    )
    # A joint's share is the same sum as the point: here both follow x.
    x = mesh.positions[:, 0]
    share = (
        mesh.weights * (mesh.joint_list[mesh.joints] == mesh.joint_list[mesh.joints[x.argmax(), 0]])
    ).sum(1)
    np.testing.assert_allclose(share, (x + 1) / 2, atol=1e-6)
    up = mesh.morph_targets[0].dense(mesh.vertex_count)
    np.testing.assert_allclose(up, np.tile([0, 1, 0], (mesh.vertex_count, 1)), atol=1e-6)
    assert ((mesh.normals * mesh.positions).sum(1) > 0).all()


def test_the_file_says_where_and_how_often():
    assert loaded(box()).meshes[0].triangle_count == 12
    assert "subdivide='file'" in str(loaded(box()).report)
    assert loaded(box(), subdivide="file").meshes[0].triangle_count == 12 * 16
    assert loaded(box(smooth=0), subdivide="file").meshes[0].triangle_count == 12
    assert loaded(box(smooth=0), subdivide=1).meshes[0].triangle_count == 48
    with pytest.raises(ValidationError, match="at most 6"):
        loaded(box(), subdivide=9)


def test_a_file_that_asks_for_too_much_is_refused():
    data = box().replace(b"PreviewDivisionLevels: 2", b"PreviewDivisionLevels: 2000000000")
    with pytest.raises(ResourceLimitError, match="lower subdivide="):
        loaded(data, subdivide="file")


def test_creased_edges_stay_sharp():
    plain, creased = (loaded(box(extra), subdivide=2).meshes[0].positions for extra in ("", CREASE))
    assert creased[:, 0].min() == pytest.approx(-1) and plain[:, 0].min() > -0.9
    # The side with sharp edges is a curve of its own in its plane.
    rim = creased[np.abs(creased[:, 0] + 1) < 1e-6]
    assert len(rim) >= 25 and np.abs(rim[:, 1:]).max() > 0.6


def nurbs(points, order, knots_u, knots_v, size, form="Open"):
    fbx = Fbx()
    node = fbx.node("patch", "NurbsSurface")
    body = '\nType: "NurbsSurface"\nNurbsSurfaceVersion: 100\nSurfaceDisplay: 4,4,4'
    body += f"\nNurbsSurfaceOrder: {order[0]},{order[1]}"
    body += f'\nDimensions: {size[0]},{size[1]}\nStep: 4,4\nForm: "{form}", "Open"\nPoints: {numbers(points)}'
    body += f"\nKnotVectorU: {numbers(knots_u)}\nKnotVectorV: {numbers(knots_v)}\nGeometryVersion: 124"
    fbx.connect(fbx.add("Geometry", "Geometry::", "NurbsSurface", body), node)
    return fbx.text()


def quarter(**changes):
    """A quarter of a cylinder, which rational curves of degree two have exactly."""
    half = 0.5**0.5
    arc = [(1, 0, 1), (1, 1, half), (0, 1, 1)]
    points = [c for z in (0, 2) for x, y, w in arc for c in (x, y, z, w)]
    fields = {
        "points": points,
        "order": (3, 2),
        "knots_u": [0, 0, 0, 1, 1, 1],
        "knots_v": [0, 0, 1, 1],
        "size": (3, 2),
    }
    return nurbs(**(fields | changes))


def test_a_nurbs_surface_is_read_as_polygons_on_it():
    mesh = loaded(quarter()).meshes[0]
    np.testing.assert_allclose(np.hypot(*mesh.positions[:, :2].T), 1, atol=1e-6)
    assert set(np.round(mesh.positions[:, 2], 6).tolist()) == {0, 0.5, 1, 1.5, 2}
    assert mesh.vertex_count == 25 and mesh.triangle_count == 32
    assert mesh.uvs[0].min() == 0 and mesh.uvs[0].max() == 1
    corners = mesh.positions[mesh.triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((across * mesh.normals[mesh.triangles[:, 0]]).sum(1) > 0).all()


@pytest.mark.parametrize(
    "changes",
    [{"order": (70, 2)}, {"knots_u": [0, 0, 0, 1, 0.5, 1]}, {"knots_v": []}],
)
def test_a_damaged_nurbs_surface_is_left_out_with_a_line(changes):
    character = loaded(quarter(**changes))
    assert not character.meshes and "NURBS surface" in str(character.report)
