"""What a thread is worth goes by what runs took."""

import pytest

from marrow.kernels import jobs
from marrow.kernels.jobs import Pace


def test_a_wrong_guess_is_corrected_by_the_first_run():
    pace = Pace(1.0)
    pace.note(2e-3, 1000, 1)
    assert pace.seconds == pytest.approx(2e-6)
    assert pace.workers(1000, 64) == int(2e-3 / jobs.WORTH_SECONDS)
    assert pace.workers(10, 64) == 1


def test_a_run_on_several_threads_counts_for_all_of_them():
    pace = Pace(1.0)
    pace.note(1e-3, 1000, 4)
    assert pace.seconds == pytest.approx(4e-6)


def test_runs_that_were_held_up_count_for_little_and_slower_work_is_learnt_in_time():
    pace = Pace(1e-6)
    pace.note(1.0, 1000, 1)
    assert pace.seconds == pytest.approx(1.1e-6)
    for _ in range(50):
        pace.note(1e-2, 1000, 1)
    assert pace.seconds == pytest.approx(1e-5)
