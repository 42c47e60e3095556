"""Whatever a test of graphs runs goes through the specification as well: the first programs of each kind that its
animators write are interpreted in float64 and compared."""

import pytest
from specified import check_program

from marrow.graph.pose_program import PoseEvaluator

MOST = 5
"""Programs of one test that are compared."""


@pytest.fixture(autouse=True)
def programs_follow_the_specification(monkeypatch):
    run, seen = PoseEvaluator.run, set()

    def checked(self, program, *, memory=None, vectors=None, **options):
        if len(seen) < MOST and len(program) and self.joints == len(self.bank.skeleton):
            rows = range(len(program)) if len(program) <= 8 else (0, len(program) // 2, len(program) - 1)
            for n in rows:
                kinds = tuple(program.ops["code"][program.start[n] : program.start[n + 1]].tolist())
                if kinds and kinds not in seen and len(seen) < MOST:
                    seen.add(kinds)
                    check_program(
                        run,
                        self,
                        program,
                        n,
                        () if memory is None else memory,
                        () if vectors is None else vectors,
                    )
        return run(self, program, memory=memory, vectors=vectors, **options)

    monkeypatch.setattr(PoseEvaluator, "run", checked)
