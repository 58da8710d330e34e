"""How much foreign code may use."""

from dataclasses import dataclass
from typing import Final

EXTRA: Final = "install manual-slop[sandbox]"
"""What to do where a sandbox is missing."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one run of foreign code.

    Attributes:
        seconds: Wall time; the run is ended by force shortly after it.
        memory_bytes: Memory that its values may take.
        output_bytes: Size of what it may print, and of its result as JSON.
    """

    seconds: float = 2.0
    memory_bytes: int = 64 * 1024 * 1024
    output_bytes: int = 16 * 1024 * 1024
