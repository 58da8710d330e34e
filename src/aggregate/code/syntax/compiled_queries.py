"""Grammars and queries, each loaded and compiled once."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import get_data

from tree_sitter import Language as Grammar, Query

from aggregate.code.syntax.languages import Language

_CAPTURE = re.compile(r"@([\w.]+)")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|;.*|[(\[]|[)\]][?*+]?|[^\s"()\[\];]+')
_INHERITS = re.compile(r"^; inherits: (\w+)$", re.MULTILINE)
_FAMILIES = ("definition", "level", "embedded", "reference")
# Families of captures that are looked for in all of a text, bodies of functions included, whatever ``@scope`` says.
_ANYWHERE = frozenset({"reference"})


@cache
def grammar_of(language: Language) -> Grammar:
    grammar: object = getattr(import_module(language.module), language.function)()
    if isinstance(grammar, int):  # some wheels give its bare address, which is deprecated
        import ctypes  # seldom needed, and slow to load

        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        grammar = new_capsule(grammar, b"tree_sitter.Language", None)
    return Grammar(grammar)


@cache
def query_of(language: Language, wanted: frozenset[str]) -> tuple[Query, bool, bool]:
    """Return the language's query, cut down to ``wanted``, and whether it names scopes and private captures."""
    kept: set[str] = set()
    patterns: list[str] = []
    for pattern in _patterns(_query_text(language.name)):
        names = set(_CAPTURE.findall(pattern))
        if any(_is_wanted(name, wanted) for name in names):
            kept |= names
            patterns.append(pattern)
    query = Query(grammar_of(language), "\n".join(patterns))
    for name in kept:
        if not _is_wanted(name, wanted) and name[0] != "_":
            query.disable_capture(name)
    return query, "scope" in kept, any(name[0] == "_" for name in kept)


def _patterns(text: str) -> Iterator[str]:
    pieces: list[str] = []
    depth = 0
    for piece in _PIECE.findall(text):
        if piece in ("(", "["):
            if not depth and pieces:
                yield " ".join(pieces)
                pieces = []
            depth += 1
        depth -= piece[0] in ")]"
        if piece[0] != ";":
            pieces.append(piece)
    if pieces:
        yield " ".join(pieces)


def _query_text(name: str) -> str:
    # ``importlib.resources`` takes 10 ms to import.
    data = get_data("aggregate.code.syntax", f"queries/{name}.scm")
    if data is None:
        raise FileNotFoundError(f"aggregate/code/syntax/queries/{name}.scm")
    text = data.decode()
    return "".join(_query_text(inherited) for inherited in _INHERITS.findall(text)) + text


def _is_wanted(name: str, wanted: frozenset[str]) -> bool:
    family, _, member = name.partition(".")
    return (
        name in wanted
        or (family == "scope" and not wanted & _ANYWHERE)
        or bool(member and family in _FAMILIES and family in wanted)
    )
