"""Plans, interruptions and changes: the same bytes, and nothing done twice."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from motion_files import body, bytes_of, motion, write_corpus

import marrow as mw
from marrow import dataset
from marrow.dataset.plan import planned, split_of
from marrow.dataset.pool import run_tasks
from marrow.dataset.sources import SourceFile
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from surroundings import HANG_SECONDS, needed

OPTIONS = {
    "features": "rotations positions velocities contacts text",
    "joints": "!*_end",
    "window": 8,
    "stride": 4,
    "shard_mb": 0.05,
}


@pytest.fixture(scope="module")
def reference(clips, tmp_path_factory):
    """The data set as one process makes it, without interruption."""
    folder = tmp_path_factory.mktemp("reference") / "out"
    dataset.build(clips, folder, workers=0, **OPTIONS)
    return bytes_of(folder)


def records(folder: Path) -> dict[str, int]:
    """When the record of each shard was written."""
    others = ("plan.json", "joints.json")
    return {p.name: p.stat().st_mtime_ns for p in (folder / "_build").glob("*.json") if p.name not in others}


def test_workers_make_the_same_bytes(clips, reference, tmp_path):
    seen = []
    found = dataset.build(
        clips, tmp_path / "out", workers=2, progress=lambda p: seen.append(p.done), **OPTIONS
    )
    assert bytes_of(tmp_path / "out") == reference
    assert len(found.manifest.splits["train"].shards) > 3
    assert max(seen) == 30 and seen == sorted(seen)
    before = records(tmp_path / "out")
    dataset.build(
        clips, tmp_path / "out", workers=0, progress=lambda p: pytest.fail("nothing is left to do"), **OPTIONS
    )
    assert records(tmp_path / "out") == before


def test_other_processors_make_the_same_bytes(clips, reference, tmp_path):
    """Kernels of the lowest level, and NumPy without its wide instructions."""
    from marrow.kernels.build import levels

    plain = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX2 FMA3 ASIMDHP ASIMDFHM SVE"
    poor = {**os.environ, "MARROW_KERNELS": levels()[0], "NPY_DISABLE_CPU_FEATURES": plain}
    subprocess.run(command(clips, tmp_path / "out", 0), env=poor, capture_output=True, timeout=HANG_SECONDS)
    assert bytes_of(tmp_path / "out") == reference


def test_broken_files_cost_one_line_each(clips, tmp_path):
    found = dataset.build(clips, tmp_path / "out", workers=0, **OPTIONS)
    failed = {s["name"]: s["error"] for s in found.sources() if "error" in s}
    assert sorted(failed) == ["actor1/take_0017.marrow", "actor3/take_0007.glb", "actor3/take_0027.bvh"]
    assert failed["actor1/take_0017.marrow"] == "is empty" and "cut short" in failed["actor3/take_0027.bvh"]
    assert found.manifest.failed == 3 and found.manifest.sources == 30
    lines = {s["name"]: s["clips"][0]["report"] for s in found.sources() if "clips" in s}
    assert lines["actor3/take_0011.marrow"] == ["left out: its 5 frames are fewer than a window of 8"]


def test_rows_are_all_windows_of_all_clips(clips, tmp_path):
    found = dataset.build(clips, tmp_path / "out", workers=0, **OPTIONS)
    wanted = set()
    for source in found.sources():
        for clip in source.get("clips", ()):
            character = mw.load(clips / source["name"], cache=False)
            frames = int(character.clips[clip["name"]].duration * 30 + 1e-3) + 1
            assert clip["frames"] == frames
            wanted |= {f"{source['name']}#{clip['name']}@{start}" for start in range(0, frames - 7, 4)}
    assert {row["id"] for split in ("train", "validation", "test") for row in found[split]} == wanted
    assert found["train"][0]["text"][0] == "a person raises the left arm"


def test_statistics_are_those_of_float64(clips, tmp_path):
    found = dataset.build(clips, tmp_path / "out", workers=0, **OPTIONS)
    for name, known in found.statistics.items():
        values = np.concatenate([row[name] for row in found["train"]]).astype(np.float64)
        assert known.count == len(values)
        np.testing.assert_allclose(known.mean, values.mean(axis=0), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(known.std, values.std(axis=0), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(known.min, values.min(axis=0))
        np.testing.assert_array_equal(known.max, values.max(axis=0))
    # And to the last bit: the sum of all in whole fractions.
    column = [float(v) for row in found["train"] for v in row["positions"][:, 3, 0]]
    assert found.statistics["positions"].mean[3, 0] == float(sum(map(Fraction, column)) / len(column))
    other = dataset.build(clips, tmp_path / "other", workers=0, **OPTIONS | {"shard_mb": 0.01})
    for name, known in found.statistics.items():
        assert known.mean.tobytes() == other.statistics[name].mean.tobytes()
        assert known.std.tobytes() == other.statistics[name].std.tobytes()


def test_what_is_added_moves_nothing(tmp_path):
    """Splits and shards are decided by names: another file touches the shard it falls into, and no other."""
    files = [SourceFile(f"a{k:04d}.bvh", f"/x/{k}", 1000 * (k % 9), "") for k in range(3000)]
    shares = (0.8, 0.1, 0.1)
    before = planned(files, "recipe", shares, shard_bytes=50_000)
    more = sorted([*files, SourceFile("a1500b.bvh", "/y", 500, "")], key=lambda s: s.name)
    after = planned(more, "recipe", shares, shard_bytes=50_000)
    assert sum(len(s.sources) for s in after) == 3001
    changed = {s.key for s in after} - {s.key for s in before}
    assert 1 <= len(changed) <= 3
    assert max(s.size for s in before) < 3 * 50_000 and max(len(s.sources) for s in before) <= 256
    sizes = [
        sum(len(s.sources) for s in before if s.split == split) for split in ("train", "validation", "test")
    ]
    np.testing.assert_allclose(np.array(sizes) / 3000, shares, atol=0.03)
    folders = {split_of(f"actor7/take{k}.bvh", shares, "folder") for k in range(50)}
    assert len(folders) == 1
    assert {s.split for s in planned(files, "recipe", (1.0, 0.0, 0.0))} == {"train"}


def test_a_change_rebuilds_what_depends_on_it(tmp_path):
    write_corpus(tmp_path / "in", 30)
    out = tmp_path / "out"
    dataset.build(tmp_path / "in", out, workers=0, **OPTIONS)
    before = records(out)
    # Written to, but with the same contents: nothing to do.
    os.utime(tmp_path / "in" / "actor0" / "take_0000.bvh")
    dataset.build(tmp_path / "in", out, workers=0, **OPTIONS)
    assert records(out) == before
    for change, file in (
        ("source", "take_0000.bvh"), ("side file", "take_0004.txt"), ("gone", "take_0008.marrow"),
    ):  # fmt: skip
        path = tmp_path / "in" / "actor0" / file
        if change == "source":
            path.write_text(path.read_text().replace("Frame Time: 0.0", "Frame Time: 0.1"))
        elif change == "side file":
            path.write_text("another text")
        else:
            path.unlink()
        dataset.build(tmp_path / "in", out, workers=0, **OPTIONS)
        now = records(out)
        changed = [name for name in now if before.get(name) != now[name]]
        assert len(changed) == 1, change
        before = now
        fresh = tmp_path / f"fresh {change}"
        dataset.build(tmp_path / "in", fresh, workers=0, **OPTIONS)
        assert bytes_of(out) == bytes_of(fresh), change
    # Other shares: shards whose sources stay together stay as they are.
    dataset.build(tmp_path / "in", out, workers=0, split=(0.7, 0.2, 0.1), **OPTIONS)
    now = records(out)
    assert any(before.get(name) == now[name] for name in now) and set(now) != set(before)
    # Another option: all anew, and nothing of the old is left.
    options = OPTIONS | {"features": "rotations"}
    dataset.build(tmp_path / "in", out, workers=0, **options)
    dataset.build(tmp_path / "in", tmp_path / "small", workers=0, **options)
    assert bytes_of(out) == bytes_of(tmp_path / "small") and not set(records(out)) & set(before)


def command(clips: Path, out: Path, workers: int) -> list[str]:
    words = ["dataset", "build", str(clips), "-o", str(out), "--workers", str(workers)]
    for name, value in OPTIONS.items():
        words += [f"--{name.replace('_', '-')}", *str(value).split()]
    return [sys.executable, "-m", "marrow", *words]


def children(pid: int) -> list[int]:
    """The processes a process has started (Linux)."""
    try:
        return [
            int(p)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for p in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def interrupted(clips: Path, out: Path, kills: int, seed: int = 0) -> int:
    """Builds with two workers, killed in the middle of their work: the driver or one of its workers, in turn, when the
    files of the data set have changed a few times (a shard begun, finished, journalled). Returns how many were killed."""
    rng = np.random.default_rng(seed)
    killed = 0
    for k in range(kills):
        changes, seen = int(rng.integers(1, 8)), None
        with subprocess.Popen(
            command(clips, out, 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as driver:
            while driver.poll() is None and changes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    driver.wait(0.002)
                now = {
                    name for part in ("train", "validation", "test", "_build") for name in _listed(out / part)
                }
                changes -= seen is not None and now != seen
                seen = now
            workers = children(driver.pid)
            victim = int(rng.choice(workers)) if k % 2 and workers else driver.pid
            if driver.poll() is None:
                killed += 1
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            driver.wait(HANG_SECONDS)
    return killed


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed_drivers_and_workers_lose_nothing(clips, reference, tmp_path):
    out = tmp_path / "out"
    assert interrupted(clips, out, 3)
    done = subprocess.run(command(clips, out, 2), capture_output=True, text=True, timeout=HANG_SECONDS)
    assert done.returncode == 1 and "3 failed" in done.stdout, done.stderr  # the three broken files
    assert bytes_of(out) == reference
    assert not [p for p in out.rglob(".*") if p.name != ".lock"]


def test_a_data_set_that_is_not_finished_says_so(clips, tmp_path):
    out = tmp_path / "out"

    def stop(progress: dataset.Progress) -> None:
        if progress.done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dataset.build(clips, out, workers=0, progress=stop, **OPTIONS)
    with pytest.raises(MarrowError, match="not finished"):
        dataset.open(out)
    kept = records(out)
    assert kept
    dataset.build(clips, out, workers=0, **OPTIONS)
    assert all(records(out)[name] == when for name, when in kept.items())


def test_a_full_disk_is_an_error_and_the_build_goes_on_later(clips, reference, tmp_path):
    """No file may grow past a limit, as on a disk that is full; then there is room again."""
    out = tmp_path / "out"
    for format in ("parquet", "npz"):
        with subprocess.Popen(
            [*command(clips, out / format, 1), "--format", format],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)),
        ) as full:  # fmt: skip
            _, said = full.communicate(timeout=HANG_SECONDS)
        assert full.returncode == 1 and "cannot be written: File too large" in said and "make room" in said
        assert not [p for p in (out / format).rglob(".*") if p.name != ".lock"]
    dataset.build(clips, out / "parquet", workers=0, **OPTIONS)
    assert bytes_of(out / "parquet") == reference


def test_one_build_at_a_time(clips, tmp_path):
    from marrow.dataset.journal import locked
    from marrow.dataset.storage import store_at

    with locked(store_at(tmp_path / "out")), pytest.raises(dataset.BuildError, match="another build"):
        dataset.build(clips, tmp_path / "out", workers=0, **OPTIONS)


def test_fbx_among_the_sources(corpus, tmp_path):
    """Its reader lives in a process of its own, beside whatever reads for the data set."""
    files = [corpus / f"maya_game_sausage_7500_binary_{name}.fbx" for name in ("spin", "wiggle")]
    for workers in (0, 1):
        found = dataset.build(
            files, tmp_path / f"{workers}", features="rotations vertices", rate=5, split=1, workers=workers
        )
        assert found.manifest.failed == 0 and len(found["train"]) >= 2
    assert bytes_of(tmp_path / "0") == bytes_of(tmp_path / "1")
    row = found["train"][0]
    character = mw.load(files[0], cache=False)
    pose = character.clips[row["clip"]].sample(np.arange(row["frames"]) / 5)
    np.testing.assert_array_equal(row["vertices"], mw.skin(character, pose).positions)


def crash(argument, tell):
    """Takes its process down at a certain source."""
    for name in argument["sources"]:
        tell({"source": name})
        if name == argument["bad"] and name not in argument["skipped"]:
            os.kill(os.getpid(), argument["signal"])
    return sorted(argument["skipped"])


@pytest.fixture
def crashing(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return "test_building:crash"


def test_a_source_that_takes_its_process_down_is_left_out(crashing, monkeypatch):
    monkeypatch.setattr("marrow.dataset.pool.KILLED", 3)
    task = {"sources": ["a", "b", "c"], "bad": "b", "signal": int(signal.SIGSEGV), "skipped": {}}
    (outcome,) = run_tasks(crashing, [task], workers=1)
    assert outcome.result == ["b"]
    (outcome,) = run_tasks(crashing, [task | {"signal": int(signal.SIGKILL)}], workers=1)
    assert (
        "killed 3 times at b" in outcome.failure.message
    )  # somebody else did that: nothing is left out for it
    del task["skipped"]
    (outcome,) = run_tasks(crashing, [task], workers=1)
    assert "KeyError" in outcome.failure.message


def test_wrong_calls_are_refused_in_words(clips, tmp_path):
    out = tmp_path / "out"
    for wrong, words in (
        ({"features": "rotation"}, "rotations"),
        ({"features": []}, "features is empty"),
        ({"rate": 0}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"window": 0}, "window"),
        ({"stride": 4}, "say window too"),
        ({"split": (0.5, -1)}, "split"),
        ({"split": "a,b"}, "split"),
        ({"format": "hdf5"}, "parquet"),
        ({"format": "npz", "compression": "zstd"}, "compression"),
        ({"euler_order": "xxz"}, "euler_order"),
        ({"joints": "!*"}, "leaves none"),
        ({"joints": "tail"}, "no joint called"),
        ({"workers": -1}, "workers"),
        ({"split_by": "actor"}, "split_by"),
        ({"skeletons": "all"}, "skeletons"),
        ({"shard_mb": 0}, "shard_mb"),
        ({"character": 3}, "character"),
        ({"character": tmp_path / "nobody.glb"}, "no such file"),
        ({"scale": -1}, "scale"),
        ({"mirror": "yes"}, "mirror"),
    ):
        with pytest.raises((ValidationError, UnknownNameError, MarrowError), match=words):
            dataset.build(clips, out, **{"workers": 0} | wrong)
        assert not out.exists() or not (out / "manifest.json").exists()
    for sources in (3, [3], [], [clips, str(clips) + "/../" + clips.name]):
        if sources == []:
            with pytest.raises(MarrowError):
                dataset.build(sources, out, workers=0)
        elif isinstance(sources, list) and len(sources) == 2:
            assert (
                dataset.build(sources, out, workers=0, joints="!*_end").manifest.sources == 30
            )  # each file once
        else:
            with pytest.raises(ValidationError, match="path"):
                dataset.build(sources, out, workers=0)


def test_motion_is_put_on_a_character(tmp_path, monkeypatch):
    """Taller body, other names: the same turns, travel by the length of the legs. Workers take one thread each."""
    asked = []
    monkeypatch.setattr(import_module("marrow.motion.retarget"), "thread_count", asked.append)
    tall = body(1.5)
    mw.save(mw.Character(tall, name="tall"), tmp_path / "tall.marrow")
    small = body()
    mw.save(mw.Character(small, clips=[motion(small, 4, 60)]), tmp_path / "take.bvh")
    found = dataset.build(
        tmp_path / "take.bvh",
        tmp_path / "out",
        character=tmp_path / "tall.marrow",
        features="rotations positions",
        split=1,
        workers=0,
    )
    row = found["train"][0]
    assert found.schema.joints == tall.names and found.manifest.character == "tall.marrow"
    assert asked == [1]
    clip = mw.retarget(
        mw.load(tmp_path / "take.bvh", cache=False).clips[0], mw.load(tmp_path / "tall.marrow")
    )
    pose = clip.sample(np.arange(row["frames"]) / 30)
    np.testing.assert_allclose(row["positions"], tall.to_model(pose)[..., 3], atol=1e-5)


def test_a_retarget_profile_beside_the_character_is_used_and_counts(tmp_path):
    """Its arms stay as they rest; when the profile goes, what was built with it is not kept."""
    tall = body(1.5)
    mw.save(mw.Character(tall, name="tall"), tmp_path / "tall.marrow")
    small = body()
    mw.save(mw.Character(small, clips=[motion(small, 4, 60)]), tmp_path / "take.bvh")
    profile = tmp_path / "tall.retarget.json"
    arm = mw.motion.find_rig(tall).joint("left_arm")
    mw.RetargetProfile(chains={"left_arm": mw.motion.ChainProfile(fk=0.0)}).save(profile)
    options = {"character": tmp_path / "tall.marrow", "features": "rotations", "split": 1, "workers": 0}
    turns = []
    for _ in range(2):
        row = dataset.build(tmp_path / "take.bvh", tmp_path / "out", **options)["train"][0]
        turns.append(np.ptp(row["rotations"][:, arm], axis=0).max())
        profile.unlink(missing_ok=True)
    assert turns[0] < 1e-5 and turns[1] > 0.05
    profile.write_text("{}")
    with pytest.raises(mw.motion.RetargetError, match="is no retarget profile"):
        dataset.build(tmp_path / "take.bvh", tmp_path / "out", **options)


def test_storage_behind_a_url(clips, reference):
    fsspec = needed("fsspec")
    place = "memory://sets/one"
    found = dataset.build(clips, place, workers=0, **OPTIONS)
    system = fsspec.filesystem("memory")
    import hashlib

    stored = {
        p.removeprefix("/sets/one/"): hashlib.sha256(system.cat_file(p)).hexdigest()
        for p in system.find("/sets/one")
        if "_build" not in p
    }
    assert stored == reference
    assert len(dataset.open(place)["train"]) == len(found["train"])
    dataset.build(clips, place, workers=0, progress=lambda p: pytest.fail("nothing is left to do"), **OPTIONS)
    # Sources behind a URL too.
    for file in sorted(clips.rglob("take_*")):
        system.pipe_file(f"/motion/{file.relative_to(clips)}", file.read_bytes())
    dataset.build("memory://motion", "memory://sets/two", workers=0, **OPTIONS)
    again = {
        p.removeprefix("/sets/two/"): hashlib.sha256(system.cat_file(p)).hexdigest()
        for p in system.find("/sets/two")
        if "_build" not in p
    }
    assert again == reference
