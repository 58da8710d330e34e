"""What of a message is its author's own words on the matter: without trailers, addresses and what is quoted."""

import re
from collections import Counter
from typing import Final

_TRAILER: Final = re.compile(
    r"^[ \t]*+(?:[\w-]{1,40}-by|change-id|commit-id|cc|link|see-also|git-svn-id|piperorigin-revid|gitorigin-revid"
    r"|differential revision|reviewed-on|bug|ticket|refs?|references|fixes|closes|resolves|part-of|msg-id"
    r"|message-id|auto-submit|backport-of)[ \t]*+:[^\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines that programs put at the end of a commit's message, or that name people and tickets."""
_PICKED: Final = re.compile(
    r"^[ \t]*+\(?(?:cherry[- ]picked|backported) from [^\n]*+$", re.IGNORECASE | re.MULTILINE
)
_ADDRESS: Final = re.compile(r"(?:https?|ftp|ssh|git)://[^\s<>\"')\]]*+")
_MAIL: Final = re.compile(r"<[^\s<>@]{1,100}@[^\s<>@]{1,100}>")
_TICKET: Final = re.compile(r"#\d{1,9}\b")
_REPLY: Final = re.compile(
    r"^(?=[^\n]{0,200}:[ \t]*+$)[^\n>]{0,200} (?:wrote|schrieb|a écrit|escribió):", re.MULTILINE
)
# Not what a test runner points at with ">" and several blanks.
_QUOTED: Final = re.compile(r"^>(?:[ \t]?>)*+ ?(?![ \t])[^\n]*+$", re.MULTILINE)
_FORM: Final = re.compile(
    r"^[#*_ \t]{1,10}+(?:describe the (?:bug|issue|problem|feature)|(?:bug )?description|summary"
    r"|(?:steps )?to reproduce|reproduction(?: steps)?|minimal reproducible example|expected (?:behaviou?r|results?)"
    r"|actual (?:behaviou?r|results?)|current behaviou?r|what happened|what did you expect(?: to happen)?|motivation"
    r"|environment|system info|versions?|logs?|relevant log output|screenshots?|additional (?:context|information|info)"
    r"|checklist|possible solution|proposed solution)[?:]?[*_ \t]*+$"
    r"|^[ \t]*+[-*] \[[ xX]\] [^\n]*+$",
    re.IGNORECASE | re.MULTILINE,
)
"""Headings of the forms in which issues are written, and boxes to tick."""
_ABOVE_FILE: Final = re.compile(r"[\\/](?<![\w.~/\\-][\\/])(?:[\w.@+~-]++[\\/]){2,}+")
"""The folders of an absolute path: they lie on somebody's machine."""
_FOLDERS_KEPT: Final = 2
_PACKAGES: Final = ("site-packages", "dist-packages", "node_modules")
"""Folders that others' code, or the project's own once it is installed, lies in: they tell nothing of it."""
_PYTHON_FRAME: Final = re.compile(r'File "([^"\n]{1,400})", line \d{1,7}(?:, in )?')
_WORDING: Final = re.compile(
    r"Traceback \(most recent call last\):|During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:|Exception in thread \"[^\"\n]{0,100}\""
    r"|stack backtrace:|goroutine \d{1,9} \[[^\]\n]{0,60}\]:|\bRUST_BACKTRACE=[^\n]{0,200}"
    r"|node:internal/[^\s()]{1,200}|\+?0x[0-9a-fA-F]{1,16}\b"
)
"""What every traceback says."""

_NUMBER: Final = re.compile(r"0x[0-9a-fA-F]++|[0-9][0-9a-fA-F]*+")
"""What differs between two lines of a log, also in times and identifiers."""
_OFTEN: Final = 12
"""Lines that differ in numbers alone: so many are a log's, which tells by what it says once."""


def own_words(text: str) -> str:
    """Return ``text`` without trailers, addresses, numbers of tickets, quoted e-mail, and outer folders of files.

    Where all of it is quoted, the quotation stays.
    """
    without_addresses = _MAIL.sub(" ", _ADDRESS.sub(" ", text))
    words = _FORM.sub("", _unquoted(_without_comments(without_addresses)))
    words = _PICKED.sub("", _TRAILER.sub("", words))
    return _ABOVE_FILE.sub(_last_folders, _TICKET.sub(" ", words))


def _without_comments(text: str) -> str:
    """Return ``text`` without the comments of HTML, in which forms say how to fill them in."""
    parts: list[str] = []
    place = 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[place:start])
        place = end + len("-->")
    return "".join((*parts, text[place:]))


def _unquoted(text: str) -> str:
    if not text.startswith(">") and "\n>" not in text:
        return text
    unquoted = _QUOTED.sub("", _REPLY.sub("", text))
    return unquoted if unquoted.strip() else text


def without_wording(text: str) -> str:
    """Return ``text`` without the words that are in every traceback, and without addresses in memory."""
    return _WORDING.sub(" ", _PYTHON_FRAME.sub(r"\1 ", text))


def without_repetition(text: str) -> str:
    """Return ``text`` without lines that occur often but for their numbers; all of it where no word is left."""
    lines = text.split("\n")
    if len(lines) < _OFTEN:
        return text
    shapes = [_NUMBER.sub("0", line.strip()) for line in lines]
    often = {shape for shape, times in Counter(shapes).items() if shape and times >= _OFTEN}
    rare = [line for line, shape in zip(lines, shapes, strict=True) if shape not in often]
    left = "\n".join(rare)
    return left if re.search(r"[^\W\d_]", left) else text


def without_quotes(text: str) -> str:
    """Return ``text`` with the marks of quoted lines taken off, so that what they quote reads as it did."""
    return re.sub(r"^>(?:[ \t]?>)*+ ?(?![ \t])", "", text, flags=re.MULTILINE)


def _last_folders(match: re.Match[str]) -> str:
    folders = match[0].replace("\\", "/").rstrip("/").split("/")[-_FOLDERS_KEPT:]
    kept = [folder for folder in folders if folder not in _PACKAGES]
    return f" {'/'.join((*kept, ''))}"
