"""The prompt without its text, and its lines."""

from typing import TypedDict


class SectionData(TypedDict):
    """A part of the prompt that folds: a section, or a file, turn or result in one.

    Attributes:
        title: Its heading.
        kind: ``section``, ``file``, ``turn``, …
        source: The path of a file, the number of a turn, …
        first: Its first line in the prompt.
        last: Its last line.
        tokens: Of it.
        depth: ``0`` for a section, ``1`` for what it holds.
    """

    title: str
    kind: str
    source: str
    first: int
    last: int
    tokens: int
    depth: int


class NotEnteredData(TypedDict):
    """A candidate that stays out.

    Attributes:
        path: Its path.
        level: ``name`` where it is listed by name, ``left out`` where not even that.
        score: ``null`` without a task.
        why: One line.
    """

    path: str
    level: str
    score: float | None
    why: str


class PromptData(TypedDict):
    """The prompt without its text.

    Attributes:
        revision: What it is of.
        tokens: Of all of it.
        bytes: Of it in UTF-8.
        lines: How many lines ``/api/prompt/lines`` has.
        sections: What folds, in the order of the prompt.
        breakpoints: Lines before which ``send`` sets a breakpoint of the cache.
        kept_until: The last line of the prefix that is the same as in the last send, ``0`` for none.
        kept_sentence: The same in a sentence.
        not_entered: The first three hundred by score.
        not_entered_count: How many there are.
        error: Why there is no prompt, ``""`` for nothing.
    """

    revision: int
    tokens: int
    bytes: int
    lines: int
    sections: list[SectionData]
    breakpoints: list[int]
    kept_until: int
    kept_sentence: str
    not_entered: list[NotEnteredData]
    not_entered_count: int
    error: str


class LinesData(TypedDict):
    """Some lines of the prompt.

    Attributes:
        revision: What they are of; ask ``/api/prompt`` again where it is another one.
        first: The first of them.
        lines: Their texts.
        origins: For each the path of its file and the line that it shows or stands for (``0`` for the whole file), or
            ``null``; ``kinds`` says what it is.
        kinds: For each ``file``, ``turn``, ``bead``, ``result``, ``screenshot`` or ``generated``.
        stands_for: For each what it stands for, ``""`` for a line as in the file.
    """

    revision: int
    first: int
    lines: list[str]
    origins: list[list[str | int] | None]
    kinds: list[str]
    stands_for: list[str]


class WhereData(TypedDict):
    """The line of the prompt that shows a file's line, ``0`` for none."""

    line: int
