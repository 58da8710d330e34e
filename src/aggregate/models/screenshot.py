"""A screenshot of the prompt."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Screenshot:
    """One resolved image.

    Attributes:
        path: As it is shown: relative to the screenshots' base directory with ``/``, or absolute.
        exists: Whether there is a file.
    """

    path: str
    exists: bool = True
