"""Parse commit messages, headers of hunks, and issues without their form and versions."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Final

from aggregate.base.text import heading_level, with_fences, without_comments
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


# A heading of these words alone is part of a form.
_FORM_WORDS: Final = frozenset(
    """
    a actual additional affected also and any anything are as behavior behaviour bug can checklist code command complete
    config configuration context current debug describe description details did do does else error example expect
    expected feature file files for full happened help how i in info information input instead is issue it job link log
    logs me message minimal more motivation my notes observed of or other output please possible problem project
    proposal proposed python question reason related relevant replicate report reproduce reproducer reproducible
    reproducing reproduction request response result results sample screenshot screenshots see short should snippet
    solution solutions stack step steps suggested summary tasks that the this to trace traceback under usage used
    verifiable was were what when where which why with working would you your
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
# The heading of a section about the reporter's machine.
_ENVIRONMENT: Final = re.compile(
    r"(?:\S+ ){0,4}?(?:environment|versions?|platform|dependenc(?:y|ies)|operating system|os|system)"
    r"(?: (?:details?|info|information|is|used|of \S+))?"
)
_CHECK_BOX: Final = re.compile(r"[ \t]*+[-*] \[[ xX]\] .*")
_SOFTWARE_VERSION: Final = re.compile(
    r"[ \t>*|-]*[A-Za-z[][\w./()@+ \[-]{0,60}?[ \t:=|]++(?:\(?v?\d+\.\d+\.\d+.{0,100}|None)"
)
_FEWEST_VERSIONS: Final = 3  # lines of a paragraph about the installed software

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
_IMPORTED: Final = re.compile(
    r"^[ \t]*+(?:(?:>>>|\.\.\.|In ?\[\d{1,4}\]:) ?)?(?:from (?P<source>[\w.]++) )?import (?P<names>[\w., ]{1,200})",
    re.MULTILINE,
)
_MOST_QUOTES: Final = 60
_FEWEST_SIGNS: Final = 2  # of a line of code, such as brackets
_SIGN: Final = re.compile(r"[()\[\]{}=.;:<>&|+*/\"'-]")
_TYPED: Final = re.compile(r"[ \t]*+(?:>>>|\.\.\. |In ?\[|\$ |import |from \S+ import )")
_STATEMENT: Final = re.compile(r"[\w.]{1,80}+(?: ?=|\()(?!.*[a-z]{2} [a-z]{2,20} [a-z]{2})")
_VALUE: Final = re.compile(r"'[^']{1,100}'")
_TRACED: Final = re.compile(
    r"[ \t]*+(?:-++>|>|E(?= ))?[ \t]*+(?:\d{1,6} |\S{1,300}:\d{1,7}:(?:\d{1,7}:)? ?)?"
)


def report_text(text: str) -> str:
    """Return the text of an issue without the form, the environment and tables of versions."""
    return "\n".join(_without_versions(_without_form(text.split("\n"))))


def _without_form(lines: Sequence[str]) -> Iterator[str]:
    is_begun = is_environment = False
    for line, is_code in with_fences(lines):
        if not is_code and heading_level(line):
            title = " ".join(_IDENTIFIER.findall(line.lower()))
            is_environment = is_begun and bool(_ENVIRONMENT.fullmatch(title))
            if _FORM_WORDS.issuperset(title.split()):
                continue
        elif not is_code and _CHECK_BOX.fullmatch(line):
            continue
        is_begun = is_begun or bool(line.strip())
        if not is_environment:
            yield line


def _without_versions(lines: Iterator[str]) -> Iterator[str]:
    for is_blank, group in groupby(lines, lambda line: not line.strip(" \t`~")):
        paragraph = list(group)
        versions = sum(1 for line in paragraph if _SOFTWARE_VERSION.fullmatch(line))
        if is_blank or versions < max(_FEWEST_VERSIONS, len(paragraph) / 2):
            yield from paragraph


def imported_names(text: str) -> dict[str, str]:
    """Return the modules of names that an example imports, by name."""
    modules: dict[str, str] = {}
    for match in _IMPORTED.finditer(text):
        for imported in match["names"].split(","):
            name, _, alias = imported.strip().partition(" as ")
            if name:
                module = match["source"] or name
                modules[alias.strip() or name.partition(".")[0]] = module
    return modules


def quoted_terms(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the terms of quoted code and messages.

    There is a tuple for each quoted line, of whole words only. Places, marks and values are left out, and lines that
    the reporter typed.
    """
    quotes: dict[tuple[str, ...], None] = {}
    for line, is_fenced in with_fences(text.split("\n")):
        is_quoted = is_fenced or line.startswith("    ") or _STATEMENT.match(line)
        if not is_quoted or _TYPED.match(line) or len(_SIGN.findall(line)) < _FEWEST_SIGNS:
            continue
        words = _IDENTIFIER.findall(_VALUE.sub(" ", _TRACED.sub("", line, count=1)))
        terms = [term_list(word)[:1] for word in words]  # without the terms of parts
        quotes[tuple(dict.fromkeys(chain.from_iterable(terms)))] = None
    return tuple(islice(quotes, _MOST_QUOTES))
