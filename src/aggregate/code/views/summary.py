"""A digest of a file, shorter than the file itself."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from aggregate.base.files import View, ViewRequest
from aggregate.base.text import line_count
from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.syntax.languages import Language, LanguageKind, fence_tag, language_of
from aggregate.code.syntax.symbols import read_module
from aggregate.code.views.digest import (
    counted,
    document_digest,
    more_row,
    plain_digest,
    plural,
    sample,
    shortened,
)
from aggregate.code.views.records import records_view

_MOST_NAMES = 60
_MOST_ROWS = 60
_MOST_MARKUP_ROWS = 20
_MOST_CHARACTERS = 800  # of names in a row: about five lines of a screen
# Characters read of a line of documentation: the patterns below retry from each one.
_LONGEST_LINE = 1_000


def summary(request: ViewRequest, module: Module | None = None) -> View:
    """Return a digest of a file: its title, documentation, imports and definitions (rule M-32)."""
    language = language_of(request.path, request.text)
    if not request.text.strip():
        return View(f"{_title(request, language)}, empty", language="text")
    if records := records_view(request):
        return records
    lines = shorter_than(request.text, _digest(request, language, module))
    return View("\n".join(lines) or request.text, language="text")


def shorter_than(text: str, lines: Sequence[str]) -> list[str]:
    remaining = list(lines)
    while remaining and sum(map(len, remaining)) + len(remaining) - 1 >= len(text):
        remaining.pop()
    return remaining


def _digest(request: ViewRequest, language: Language | None, module: Module | None) -> list[str]:
    title = f"{_title(request, language)}, {counted(line_count(request.text), 'line')}"
    if language is None:
        return [title, *plain_digest(request.path, request.text)]
    module = module or read_module(request.text, language)
    inner = module.definitions
    if language.kind is LanguageKind.CODE:
        counts = Counter(definition.kind for definition in module.definitions)
        title = ", ".join([title, *(counted(number, kind) for kind, number in counts.items())])
        rows = definition_rows(module)
    elif language.kind is LanguageKind.MIXED:
        code = [item._replace(depth=item.depth - 1) for item in inner if item.is_embedded_code]
        markup = [item for item in inner if not item.is_embedded_code]
        rows = definition_rows(replace(module, definitions=tuple(code)))
        rows += document_digest(replace(module, definitions=tuple(markup)), _MOST_MARKUP_ROWS)
    else:
        rows = document_digest(module, _MOST_ROWS)
    return [title, *(details(module, rows) or sample(request.text))]


def details(module: Module, rows: Sequence[str]) -> list[str]:
    doc = _first_paragraph(module.doc)
    return [
        *([doc] if doc else []),
        *_titled("imports", module.imports),
        *_titled("constants", module.constants),
        *rows,
    ]


def definition_rows(module: Module) -> list[str]:
    """Return lines that list the definitions of a module.

    Each class or module has a line with its members, then each other kind of definition has a line.
    """
    members: dict[Definition, list[str]] = {}
    leaves: dict[str, list[str]] = {}
    around: list[Definition] = []
    for definition in module.definitions:
        del around[definition.depth :]
        kind, path = definition.kind, definition.path
        if kind in _HOLDERS:
            members[definition] = []
        elif around and around[-1] in members:
            members[around[-1]].append(path[-1] if path else kind)
        else:
            leaves.setdefault(kind, []).extend([".".join(path) or kind, *definition.aliases])
        around.append(definition)
    rows: list[str] = []
    for holder, names in members.items():
        title = module.signature(holder).removesuffix(" =").removesuffix("(")
        if holder.kind == "suite":
            title = f"suite {holder.path[-1]}"
        rows.append(_joined(shortened("  " * holder.depth + title), list(dict.fromkeys(names))))
    if len(rows) > _MOST_ROWS:
        rows[_MOST_ROWS:] = [more_row(len(rows) - _MOST_ROWS)]
    for kind, names in leaves.items():
        rows += _titled(plural(kind), names)
    return rows


# The opening of a comment or documentation string, and the marks around each of its lines. In Markdown "!!! note"
# opens a remark and "(*so*" begins with an emphasis.
_OPENING = re.compile(
    r"""\s*(?:/\*|//|\#|--|;|<!--|\(\*+(?:\s|$)|\{-|!(?!!! [a-z])[ !<>]|[rRuUbBfF]{0,2}["'])"""
)
_MARKS = re.compile(
    r"""^\s*(?:/\*+!?|<!--|//+!?|\#+|(?:--+|\{-)(?:\s*\|)?|\(\*+|;+|![!<>]?|\*++(?!/)|[rRuUbBfF]{0,2}(?:\"{3}|'{3}|\"|'))|(?:(?<!\*)\*+/|(?<=\s)\*+\)|-->|-\}|\"{3}|'{3}|\"|')\s*$"""
)
# Comments for tools, not for readers.
_DIRECTIVE = re.compile(
    r"eslint|jshint|jslint|prettier-|biome-|istanbul|@ts-|@flow|@format|@jsx|global |frozen_string_literal:|rubocop:"
    r"|shellcheck |-\*-|encoding:|coding[:=]|vim?:|pylint:|mypy:|ruff:|flake8|clang-format|go:build|\+build|#region"
)
# Tags in the comments of Java and C#.
_TAGS = re.compile(r"</?(?:summary|remarks|para|p)\s*/?>")
_HOLDERS = frozenset(
    """
    actor class contract enum extension given impl implementation instance interface library mixin module namespace
    object program protocol record signature struct suite trait union
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)


def _title(request: ViewRequest, language: Language | None) -> str:
    return language.name if language else fence_tag(request.path, request.text)


def _first_paragraph(doc: str) -> str:
    lines = [line[:_LONGEST_LINE] for line in doc.strip().splitlines()]
    if _OPENING.match(doc):
        lines = [
            text for line in lines if not _DIRECTIVE.match(text := _MARKS.sub("", line).strip())
        ]
    paragraph = _TAGS.sub("\n\n", "\n".join(lines)).strip().split("\n\n")[0]
    return shortened(" ".join(paragraph.split()))


def _titled(title: str, names: Sequence[str]) -> list[str]:
    return [_joined(title, names)] if names else []


def _joined(title: str, names: Sequence[str]) -> str:
    if not names:
        return title
    listed: list[str] = []
    width = 0
    for name in names[:_MOST_NAMES]:
        width += len(name) + 2
        if listed and width > _MOST_CHARACTERS:
            break
        listed.append(shortened(name))
    if len(listed) < len(names):
        listed.append(f"and {len(names) - len(listed)} more")
    return f"{title}: {', '.join(listed)}"
