"""What a GPU is handed of pose programs: cut where operations run alone, as a plain walk over each program cuts them."""

import numpy as np
import pytest

from marrow.errors import MarrowError
from marrow.gpu.batches import Batch
from marrow.gpu.pose_shader import ALONE
from marrow.gpu.program_upload import ProgramUpload
from marrow.graph.pose_program import PoseProgram
from marrow.kernels.operations import OPERATION, OPERATIONS

EFFECT = [o.pushes - o.pops for o in OPERATIONS]


def cut(codes):
    """The parts of a program, one after the other: whether it runs alone, first and last operation, poses before. It
    begins and ends with a part that does not run alone, however short."""
    parts, height = [[False, 0, 0, 0]], 0
    for k, code in enumerate(codes):
        alone = code in ALONE
        if alone != parts[-1][0]:
            parts.append([alone, k, k, height])
        parts[-1][2] = k + 1
        height += EFFECT[code]
    if parts[-1][0]:
        parts.append([False, len(codes), len(codes), height])
    return parts


def random_programs(rng, count):
    common, alone = [o.code for o in OPERATIONS if o.code not in ALONE], sorted(ALONE)
    return [
        [int(rng.choice(alone if rng.random() < 0.3 else common)) for _ in range(rng.integers(0, 9))]
        for _ in range(count)
    ]


def scattered(rng, programs):
    """The programs in any order, with gaps between them."""
    (begins, ends), rows = np.zeros((2, len(programs)), np.int64), []
    for n in rng.permutation(len(programs)):
        rows += [(99, -1, 0.0, 0.0)] * int(rng.integers(0, 3))
        begins[n] = len(rows)
        rows += [(code, n, 0.5, 1.0) for code in programs[n]]
        ends[n] = len(rows)
    return PoseProgram.scattered(begins, ends, np.array(rows, OPERATION), 4)


@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_programs_are_cut_where_operations_run_alone(some, together):
    rng = np.random.default_rng(5)
    upload = ProgramUpload()
    for count in (1, 40, 700, 40):
        programs = random_programs(rng, count)
        program = scattered(rng, programs)
        if together:
            program = PoseProgram(program.start, program.ops, 4)
        places, first = upload.take(program), count // 5
        assert places.tolist() == np.cumsum([0, *map(len, programs)]).tolist()
        upload.begin(first, count)
        codes = upload.operations["code"].tolist()
        assert codes == [c for p in programs[first:] for c in p]
        assert upload.alone == sorted({c for p in programs[first:] for c in p if c in ALONE})
        chosen = np.flatnonzero(rng.random(count) < 0.6) if some else None
        low = first if chosen is None else int(np.searchsorted(chosen, first))
        high = count if chosen is None else len(chosen)
        who = range(low, high) if chosen is None else chosen[low:high].tolist()
        vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
        assert upload.put(vectors) == 0
        found = {}
        for step, (alone, at, records) in enumerate(upload.steps(Batch(chosen, low, high, None, 3, {}, {}))):
            assert alone == bool(step % 2)
            for slot, a, b, poses, row, writes in upload.words[at : at + 6 * records].reshape(-1, 6).tolist():
                found.setdefault(slot, []).append((alone, a, b, poses, row, writes))
        assert sorted(found) == list(range(len(who)))
        for slot, n in enumerate(who):
            base, parts = int(places[n] - places[first]), cut(programs[n])
            wanted = [(alone, base + a, base + b, h, n - 3, 0) for alone, a, b, h in parts]
            wanted[-1] = (*wanted[-1][:5], 1)
            assert found[slot] == wanted
        assert upload.words[:6].view(np.float32).tolist() == vectors.ravel().tolist()


@pytest.mark.parametrize(("begin", "end"), [(-1, 0), (0, 9), (2, 1)])
def test_a_program_outside_of_its_operations_is_named(begin, end):
    begins, ends = np.array([0, begin]), np.array([1, end])
    program = PoseProgram.scattered(begins, ends, np.zeros(3, OPERATION), 4)
    with pytest.raises(MarrowError, match="pose program of instance 1"):
        ProgramUpload().take(program)
