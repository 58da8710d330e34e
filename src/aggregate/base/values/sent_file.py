"""A file as a discussion has shown it, from which the next turn of the discussion starts."""

from typing import NamedTuple

from aggregate.base.values.choice import Level


class SentFile(NamedTuple):
    """How much of a file was sent with the last prompt of a discussion (rule B-9).

    Attributes:
        path: As the prompt shows it.
        level: How much of it was shown.
        lines: The runs of lines that were shown, as ``FileChoice.lines``.
        content_hash: SHA-256 of the file's bytes then, in hexadecimal digits, ``""`` where it was not known. With
            another one ``lines`` name other lines now.
        tokens: Of its block in the prompt, with the separator behind it.
    """

    path: str
    level: Level
    lines: tuple[tuple[int, int], ...] = ()
    content_hash: str = ""
    tokens: int = 0
