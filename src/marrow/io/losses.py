"""What other programs will not see of a character, said once however many places it is true of."""

from __future__ import annotations

from marrow.printing import warn

__all__ = ["Losses"]

_NAMED = 3


class Losses:
    """Collects lines while a file is written. `message` may have a `{}` for an amount: the largest is said."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._most: dict[str, float] = {}

    def add(self, place: str, message: str, amount: float = 0.0) -> None:
        self._places.setdefault(message, []).append(place)
        self._most[message] = max(self._most.get(message, 0.0), amount)

    def lines(self) -> list[str]:
        out = []
        for message, places in self._places.items():
            named = ", ".join(filter(None, places[:_NAMED]))
            if len(places) > _NAMED:
                named += f" and {len(places) - _NAMED} more"
            text = message.replace("{}", f"{self._most[message]:.2g}")
            out.append(f"{named}: {text}" if named else text)
        return out

    def warn(self) -> None:
        """A warning for each line."""
        for line in self.lines():
            warn(line)
