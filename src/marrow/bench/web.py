"""`marrow bench web`: the runtimes without Python: in node and Chromium (WebAssembly), and libmarrow, beside the
extension module."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from marrow import samples
from marrow.bench.harness import Contest
from marrow.graph import Animator
from marrow.kernels.backend import backend
from marrow.runtime.baking import baked
from marrow.runtime.build import WEB, built
from marrow.runtime.native import NativeCrowd, NativeRuntime
from marrow.skinning import skin

__all__ = ["contests"]

DT = 1 / 60
COUNT = 1_000
STEPS = """
export function prepare(engine, bytes, count) {
  const crowd = engine.load(bytes).create(count);
  crowd.set("speed", Array.from({ length: count }, (_, n) => (3.6 * n) / count));
  crowd.set("upper", Array.from({ length: count }, (_, n) => (n % 3) / 2));
  for (let k = 0; k < 30; k++) crowd.update(1 / 60);
  return crowd;
}
export function timed(crowd, what) {
  let best = Infinity;
  for (let k = 0; k < 5; k++) {
    const begun = performance.now();
    if (what !== "skin") crowd.update(1 / 60);
    if (what === "poses") crowd.matrices;
    if (what === "skin") crowd.skin({ instances: [0], tangents: true });
    best = Math.min(best, performance.now() - begun);
  }
  return best / 1000;
}
"""
NODE = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [web, built, file, count] = process.argv.slice(2);
const { createEngine } = await import(web + "/marrow.js");
const { prepare, timed } = await import("./steps.mjs");
const engine = await createEngine({ wasm: readFileSync(built) });
const crowd = prepare(engine, readFileSync(file), Number(count));
console.log(JSON.stringify(engine.strict));
for await (const what of createInterface({ input: process.stdin })) console.log(JSON.stringify(timed(crowd, what)));
"""


class Timed:
    """A call that is timed where it is made: the best of a few there."""

    def __init__(self, measure: Callable[[], float]) -> None:
        self._measure, self.seconds = measure, 0.0

    def __call__(self) -> None:
        self.seconds = self._measure()


class NodeCrowd:
    """A crowd in node, in a process of its own."""

    def __init__(self, folder: Path, file: Path, count: int) -> None:
        (folder / "steps.mjs").write_text(STEPS)
        (folder / "node.mjs").write_text(NODE)
        command = ["node", "--experimental-wasm-relaxed-simd", str(folder / "node.mjs")]
        self.process = subprocess.Popen(
            [*command, str(WEB), str(built("wasm")), str(file), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.process.kill)
        self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def measure(self, what: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self._answer())


class PageCrowd:
    """A crowd in a tab of Chromium."""

    def __init__(self, file: Path, count: int) -> None:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        atexit.register(self._playwright.stop)
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        flags = ["--headless", "--no-sandbox"]
        self.page = self._playwright.chromium.launch(executable_path=path, args=flags).new_page()
        module = (WEB / "marrow.js").read_text().replace("import.meta.url", "'http://nowhere/'")
        self.page.evaluate(
            """async ([module, steps, wasm, data, count]) => {
              const load = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
              const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
              const { createEngine } = await load(module), { prepare, timed } = await load(steps);
              const engine = await createEngine({ wasm: bytes(wasm) });
              window.crowd = prepare(engine, bytes(data), count);
              window.timed = timed;
            }""",
            [module, STEPS, _text(built("wasm").read_bytes()), _text(file.read_bytes()), count],
        )

    def measure(self, what: str) -> float:
        return float(self.page.evaluate("(what) => window.timed(window.crowd, what)", what))


def _text(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def contests() -> list[Contest]:
    """Control, control and poses, and a skin; each in all that there is."""
    hero, graph = samples.mannequin(), samples.mannequin_graph()
    data = baked(hero, graph, skins=True)[0]
    folder = Path(tempfile.mkdtemp())
    (folder / "hero.mrt").write_bytes(data)
    own = Animator(hero, graph, count=COUNT, threads=1)
    own["speed"], own["upper"] = 3.6 * np.arange(COUNT) / COUNT, (np.arange(COUNT) % 3) / 2
    library = NativeRuntime().load(data).create(COUNT)
    library.set("speed", 3.6 * np.arange(COUNT) / COUNT)
    library.set("upper", (np.arange(COUNT) % 3) / 2)
    for _ in range(30):
        own.update(DT)
        library.update(DT)
    others: dict[str, Any] = {}
    if shutil.which("node"):
        others["node"] = NodeCrowd(folder, folder / "hero.mrt", COUNT)
    try:
        others["Chromium"] = PageCrowd(folder / "hero.mrt", COUNT)
    except Exception as error:  # there may be no browser: the table says so by what it lacks
        others.pop("Chromium", None)
        print(f"no Chromium: {type(error).__name__}")
    return [_contest(what, own, library, others) for what in ("control", "poses", "skin")]


def _contest(what: str, own: Animator, library: NativeCrowd, others: dict[str, Any]) -> Contest:
    name = f"extension module ({backend().name})"
    titles = {
        "control": f"{COUNT:,} mannequins of the full graph: control",
        "poses": f"{COUNT:,} mannequins of the full graph: control and skinning matrices",
        "skin": "a skin with normals and tangents",
    }
    own_call: Callable[[], object]
    native: Callable[[], object]
    if what == "skin":
        own_call, native = partial(_skin, own), partial(library.skin, [0])
    else:
        own_call, native = partial(_update, own, what == "poses"), partial(_native, library, what == "poses")
    entries: dict[str, Callable[[], object]] = {"libmarrow": native, name: own_call}
    entries |= {other: Timed(partial(crowd.measure, what)) for other, crowd in others.items()}
    goals = {name: 1.03} if what != "skin" else {}
    return Contest(
        titles[what], "call", 1, entries, ["One thread each; wasm: the best of five calls there."], goals
    )


def _update(crowd: Animator, poses: bool) -> None:
    crowd.update(DT)
    if poses:
        _ = crowd.matrices


def _native(crowd: NativeCrowd, poses: bool) -> None:
    crowd.update(DT)
    if poses:
        crowd.library.mrw_matrices(crowd.pointer)


def _skin(crowd: Animator) -> None:
    skin(
        crowd.character,
        crowd.matrices[0],
        morphs=np.zeros(len(crowd.character.skeleton.morph_names), np.float32),
        threads=1,
    )
