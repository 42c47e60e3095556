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
from marrow.bench.ozz_web import MISSING, OZZ_STEPS, ozz_data, ozz_module
from marrow.graph import Animator, BlendSpace1D, Graph, Parameter
from marrow.kernels.backend import backend
from marrow.runtime.baking import baked
from marrow.runtime.build import WEB, built
from marrow.runtime.native import NativeCrowd, NativeRuntime
from marrow.skinning import skin

__all__ = ["contests"]

DT = 1 / 60
COUNT = 1_000
PAIR = ("walk", "run")
TITLES = {
    "control": f"{COUNT:,} mannequins of the full graph: control",
    "poses": f"{COUNT:,} mannequins of the full graph: control and skinning matrices",
    "skin": "a skin with normals and tangents",
    "blend": f"{COUNT:,} mannequins: two clips sampled, blended, and to model space",
}
STEPS = """
export function prepare(engine, bytes, count) {
  const crowd = engine.load(bytes).create(count);
  const known = crowd.character.parameters.map((one) => one.name);
  if (known.includes("speed")) crowd.set("speed", Array.from({ length: count }, (_, n) => (3.6 * n) / count));
  if (known.includes("upper")) crowd.set("upper", Array.from({ length: count }, (_, n) => (n % 3) / 2));
  for (let k = 0; k < 30; k++) crowd.update(1 / 60);
  return crowd;
}
export function timed(crowd, what) {
  let best = Infinity;
  for (let k = 0; k < 5; k++) {
    const begun = performance.now();
    const many = what === "skin" ? 5 : 1;  // clocks of pages are coarse
    for (let k = 0; k < many; k++) {
      if (what !== "skin") crowd.update(1 / 60);
      if (what === "poses") crowd.matrices;
      if (what === "blend") crowd.modelMatrices;
      if (what === "skin") crowd.skinned = crowd.skin({ instances: [0], tangents: true, into: crowd.skinned });
    }
    best = Math.min(best, (performance.now() - begun) / many);
  }
  return best / 1000;
}
"""
NODE = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [web, built, folder, count, module] = process.argv.slice(2);
const { createEngine } = await import(web + "/marrow.js");
const { prepare, timed, prepareOzz, timedOzz } = await import("./steps.mjs");
const engine = await createEngine({ wasm: readFileSync(built) });
const read = (name) => readFileSync(`${folder}/${name}`), many = Number(count);
const [crowd, blended] = ["hero.mrt", "blend.mrt"].map((name) => prepare(engine, read(name), many));
const numbers = new Float32Array(new Uint8Array(read("ozz.bin")).buffer);
const ozz = module ? await prepareOzz(readFileSync(module), numbers, many) : null;
console.log(JSON.stringify(engine.strict));
for await (const what of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(what === "ozz" ? timedOzz(ozz) : timed(what === "blend" ? blended : crowd, what)));
"""


class Timed:
    """A call that is timed where it is made: the best of a few there."""

    def __init__(self, measure: Callable[[], float]) -> None:
        self._measure, self.seconds = measure, 0.0

    def __call__(self) -> None:
        self.seconds = self._measure()


class NodeCrowd:
    """A crowd in node, in a process of its own."""

    def __init__(self, folder: Path, count: int, ozz: Path | None) -> None:
        (folder / "steps.mjs").write_text(STEPS + OZZ_STEPS)
        (folder / "node.mjs").write_text(NODE)
        command = ["node", "--experimental-wasm-relaxed-simd", str(folder / "node.mjs")]
        self.process = subprocess.Popen(
            [*command, str(WEB), str(built("wasm")), str(folder), str(count), *([str(ozz)] if ozz else [])],
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

    def __init__(self, folder: Path, count: int, ozz: Path | None) -> None:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        atexit.register(self._playwright.stop)
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        flags = ["--headless", "--no-sandbox"]
        self.page = self._playwright.chromium.launch(executable_path=path, args=flags).new_page()
        module = (WEB / "marrow.js").read_text().replace("import.meta.url", "'http://nowhere/'")
        self.page.evaluate(
            """async ([module, steps, wasm, count, hero, blend, ozz, numbers]) => {
              const load = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
              const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
              const { createEngine } = await load(module), { prepare, timed, prepareOzz, timedOzz } = await load(steps);
              const engine = await createEngine({ wasm: bytes(wasm) });
              const crowds = [hero, blend].map((data) => prepare(engine, bytes(data), count));
              const rival = ozz ? await prepareOzz(bytes(ozz), new Float32Array(bytes(numbers).buffer), count) : null;
              window.measure = (what) => (what === "ozz" ? timedOzz(rival) : timed(crowds[what === "blend" ? 1 : 0], what));
            }""",
            [
                module,
                STEPS + OZZ_STEPS,
                _text(built("wasm").read_bytes()),
                count,
                *(_text((folder / name).read_bytes()) for name in ("hero.mrt", "blend.mrt")),
                _text(ozz.read_bytes()) if ozz else "",
                _text((folder / "ozz.bin").read_bytes()),
            ],
        )

    def measure(self, what: str) -> float:
        return float(self.page.evaluate("(what) => window.measure(what)", what))


def _text(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def contests() -> list[Contest]:
    """Control, control and poses, a skin, and two clips that are blended; each in all that there is."""
    hero, graph, folder = samples.mannequin(), samples.mannequin_graph(), Path(tempfile.mkdtemp())
    blend = Graph(BlendSpace1D.of("x", {0: PAIR[0], 1: PAIR[1]}), {"x": Parameter(default=0.4)})
    files = {"hero": baked(hero, graph, skins=True)[0], "blend": baked(hero, blend)[0]}
    for name, data in files.items():
        (folder / f"{name}.mrt").write_bytes(data)
    ozz = ozz_module()
    (folder / "ozz.bin").write_bytes(ozz_data(hero, PAIR))
    own = {name: Animator(hero, g, count=COUNT, threads=1) for name, g in (("hero", graph), ("blend", blend))}
    library = {name: NativeRuntime().load(data).create(COUNT) for name, data in files.items()}
    for name, values in (("speed", 3.6 * np.arange(COUNT) / COUNT), ("upper", (np.arange(COUNT) % 3) / 2)):
        own["hero"][name] = values
        library["hero"].set(name, values)
    for _ in range(30):
        for mine in own.values():
            mine.update(DT)
        for crowd in library.values():
            crowd.update(DT)
    others: dict[str, Any] = {}
    try:
        others["Chromium"] = PageCrowd(folder, COUNT, ozz)
    except Exception as error:  # there may be no browser: the table says so by what it lacks
        print(f"no Chromium: {type(error).__name__}")
    if shutil.which("node"):
        others["node"] = NodeCrowd(folder, COUNT, ozz)
    found = []
    for what in TITLES:
        which = "blend" if what == "blend" else "hero"
        found.append(_contest(what, own[which], library[which], others, ozz is not None))
    found += [_same(what, own["hero"], library["hero"]) for what in ("control", "poses")]
    return found


def _calls(
    what: str, own: Animator, library: NativeCrowd
) -> tuple[Callable[[], object], Callable[[], object]]:
    """What the extension module and libmarrow do."""
    if what == "skin":
        return partial(_skin, own), partial(library.skin, [0])
    return partial(_update, own, what), partial(_native, library, what)


def _contest(what: str, own: Animator, library: NativeCrowd, others: dict[str, Any], ozz: bool) -> Contest:
    """Pages first: they may take twice what AVX2 takes."""
    module = f"extension module ({backend().name})"
    entries: dict[str, Callable[[], object]] = {
        name: Timed(partial(c.measure, what)) for name, c in others.items()
    }
    entries[module], entries["libmarrow"] = _calls(what, own, library)
    goals = {module: 2.0} if backend().name == "v3" else {}
    notes = ["One thread each; in pages and node the best of five there."]
    if what == "blend":
        entries |= {f"ozz in {name}": Timed(partial(c.measure, "ozz")) for name, c in others.items() if ozz}
        goals = {f"ozz in {name}": 1.0 for name in others if ozz}
        notes += [] if ozz else [MISSING]
    elif backend().name != "v3":
        notes.append("With MARROW_KERNELS=v3 the module is that of AVX2, which pages are held against.")
    return Contest(TITLES[what], "call", 1, entries, notes, goals, 3e-3 if what == "poses" else None)


def _same(what: str, own: Animator, library: NativeCrowd) -> Contest:
    """The library beside the module."""
    name = f"extension module ({backend().name})"
    module, native = _calls(what, own, library)
    return Contest(
        f"{TITLES[what]}, libmarrow", "call", 1, {"libmarrow": native, name: module}, [], {name: 1.03}
    )


def _update(crowd: Animator, what: str) -> None:
    crowd.update(DT)
    if what == "poses":
        _ = crowd.matrices
    elif what == "blend":
        _ = crowd.model_matrices


def _native(crowd: NativeCrowd, what: str) -> None:
    crowd.update(DT)
    if what == "poses":
        crowd.library.mrw_matrices(crowd.pointer)
    elif what == "blend":
        crowd.library.mrw_model_matrices(crowd.pointer)


def _skin(crowd: Animator) -> None:
    skin(
        crowd.character,
        crowd.matrices[0],
        morphs=np.zeros(len(crowd.character.skeleton.morph_names), np.float32),
        threads=1,
    )
