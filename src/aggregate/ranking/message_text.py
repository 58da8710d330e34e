"""Parse commit messages and headers of hunks."""

import re
from typing import Final

from aggregate.base.text import without_comments
from aggregate.ranking.terms import (
    LONGEST_WORD,
    STOP_WORDS,
    split_identifier,
    stem,
    term_list,
    terms_in,
)

_TRAILER: Final = re.compile(
    r"^[ \t]*+(?:[\w-]{1,40}-by|change-id|commit-id|cc|link|see-also|git-svn-id|piperorigin-revid|gitorigin-revid"
    r"|differential revision|reviewed-on|bug|ticket|refs?|references|fixes|closes|resolves|part-of|msg-id"
    r"|message-id|auto-submit|backport-of)[ \t]*+:[^\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)  # trailers by programs, or with people and tickets
_PICKED: Final = re.compile(
    r"^[ \t]*+\(?(?:cherry[- ]picked|backported) from [^\n]*+$", re.IGNORECASE | re.MULTILINE
)
_ADDRESS: Final = re.compile(r"(?:https?|ftp|ssh|git)://[^\s<>\"')\]]*+")
_MAIL: Final = re.compile(r"<[^\s<>@]{1,100}@[^\s<>@]{1,100}>")
_TICKET: Final = re.compile(r"#\d{1,9}\b")
_REPLY: Final = re.compile(
    r"^(?=[^\n]{0,200}:[ \t]*+$)[^\n>]{0,200} (?:wrote|schrieb|a écrit|escribió):", re.MULTILINE
)
# Not a test runner's ">" with several blanks.
_QUOTED: Final = re.compile(r"^>(?:[ \t]?>)*+ ?(?![ \t])[^\n]*+$", re.MULTILINE)
# The folders of an absolute path: they belong to somebody's machine.
_ABOVE_FILE: Final = re.compile(r"[\\/](?<![\w.~/\\-][\\/])(?:[\w.@+~-]++[\\/]){2,}+")
_LAST_FOLDERS: Final = 2
# Folders of installed packages.
_PACKAGES: Final = ("site-packages", "dist-packages", "node_modules")
_MOST_TERMS: Final = 400  # of a commit's message; longer ones contain lists and logs


def message_words(message: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return a message's terms, and its first line's words."""
    words = own_words(message)
    first_line = words.lstrip().partition("\n")[0]
    return frozenset(sorted(terms_in(words))[:_MOST_TERMS]), change_words(first_line)


def own_words(text: str) -> str:
    """Return a commit message without trailers, links and quotations."""
    text = _MAIL.sub(" ", _ADDRESS.sub(" ", text))
    first, line_feed, rest = _unquoted(without_comments(text)).lstrip().partition("\n")
    # A first line such as "Bug: the parser crashes" is not a trailer.
    words = _PICKED.sub("", f"{first}{line_feed}{_TRAILER.sub('', rest)}")
    return _ABOVE_FILE.sub(_last_folders, _TICKET.sub(" ", words))


def _unquoted(text: str) -> str:
    if not text.startswith(">") and "\n>" not in text:
        return text
    unquoted = _QUOTED.sub("", _REPLY.sub("", text))
    return unquoted if unquoted.strip() else text


def _last_folders(match: re.Match[str]) -> str:
    folders = match[0].replace("\\", "/").rstrip("/").split("/")[-_LAST_FOLDERS:]
    return " " + "".join(f"{folder}/" for folder in folders if folder not in _PACKAGES)


_LONGEST_LINE: Final = 300  # characters searched; git shows the first 80
_NAME: Final = r"[^\W\d][\w$]*+(?>(?:(?:::|\.|\#)~?[^\W\d][\w$]*+)*)[!?]?"
_KEYWORD: Final = re.compile(
    r"(?:^|[\s(])(?:class|def|defp|defmodule|defmacro|func|fn|fun|function\*?|struct|trait|interface|enum|record|module"
    r"|namespace|object|protocol|extension|mod|union|macro_rules!|sub|package|procedure|type|macro)\s++"
    rf"(?:\([^()]*+\)\s*+)?(?:self\.)?(?P<name>{_NAME})(?![\s*&]++\w++\()"
)
_VARIABLE: Final = re.compile(
    rf"(?:^|\s)(?:const|let|var|val)\s++(?P<name>{_NAME})\s*+(?::[^=]*+)?="
)
_IMPLEMENTATION: Final = re.compile(
    rf"\bimpl\b\s*+(?:<[^<>]*+>)?\s*+(?:(?:[\w:]++(?:<[^<>]*+>)?)\s++for\s++)?&?(?P<name>{_NAME})"
)
_CALL: Final = re.compile(rf"(?P<name>~?{_NAME})\s*+(?:<[^<>()]*+>)?\(")
_ASSIGNMENT: Final = re.compile(rf"(?P<name>{_NAME})\s*+(?::[^=]*+)?=")
_HEADING: Final = re.compile(r"#{1,6}\s++(?P<name>\S.*)")
_NO_NAMES: Final = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "with", "elif", "else", "match", "sizeof"}
)


def definition_name(line: str) -> str:
    """Return the name that a line of code defines, or ``""``: ``send`` of ``async def send(self)``."""
    line = line[:_LONGEST_LINE].strip()
    heading = _HEADING.match(line)
    if heading:
        return heading["name"].rstrip("# ")
    for pattern in (_IMPLEMENTATION, _KEYWORD, _VARIABLE, _CALL, _ASSIGNMENT):
        for match in pattern.finditer(line):
            name = match["name"]
            if name not in _NO_NAMES:
                return name.replace("::", ".").replace("#", ".").lstrip("~")
    return ""


_LONGEST_FIRST_LINE: Final = 300
_VERSION: Final = re.compile(
    r"(?<![\w.])v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-.]?[A-Za-z]{1,5}[-.]?\d{0,9})?(?![\w.]*\w)"
)  # ``2.1.0``, ``v3.0``, ``1.0.0-rc.1``: one word for all of them, since each release has another
_VERSION_WORD: Final = " versionnumber "
_WORD: Final = re.compile(r"\w+")


def change_words(line: str) -> frozenset[str]:
    """Return stems and identifiers of a message's first line."""
    words: set[str] = set()
    for match in _WORD.finditer(_VERSION.sub(_VERSION_WORD, line[:_LONGEST_FIRST_LINE])):
        words.update(_parts(match[0]))
    return frozenset(words)


def _parts(word: str) -> list[str]:
    if not word.isascii():  # splits scripts without spaces
        return term_list(word)
    if len(word) > LONGEST_WORD:
        return []
    parts = split_identifier(word)
    lowered = (part.lower() for part in parts)
    words = [
        stem(part)
        for part in lowered
        if len(part) > 1 and part not in STOP_WORDS and not part.isdigit()
    ]
    return [*words, word.replace("_", "").lower()] if len(parts) > 1 else words
