"""Whom a worker asks, as a value."""

from typing import Final, NamedTuple


class Recipient(NamedTuple):
    """Whom to ask; empty where the worker's own client is meant.

    Attributes:
        provider: The provider's name.
        model: Which of its models.
        base_url: Where it is reached, ``""`` for its own address.
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


OWN: Final = Recipient()
"""Whoever the worker was started for; of the scripted worker nobody."""
