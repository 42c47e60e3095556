"""What a technical artist wants to know before a character ships: `lint` runs every rule and returns findings; `mend` does
what can be done safely."""

from marrow.io.lint.finding import SEVERITIES, Finding, Severity
from marrow.io.lint.rules import RULE_NAMES, RULES, Mended, lint, mend

__all__ = ["RULES", "RULE_NAMES", "SEVERITIES", "Finding", "Mended", "Severity", "lint", "mend"]
