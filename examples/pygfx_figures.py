"""Three mannequins in pygfx, their shadows included, to figures.png."""

import numpy as np
import pygfx as gfx
from PIL import Image
from rendercanvas.offscreen import OffscreenRenderCanvas

import marrow as mw
from marrow.gpu import Skinner
from marrow.gpu import pygfx as mpg

hero = mw.samples.mannequin()
crowd = mw.Animator(hero, mw.samples.mannequin_graph(), count=3)
crowd["speed"] = [0.0, 1.4, 3.4]
for _ in range(40):
    crowd.update(1 / 60)
matrices = crowd.matrices.copy()
matrices[:, :, 0, 3] += np.array([-1.2, 0.0, 1.2])[:, None]  # side by side

figures = mpg.Figures(Skinner(hero, mpg.device()))
figures.update(matrices)

scene = gfx.Scene()
scene.add(gfx.Background.from_color("#cfd8e3"), gfx.AmbientLight("#ffffff", 0.6), figures.group)
sun = gfx.DirectionalLight("#ffffff", 3, cast_shadow=True)
sun.local.position = (3, 5, 3)
sun.shadow.camera.width = sun.shadow.camera.height = 8
floor = gfx.Mesh(
    gfx.plane_geometry(10, 10), gfx.MeshStandardMaterial(color="#9999aa", roughness=1, metalness=0)
)
floor.local.rotation = (-(0.5**0.5), 0, 0, 0.5**0.5)
floor.receive_shadow = True
scene.add(sun, floor)
camera = gfx.PerspectiveCamera(40, 3 / 2)
camera.local.position = (1.5, 2.0, 4.8)
camera.look_at((0, 0.8, 0))

canvas = OffscreenRenderCanvas(size=(600, 400), pixel_ratio=1)
renderer = gfx.WgpuRenderer(canvas)
canvas.request_draw(lambda: renderer.render(scene, camera))
Image.fromarray(np.asarray(canvas.draw())).save("figures.png")
print("figures.png: three mannequins and their shadows, skinned by marrow, drawn by pygfx")
