"""A digest of a file, shorter than the file."""

import re
from collections import Counter

from aggregate.models.view import View, ViewRequest
from aggregate.syntax.definitions import Definition, Module, read_module
from aggregate.syntax.languages import Kind, Language, fence_tag, language_of
from aggregate.text.lines import line_count

_SAMPLE_LINES = 3
_LINE_WIDTH = 160
_MOST_NAMES = 60
_COMMENT_MARKS = re.compile(r"^\s*(?:/\*+!?<?|\*+/|\*+|/{2,}[!<]?|#+!?)|\*+/\s*$")
_PARAGRAPHS = re.compile(r"\n\s*\n|</?(?:summary|remarks|p|para)\s*/?>")
_WORD = re.compile(r"[^\W\d_]{2}")
_NOTICE = re.compile(r"copyright|licen[cs]e|spdx-|all rights reserved", re.IGNORECASE)


def summary(request: ViewRequest) -> View:
    """Return a heuristic digest: what the file is, its doc, imports, definitions, headings or keys (rule M-32).

    The digest is shorter than the source: details go, the last ones first, until it is. Of a source too short for
    that, the source itself is returned.
    """
    language = language_of(request.path, request.text)
    lines = _digest(request, language) if request.text.strip() else [f"{_title(request, language)}, empty"]
    while lines and sum(map(len, lines)) + len(lines) - 1 >= max(len(request.text), 1):
        lines.pop()
    text = "\n".join(lines) if lines or not request.text else request.text
    return View(text or f"{_title(request, language)}, empty", language="text")


def _digest(request: ViewRequest, language: Language | None) -> list[str]:
    title = f"{_title(request, language)}, {_count(line_count(request.text), 'line')}"
    if language is None:
        return [title, *_sample(request.text)]
    module = read_module(request.text, language)
    if language.kind is Kind.DATA:
        return [title, *(_row(one, module) for one in module.definitions)]
    counts = Counter(one.kind for one in module.definitions)
    title = ", ".join([title, *(_count(number, kind) for kind, number in counts.items())])
    digest = [title, *_named("imports", module.imports), *_named("constants", module.constants)]
    if doc := _first_paragraph(module.doc):
        digest.insert(1, doc)
    if not module.definitions and len(digest) == 1:
        return [title, *_sample(request.text)]
    return digest + _definitions(module)


def _definitions(module: Module) -> list[str]:
    """Return a row per definition that holds others, naming these, then a row per kind of those that hold none."""
    members: dict[Definition, list[str]] = {}
    leaves: dict[str, list[str]] = {}
    around: list[Definition] = []
    for one in module.definitions:
        del around[one.depth :]
        holds = one.kind in _HOLDERS
        if holds:
            members[one] = []
        elif around and around[-1] in members:
            members[around[-1]].append(one.path[-1] if one.path else one.kind)
        else:
            leaves.setdefault(one.kind, []).append(".".join(one.path) or one.kind)
        around.append(one)
    rows = [_joined("  " * one.depth + module.signature(one), list(dict.fromkeys(names))) for one, names in members.items()]
    return rows + [row for kind, names in leaves.items() for row in _named(_plural(kind), tuple(dict.fromkeys(names)))]


_HOLDERS = frozenset(
    {"class", "struct", "union", "enum", "interface", "trait", "impl", "module", "namespace", "record", "object"}
)


def _row(one: Definition, module: Module) -> str:
    """Return one heading or key of a document, with its kind and size."""
    name = module.signature(one)
    if one.kind == "heading":
        return _short(f"{'  ' * one.depth}{name}")
    lines = one.last_line - one.first_line + 1
    size = f" ({_count(lines, 'line')})" if lines > 1 else ""
    return _short(f"{'  ' * one.depth}{one.path[-1] if one.path else name}: {one.kind}{size}")


def _title(request: ViewRequest, language: Language | None) -> str:
    return language.name if language else fence_tag(request.path)


def _sample(text: str) -> list[str]:
    """Return the first lines that say something."""
    said = (line.strip() for line in text.split("\n"))
    lines = [line for _, line in zip(range(_SAMPLE_LINES), (line for line in said if line), strict=False)]
    return [_short(line) for line in lines]


def _first_paragraph(doc: str) -> str:
    """Return the first paragraph that says something of a documentation string or comment, on one line.

    Its marks are left out, and so are rulers and notices of copyright.
    """
    lines = doc.strip().lstrip("rRuUbBfF").strip("\"'").splitlines()
    bare = "\n".join(_COMMENT_MARKS.sub("", line).strip() for line in lines)
    paragraphs = (" ".join(one.split()) for one in _PARAGRAPHS.split(bare))
    return _short(next((one for one in paragraphs if _WORD.search(one) and not _NOTICE.search(one)), ""))


def _named(title: str, names: tuple[str, ...]) -> list[str]:
    return [_joined(title, list(names))] if names else []


def _joined(title: str, names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{title}: {shown}{more}" if names else title


def _short(line: str) -> str:
    return line if len(line) <= _LINE_WIDTH else line[: _LINE_WIDTH - 1] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith(("s", "x")) else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
