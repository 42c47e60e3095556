"""What a technical artist wants to know before a character ships: `lint` runs every rule and returns
findings."""

from marrow.io.lint.finding import SEVERITIES, Finding, Severity
from marrow.io.lint.rules import RULES, lint

__all__ = ["RULES", "SEVERITIES", "Finding", "Severity", "lint"]
