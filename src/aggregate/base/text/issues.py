"""Strip boilerplate of forms and programs from issues and commit messages."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from aggregate.base.text.markdown import with_fences

_HEADING: Final = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]")
_BOLD_HEADING: Final = re.compile(r"[ \t]*\*\*[^*]{1,80}\*\*:?[ \t]*")
_LOWEST: Final = 7  # level of a bold heading, below all those of Markdown
# Unanswered fields and check boxes of a form.
_FORM: Final = re.compile(
    r"[ \t]*(?:[_*]{0,2}No response[_*]{0,2}|n/?a\.?"
    r"|[-*] \[[ xX]\] (?:I|I'm|I've|I'd|We|By|My|This|There|Yes|Checked|Please|The (?:issue|bug|provided))\b.*"
    r"|\[(?://|comment)\]: *#.*)[ \t]*",
    re.IGNORECASE,
)
# Signatures of programs.
_SIGNED: Final = re.compile(
    r"[ \t>*_]*(?:<su[bp]>.*(?:\bbot\b|generated|automat|powered by).*|.{0,4}generated (?:with|by) \[.*"
    r"|sent from my \w+.*"
    r"|this (?:issue|pr|pull request|comment|commit|message) (?:was|has been|is) (?:auto|generated|created by).*"
    r"|(?:\[!\[)?dependabot (?:will|compat|command).*|\[!\[dependabot.*|posted (?:via|by) .{0,60}\bbot\b.*"
    r"|merge pull request #?\d+(?: from \S+)?[ \t]*)",
    re.IGNORECASE,
)
_TRAILER: Final = re.compile(
    r"(?:[\w-]{1,40}-by|change-id|commit-id|cc|link|see-also|git-svn-id|\w+-revid|differential revision|reviewed-on"
    r"|refs?|references|fixes|closes|resolves|part-of|msg-id|message-id|auto-submit|backport-of)[ \t]*:.*"
    r"|\((?:cherry[- ]picked|backported) from .*\)|[ \t]+\S.*",
    re.IGNORECASE,
)


def clean_issue(text: str) -> str:
    """Strip boilerplate from an issue.

    Boilerplate is form fields, hidden comments, lines by bots and trailers. Fenced code is kept, and so is the whole
    text if nothing else remains.
    """
    lines: list[str] = []
    for is_code, block in groupby(with_fences(text.split("\n")), key=lambda pair: pair[1]):
        part = [line for line, _ in block]
        if not is_code:
            plain = without_comments("\n".join(part)).split("\n")
            part = [
                line for line in plain if not (_FORM.fullmatch(line) or _SIGNED.fullmatch(line))
            ]
        lines += part
    words = _without_trailers(_without_empty_sections(lines))
    return "\n".join(words).strip() or text.strip()


def first_line(text: str, most: int) -> str:
    """Return an issue's first line, cut between words after about ``most`` characters."""
    line = next((line for line in clean_issue(text).split("\n") if line.strip()), "")
    words = line.strip().lstrip("#").strip()
    if len(words) <= most:
        return words
    return f"{words[:most].rpartition(' ')[0] or words[:most]} ..."


def without_comments(text: str) -> str:
    """Remove HTML comments; an unclosed one stays. Takes linear time."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[position:start])
        position = end + len("-->")
    return "".join((*parts, text[position:]))


def _without_empty_sections(lines: Sequence[str]) -> list[str]:
    result: list[str] = []  # reversed
    beginning = next((number for number, line in enumerate(lines) if line.strip()), 0)
    following = 1  # level of the next heading, 0 before text, 1 at the end
    numbered = [*enumerate(with_fences(lines))]
    for number, (line, is_code) in reversed(numbered):
        level = 0 if is_code else heading_level(line)
        if level and level >= following > 0 and number != beginning:
            continue
        if line.strip():
            following = level
        elif not is_code and result and not result[-1].strip():
            continue
        result.append(line)
    return result[::-1]


def heading_level(line: str) -> int:
    """Return the level of a Markdown heading, 7 for a bold line, 0 for other lines."""
    if heading := _HEADING.match(line):
        return len(heading["marks"])
    return _LOWEST if _BOLD_HEADING.fullmatch(line) else 0


def _without_trailers(lines: list[str]) -> list[str]:
    """Drop final git trailers, and a horizontal rule above them."""
    end = _end(lines)
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    paragraph = lines[start:end]
    if not start or not paragraph or paragraph[0].startswith((" ", "\t")):
        return lines
    return lines[: _end(lines[:start])] if all(map(_TRAILER.fullmatch, paragraph)) else lines


def _end(lines: Sequence[str]) -> int:
    """Return the number of lines without blank ones and rules at the end."""
    end = len(lines)
    while end and not lines[end - 1].strip(" \t-"):
        end -= 1
    return end
