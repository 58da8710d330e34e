"""What a pass over a file's text tells before any grammar is asked: its words, and names that it seems to define."""

import re
from collections.abc import Mapping, Set
from functools import cache
from typing import Final, NamedTuple

from aggregate.base.text import LONG_LINE, generated_reason, has_long_line, shorten_long_lines
from aggregate.code.syntax import (
    Language,
    LanguageKind,
    cells_in_place,
    fence_tag,
    language_of,
    uninstalled_language_of,
)
from aggregate.ranking.files.analysis import FileFacts
from aggregate.ranking.terms import words_in

# Of a text that is parsed: a larger one holds data, and no prompt has room for it.
_MOST_CHARACTERS: Final = 2_000_000
# Of one that a program has written: tables and parsers, of which nobody reads more.
_MOST_GENERATED: Final = 200_000
# Characters that count of a text that is not parsed; what is behind them is one piece without terms.
SAMPLE: Final = 100_000
# Lines that a piece has on average; in ten projects of seven languages it was 9 to 18.
_LINES_PER_PIECE: Final = 12
_NOT_CODE: Final = frozenset(
    {"csv", "diff", "gitattributes", "gitignore", "ini", "rst", "text", "tsv", "xml"}
)


class TextTraits(NamedTuple):
    """What a file's name and text say of its kind."""

    language: Language | None  # whose grammar is installed
    name: str
    is_code: bool
    is_parsed: bool  # whether a grammar is worth asking
    has_data: bool = False  # whether long lines make it up, without which it may be a program


class RoughFile(NamedTuple):
    """What is known of each file of a project, whatever is asked."""

    facts: FileFacts
    words: Mapping[bytes, int]  # how often each occurs
    names: Set[str]  # that stand where a definition has its name


def text_traits(path: str, text: str) -> TextTraits:
    language = language_of(path, text)
    if known := language or uninstalled_language_of(path, text):
        name, is_code = known.name, known.kind is not LanguageKind.DATA
    else:
        tag = fence_tag(path, text)
        name, is_code = "" if tag == "text" else tag, tag not in _NOT_CODE
    is_parsed = len(text) <= _MOST_CHARACTERS
    if is_parsed and len(text) > _MOST_GENERATED:
        is_parsed = not generated_reason(path, text)
    has_data = is_parsed and has_long_line(text) and 2 * _size_of_long_lines(text) >= len(text)
    return TextTraits(language, name, is_code, is_parsed and not has_data, has_data)


def _size_of_long_lines(text: str) -> int:
    return sum(size for size in map(len, text.split("\n")) if size > LONG_LINE)


def look_roughly(path: str, text: str) -> RoughFile:
    """Return what the file at ``path`` tells that holds ``text``, in about a tenth of the time of analysing it."""
    shown, text = cells_in_place(path, text)
    kind = text_traits(shown, text)
    words = words_in(text if kind.is_parsed else text[:SAMPLE])
    lines = text.count("\n") + (not text.endswith("\n"))
    facts = FileFacts(
        path,
        kind.name,
        kind.is_code,
        len(text) if shown == path else len(text.replace("\n", "")),
        -(-lines // _LINES_PER_PIECE) if text else 0,
    )
    is_named = kind.is_code and (kind.is_parsed or kind.has_data)
    names = _names(kind.name, shorten_long_lines(text)) if is_named else frozenset()
    return RoughFile(facts, words, names)


def _names(language: str, text: str) -> Set[str]:
    names: set[str] = set()
    text = f"\n{text}"  # each expression begins with the break before a line
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
# What stands behind a keyword before the name: the receiver of a method in Go and in Kotlin, parameters of a type,
# ``self.`` in Ruby, ``*`` of a generator, a macro in capitals in C++.
_BEFORE_NAME: Final = (
    r"(?:[ \t]*+\([^()\n]*\)[ \t]*+|[ \t]*\*[ \t]*|[ \t]++)(?:<[^>\n]*>[ \t]*)?"
    r"(?:(?:[\w<>?]+\.)+|[A-Z_]{4,}[ \t]+)?"
)
_BEHIND_KEYWORD: Final = rf"\n[ \t]*+{_MODIFIERS}{_KEYWORDS}{_BEFORE_NAME}([\w$]+)"
_NO_NAME: Final = (
    r"(?!(?:assert|await|case|catch|co_return|delete|do|else|for|foreach|goto|if|import|lock|new|not|package|return"
    r"|switch|throw|typeof|using|while|with|yield)\b)"
)
# A name with parameters: at the start of a line, or behind words that are a type, and no statement.
_FUNCTION_HEAD: Final = (
    rf"\n(?:[ \t]+(?=[^\s(]+[ \t*&]))?{_NO_NAME}(?:[\w:<>,.*&~?@\[\]]+[ \t]+[*&]*+){{0,8}}?"
    rf"(?:[\w<>]+::)*~?([\w$]+)[ \t]*\([^;{{}}\n]*(?:[;{{]|$)"
)
_METHOD_HEAD: Final = (
    rf"\n[ \t]+(?:(?:async|get|private|protected|public|readonly|set|static)[ \t]+)*\*?{_NO_NAME}([\w$]+)"
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
    _BY_KEYWORD: (_BEHIND_KEYWORD,),
    _C: (
        _BEHIND_KEYWORD,
        _FUNCTION_HEAD,
        r"\n[ \t]*#[ \t]*define[ \t]+(\w+)",
        r"\n\}[ \t]*(\w+)[ \t]*;",
    ),
    _SHELL: (r"\n[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*\(\)",),
    _SCRIPT: (_BEHIND_KEYWORD, _METHOD_HEAD, _ASSIGNED_FUNCTION),
}  # by the family of a language what stands before its names, behind a break: ``^`` takes twice as long to search for
_FAMILIES: Final = {
    "python": _PYTHON,
    "bash": _SHELL,
    **dict.fromkeys(("c", "cpp", "csharp", "dart", "groovy", "java", "objectivec"), _C),
    **dict.fromkeys(("javascript", "svelte", "tsx", "typescript", "vue"), _SCRIPT),
}


@cache  # a later question needs none of them, and compiling them takes 4 ms
def _expressions(family: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(expression, re.MULTILINE) for expression in _EXPRESSIONS[family])
