"""A named set of files and screenshots."""

from dataclasses import dataclass, field

from aggregate.base.files import FileItem

ContextFileEntry = FileItem  # An entry of a preset; a plain string is promoted to one


@dataclass
class ContextPreset:
    """A named set of files and screenshots (rule M-43)."""

    name: str
    # Entries; strings are promoted to ``FileItem``.
    files: list[ContextFileEntry] = field(default_factory=list)
    # Paths or globs, relative to the screenshots' base directory.
    screenshots: list[str] = field(default_factory=list)
    description: str = ""  # one line for lists
    # The most tokens of a prompt with it, such as ``32000``, ``"32k"`` or ``"auto"``; ``None`` for what the
    # configuration says (rule B-4).
    budget: int | str | None = None

    def __post_init__(self) -> None:
        self.files = [FileItem.of(entry) for entry in self.files]
