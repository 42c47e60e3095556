"""The same tasks on a Ray cluster. Each Ray worker keeps one process of marrow's own beside it (`pool.Slot`), so that a
file that takes a process down costs one line here too. Ray does a task again when its node is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from marrow.dataset.pool import Outcome, Task, TaskFailure, WorkerSlot
from marrow.dataset.storage import BuildError
from marrow.errors import MissingExtraError

__all__ = ["run_on_ray"]

RETRIES = 8
_slot = WorkerSlot()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray", "a build on a cluster") from None
    return ray


def _connected(ray: Any, address: str) -> bool:
    """Joins the cluster; whether it was this call that did."""
    if ray.is_initialized():
        return False
    quiet = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == "ray":
            try:
                ray.init(address="auto", **quiet)
            except ConnectionError:  # this machine belongs to none: one of its own
                ray.init(address="local", include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except Exception as error:
        raise BuildError(
            f"{address}: the cluster cannot be reached: {type(error).__name__}: {error}"
        ) from None
    return True


def run_on_ray(
    call: str, tasks: Sequence[Task], address: str, tell: Callable[[int, dict[str, Any]], None]
) -> Iterator[Outcome]:
    """Does all tasks on the cluster; see `pool.run_tasks`."""
    ray = _ray()
    mine = _connected(ray, address)
    try:
        work = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
        waiting = list(enumerate(tasks))[::-1]
        running: dict[Any, int] = {}
        # A few for each processor: enough to keep all busy, few enough that a cluster that grows gets its share.
        while waiting or running:
            most = 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1)
            while waiting and len(running) < most:
                index, task = waiting.pop()
                running[work.remote(call, index, task)] = index
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                index = running.pop(reference)
                yield _outcome(ray, reference, index, tell)
    finally:
        if mine:
            ray.shutdown()


def _outcome(ray: Any, reference: Any, index: int, tell: Callable[[int, dict[str, Any]], None]) -> Outcome:
    try:
        result, failure, told = ray.get(reference)
    except ray.exceptions.RayError as error:
        text = " ".join(str(error).split())
        if "ModuleNotFoundError" in text and "marrow" in text:
            text = "a machine of the cluster has no marrow installed: pip install marrow-engine there"
        return Outcome(index, failure=TaskFailure("BuildError", f"the cluster gave a task up: {text[:400]}"))
    for what in told:
        tell(index, what)
    return Outcome(index, result, None if failure is None else TaskFailure(**failure))


def _work(call: str, index: int, task: Task) -> tuple[Any, dict[str, str] | None, list[dict[str, Any]]]:
    """One task on a machine of the cluster, and what it told."""
    told: list[dict[str, Any]] = []
    outcome = _slot.do(call, index, task, lambda _, what: told.append(what))
    failure = outcome.failure
    return (
        outcome.result,
        None if failure is None else {"kind": failure.kind, "message": failure.message},
        told,
    )
