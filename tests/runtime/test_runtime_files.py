"""Baked files: what cannot be baked is said, what was changed is refused or plays, and the C example runs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.errors import FormatError, MarrowError, ValidationError
from marrow.graph import Function, Graph, JointOverride, Retarget, load_graph, save_graph
from marrow.runtime import bake_runtime, baked
from marrow.runtime.build import BUILT, SOURCES, WASM, WEB, built, main, web_files
from marrow.runtime.container import read_sections, sealed
from marrow.runtime.native import NativeRuntime
from runtime_hostile import exercise, mutant
from runtime_worlds import STICK, P, busy, swinging
from surroundings import missing, repeats

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runtime():
    return NativeRuntime()


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (Function("walk", "mine"), r"root is a function of Python's"),
        (
            JointOverride(Function("walk", "mine"), ("arm",), name="over"),
            r"root\.source is a function of Python's",
        ),
        (Retarget("other"), r"root is Retarget, which shows another animator"),
    ],
)
def test_what_cannot_be_baked_is_said_with_its_path(node, words, tmp_path):
    with pytest.raises(ValidationError, match=words):
        bake_runtime(STICK, Graph(node), tmp_path / "no.mrt")
    assert not list(tmp_path.iterdir())


def test_the_command_bakes_and_says_what_it_baked(tmp_path, capsys):
    from marrow.cli.app import run as main

    save_graph(busy(), tmp_path / "busy.json")
    mw.save(STICK, tmp_path / "stick.marrow")
    arguments = ["bake-runtime", str(tmp_path / "stick.marrow"), "--graph", str(tmp_path / "busy.json"), "-o"]
    assert main([*arguments, str(tmp_path / "stick.mrt")]) == 0
    assert "6 joints, 6 clips, 5 parameters" in capsys.readouterr().out
    data = (tmp_path / "stick.mrt").read_bytes()
    assert (
        data == baked(mw.load(tmp_path / "stick.marrow"), load_graph(tmp_path / "busy.json"), skins=True)[0]
    )
    assert main([*arguments, str(tmp_path / "stick.mrt")]) == 2, "it is there already"
    assert main([*arguments[:3], "nothing.json", "-o", str(tmp_path / "other.mrt")]) == 2


def test_files_that_are_not_whole_or_of_another_version_are_refused(runtime):
    data, _ = baked(STICK, busy())
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    other = bytearray(data)
    other[24] ^= 1
    cases = {
        "damaged": bytes(damaged),
        "another version": bytes(other),
        "not whole": data[:-64],
        "no baked": b"\0" * 640,
    }
    for words, bad in cases.items():
        with pytest.raises(MarrowError, match=words):
            runtime.load(bad)
        with pytest.raises(FormatError, match=words):
            read_sections(bad)
    assert sealed(data) == data
    for bad in (b"", data[:40], data[:64], data[: 64 * 9]):
        with pytest.raises(MarrowError):
            runtime.load(bad)


def test_changed_files_are_refused_or_play(tmp_path):
    """Each in a process of its own, so that a crash is seen; `make fuzz` does it at length, with kernels that look at every
    index."""
    some = STICK.replace(
        clips=[c.compressed() if c.name in ("run", "up") else c for c in STICK.clips.values()]
    )
    data, _ = baked(some, busy(), skins=True)
    (tmp_path / "busy.mrt").write_bytes(data)
    count = repeats(1000)
    command = [
        sys.executable,
        str(ROOT / "tests" / "runtime_hostile.py"),
        str(built("native")),
        str(tmp_path / "busy.mrt"),
    ]
    done = subprocess.run([*command, "0", str(count)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout.splitlines()[-1] + done.stderr[-500:]
    told = done.stdout.splitlines()[-1]
    assert "plays" in told and "is not sound" in told, "both happen"


def test_a_skeleton_that_goes_in_a_circle_is_refused(runtime):
    """Solvers walk up in a copy of its own of what the poses' kernel reads: one that differs was walked for ever."""
    data, _ = baked(STICK, busy())
    begin = read_sections(data)["parents"][0]
    for joint, parent in ((1, 4), (3, 0), (0, 0)):
        bad = bytearray(data)
        bad[begin + 4 * joint : begin + 4 * joint + 4] = np.int32(parent).tobytes()
        with pytest.raises(MarrowError, match="skeleton is not sound"):
            runtime.load(sealed(bad))


def test_mutants_are_sealed_and_numbered(runtime):
    data, _ = baked(STICK, busy())
    assert mutant(data, 5) == mutant(data, 5) != mutant(data, 6)
    assert exercise(runtime, data, 0) == "plays"


def test_calls_that_make_no_sense_are_refused_in_words(runtime):
    character = runtime.load(baked(STICK, busy())[0])
    crowd = character.create(3)
    for call, words in (
        (lambda: crowd.set("none", 1.0), "no parameter"),
        (lambda: crowd.set("x", np.nan), "NaN"),
        (lambda: crowd.set("x", [1.0, 2.0]), "expected 1 or 3 numbers"),
        (lambda: crowd.set("go", 1.0), "trigger"),
        (lambda: crowd.trigger("x"), "no trigger"),
        (lambda: crowd.trigger("go", [7]), r"expected 0\.\.2, got 7"),
        (lambda: crowd.update(-0.1), "forward only"),
        (lambda: crowd.update(np.inf), "numbers up to"),
        (lambda: crowd.play("walk"), "runs a graph"),
        (lambda: crowd.slot_play("s", "plus"), "cannot play"),
        (lambda: crowd.slot_play("s", "up", speed=0.0), "speed"),
        (lambda: crowd.remove([0, 1, 2]), "at least one"),
        (lambda: crowd.restore(b"1234"), "no snapshot"),
        (lambda: crowd.skin(), "without skins"),
        (lambda: character.create(0), "from 1 to"),
        (lambda: character.create(10**9), "from 1 to"),
        (lambda: crowd.set_root([np.inf, 0, 0]), "finite"),
        (lambda: crowd.set_root(None, [0, 0, 0, 2.0]), "unit"),
    ):
        with pytest.raises(MarrowError, match=words):
            call()
    before = crowd.matrices
    crowd.set("y", 1.0)
    crowd.update(0.3)
    moment = crowd.snapshot()
    damaged = bytearray(moment)
    damaged[len(moment) // 2] ^= 255
    for bad in (bytes(damaged), moment[:-8], moment + b"\0" * 8):
        with pytest.raises(MarrowError, match="restore"):
            crowd.restore(bad)
    assert not np.array_equal(before, crowd.matrices)


def test_settings_of_springs_are_read_changed_and_refused_in_words(runtime):
    character = runtime.load(baked(STICK, swinging())[0])
    assert character.names["springs"] == ["spine", "arm"]
    crowd, animator = character.create(2), mw.Animator(STICK, swinging(), count=2)
    for settings in ({}, {"stiffness": 2.0, "gravity": -0.7}, {"drag": 0.9, "radius": 0.1, "limit": 0.3}):
        crowd.set_spring("arm", **settings)
        animator.springs["arm"].set(**settings)
        for chain, told in animator.springs.settings().items():
            assert {name: crowd.spring(chain, name) for name in told} == told
    for call, words in (
        (lambda: crowd.set_spring("hair", drag=0.5), "no chain"),
        (lambda: crowd.set_spring("arm", drag=1.5), "drag must be from 0 to 1"),
        (lambda: crowd.set_spring("arm", stiffness=np.nan), "stiffness must be from 0"),
        (lambda: crowd.set_spring("arm", limit=4.0), "limit must be from 0 to pi"),
        (lambda: crowd.set_wind([np.inf, 0.0, 0.0]), "wind: expected three numbers"),
    ):
        with pytest.raises(MarrowError, match=words):
            call()
    crowd.reset_springs()
    assert crowd.spring("arm", "stiffness") == 0.6
    wind = Graph(swinging().root.replace(source=swinging().root.source.replace(wind="v")), P)
    steered = runtime.load(baked(STICK, wind)[0]).create(1)
    with pytest.raises(MarrowError, match="the wind is a parameter of the graph"):
        steered.set_wind([1.0, 0.0, 0.0])


def test_the_example_in_c_prints_what_python_computes(tmp_path):
    """Compiled by zig, against the header and the library as they are given to engines."""
    if shutil.which("cc") is None:
        missing("there is no C compiler")
    hero, graph = mw.samples.mannequin(), mw.samples.mannequin_graph()
    (tmp_path / "hero.mrt").write_bytes(baked(hero, graph)[0])
    library = built("native")
    command = [
        "cc",
        str(SOURCES / "examples" / "crowd.c"),
        "-I",
        str(BUILT),
        "-L",
        str(BUILT),
        "-lmarrow",
        "-o",
        str(tmp_path / "crowd"),
    ]
    subprocess.run([*command, f"-Wl,-rpath,{library.parent}"], check=True)
    done = subprocess.run(
        [str(tmp_path / "crowd"), str(tmp_path / "hero.mrt"), "5", "1"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    crowd = mw.Animator(hero, graph, count=5)
    crowd["speed"] = 2.0
    happened = 0
    for frame in range(60):
        if frame % 20 == 0:
            crowd.trigger("jump", instances=[frame % 5])
        crowd.update(1 / 60)
        happened += len(crowd.events._happened)
    x, y, z = crowd.root.translation[0]
    matrix = " ".join(f"{v:.4f}" for v in crowd.matrices[0, 0, 0])
    assert f"{happened} things happened; the first is at ({x:.3f}, {y:.3f}, {z:.3f})" in done.stdout
    assert done.stdout.strip().endswith(matrix)
    refused = subprocess.run([str(tmp_path / "crowd"), __file__], capture_output=True, text=True)
    assert refused.returncode == 1 and "no baked character" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "windows-x86_64"], "--target and --out go together"),
        (["--out", "somewhere"], "--target and --out go together"),
        (["--target"], "expected one argument"),
        (["--target", "amiga", "--out", "x"], "invalid choice: 'amiga'"),
        (["natve"], "expected wasm, strict or native, got 'natve'"),
        (["native", "--target", "windows-x86_64", "--out", "x"], "builds libmarrow alone, not 'native'"),
    ],
)
def test_what_cannot_be_built_is_said(arguments, words, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert words in capsys.readouterr().err


def test_the_npm_package_has_what_it_names_and_brings_what_is_built(tmp_path):
    """`npm pack` runs `prepack.mjs` first: without it the package would have no engine."""
    package = json.loads((WEB / "package.json").read_text())
    assert {path.name for path in web_files(tmp_path)} == {*package["files"], "package.json"}
    assert package["scripts"]["prepack"] == "node prepack.mjs"
    node = shutil.which("node") or missing("node is not installed")
    beside = tmp_path / "runtime" / "web"
    beside.mkdir(parents=True)
    shutil.copy(WEB / "prepack.mjs", beside)
    shutil.copy(ROOT / "LICENSE", tmp_path)
    refused = subprocess.run([node, beside / "prepack.mjs"], capture_output=True, text=True)
    assert refused.returncode == 1 and "marrow.wasm is not built: run `make runtime`" in refused.stderr
    made = tmp_path / "src" / "marrow" / "runtime" / "built"
    made.mkdir(parents=True)
    for name in WASM.values():
        shutil.copy(BUILT / name, made)
    subprocess.run([node, beside / "prepack.mjs"], check=True)
    assert {path.name for path in beside.iterdir()} == {"prepack.mjs", "LICENSE", *WASM.values()}
