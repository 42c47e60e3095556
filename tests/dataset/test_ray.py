"""The same bytes from a cluster, also from one that loses a machine."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from motion_files import bytes_of

from marrow import dataset
from marrow.dataset.shard_task import PLAN, ShardTask, build_shard
from surroundings import HANG_SECONDS, needed

OPTIONS = {"features": "rotations positions", "joints": "!*_end", "window": 8, "shard_mb": 0.02}


def test_two_raylets_one_killed_half_way(clips, tmp_path):
    needed("ray")
    dataset.build(clips, tmp_path / "local", workers=0, **OPTIONS)
    script = Path(__file__).with_name("ray_run.py")
    done = subprocess.run(
        [sys.executable, str(script), str(clips), str(tmp_path)],
        capture_output=True, text=True, timeout=HANG_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith('{"killed"')))
    assert told["killed"]
    local = bytes_of(tmp_path / "local")
    assert bytes_of(tmp_path / "whole") == local
    # Who is killed while it writes leaves its temporary file behind.
    wounded = {k: v for k, v in bytes_of(tmp_path / "wounded").items() if not k.endswith(".tmp")}
    assert wounded == local


def test_a_cluster_that_is_not_there(clips, tmp_path):
    needed("ray")
    with pytest.raises(dataset.BuildError, match="cannot be reached"):
        dataset.build(clips, tmp_path / "out", on="not an address", **OPTIONS)


def test_machines_must_see_the_same_storage_and_have_the_same_marrow(clips, tmp_path, monkeypatch):
    tasks = []

    def kept(call, given, **_):
        tasks.extend(given)
        return iter(())

    monkeypatch.setattr("marrow.dataset.builder.run_tasks", lambda *a, **k: (x for x in kept(*a, **k)))
    with pytest.raises(dataset.BuildError, match="is gone"):
        dataset.build(clips, tmp_path / "out", workers=0, **OPTIONS)
    task = msgspec.convert(tasks[0], ShardTask)
    for wrong, words in (
        ({"version": "0.0.0"}, "marrow 0.0.0|with 0.0.0"),
        ({"libraries": {"pyarrow": "1.0"}}, "bytes would differ"),
        ({"store": str(tmp_path / "elsewhere")}, "does not see the folder"),
    ):
        other = msgspec.structs.replace(task, **wrong)
        with pytest.raises(dataset.BuildError, match=words):
            build_shard(msgspec.to_builtins(other), lambda what: None)
    (tmp_path / "out" / PLAN).unlink()
    with pytest.raises(dataset.BuildError, match="does not see the folder"):
        build_shard(msgspec.to_builtins(task), lambda what: None)
