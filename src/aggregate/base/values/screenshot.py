"""A screenshot of the prompt."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Screenshot:
    """One resolved image.

    Attributes:
        path: As it is shown: relative to the screenshots' base directory with ``/``.
        exists: Whether there is a file.
        refused: Why it may not be shown, ``""`` where it may.
        file: Where it lies, links resolved as far as that was checked; ``""`` where it may not be shown.
    """

    path: str
    exists: bool = True
    refused: str = ""
    file: str = field(default="", compare=False, repr=False)

    @property
    def problem(self) -> str:
        """What is wrong with it, ``""`` where all is well."""
        return self.refused or ("" if self.exists else "file not found")
