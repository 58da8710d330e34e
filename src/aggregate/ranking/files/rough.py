"""Scan files for words and definitions without parsing, and pack those of a group."""

import json
import re
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple

from aggregate.base.text import LONG_LINE, generated_reason, has_long_line, shorten_long_lines
from aggregate.code.syntax import (
    Language,
    LanguageKind,
    cells_in_place,
    fence_tag,
    language_of,
    uninstalled_language_of,
)
from aggregate.ranking.terms import hashes_of_terms, term_hash, words_in

# Characters of a parsed text: a larger one contains data, and no prompt has room for it.
_MOST_CHARACTERS: Final = 2_000_000
_MOST_GENERATED: Final = 200_000  # likewise of generated tables and parsers
# Searched characters of an unparsed text; the rest is one piece without terms.
SAMPLE: Final = 100_000
_LINES_PER_PIECE: Final = 12  # average; 9 to 18 in ten projects of seven languages
_NOT_CODE: Final = frozenset(
    {"csv", "diff", "gitattributes", "gitignore", "ini", "rst", "text", "tsv", "xml"}
)


class FileFacts(NamedTuple):
    """Facts about a file known without an analysis."""

    path: str  # as shown in the prompt: relative to the base directory, with ``/``
    language: str
    is_code: bool  # a programming language, not prose, data or markup
    characters: int
    pieces: int  # estimated from the lines
    is_generated: bool = False


class TextTraits(NamedTuple):
    """Properties of a file derived from its name and text.

    An example is whether the file is generated.
    """

    language: Language | None  # None without an installed grammar
    name: str
    is_code: bool
    is_parsed: bool  # parsing is worthwhile
    has_data: bool = False  # mostly long lines; the rest may be a program


class RoughFile(NamedTuple):
    """The facts, words and probable definitions found by a scan."""

    facts: FileFacts
    words: Mapping[bytes, int]  # occurrences by word
    names: Set[str]  # names in the position of a definition's


def text_traits(path: str, text: str) -> TextTraits:
    language = language_of(path, text)
    syntax = language or uninstalled_language_of(path, text)
    if syntax:
        name, is_code = syntax.name, syntax.kind is not LanguageKind.DATA
    else:
        tag = fence_tag(path, text)
        name, is_code = "" if tag == "text" else tag, tag not in _NOT_CODE
    is_parsed = len(text) <= _MOST_CHARACTERS
    if is_parsed and len(text) > _MOST_GENERATED:
        is_parsed = not generated_reason(path, text)
    has_data = False
    if is_parsed and has_long_line(text):
        long_lines = sum(size for size in map(len, text.split("\n")) if size > LONG_LINE)
        has_data = 2 * long_lines >= len(text)
    return TextTraits(language, name, is_code, is_parsed and not has_data, has_data)


def look_roughly(path: str, text: str) -> RoughFile:
    """Scan a file without parsing it, in a tenth of the time of an analysis."""
    virtual_path, text, _ = cells_in_place(path, text)
    traits = text_traits(virtual_path, text)
    words = words_in(text if traits.is_parsed else text[:SAMPLE])
    lines = text.count("\n") + (not text.endswith("\n"))
    facts = FileFacts(
        path,
        traits.name,
        traits.is_code,
        len(text) if virtual_path == path else len(text.replace("\n", "")),
        -(-lines // _LINES_PER_PIECE) if text else 0,
    )
    has_names = traits.is_code and (traits.is_parsed or traits.has_data)
    names = _names(traits.name, shorten_long_lines(text)) if has_names else frozenset()
    return RoughFile(facts, words, names)


def _names(language: str, text: str) -> Set[str]:
    names: set[str] = set()
    text = f"\n{text}"  # each expression begins with a line break
    for expression in _expressions(_FAMILIES.get(language, _BY_KEYWORD)):
        names.update(expression.findall(text))
    return names


_MODIFIERS: Final = (
    r"(?:(?:abstract|actual|async|const|constexpr|data|declare|default|expect|export|extern(?:[ ]\"C\")?|final|infix"
    r"|inline|internal|local|mut|open|operator|override|partial|private|protected|pub(?:\([^()\n]*\))?|public|readonly|sealed|static|suspend|template"
    r"|unsafe|virtual)[ \t]++)*"
)
_KEYWORDS: Final = (
    r"(?:actor|class|const|def|defmacro|defmodule|defp|enum(?:[ ](?:class|struct))?|extension|fn|fun|func|function"
    r"|interface|let|macro|macro_rules!|mod|module|namespace|object|proc|protocol|record|struct|sub|trait|type|typealias"
    r"|union|val|var)"
)
# Between keyword and name: a method's receiver in Go and Kotlin, type parameters, ``self.`` in Ruby, ``*`` of a
# generator, a macro in capitals in C++.
_BEFORE_NAME: Final = (
    r"(?:[ \t]*+\([^()\n]*\)[ \t]*+|[ \t]*\*[ \t]*|[ \t]++)(?:<[^>\n]*>[ \t]*)?"
    r"(?:(?:[\w<>?]+\.)+|[A-Z_]{4,}[ \t]+)?"
)
_AFTER_KEYWORD: Final = rf"\n[ \t]*+{_MODIFIERS}{_KEYWORDS}{_BEFORE_NAME}([\w$]+)"
_NOT_STATEMENT: Final = (
    r"(?!(?:assert|await|case|catch|co_return|delete|do|else|for|foreach|goto|if|import|lock|new|not|package|return"
    r"|switch|throw|typeof|using|while|with|yield)\b)"
)
# A name with parameters: at the start of a line or after a type, not a statement.
_FUNCTION_HEAD: Final = (
    rf"\n(?:[ \t]+(?=[^\s(]+[ \t*&]))?{_NOT_STATEMENT}(?:[\w:<>,.*&~?@\[\]]+[ \t]+[*&]*+){{0,8}}?"
    rf"(?:[\w<>]+::)*~?([\w$]+)[ \t]*\([^;{{}}\n]*(?:[;{{]|$)"
)
_METHOD_HEAD: Final = (
    rf"\n[ \t]+(?:(?:async|get|private|protected|public|readonly|set|static)[ \t]+)*\*?{_NOT_STATEMENT}([\w$]+)"
    r"\([^()'\"\n;]*\)[^;(\n]*\{[ \t]*$"
)
_ASSIGNED_FUNCTION: Final = (
    r"\n[ \t]*(?:(?:const|export|let|var)[ \t]+)*(?:[\w$]+\.)*([\w$]+)[ \t]*[=:][ \t]*(?:async[ \t]+)?"
    r"(?:function\b|\([^()\n]*\)[ \t]*=>|[\w$]+[ \t]*=>)"
)
_BY_KEYWORD, _PYTHON, _C, _SCRIPT, _SHELL = "keyword", "python", "c", "script", "shell"
_EXPRESSIONS: Final = {
    _PYTHON: (
        r"\n[ \t]*+(?:async[ \t]++)?(?:def|class)[ \t]++(\w+)",
        r"\n(\w+)[ \t]*(?::[^=\n]+)?=(?!=)",
    ),
    _BY_KEYWORD: (_AFTER_KEYWORD,),
    _C: (
        _AFTER_KEYWORD,
        _FUNCTION_HEAD,
        r"\n[ \t]*#[ \t]*define[ \t]+(\w+)",
        r"\n\}[ \t]*(\w+)[ \t]*;",
    ),
    _SHELL: (r"\n[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*\(\)",),
    _SCRIPT: (_AFTER_KEYWORD, _METHOD_HEAD, _ASSIGNED_FUNCTION),
}  # by family of languages; a line break instead of ``^`` halves the time
_FAMILIES: Final = {
    "python": _PYTHON,
    "bash": _SHELL,
    **dict.fromkeys(("c", "cpp", "csharp", "dart", "groovy", "java", "objectivec"), _C),
    **dict.fromkeys(("javascript", "svelte", "tsx", "typescript", "vue"), _SCRIPT),
}


@cache  # compiling takes 4 ms, and a warm index needs none of them
def _expressions(family: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(expression, re.MULTILINE) for expression in _EXPRESSIONS[family])


_SIZE: Final = 4  # bytes of a number
Code = Literal["I", "i"]
_WORTH_BYTES: Final = 200  # shorter data hardly shrink
_LEVEL: Final = 1  # of zlib: higher levels do not shrink sorted hashes
_PLAIN, _DEFLATED = b"\0", b"\1"


def column(code: Code, values: Iterable[int]) -> bytes:
    """Return numbers as bytes of an array type (``code``), in this machine's byte order."""
    return array(code, values).tobytes()


def numbers(code: Code, data: bytes | memoryview) -> memoryview:
    return memoryview(data).cast(code)


def deflated(data: bytes) -> bytes:
    return _PLAIN + data if len(data) < _WORTH_BYTES else _DEFLATED + zlib.compress(data, _LEVEL)


def inflated(data: bytes) -> bytes:
    return data[1:] if data[:1] == _PLAIN else zlib.decompress(data[1:])


MOST_MEMBERS: Final = 255  # texts of a table: an index takes one byte
_MOST_COUNT: Final = 255


class TermTable:
    """A packed table of how often terms occur in texts; terms are stored as hashes."""

    __slots__ = ("_ends", "_pairs", "_terms")

    def __init__(self, data: bytes) -> None:
        view = memoryview(data)
        (terms,) = numbers("I", view[:_SIZE])
        start = _SIZE * (1 + terms)
        self._terms = numbers("I", view[_SIZE:start])
        self._ends = numbers("I", view[start : start + _SIZE * terms])
        self._pairs = view[start + _SIZE * terms :]

    def texts_with(self, term: str) -> dict[int, int]:
        """Count the occurrences of a term in each text.

        Texts without the term are left out. A word counts at most 255 times.
        """
        hashed, terms = term_hash(term), self._terms
        row = bisect_left(terms, hashed)
        if row == len(terms) or terms[row] != hashed:
            return {}
        pairs = self._pairs[self._ends[row - 1] if row else 0 : self._ends[row]]
        texts: dict[int, int] = {}
        for text, count in zip(pairs[::2], pairs[1::2], strict=True):
            texts[text] = texts.get(text, 0) + count
        return texts


def pack_terms(texts: Sequence[Mapping[bytes, int]]) -> bytes:
    """Pack the word counts of texts (at most ``MOST_MEMBERS``) into a table."""
    words: dict[bytes, bytes] = {}  # (text, count) pairs by word
    for index, counts in enumerate(texts):  # hot loop: a project has a million words
        pairs_by_count = _pairs_of(index)
        for word, count in counts.items():
            pair = pairs_by_count[count if count < _MOST_COUNT else _MOST_COUNT]
            words[word] = words.get(word, b"") + pair
    pairs: dict[int, bytes] = {}  # by hash of term; a pair for each of its words in a text
    for word, word_pairs in words.items():
        for hashed in hashes_of_terms(word):
            pairs[hashed] = pairs.get(hashed, b"") + word_pairs
    terms = sorted(pairs)
    rows = [pairs[term] for term in terms]
    head = column("I", [len(terms), *terms]) + column("I", accumulate(map(len, rows)))
    return head + b"".join(rows)


@cache
def _pairs_of(index: int) -> Sequence[bytes]:
    return [bytes([index, count]) for count in range(_MOST_COUNT + 1)]


_UNREADABLE: Final = FileFacts("", "", is_code=False, characters=0, pieces=0)
_COUNTS: Final = 2  # columns of numbers


class GroupTable:
    """A packed table about a group of files: facts, and names that they probably define."""

    __slots__ = ("_count", "_defining", "_hashes", "_languages", "_traits")

    def __init__(self, data: bytes) -> None:
        view = memoryview(data)
        size = int(numbers("I", view[:_SIZE])[0])
        self._count, self._languages = json.loads(data[_SIZE : _SIZE + size])
        start = _SIZE + size
        self._traits = view[start:]
        names = view[start + (2 + _COUNTS * _SIZE) * self._count :]
        count = len(names) // (_SIZE + 1)
        self._hashes = numbers("I", names[: _SIZE * count])  # of names, sorted
        self._defining = names[_SIZE * count :]  # file of each hash

    def columns(self) -> list[Sequence[Any]]:
        """Return the columns of the table: the fields of ``FileFacts`` except the first and the last."""
        count = self._count
        names, flags = self._traits[:count], self._traits[count : 2 * count]
        counts = numbers("I", self._traits[2 * count :][: _COUNTS * _SIZE * count])
        return [
            [self._languages[number] for number in names],
            [flag == 1 for flag in flags],
            *(counts[number * count : (number + 1) * count] for number in range(_COUNTS)),
        ]

    def files_defining(self, name: str) -> Sequence[int]:
        """Return the numbers of the files probably defining a name."""
        hashed = term_hash(name)
        start = bisect_left(self._hashes, hashed)
        return self._defining[start : bisect_right(self._hashes, hashed, start)]


def pack_tables(files: Sequence[RoughFile | None]) -> tuple[bytes, bytes]:
    """Pack facts and terms of files into two tables; ``None`` in ``files`` is an unreadable file."""
    terms = pack_terms([file.words if file else {} for file in files])
    return _packed_traits(files) + _packed_names(files), terms


def _packed_traits(files: Sequence[RoughFile | None]) -> bytes:
    traits = [file.facts if file else _UNREADABLE for file in files]
    languages = sorted({facts.language for facts in traits})
    head = json.dumps([len(files), languages]).encode()
    columns = (
        bytes([languages.index(facts.language) for facts in traits]),
        bytes([facts.is_code for facts in traits]),
        column("I", [facts.characters for facts in traits]),
        column("I", [facts.pieces for facts in traits]),
    )
    return b"".join([column("I", [len(head)]), head, *columns])


def _packed_names(files: Sequence[RoughFile | None]) -> bytes:
    defined = sorted(
        term_hash(name) << 8 | member
        for member, file in enumerate(files)
        if file
        for name in file.names
    )
    return column("I", [key >> 8 for key in defined]) + bytes([key & 0xFF for key in defined])
