"""The pool of threads: every chunk once, whoever runs it; callers at the same time, forks, exits."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pool_stress
import pytest

from marrow.errors import ValidationError
from marrow.kernels import jobs
from marrow.kernels.jobs import JobChain, thread_count, worth

STRESS = Path(pool_stress.__file__)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("llvmlite")
    return tmp_path_factory.mktemp("visits")


@pytest.fixture
def pool(folder, monkeypatch):
    """The module around the kernel `visit`, with a pool of its own."""
    module = pool_stress.load(folder)
    numbers = {name: k for k, name in enumerate(module.kernels.split(","))}
    monkeypatch.setattr(jobs, "_native", lambda kernel: (module, numbers[kernel.name]))
    return module


def visited(job):
    return job.frame.kept["seen"], job.frame.kept["who"]


@pytest.mark.parametrize("workers", [1, 2, 3, 7, 16])
@pytest.mark.parametrize(("count", "step"), [(0, 4), (1, 4), (64, 64), (100, 7)])
def test_every_element_is_visited_once_by_somebody(pool, workers, count, step):
    job = pool_stress.visiting(count, workers)
    for _ in range(3):
        job.run(0, count, step=step, workers=workers)
    seen, who = visited(job)
    assert (seen == 3).all() and ((who >= 0) & (who < workers)).all()
    chunks = -(-count // step)
    assert job.results[:, 1].tolist() == list(range(chunks))
    assert job.results[:, 2].tolist() == [min(step, count - k * step) for k in range(chunks)]
    # The row of a chunk says who ran it.
    np.testing.assert_array_equal(np.repeat(job.results[:, 0], job.results[:, 2]), who)


def test_a_part_of_a_range_leaves_the_rest_alone(pool):
    job = pool_stress.visiting(10, 2)
    job.run(3, 8, step=2, workers=2)
    assert visited(job)[0].tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 0, 0]


def test_other_backends_run_the_same_chunks_on_the_calling_thread(monkeypatch):
    monkeypatch.setattr(jobs, "_native", lambda kernel: None)
    job = pool_stress.visiting(10, 4)
    job.run(0, 10, step=4, workers=4)
    seen, who = visited(job)
    assert (seen == 1).all() and (who == 0).all()
    assert job.results.tolist() == [[0, 0, 4], [0, 1, 4], [0, 2, 2]]


def test_no_more_work_at_a_job_than_have_memory_of_their_own(pool):
    job = pool_stress.visiting(1000, 3)
    job.run(0, 1000, step=1, workers=16)
    assert visited(job)[1].max() < 3


def test_chained_jobs_run_one_after_the_other(pool):
    """The second adds to what the first has left."""
    first, second = pool_stress.visiting(500, 4), pool_stress.visiting(500, 4)
    second.frame.put_one("seen", first.frame.kept["seen"])
    chain = JobChain(first, second)
    for job in (first, second):
        job.set(0, 500, 8, 4)
    for _ in range(20):
        chain.run()
    assert (visited(first)[0] == 40).all()
    first.run(0, 500, step=8, workers=4)  # also by itself
    assert (visited(first)[0] == 41).all()


def test_memory_of_the_wrong_shape_is_refused(pool):
    job = pool_stress.visiting(4, 1)
    with pytest.raises(ValidationError, match="scratch of worker 1"):
        job.own({"scratch": [np.zeros(5, np.int64)]})


@pytest.mark.parametrize("words", [[], [1], [1, *[-1] * 18], [1 << 40, 0], [1, 0, 0, 2, *[0] * 15]])
def test_what_is_no_job_is_refused(pool, words):
    with pytest.raises(ValueError, match="no jobs of this module"):
        pool.spread(bytearray(np.array(words, np.int64).tobytes()))


def test_a_second_caller_does_not_wait_for_the_first(pool):
    """The pool is held up by a job of another thread, and yet a job is run."""
    slow, quick = pool_stress.visiting(2, 2, rounds=50_000_000), pool_stress.visiting(100, 4)
    thread = threading.Thread(target=lambda: slow.run(0, 2, step=1, workers=2))
    thread.start()
    while thread.is_alive():
        quick.run(0, 100, step=10, workers=4)
    thread.join()
    quick.run(0, 100, step=10, workers=4)
    seen = visited(quick)[0]
    assert seen.min() == seen.max() and (visited(slow)[0] == 1).all()


def test_threads_start_when_they_are_needed_and_stay(pool):
    pool_stress.visiting(4, 2).run(0, 4, step=4, workers=2)  # one chunk
    before = pool.workers()
    job = pool_stress.visiting(64, 5)
    job.run(0, 64, step=1, workers=5)
    assert pool.workers() == max(before, 4)
    job.run(0, 64, step=1, workers=5)
    assert pool.workers() == max(before, 4)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks the kernel what threads do")
def test_idle_workers_sleep(folder):
    """After a job its threads stop using the processor: their times, asked twice, stay the same."""
    code = f"""
import os, sys, threading
sys.path.insert(0, {str(STRESS.parent)!r})
import pool_stress
module = pool_stress.load({str(folder)!r}); pool_stress.use(module)
main = {{t for t in os.listdir("/proc/self/task")}}
job = pool_stress.visiting(64, 4); job.run(0, 64, step=1, workers=4)
workers = [t for t in os.listdir("/proc/self/task") if t not in main]
def state(t):
    return open(f"/proc/self/task/{{t}}/stat").read().rsplit(")", 1)[1].split()[0]
done = threading.Event()
for _ in range(2000):
    if all(state(t) == "S" for t in workers): break
    done.wait(0.005)
print(len(workers), {{state(t) for t in workers}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert done.stdout == "3 {'S'}\n", done.stderr


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize(("how", "said"), [([], "sound\n"), (["exit"], "left\n")])
def test_many_jobs_from_many_threads_with_forks_in_between(folder, how, said):
    count = os.environ.get("MARROW_POOL_JOBS", "8000")
    done = subprocess.run(
        [sys.executable, str(STRESS), str(folder), count, *how],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=600,
    )
    assert (done.stdout, done.returncode) == (said, 0), done.stderr


def test_threads_are_worth_their_work():
    assert worth(0.0, 8) == 1 and worth(1.0, 8) == 8
    assert worth(2.5 * jobs.WORTH_SECONDS, 8) == 2


def test_thread_count_of_none_is_every_core_and_nonsense_is_refused():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert 1 <= thread_count(None) <= cores and thread_count(3) == 3
    for wrong in (0, -1, 1.5, "2"):
        with pytest.raises(ValidationError, match="threads: expected at least 1"):
            thread_count(wrong)
