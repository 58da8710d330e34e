"""How a prompt shows files that a program has written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class GeneratedView(StrEnum):
    """What is shown of a generated file that a glob stands for (rule M-60)."""

    NAME = "name"
    OUTLINE = "outline"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class GeneratedPolicy:
    """Which files count as generated, and what is shown of them.

    Attributes:
        view: What is shown; ``FULL`` shows each file as its entry asks.
        focus_paths: The files that are shown as asked, since the caller focuses on them.
        marks: What the project's ``.gitattributes`` say of some files, by their path: ``True`` for
            generated, ``False`` for not.
    """

    view: GeneratedView = GeneratedView.FULL
    focus_paths: frozenset[str] = frozenset()
    marks: Mapping[str, bool] = field(default_factory=dict)
