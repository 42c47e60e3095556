"""`SpringSettings`: what pages set of springs, kept for whichever animator moves the actor."""

from __future__ import annotations

from marrow.errors import ValidationError
from marrow.graph import Animator
from marrow.studio import protocol as p

__all__ = ["SpringSettings"]

MOST_TOLD = 200
"""Chains that pages are told of."""
NAMES = ("stiffness", "drag", "gravity", "radius", "limit")


class SpringSettings:
    """Settings of chains by name, and the wind, where they are not as the file or the graph has them."""

    def __init__(self) -> None:
        self.chains: dict[str, dict[str, float]] = {}
        self.wind: tuple[float, float, float] | None = None

    def apply(self, message: p.SetSpring | p.SetWind | p.ResetSprings, animator: Animator) -> None:
        """What a page asks for; what cannot be done is a `MarrowError` in words."""
        springs = animator.springs
        if isinstance(message, p.ResetSprings):
            springs.reset()
            self.chains, self.wind = {}, None
            return
        if not springs:
            raise ValidationError("springs: nothing swings here")
        if isinstance(message, p.SetWind):
            springs.wind = message.wind
            self.wind = message.wind
            return
        given = {name: getattr(message, name) for name in NAMES}
        settings = {name: value for name, value in given.items() if value is not None}
        for name in [message.chain] if message.chain else list(springs):
            springs[name].set(**settings)
            self.chains[name] = {**self.chains.get(name, {}), **settings}

    def put_on(self, animator: Animator) -> None:
        """Sets another animator of the actor so, as far as it has the same chains."""
        known = animator.springs
        for name, settings in self.chains.items():
            if name in known:
                known[name].set(**settings)
        if self.wind is not None and known:
            known.wind = self.wind

    def state(self, animator: Animator) -> list[p.SpringState]:
        """What pages are told."""
        chains = list(animator.springs.values())[:MOST_TOLD]
        return [
            p.SpringState(c.name, len(c.joints), c.stiffness, c.drag, c.gravity, c.radius, c.limit)
            for c in chains
        ]

    def code(self) -> list[str]:
        """The lines of Python that set an animator so."""
        lines = []
        for name, settings in self.chains.items():
            told = ", ".join(f"{key}={value:.4g}" for key, value in settings.items())
            lines.append(f"animator.springs[{name!r}].set({told})")
        if self.wind is not None:
            lines.append(f"animator.springs.wind = ({', '.join(f'{v:.4g}' for v in self.wind)})")
        return lines
