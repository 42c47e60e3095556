"""The benchmark measures what it says: twins and rivals give marrow's own answers."""

import json
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.animation.bank import ClipBank
from marrow.bench import core, ground, lod_build, report
from marrow.bench import io as loading
from marrow.bench.body import random_pose, synthetic_body
from marrow.bench.harness import Contest
from marrow.bench.rivals import numpy_dense, numpy_gather, scipy_sparse
from marrow.bench.twins import load_twins
from marrow.cli.app import run
from marrow.cli.bench import ONE_THREAD
from marrow.graph import GroundMesh, HeightField
from marrow.skinning import skin, skinning_matrices
from marrow.skinning.layout import layout_of
from surroundings import missing


@pytest.fixture(scope="module")
def twins():
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        missing("no C++ compiler to build the twins with: apt-get install g++")
    built = load_twins()
    assert built is not None
    return built


@pytest.fixture(scope="module")
def body():
    return synthetic_body(700)


def test_body_has_the_statistics_it_claims():
    whole = synthetic_body(26_000)
    counts = np.bincount(whole.meshes[0].influence_counts, minlength=5)[1:] / 26_000
    np.testing.assert_allclose(counts, [0.10, 0.42, 0.35, 0.13], atol=0.05)
    sets = {tuple(sorted(j[w > 0])) for j, w in zip(whole.meshes[0].joints, whole.meshes[0].weights)}
    assert 120 <= len(sets) <= 160 and len(whole.skeleton) == 67


@pytest.mark.parametrize("vectors", [0, 1])
def test_skinning_twins_agree(twins, body, vectors):
    matrices = skinning_matrices(body, body.skeleton.to_model(random_pose(body)))
    V, P = body.vertex_count, len(matrices)
    p, n, t = (np.zeros((V, w), np.float32) for w in (3, 3, 4))
    for name, skinning, lead in (("twin_linear", "linear", False), ("twin_dual", "dual_quaternion", True)):
        layout = core._arrays(layout_of(body, lead_first=lead))
        more = (np.empty((P, 8), np.float32),) if lead else ()
        twins.prepared(name, vectors, 1, P, V, *layout, matrices, *more, p, n, t)()
        ours = skin(body, matrices, skinning=skinning)
        np.testing.assert_allclose(p, ours.positions, atol=1e-5)
        if vectors:
            np.testing.assert_allclose(n, ours.normals, atol=1e-3)
            np.testing.assert_allclose(t, ours.tangents, atol=1e-3)


def test_pose_twin_agrees(twins, body):
    program, evaluator, times, weights = core.locomotion(body, 5)
    bank, J = ClipBank.of(body), len(body.skeleton)
    mask = np.zeros(bank.layout.joints, np.float32)
    mask[:J] = body.skeleton.mask(J // 3)
    ours, theirs = np.zeros((5, J, 3, 4), np.float32), np.zeros((5, J, 3, 4), np.float32)
    evaluator.run(program, model=ours)
    tables = (table[1:].copy() for table in (bank.start, bank.frames, bank.rate))
    twins.prepared(
        "twin_locomotion", 5, J, bank.layout.joints, bank.rows, *tables, times, weights, mask, body.skeleton.parents, theirs
    )()  # fmt: skip
    np.testing.assert_allclose(theirs, ours, atol=1e-4)


def test_rivals_agree(body):
    matrices = skinning_matrices(body, body.skeleton.to_model(random_pose(body)))
    ours = skin(body, matrices).positions
    for make in (numpy_dense, numpy_gather, scipy_sparse):
        call = make(body.meshes[0], matrices)
        if call is not None:
            np.testing.assert_allclose(call(), ours, atol=1e-5)


def test_ratios_and_goals():
    slow = sum
    contest = Contest("t", "thing", 10, goals={"b": 1.2}, goal=1.0)
    contest.entries = {"a": lambda: slow(range(100)), "b": lambda: slow(range(10_000))}
    (summary,) = report.run_all([contest], 0.01)
    first, second = summary["rows"]
    assert first["times_marrow"] == 1 and second["times_marrow"] > 2 and first["met"] and second["met"]
    text = report.as_markdown([summary], {"x": {"y": 1.0}}, report.machine())
    assert "| b |" in text
    medians = second["median"] / first["median"]
    assert f"| {second['times_marrow']:.2f}x ({medians:.2f}x) |" in text


def test_every_gltf_of_the_corpus_is_loaded_beside_other_readers(monkeypatch, tmp_path, body):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    small = body.replace(meshes=(), clips=())
    for name in ("Fox", "RobotExpressive"):
        mw.save(small, corpus / f"{name}.glb")
    monkeypatch.setenv("MARROW_CORPUS", str(corpus))
    monkeypatch.setattr(loading, "mannequin", lambda: small)
    monkeypatch.setenv("MARROW_CACHE", "off")
    found = {c.title: c for c in loading.contests()}
    for name in ("Fox.glb", "RobotExpressive.glb"):
        assert found[f"{name}, from the cache"].goal == 3e-3
        goals = found[f"{name}, file to Character"].goals
        assert set(goals.values()) <= {0.5} and set(goals) <= {loading.TRIMESH}


def test_measuring_the_levels_of_a_morph_character_is_told_beside_building_them(monkeypatch, body):
    monkeypatch.setattr(lod_build, "build", lambda character, levels, measure=True: character)
    monkeypatch.setattr(
        lod_build, "_corpus", lambda names=(): {"Face": body} if "MorphStressTest.glb" in names else {}
    )
    told = lod_build.morph_measurements()["Face, 3 levels, time of one core"]
    assert list(told) == ["levels", "measuring them", "measuring against making"]
    assert "goal 2x" in told["measuring against making"]


def test_command_prints_json(monkeypatch, capsys):
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(core, "contests", partial(core.contests, vertices=700, frames=3))
    assert run(["bench", "core", "--json", "--no-growth", "--seconds", "0.001"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["machine"]["marrow"] and any("linear" in c["title"] for c in printed["contests"])


def test_command_runs_again_on_one_thread(monkeypatch):
    calls = []
    monkeypatch.setattr("sys.argv", ["marrow", "bench", "core", "--json"])
    monkeypatch.setenv(next(iter(ONE_THREAD)), "7")
    monkeypatch.setattr(
        subprocess, "run", lambda c, env: calls.append((c, env)) or subprocess.CompletedProcess(c, 3)
    )
    with pytest.raises(SystemExit, match="3"):
        run(["bench", "core", "--json"])
    ((command, environment),) = calls
    assert (
        command[1:] == ["-m", "marrow", "bench", "core", "--json"]
        and ONE_THREAD.items() <= environment.items()
    )


def test_loading_the_twins_leaves_small_numbers_alone(twins):
    assert np.float32(1e-40) / np.float32(2) != 0


def test_tables_are_headed_by_the_kernels_that_ran():
    """A page is made by one process, from what others measured."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    forced = re.findall(
        r"^`MARROW_KERNELS=(\w+) marrow bench \w+`\n\nMeasured with .*kernels (\w+)", page, re.M
    )
    assert forced and all(wanted == ran for wanted, ran in forced)
    text = report.as_markdown([], {}, {"kernels": "v3", "cpu": "another"})
    assert text.startswith("Measured with kernels v3, cpu another.")


def test_the_terrain_of_the_benchmark_is_the_same_as_a_mesh_and_as_a_field():
    heights, positions, triangles = ground.terrain(40)
    field = HeightField(heights, 2 * ground.HALF / 39, (-ground.HALF, -ground.HALF))
    points = positions + np.array([0, 0.2, 0])
    for surface in (GroundMesh(positions, triangles), field):
        found = surface.query(points * [1 - 1e-12, 1, 1 - 1e-12], 1.0)
        assert found.hit.all()
        np.testing.assert_allclose(found.heights, positions[:, 1], atol=1e-5)
