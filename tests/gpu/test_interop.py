"""Other people's renderers over our buffers: pygfx, with its shadows, and OpenGL."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from builders import character
from marrow import gpu
from marrow.errors import ValidationError
from surroundings import missing, needed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class Stage:
    """A lit floor, to put things on and take pictures of."""

    def __init__(self, size=(128, 96)):
        gfx = needed("pygfx")
        from rendercanvas.offscreen import OffscreenRenderCanvas

        self.canvas = OffscreenRenderCanvas(size=size, pixel_ratio=1)
        self.renderer = gfx.WgpuRenderer(self.canvas)
        self.scene, self.place = gfx.Scene(), gfx.Group()
        sun = gfx.DirectionalLight("#ffffff", 3, cast_shadow=True)
        sun.local.position = (3, 5, 3)
        sun.shadow.camera.width = sun.shadow.camera.height = 8
        floor = gfx.Mesh(gfx.plane_geometry(10, 10), gfx.MeshStandardMaterial(color="#aaaaaa", roughness=1))
        floor.local.rotation = (-(0.5**0.5), 0, 0, 0.5**0.5)
        floor.receive_shadow = True
        self.scene.add(gfx.AmbientLight("#ffffff", 0.5), self.place, sun, floor)
        self.camera = gfx.PerspectiveCamera(50, size[0] / size[1])
        self.camera.local.position = (1.5, 2, 4)
        self.camera.look_at((0, 0.8, 0))
        self.canvas.request_draw(lambda: self.renderer.render(self.scene, self.camera))

    def picture(self, group):
        for child in tuple(self.place.children):
            self.place.remove(child)
        self.place.add(group)
        return np.asarray(self.canvas.draw()).astype(int)


def plain_meshes(who, surface, materials):
    """The same as meshes that hold what the CPU computed."""
    gfx = needed("pygfx")
    group = gfx.Group()
    for positions, normals in zip(surface.positions, surface.normals):
        i = 0
        for mesh, first in zip(who.meshes, who.vertex_offsets):
            for section in mesh.sections:
                corners = mesh.triangles[section.first : section.first + section.count] + first
                geometry = gfx.Geometry(
                    indices=corners.astype(np.uint32), positions=positions, normals=normals
                )
                uv = np.concatenate([m.uvs[0] for m in who.meshes]).astype(np.float32)
                geometry.texcoords = gfx.Buffer(uv)
                made = gfx.Mesh(geometry, materials[i])
                made.cast_shadow = made.receive_shadow = True
                group.add(made)
                i += 1
    return group


def test_pygfx_draws_skinned_meshes_and_their_shadows(device):
    needed("pygfx")
    from marrow.gpu import pygfx as mpg

    who = mw.samples.mannequin()
    posed = who.clips["run"].sample([0.1, 0.4])
    matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed)).copy()
    matrices[:, :, 0, 3] += np.array([-0.8, 0.8])[:, None]
    figures = mpg.Figures(gpu.Skinner(who, mpg.device()))
    assert len(figures.group.children) == 0
    bind = np.tile(np.eye(3, 4, dtype=np.float32), (2, len(who.palette), 1, 1))
    figures.update(bind)
    stage = Stage()
    at_bind = stage.picture(figures.group)
    figures.update(matrices)
    drawn = stage.picture(figures.group)
    materials = [m.material for m in figures.group.children]
    want = stage.picture(plain_meshes(who, mw.skin(who, matrices), materials))
    # The same pictures but for rounding at edges; shadows that stayed at bind would darken other pixels.
    assert (np.abs(drawn - want).max(axis=-1) > 24).mean() < 2e-3
    assert (np.abs(drawn - at_bind).max(axis=-1) > 24).mean() > 0.02
    assert len(figures.group.children) == sum(len(m.sections) for m in who.meshes)


def test_buffers_are_arrays_for_whoever_asks(device):
    who = character(1)
    skinner = gpu.Skinner(who, device).update(np.zeros((2, 12, 3, 4)))
    assert (
        skinner.positions.raw.size >= 2 * who.vertex_count * 12
    )  # a wgpu.GPUBuffer, for vertex buffers and storage
    np.testing.assert_array_equal(np.from_dlpack(skinner.positions), skinner.positions.numpy())
    assert skinner.positions.numpy().shape == (2, who.vertex_count, 3)
    assert skinner.tangents.numpy().shape == (2, who.vertex_count, 4)


def test_pygfx_wants_its_own_device_and_floats(device):
    needed("pygfx")
    from marrow.gpu import pygfx as mpg

    who = character(1)
    other = gpu.Device.best(limits={"max-bind-groups": 4})
    with pytest.raises(ValidationError, match="another device"):
        mpg.Figures(gpu.Skinner(who, other))
    with pytest.raises(ValidationError, match="vectors='float'"):
        mpg.Figures(gpu.Skinner(who, mpg.device(), vectors="octahedral"))


def test_recipe_for_opengl_skins_as_the_cpu_does():
    needed("moderngl")
    spec = importlib.util.spec_from_file_location("moderngl_crowd", EXAMPLES / "moderngl_crowd.py")
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    try:
        context = recipe.without_window()
    except Exception as error:  # moderngl raises plain Exceptions
        missing(f"OpenGL without a window does not work here: {error}")
    who = mw.samples.lizard()
    posed = who.clips[0].sample([0.1, 0.5, 0.9])
    matrices = mw.skinning_matrices(who, who.skeleton.to_model(posed))
    program = context.program(vertex_shader=recipe.VERTEX, varyings=["skinned_position", "skinned_normal"])
    vertices, _ = recipe.vertices_of(who)
    layout = (context.buffer(vertices.tobytes()), "3f 3f 4u1 4f1", "position", "normal", "joints", "weights")
    points = context.vertex_array(program, [layout])
    context.simple_framebuffer((4, 4)).use()  # nothing is drawn, but OpenGL wants one
    N, P = matrices.shape[:2]
    palettes = context.texture((3 * P, N), 4, dtype="f4")
    palettes.write(np.ascontiguousarray(matrices, "f4").tobytes())
    palettes.use(0)
    out = context.buffer(reserve=N * who.vertex_count * 24)
    points.transform(out, vertices=who.vertex_count, instances=N)
    got = np.frombuffer(out.read(), np.float32).reshape(N, who.vertex_count, 6)
    packed = tuple(
        four.replace(weights=mw.unpack_weights(mw.pack_weights(four.weights)))
        for four in (mw.limit_influences(m, 4).mesh for m in who.meshes)
    )
    want = mw.skin(who.replace(meshes=packed), matrices)
    np.testing.assert_allclose(got[..., :3], want.positions, atol=1e-5)
    np.testing.assert_allclose(got[..., 3:], want.normals, atol=1e-3)
    context.release()
