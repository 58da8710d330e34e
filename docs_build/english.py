"""The English of the source code: figures with limits, and a page of all messages.

The limits keep the code readable for people who did not write it. They stand a little above what has been reached, so
lower them after each improvement.
"""

import ast
import io
import re
import statistics
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

SOURCE: Final = Path(__file__).parents[1] / "src" / "aggregate"
LIMITS: Final = {
    "what": 0.5,
    "that": 8.0,
    "tell": 0.3,
    "odd turns": 1.2,
    "words of a first line": 10.0,
    "first lines with two relative pronouns": 1.0,
    "names without a noun": 1.5,
    "odd turns in messages": 5.0,
}
"""Most of each figure: words and turns per 1,000 words, lines and names in percent, the first line's median length."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]*")
_TELL: Final = frozenset({"tell", "tells", "telling", "told"})
_RELATIVE: Final = re.compile(r"\b(?:what|that|which|whose|whom|who|those)\b", re.IGNORECASE)
# Turns that describe a thing by a clause instead of naming it.
_ODD: Final = re.compile(
    r"\b(?:(?:of|by|in|for) which|(?:of|to) what|what (?:is|are|has|was|stands?)|that there is|so that of|"
    r"(?:is|are) no [a-z]+[ :.]|as it is|but for|nothing of|none of it|whoever|nobody|by itself|had better|"
    r"stands? (?:in|for|behind|before|beside)|of it\b)",
    re.IGNORECASE,
)
_NAMES_WITHOUT_NOUN: Final = frozenset(
    {
        *(
            "asked",
            "found",
            "given",
            "gone",
            "kept",
            "known",
            "left",
            "made",
            "meant",
            "named",
            "noted",
        ),
        *("said", "seen", "shown", "taken", "told", "before", "here", "how", "so", "then", "there"),
        *(
            "each",
            "most",
            "nobody",
            "one",
            "ones",
            "other",
            "others",
            "own",
            "some",
            "that",
            "these",
        ),
        *(
            "this",
            "those",
            "what",
            "whatever",
            "whole",
            "whose",
            "place",
            "places",
            "thing",
            "things",
        ),
    }
)
_FEWEST_WORDS: Final = 3  # of a message; shorter strings are keys and names
_SQL: Final = re.compile(r"\s*(?:ALTER|CREATE|DELETE|DROP|INSERT|PRAGMA|SELECT|UPDATE|WITH)\b")
_NOT_PRINTED: Final = frozenset(
    {
        *("compile", "door", "doubt", "findall", "fullmatch"),
        *("match", "namedtuple", "run_in_thread", "search", "split", "sub"),
    }
)


class TextKind(StrEnum):
    """Where a text stands in the source code."""

    DOCSTRING = "docstring"
    COMMENT = "comment"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A docstring, a comment or a message, and the line where it begins."""

    kind: TextKind
    path: Path
    line: int
    text: str


class Module(NamedTuple):
    """A parsed module of the source code."""

    path: Path
    source: str
    tree: ast.Module


def modules(root: Path) -> Iterator[Module]:
    """Yield the parsed modules below a folder, in the order of paths."""
    for path in sorted(root.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        yield Module(path, source, ast.parse(source))


def texts_of(module: Module) -> Iterator[SourceText]:
    """Yield the texts of a module: docstrings, comments, messages."""
    path, source, tree = module
    docstrings = list(_docstrings(tree))
    for docstring in docstrings:
        yield SourceText(TextKind.DOCSTRING, path, docstring.lineno, _plain(docstring))
    for line, comment in _comments(source):
        yield SourceText(TextKind.COMMENT, path, line, comment)
    for message in _messages(tree, {id(docstring) for docstring in docstrings}):
        yield SourceText(TextKind.MESSAGE, path, message.lineno, _plain(message))


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings of a module, also those behind assignments, which document attributes."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in node.body:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string.lstrip("# ")
        if token.type == tokenize.COMMENT and not text.startswith(("noqa", "type:", "fmt:", "!")):
            yield token.start[0], text


def _messages(node: ast.AST, hidden: set[int]) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Yield strings that are sentences or parts of them, except those in ``hidden``."""
    if id(node) in hidden:
        return
    if isinstance(node, ast.Constant | ast.JoinedStr):
        if _is_prose(_plain(node)):
            yield node
        return
    if isinstance(node, ast.Call) and _called(node) in _NOT_PRINTED:
        return
    keys = node.keys if isinstance(node, ast.Dict) else ()  # names, not sentences
    for child in ast.iter_child_nodes(node):
        if child not in keys:
            yield from _messages(child, hidden)


def _is_prose(text: str) -> bool:
    if _SQL.match(text) or "\\" in text:
        return False
    words = re.sub(r"\{[^}]*\}", " ", text).split()
    plain = [word for word in words if re.fullmatch(r"\W*[A-Za-z]?[a-z'-]+\W*", word)]
    return len(plain) >= _FEWEST_WORDS and 2 * len(plain) > len(words)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _plain(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    parts = (
        str(value.value) if isinstance(value, ast.Constant) else f"{{{_inserted(value)}}}"
        for value in node.values
    )
    return "".join(parts)


def _inserted(value: ast.expr) -> str:
    """Return the last name in an expression that an f-string inserts."""
    expression = value.value if isinstance(value, ast.FormattedValue) else value
    words: list[str] = _WORD.findall(ast.unparse(expression))
    return words[-1] if words else "value"


def assigned_names(module: Module) -> Iterator[str]:
    """Yield the names of variables and parameters of a module, each as often as it is assigned."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id.strip("_")
        elif isinstance(node, ast.arg):
            yield node.arg.strip("_")


def figures(texts: Sequence[SourceText], names: Sequence[str]) -> dict[str, float]:
    """Return the figures that ``LIMITS`` bounds."""
    prose = [text.text for text in texts if text.kind is not TextKind.MESSAGE]
    messages = [text.text for text in texts if text.kind is TextKind.MESSAGE]
    first_lines = [
        text.text.strip().split("\n")[0] for text in texts if text.kind is TextKind.DOCSTRING
    ]
    words = [word.lower() for text in prose for word in _WORD.findall(text)]
    message_words = sum(len(_WORD.findall(message)) for message in messages)
    odd_messages = sum(
        len(_ODD.findall(text)) + len(re.findall(r"\bwhat\b", text)) for text in messages
    )
    relatives = [len(_RELATIVE.findall(line)) for line in first_lines]
    return {
        "what": _rate(words.count("what"), len(words)),
        "that": _rate(words.count("that"), len(words)),
        "tell": _rate(sum(word in _TELL for word in words), len(words)),
        "odd turns": _rate(sum(len(_ODD.findall(text)) for text in prose), len(words)),
        "words of a first line": statistics.median(
            [len(_WORD.findall(line)) for line in first_lines] or [0]
        ),
        "first lines with two relative pronouns": _rate(
            sum(count >= 2 for count in relatives), len(relatives), 100
        ),
        "names without a noun": _rate(
            sum(name in _NAMES_WITHOUT_NOUN for name in names), len(names), 100
        ),
        "odd turns in messages": _rate(odd_messages, message_words),
    }


def _rate(count: float, total: int, per: int = 1_000) -> float:
    return round(per * count / max(1, total), 1)


def report() -> tuple[list[str], bool]:
    """Return a line for each figure of the source code, and whether all are within their limits."""
    texts: list[SourceText] = []
    names: list[str] = []
    for module in modules(SOURCE):  # one at a time: all trees together take 300 MB
        texts += texts_of(module)
        names += assigned_names(module)
    values = figures(texts, names)
    lines = []
    for name, value in values.items():
        mark = " (too many)" if value > LIMITS[name] else ""
        lines.append(f"{name}: {value:g} of at most {LIMITS[name]:g}{mark}")
    return lines, all(value <= LIMITS[name] for name, value in values.items())


MESSAGES_HEAD = """# Messages

Every sentence that the program may print, show or put into a prompt, by module. Braces stand for values.
"""


def message_reference(root: Path = SOURCE) -> str:
    """Return the page of all messages in the source code below a folder."""
    lines = [MESSAGES_HEAD]
    for module in modules(root):
        messages = [text for text in texts_of(module) if text.kind is TextKind.MESSAGE]
        if messages:
            name = module.path.relative_to(root).with_suffix("").as_posix()
            lines.append(f"\n## {name}\n")
        for message in messages:
            shown = " ".join(message.text.split()).replace("`", "'")
            lines.append(f"- `{shown}`")
    return "\n".join(lines) + "\n"
