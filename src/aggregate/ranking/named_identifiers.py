"""Find words in a text that are names of code: quoted, code-like, capitalised or plain ones."""

import re
from itertools import islice
from typing import Final

from aggregate.code.syntax import TAGGED_NAMES, TAGGED_SUFFIXES
from aggregate.ranking.terms import NO_TERMS


def is_file_name(path: str) -> bool:
    """Return whether a word is the name of a file.

    Its suffix decides, or a list of known names.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    # ``README.MD`` is a file, ``Timer.Go`` is a method.
    is_suffix = suffix.islower() or (suffix.isupper() and len(suffix) > 1)
    if stem and is_suffix and f"{dot}{suffix.lower()}" in TAGGED_SUFFIXES:
        return True
    return name.lower() in TAGGED_NAMES and ("/" in path or "." in name)


CERTAIN: Final = 1.0  # quoted, called, capitalised, or code-like
POSSIBLE: Final = 0.3  # a plain word may be a name; measured with the weights
MOST_CERTAIN: Final = 200  # a task with more is a list or a log
MOST_POSSIBLE: Final = 200
_LONGEST_NAME: Final = 120
_SHORTEST_WORD: Final = 3  # letters of a plain word; shorter ones are rarely names

_PART: Final = r"[^\W\d][\w$]*+"
_NAME: Final = re.compile(
    rf"(?<![\w$@/\\-])(?P<name>[@$]?{_PART}(?>(?:(?:\.|::|->|\#)~?{_PART})*)[!?]?(?=[^\w$/\\]|$))(?P<call>\(\)?)?"
)  # words joined by dots, colons, arrows or number signs, outside paths
_JOINT: Final = re.compile(r"\.|::|->|#")
_CAMEL: Final = re.compile(r"[^\W\d_A-Z][A-Z]")
_CLOSING: Final = {
    "`": "`'",  # older programs quote `so'
    "'": "'",
    '"': '"',
    "‘": "’",
    "“": "”",
    "«": "»",
    "「": "」",
}
_CONSTANTS: Final = frozenset({"false", "nil", "none", "null", "true"})
_INTERNAL: Final = "node:internal/"  # frames of Node.js itself
_ENDS_SENTENCE: Final = ".!?:;"
_LINE_START: Final = re.compile(r"[\s\d.)*>#+=-]*+$")
_MESSAGES: Final = re.compile(
    r"(?:undefined|undeclared|unknown|unresolved|unused|missing)(?: [a-z]{1,20}){0,2}: (?P<undefined>[^\s,;]{1,120})"
    r"|(?P<subject>[\w$.]{1,120}+) is not (?:defined|a function|a constructor|iterable|callable|exported)"
    r"|symbol:\s{1,20}(?:class|method|variable|interface|enum)\s{1,20}(?P<symbol>[\w$]{1,120})"
    r"|\bin function (?P<function>[\w:~]{1,120})",
    re.IGNORECASE,
)  # unquoted names in messages of compilers and interpreters


def named_identifiers(text: str) -> dict[str, float]:
    """Return the names in a text as written, with the certainty that they are names: 1.0 or 0.3."""
    certain: dict[str, float] = {}
    possible: dict[str, float] = {}
    for line in text.split("\n"):
        if _INTERNAL in line:
            continue
        if ":" in line or " is not " in line or "unction " in line:
            for message in _MESSAGES.finditer(line):
                match = _NAME.match(next(filter(None, message.groups())))
                if match:
                    _add(match["name"], True, certain, possible)
        for match in _NAME.finditer(line):
            name = match["name"].lstrip("@$")
            if not _is_quoted(match, line):
                name = name.rstrip("!?")  # the end of a sentence; Ruby's names are mostly quoted
            if name in certain or len(name) > _LONGEST_NAME or name.lower() in _CONSTANTS:
                continue
            if _is_certain(match, name, line):
                _add(name, True, certain, possible)
            elif (
                name not in possible
                and len(name) >= _SHORTEST_WORD
                and name.lower() not in NO_TERMS
            ):
                _add(name, False, certain, possible)
        if len(certain) >= MOST_CERTAIN:
            break
    certain = dict(islice(certain.items(), MOST_CERTAIN))
    plain = ((name, value) for name, value in possible.items() if name not in certain)
    return {**certain, **dict(islice(plain, MOST_POSSIBLE))}


def names_of_task(words: str, searched: str) -> tuple[str, dict[str, float]]:
    """Return the name that is the whole task, ``""`` if it is not a name, and all names in ``searched``."""
    match = _NAME.fullmatch(words.strip(" \t\n`'\""))
    sole = match["name"].lstrip("@") if match else ""
    names = named_identifiers(searched)
    return sole, {**names, sole: CERTAIN} if sole else names


def _add(
    name: str, is_certain: bool, certain: dict[str, float], possible: dict[str, float]
) -> None:
    if is_file_name(name) or not any(map(str.isalpha, name)):
        return
    if is_certain:
        certain[name] = CERTAIN
    else:
        possible[name] = POSSIBLE
    last = _JOINT.split(name)[-1].lstrip("~")
    if last == name or len(last) < _SHORTEST_WORD:
        return
    if _looks_like_code(last) or last[:1].isupper():
        certain[last] = CERTAIN
    else:
        possible[last] = POSSIBLE


def _is_certain(match: re.Match[str], name: str, line: str) -> bool:
    start, end = match.span("name")
    if match["call"]:
        return not line.startswith("(s)", end)
    if _is_quoted(match, line):
        return True
    if name.islower() and name.isalnum():  # most words
        return False
    is_capitalised = name[:1].isupper() and name.lower() not in NO_TERMS
    return _looks_like_code(name) or (is_capitalised and not _begins_sentence(line, start))


def _is_quoted(match: re.Match[str], line: str) -> bool:
    start, end = match.span("name")
    closing = _CLOSING.get(line[start - 1]) if start else None
    return bool(closing and line[end : end + 1] and line[end] in closing)


def _looks_like_code(name: str) -> bool:
    """Return whether a word consists of joined parts: ``snake_case``, ``camelCase``, ``a.b``."""
    parts = _JOINT.split(name)
    if len(parts) > 1:
        return max(map(len, parts)) > 1  # not "e.g" and "i.e"
    return "_" in name.strip("_$") or name.startswith("_") or bool(_CAMEL.search(name))


def _begins_sentence(line: str, start: int) -> bool:
    prefix = line[max(0, start - 20) : start].rstrip("\"'(`[*_ \t")
    if not prefix or prefix[-1] in _ENDS_SENTENCE:
        return True
    return start < len("  1.2.3) ## ") and bool(_LINE_START.match(prefix))


_SEPARATORS: Final = re.compile(r"[.#:/\\]+|->")
_LONGEST_WRITTEN: Final = 300
_MOST_PARTS: Final = 6  # compared last parts of a name: no language nests deeper in practice


def name_parts(text: str) -> list[str]:
    """Split a name, such as ``package.Class.method``, into its parts; ``[""]`` for none."""
    parts = [part for part in _SEPARATORS.split(text[:_LONGEST_WRITTEN].strip("()")) if part]
    return parts[-_MOST_PARTS:] or [""]
