"""Constraints of a file on the skeleton it has: those that it cannot have are left out, and said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from marrow.errors import MarrowError
from marrow.graph.constraint_plan import check_constraints
from marrow.model import Skeleton
from marrow.model.constraint_order import circle_path, found_circle
from marrow.model.constraints import Constraint, constraint_from_data
from marrow.report import ReportBuilder

__all__ = ["constraints_from_data", "fitting_constraints"]


def fitting_constraints(
    constraints: Iterable[Constraint], skeleton: Skeleton, report: ReportBuilder
) -> tuple[Constraint, ...]:
    """The constraints that a skeleton can have. Of a circle the last one in the file is left out."""
    good: list[Constraint] = []
    for constraint in constraints:
        try:
            check_constraints([constraint], skeleton, "constraint")
            good.append(constraint)
        except MarrowError as error:
            report.add("dropped", "constraints", str(error))
    while circle := found_circle(good, skeleton):
        path, last = circle_path(circle, good, skeleton), max(circle)
        joint = skeleton.names[skeleton.index(good[last].moves()[0])]
        report.add(
            "dropped",
            "constraints",
            f"they depend on each other in a circle: {path}; that of {joint!r} is left out",
        )
        del good[last]
    return tuple(good)


def constraints_from_data(data: Iterable[Any], report: ReportBuilder) -> list[Constraint]:
    """Constraints that marrow noted in a file."""
    found = []
    for k, one in enumerate(data):
        try:
            found.append(constraint_from_data(one, f"constraints[{k}]"))
        except MarrowError as error:
            report.add("dropped", "constraints", str(error))
    return found
