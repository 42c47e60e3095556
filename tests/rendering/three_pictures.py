"""Pictures of GLB files drawn by three.js in Chromium: what materials are compared with.

    python tests/rendering/three_pictures.py            # draws tests/rendering/golden/three_*.png anew
    python tests/rendering/three_pictures.py FILE OUT   # any GLB, to look at

The light is the same as ours: a sun, and around it the studio's light as an environment map, which three.js blurs in
its own way.
"""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path

import brdf
import golden_pictures as pictures
import numpy as np
from PIL import Image

TESTS = Path(__file__).resolve().parents[1]
ORIGIN = "http://three.test/"
_PAGE = """<!doctype html><script type="importmap">
{"imports": {"three": "/three/build/three.module.js", "three/addons/": "/three/examples/jsm/"}}</script><body></body>"""
_DRAW = """async ({glb, sky, size, eye, target, fov, sun, ambient}) => {
  const THREE = await import("three");
  const {GLTFLoader} = await import("three/addons/loaders/GLTFLoader.js");
  const bytes = Uint8Array.from(atob(glb), (c) => c.charCodeAt(0));
  const {scene: model} = await new GLTFLoader().parseAsync(bytes.buffer, "");
  const renderer = new THREE.WebGLRenderer({antialias: true, preserveDrawingBuffer: true});
  renderer.setSize(size[0], size[1], false);
  renderer.toneMapping = THREE.NeutralToneMapping;
  const scene = new THREE.Scene();
  scene.add(model);
  const light = new THREE.DirectionalLight(new THREE.Color(...sun.color), sun.intensity);
  light.position.set(...sun.direction.map((x) => -x));
  scene.add(light);
  if (ambient > 0) {
    const texels = Uint8Array.from(atob(sky.data), (c) => c.charCodeAt(0));
    const map = new THREE.DataTexture(
      new Float32Array(texels.buffer), sky.width, sky.height, THREE.RGBAFormat, THREE.FloatType,
      THREE.EquirectangularReflectionMapping, undefined, undefined, THREE.LinearFilter, THREE.LinearFilter);
    map.flipY = true;
    map.needsUpdate = true;
    scene.environment = new THREE.PMREMGenerator(renderer).fromEquirectangular(map).texture;
    scene.environmentIntensity = ambient;
  }
  const camera = new THREE.PerspectiveCamera(fov * 180 / Math.PI, size[0] / size[1], 0.1, 100);
  camera.position.set(...eye);
  camera.lookAt(...target);
  scene.background = new THREE.Color(0, 0, 0);
  await renderer.compileAsync(scene, camera);
  renderer.render(scene, camera);
  return renderer.domElement.toDataURL("image/png");
}"""


def sky(width=512, height=256):
    """The studio's light all around, as an equirectangular map of RGBA floats, the first row on top."""
    polar = (np.arange(height) + 0.5) / height * np.pi
    turn = ((np.arange(width) + 0.5) / width - 0.5) * 2 * np.pi
    p, t = np.meshgrid(polar, turn, indexing="ij")
    # three.js: u is atan(z, x) over a whole turn plus a half.
    direction = np.stack([np.sin(p) * np.cos(t), np.cos(p), np.sin(p) * np.sin(t)], -1)
    light = brdf.ambient_light(direction, 1e4)
    data = np.concatenate([light, np.ones((height, width, 1))], -1).astype("<f4")
    return {"data": base64.b64encode(data.tobytes()).decode(), "width": width, "height": height}


def draw(glb: bytes, jobs, *, node_modules=TESTS / "node" / "node_modules"):
    """Draws pictures of one file; a job has size, eye, target, fov, sun and ambient. `(H, W, 4)` each."""
    sys.path.insert(0, str(TESTS))
    from studio.browser import chromium

    def serve(route):
        path = route.request.url.removeprefix(ORIGIN)
        if path.startswith("three/"):
            body = (node_modules / path).read_bytes()
            route.fulfill(body=body, content_type="text/javascript")
        else:
            route.fulfill(body=_PAGE, content_type="text/html")

    with chromium() as browser:
        page = browser.new_page()
        page.route("**/*", serve)
        page.goto(ORIGIN)
        common = {"glb": base64.b64encode(glb).decode(), "sky": sky()}
        urls = [page.evaluate(_DRAW, common | job) for job in jobs]
    return [_pixels(url) for url in urls]


def _pixels(url):
    data = base64.b64decode(url.split(",", 1)[1])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"), np.float64)


def swatch_jobs():
    import swatches

    s = swatches.SUN
    sun = {"direction": list(s.direction), "color": list(s.color), "intensity": s.intensity}
    common = {
        "size": swatches.SIZE,
        "eye": swatches.EYE,
        "target": swatches.TARGET,
        "fov": swatches.FOV,
        "sun": sun,
    }
    return {"three_sun": common | {"ambient": 0.0}, "three_studio": common | {"ambient": 1.0}}


def main(arguments):
    import tempfile

    import swatches

    import marrow as mw

    jobs = swatch_jobs()
    if arguments:
        [found] = draw(Path(arguments[0]).read_bytes(), [jobs["three_studio"]])
        pictures.save(arguments[1], found)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "swatches.glb"
        mw.save(swatches.swatches(), path)
        for name, found in zip(jobs, draw(path.read_bytes(), list(jobs.values()))):
            pictures.save(pictures.GOLDEN / f"{name}.png", found[..., :3])


if __name__ == "__main__":
    main(sys.argv[1:])
