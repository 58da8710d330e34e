"""A digest of a file, shorter than the file itself."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath

from aggregate.base.files import View, ViewRequest
from aggregate.base.text import line_count
from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.syntax.languages import Language, LanguageKind, fence_tag, language_of
from aggregate.code.syntax.symbols import read_module
from aggregate.code.views.records import counted, more_row, plural, records_view, shortened

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
    lines = [line[:_LONGEST_LINE] for line in module.doc.strip().splitlines()]
    if _OPENING.match(module.doc):
        bare = (_MARKS.sub("", line).strip() for line in lines)
        lines = [line for line in bare if not _DIRECTIVE.match(line)]
    paragraph = _TAGS.sub("\n\n", "\n".join(lines)).strip().split("\n\n")[0]
    doc = shortened(" ".join(paragraph.split()))
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


_AS_WRITTEN = frozenset({"block", "element", "heading", "instruction", "rule"})
_ITEM = {"array": "item"}


def document_row(definition: Definition, module: Module) -> str:
    if definition.kind in _AS_WRITTEN or definition.is_embedded_code:
        return shortened("  " * definition.depth + module.signature(definition))
    sizes: list[str] = []
    if definition.items is not None:
        sizes.append(counted(definition.items, _ITEM.get(definition.kind, "key")))
    lines = definition.last_line - definition.first_line + 1
    if lines > 1:
        sizes.append(counted(lines, "line"))
    return _key_row(definition, f" ({', '.join(sizes)})" if sizes else "")


def document_digest(module: Module, most: int) -> list[str]:
    """Return the keys or headings of a document.

    There are at most ``most`` lines; repeated keys share a line.
    """
    groups: dict[object, list[Definition]] = {}
    for definition in module.definitions:
        is_alone = definition.kind in _AS_WRITTEN or definition.is_embedded_code
        key = definition if is_alone else (definition.depth, definition.kind, definition.path)
        groups.setdefault(key, []).append(definition)
    repeats = {group[0]: len(group) for group in groups.values()}
    definitions, left_out = outermost(list(repeats), most)
    rows = [
        document_row(definition, module)
        if repeats[definition] == 1
        else _key_row(definition, f" × {repeats[definition]}")
        for definition in definitions
    ]
    return [*rows, more_row(left_out)] if left_out else rows


def outermost(definitions: Sequence[Definition], most: int) -> tuple[Sequence[Definition], int]:
    """Return at most ``most`` definitions, and count the omitted ones.

    The deepest are omitted first, then the last ones.
    """
    outer = definitions
    while len(outer) > most:
        deepest = max(definition.depth for definition in outer)
        if deepest == 0:
            break
        outer = [definition for definition in outer if definition.depth < deepest]
    outer = outer[:most]
    return outer, len(definitions) - len(outer)


def _key_row(definition: Definition, size: str) -> str:
    key = ": ".join([*definition.path[-1:], definition.kind])
    return shortened("  " * definition.depth + key) + size


_SAMPLE_LINES = 3
_LINE = re.compile(r"\S.*")
_MOST_LANDMARKS = 30  # a digest is read at a glance: half the rows of one with a grammar

# Lines with the structure of a file, by fence tag.
_LANDMARKS = {
    "cmake": r"^[ \t]*((?:project|add_executable|add_library|function|macro|find_package)[ \t]*\(.*)$",
    "diff": r"^((?:diff --git|\+\+\+) .*)$",
    "dockerfile": r"^((?i:FROM|ENTRYPOINT|CMD|EXPOSE|VOLUME|WORKDIR)[ \t].*)$",
    "elixir": r"^[ \t]*((?:defmodule|def|defp|defmacro)[ \t].*)$",
    "graphql": r"^((?:type|input|enum|interface|union|scalar|query|mutation|fragment|extend)[ \t].*)$",
    "haskell": r"^((?:module|data|newtype|class|instance|type)[ \t].*|\w+[ \t]*::.*)$",
    "hcl": r"^((?:resource|data|module|variable|output|provider|locals|terraform)\b.*)$",
    "ini": r"^[ \t]*(\[.+\])[ \t]*$",
    "kotlin": r"^[ \t]*((?:[a-z]+[ \t]+)*(?:class|interface|object|fun)[ \t].*)$",
    "less": r"^([^ \t\r\n/*}].*\{)[ \t]*$",
    "lua": r"^[ \t]*((?:local[ \t]+)?function[ \t].*)$",
    "makefile": r"^([\w/%$(){}-][\w ./%$(){}-]*::?(?!=).*)$",
    "perl": r"^[ \t]*((?:package|sub)[ \t].*)$",
    "powershell": r"^[ \t]*((?i:function|class|enum)[ \t].*)$",
    "protobuf": r"^[ \t]*((?:package|message|service|enum|rpc)[ \t].*)$",
    "rst": r"^([^\s].*)\n(?:=+|-+|~+|\^+|\"+|\*+|#+|\++)[ \t]*$",
    "scala": r"^[ \t]*((?:[a-z]+[ \t]+)*(?:class|trait|object|def)[ \t].*)$",
    "scss": r"^([^ \t\r\n/*}].*\{)[ \t]*$",
    "sql": r"^[ \t]*((?i:CREATE|ALTER|DROP)[ \t].*)$",
    "swift": r"^[ \t]*((?:[a-z]+[ \t]+)*(?:class|struct|enum|protocol|extension|func)[ \t].*)$",
}


def plain_digest(path: str, text: str) -> list[str]:
    tag = fence_tag(path, text)
    pattern = _LANDMARKS.get(tag)
    matches = re.finditer(pattern, text, re.MULTILINE) if pattern else ()
    rows = [shortened(match[1].strip()) for match in matches]
    if rows:
        left_out = len(rows) - _MOST_LANDMARKS
        return [*rows[:_MOST_LANDMARKS], more_row(left_out)] if left_out > 0 else rows
    if PurePosixPath(path).suffix.lower() in ("", ".txt", ".rst"):
        return [counted(len(text.split()), "word"), *sample(text)]
    return sample(text)


def sample(text: str) -> list[str]:
    return [shortened(line[0].rstrip()) for line in islice(_LINE.finditer(text), _SAMPLE_LINES)]
