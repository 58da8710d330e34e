"""The table of all files, and one file beside its view."""

from typing import Literal, TypedDict

FileState = Literal["", "changed", "stale", "error", "secret", "generated", "binary"]
"""What is to be seen of a file at a glance; the first that applies: ``error``, ``stale``, ``secret``, ``binary``,
``changed`` (since the last prompt that was sent or written), ``generated``."""


class FilesData(TypedDict):
    """All files that could enter, column by column; the n-th value of each column is of the n-th file.

    ``GET /api/files`` gives all; with ``?since=REVISION`` it may give only those that have changed, in which case
    ``full`` is false and ``removed`` names those that are gone.

    Attributes:
        revision: What they are of; ask with ``since`` this.
        full: Whether these are all files.
        path: Paths, sorted as the tree shows them (``/`` before all else).
        view: The view or level that the prompt shows, ``""`` where the file is out.
        mode: The view that its entry asks for, ``""`` where no entry names it.
        tokens: In the prompt.
        whole: Of the whole file, ``0`` where not known yet.
        score: ``null`` without a task.
        state: What is to be seen at a glance.
        why: Why it is in or out, one line; ``""`` where there is nothing to say.
        removed: Paths that are gone.
    """

    revision: int
    full: bool
    path: list[str]
    view: list[str]
    mode: list[str]
    tokens: list[int]
    whole: list[int]
    score: list[float | None]
    state: list[FileState]
    why: list[str]
    removed: list[str]


class DefinitionData(TypedDict):
    """A definition in a file.

    Attributes:
        name: What a mask names it by, such as ``Class.method``.
        kind: ``function``, ``class``, …
        start: Its first line.
        end: Its last line.
        depth: How deep it is nested, ``0`` for the top.
        mask: ``def``, ``sig``, ``hide`` or ``""``.
    """

    name: str
    kind: str
    start: int
    end: int
    depth: int
    mask: str


class SliceData(TypedDict):
    """A slice of a file.

    Attributes:
        id: Its number among the file's slices; changes when one before it is removed.
        start: Where its lines are now (for ``stale`` where they were).
        end: The last of them.
        tag: Its label.
        comment: Its remark.
        state: ``exact``: unchanged where it was; ``moved``: found elsewhere, unchanged or edited; ``stale``: not to be
            relied on; ``anchorless``: taken by its line numbers alone.
        candidate: Where ``stale`` lines may have gone, ``null`` for nowhere.
        why: One sentence.
    """

    id: int
    start: int
    end: int
    tag: str
    comment: str
    state: Literal["exact", "moved", "stale", "anchorless"]
    candidate: "PlaceData | None"
    why: str


class PlaceData(TypedDict):
    """Lines of a file."""

    start: int
    end: int


class FileData(TypedDict):
    """One file: its source beside its view.

    Attributes:
        path: Its path.
        hash: Of its bytes, ``""`` where it cannot be read or holds a secret.
        revision: The revision this is of.
        language: For a label, ``""`` where unknown.
        mode: The view that is shown.
        view: The lines of the view.
        origin: For each line of ``view`` the line of the source that it shows, ``0`` for one that was made.
        source: The lines of the file.
        entry: The path or glob of the configuration that decides on it, ``""`` for none.
        by_glob: Whether that is a glob.
        definitions: In the order of the file.
        slices: In the order of the configuration.
        sizes: Tokens of each view.
        redacted: Runs ``[first, last]`` of lines of the source in which secrets were found; they are replaced here too.
        score: ``null`` without a task.
        evidence: Why that score, ``[kind, weight, matched]``, the strongest first.
        error: Why it is not shown, ``""`` for nothing.
    """

    path: str
    hash: str
    revision: int
    language: str
    mode: str
    view: list[str]
    origin: list[int]
    source: list[str]
    entry: str
    by_glob: bool
    definitions: list[DefinitionData]
    slices: list[SliceData]
    sizes: dict[str, int]
    redacted: list[list[int]]
    score: float | None
    evidence: list[list[str | float]]
    error: str
