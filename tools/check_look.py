"""Pictures of glTF files beside three.js' in Chromium: the same camera, the same light from all around.

    python tools/check_look.py FOLDER [--out OUT] [--most 60] [--size 256]

FOLDER has `.glb` files, such as those of KhronosGroup/glTF-Sample-Assets. Writes a table (difference over what is drawn, of
255, and the structural similarity of brightness) and sheets of pictures: marrow, three.js, four times the difference.
"""

from __future__ import annotations

import argparse
import base64
import io
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "rendering")]

import golden_pictures as pictures  # noqa: E402

import marrow as mw  # noqa: E402
from marrow.scene.environment_maps import environment_map  # noqa: E402
from studio.browser import chromium  # noqa: E402

ORIGIN = "http://three.test/"
LIGHT = "softboxes"
_PAGE = """<!doctype html><script type="importmap">
{"imports": {"three": "/three/build/three.module.js", "three/addons/": "/three/examples/jsm/"}}</script><body></body>"""
_START = """async ({sky, size}) => {
  const THREE = globalThis.THREE = await import("three");
  globalThis.Loader = (await import("three/addons/loaders/GLTFLoader.js")).GLTFLoader;
  const kind = {antialias: true, preserveDrawingBuffer: true, alpha: true};
  const renderer = globalThis.renderer = new THREE.WebGLRenderer(kind);
  renderer.setSize(size, size, false);
  renderer.setClearColor(0, 0);
  renderer.toneMapping = THREE.NeutralToneMapping;
  const texels = Uint8Array.from(atob(sky.data), (c) => c.charCodeAt(0));
  const map = new THREE.DataTexture(
    new Float32Array(texels.buffer), sky.width, sky.height, THREE.RGBAFormat, THREE.FloatType,
    THREE.EquirectangularReflectionMapping, undefined, undefined, THREE.LinearFilter, THREE.LinearFilter);
  map.flipY = true;
  map.needsUpdate = true;
  globalThis.around = new THREE.PMREMGenerator(renderer).fromEquirectangular(map).texture;
}"""
_DRAW = """async ({glb, eye, target, fov, near, far}) => {
  const bytes = Uint8Array.from(atob(glb), (c) => c.charCodeAt(0));
  const {scene: model} = await new Loader().parseAsync(bytes.buffer, "");
  model.traverse((o) => { if (o.isLight) o.visible = false; });
  const scene = new THREE.Scene();
  scene.add(model);
  scene.environment = around;
  const camera = new THREE.PerspectiveCamera(fov * 180 / Math.PI, 1, near, far);
  camera.position.set(...eye);
  camera.lookAt(...target);
  await renderer.compileAsync(scene, camera);
  renderer.render(scene, camera);
  return renderer.domElement.toDataURL("image/png");
}"""


def view_of(character: mw.Character) -> dict | None:
    """A camera that sees all of a character at rest."""
    points = mw.skin(character, character.skeleton.rest, normals=False, tangents=False).positions
    drawn = np.unique(
        np.concatenate([m.triangles.ravel() + o for m, o in zip(character.meshes, character.vertex_offsets)])
    )
    points = points[drawn].astype(np.float64)
    points = points[np.isfinite(points).all(1)]
    if not len(points):
        return None
    low, high = points.min(0), points.max(0)
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-6)
    middle = (low + high) / 2
    eye = middle + 3.0 * radius * np.array([0.42, 0.28, 0.863])
    return {
        "eye": eye.tolist(),
        "target": middle.tolist(),
        "fov": 0.66,
        "near": 0.05 * radius,
        "far": 20 * radius,
    }


def compare(files: list[Path], size: int, out: Path) -> list[tuple[str, float, float]]:
    light = environment_map(LIGHT)
    assert light is not None
    h, w = light.pixels.shape[:2]
    sky = np.concatenate([light.pixels, np.ones((h, w, 1), np.float32)], -1).astype("<f4")
    renderer = mw.Renderer((size, size), contact=False)
    modules = TESTS / "node" / "node_modules"
    rows, shown = [], []

    def serve(route):
        path = route.request.url.removeprefix(ORIGIN)
        if path.startswith("three/"):
            route.fulfill(body=(modules / path).read_bytes(), content_type="text/javascript")
        else:
            route.fulfill(body=_PAGE, content_type="text/html")

    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.route("http://three.test/**", serve)
        page.goto(ORIGIN)
        packed = {"data": base64.b64encode(sky.tobytes()).decode(), "width": w, "height": h}
        page.evaluate(_START, {"sky": packed, "size": size})
        for path in files:
            began = time.perf_counter()
            try:
                character = mw.load(path)
                view = view_of(character)
                if view is None:
                    raise ValueError("nothing is drawn")
                camera = mw.Camera.perspective(
                    view["eye"],
                    view["target"],
                    fov=view["fov"],
                    width=size,
                    height=size,
                    near=view["near"],
                    far=view["far"],
                )
                scene = mw.Scene(
                    mw.Actor(character, character.skeleton.rest),
                    lights=[mw.PointLight((0, 0, 0), intensity=0)],
                    ground=False,
                    environment=mw.Environment("transparent", light=LIGHT),
                )
                ours = np.asarray(renderer.render(scene, camera), np.float64)
                url = page.evaluate(_DRAW, {"glb": base64.b64encode(path.read_bytes()).decode(), **view})
            except Exception as error:  # what cannot be compared is said, and left out
                print(f"{path.stem}: left out: {str(error).splitlines()[0][:100]}", flush=True)
                continue
            data = base64.b64decode(url.split(",", 1)[1])
            theirs = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"), np.float64)
            a, b = (pictures.over_grey(p) for p in (ours, theirs))
            there = ((ours[..., 3] > 0) | (theirs[..., 3] > 0))[1:-1, 1:-1]
            soft = np.abs(pictures.box(a, 3) - pictures.box(b, 3)).mean(-1)
            off = float(soft[there].mean()) if there.any() else 0.0
            alike = float(pictures.difference(ours, theirs).structure)
            rows.append((path.stem, off, alike))
            shown.append((path.stem, off, alike, a, b))
            print(f"{path.stem}: {off:.1f} {alike:.3f}  ({time.perf_counter() - began:.1f} s)", flush=True)
    write(rows, shown, size, out)
    return rows


def write(rows, shown, size: int, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    lines = ["| model | difference of 255 | structure |", "| --- | --- | --- |"]
    lines += [f"| {name} | {off:.1f} | {alike:.3f} |" for name, off, alike in sorted(rows)]
    if rows:
        off, alike = np.median([r[1] for r in rows]), np.median([r[2] for r in rows])
        lines.append(f"| **median of {len(rows)}** | {off:.1f} | {alike:.3f} |")
    (out / "look.md").write_text("\n".join(lines) + "\n", "utf-8")
    step, per = size // 2, 6
    for first in range(0, len(shown), 5 * per):
        some = shown[first : first + 5 * per]
        sheet = Image.new("RGB", (per * (2 * step + 6), -(-len(some) // per) * (step + 14)), (30, 32, 36))
        draw = ImageDraw.Draw(sheet)
        for k, (name, off, alike, a, b) in enumerate(some):
            x, y = k % per * (2 * step + 6), k // per * (step + 14)
            for i, p in enumerate((a, b)):
                tile = Image.fromarray(np.clip(p[..., :3], 0, 255).astype(np.uint8)).resize(
                    (step, step), Image.Resampling.LANCZOS
                )
                sheet.paste(tile, (x + i * step, y + 13))
            draw.text((x + 2, y + 1), f"{name[:24]}  {off:.1f}  {alike:.2f}", fill=(220, 222, 226))
        sheet.save(out / f"look_{first // (5 * per) + 1}.png")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("look"))
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--size", type=int, default=256)
    wanted = parser.parse_args()
    files = sorted(wanted.folder.glob("*.glb"))[: wanted.most]
    if not files:
        sys.exit(f"{wanted.folder}: no .glb files")
    rows = compare(files, wanted.size, wanted.out)
    print(f"{len(rows)} compared: see {wanted.out / 'look.md'}")


if __name__ == "__main__":
    main()
