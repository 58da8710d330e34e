"""One language: what is known of it outside of its query file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec


class LanguageKind(StrEnum):
    """What a language describes, which decides what its skeleton is."""

    CODE = "code"
    """Programs: bodies can be cut out."""
    DATA = "data"
    """Data, markup and prose: the outline stands for the skeleton."""
    MIXED = "mixed"
    """Markup around programs: bodies can be cut out, and outlines are those of documents."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        name: The name that users type, and the stem of ``queries/<name>.scm``.
        suffixes: Lower-case file suffixes.
        module: The grammar's import name.
        function: The function in that module that returns the grammar.
        placeholder: What stands for a body that was cut out.
        mark: What stands for lines that are left out between others, where it is not the placeholder without braces.
        own_line: The placeholder is a comment to the line's end, so nothing may follow it on its line.
        kind: Code or data.
        names: Whole file names, where a suffix does not tell.
        interpreters: Programs on a `#!` line, without version, where neither name nor suffix tells.
        tag: The tag of fences, where it is not the name.
        hidden: Yields the spans, in order and apart, that no grammar can read and that the parser must not see.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    placeholder: str = "{ /* ... */ }"
    function: str = "language"
    own_line: bool = False
    kind: LanguageKind = LanguageKind.CODE
    names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    tag: str = ""
    mark: str = ""
    hidden: Callable[[bytes], Iterator[tuple[int, int]]] | None = None

    @property
    def fence(self) -> str:
        """The tag of fences around texts in it."""
        return self.tag or self.name

    @property
    def is_installed(self) -> bool:
        """Whether its grammar is there to be imported; nothing is imported to tell."""
        return _is_installed(self.module)

    @property
    def elision(self) -> str:
        """What stands for lines that are left out between others."""
        if self.kind is not LanguageKind.CODE:
            return "..."
        return self.mark or self.placeholder.strip("{} ")


@cache
def _is_installed(module: str) -> bool:
    return find_spec(module) is not None
