"""Lines, and text that is not ours made harmless: for a terminal, for a heading, and in fences that it cannot close.

CommonMark 0.31, section 4.5: a fence is closed by the first line that holds only a run of its own character at least as
long as the opening one. So a fence that is one backtick longer than any run at a line's start in its content cannot be
closed from inside, whatever the content's own indentation.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final


def split_lines(text: str) -> list[str]:
    r"""Return the lines of ``text`` with their ends; only ``\n`` ends a line, so ``\r\n`` stays whole.

    Unlike ``str.splitlines`` a form feed or U+2028 inside a line does not break it, so numbers agree with editors,
    with git and with tree-sitter.
    """
    if not text:
        return []
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def line_count(text: str) -> int:
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def common_prefix(earlier: Sequence[str], later: Sequence[str]) -> int:
    pairs = enumerate(zip(earlier, later, strict=False))
    shortest = min(len(earlier), len(later))
    return next((number for number, (left, right) in pairs if left != right), shortest)


# What steers a terminal or hides text: C0 and C1 controls, marks of direction, characters without width, line and
# paragraph separators, the tags of plane 14, and halves of surrogate pairs, which no output can hold.
_UNSAFE = (
    "\\x00-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff"
)
_IN_LINE = f"[{_UNSAFE}]"  # compiled when first used, as below: few texts hold any of these
# In a body of text, line breaks and tabs stay, and so do the joiners that emoji and several scripts are written with.
_IN_BODY = f"(?![\t\n\u200c\u200d]|\r\n)[{_UNSAFE}]"


def printable(text: str, *, body: bool = False) -> str:
    r"""Return ``text`` with all that a terminal would obey or hide made visible: ``\xNN``, ``\uNNNN``, ``\UNNNNNNNN``.

    Each character is treated alone, so that pieces of a stream may be made printable one by one: an escape sequence
    that is split over two of them has no first character left.
    The line breaks and tabs of a ``body`` stay; other texts, such as file names and errors, have to fit into one line.
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_IN_BODY if body else _IN_LINE, escape_character, text)


def escape_character(match: re.Match[str]) -> str:
    r"""Return the character that was matched as ``\xNN``, ``\uNNNN`` or ``\UNNNNNNNN``, the shortest that holds it."""
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_RUN_AT_LINE_START = re.compile(r"^[ \t>]*(`{3,})", re.MULTILINE)
# str.splitlines() and editors break lines at more than \n; a renderer that does so must not find a fence there either.
RARE_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Lone surrogates stand for bytes of a file name that are not UTF-8; no text file can hold them.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def fence(content: str, language: str = "", *, before: str = "") -> str:
    """Return ``content`` in a fenced block that it cannot close; the content's bytes stay as they are.

    A final newline is added before the closing fence where the content lacks one. ``language`` becomes the info string.
    ``before`` is put before the block: large contents are then copied once.
    """
    ticks = "```"
    if "`" in content and ticks in content:  # one character is found ten times as fast as three
        runs = _RUN_AT_LINE_START.findall(RARE_BREAKS.sub("\n", content))
        ticks = max((run + "`" for run in runs), default=ticks, key=len)
    newline = "" if not content or content.endswith("\n") else "\n"
    return f"{before}{ticks}{language}\n{content}{newline}{ticks}"


def heading_text(text: str) -> str:
    r"""Return ``text`` fit for one heading line: control characters and line breaks become ``\xNN`` or ``\uNNNN``."""
    return _CONTROL.sub(escape_character, text)


# Scripts and emoji in which joiners are ordinary: Arabic and Persian, the scripts of India, families of people.
_JOINED: Final = (
    "\u0590-\u1fff\u2190-\u2bff\u3030\u303d\ua800-\uabff\ufb00-\ufdff\ufe0f"
    "\U00010a00-\U00011fff\U0001f000-\U0001faff"
)
# Scripts without spaces between words, Thai, Lao, Burmese and Khmer: a zero width space stands there.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aad"
_ORDINARY: Final = (
    f"\\A\ufeff|(?<=[{_JOINED}])[\u200c\u200d]|(?<=[{_UNSPACED}])\u200b"
    "|\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{4,6}\U000e007f"  # the flags of England and the like
)
_INVISIBLE: Final = (
    "[\u202a-\u202e\u2066-\u2069]"  # turn the direction of what follows
    "|[\U000e0000-\U000e007f]"  # tags: ASCII that no font shows
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"  # a single one chooses a glyph, a row of them is hidden data
    "|[\u200b-\u200d\u2060-\u2064\ufeff\u180e]"  # have no width
)
# What either begins with.
_CANDIDATE: Final = "[\u180e\u200b-\u200d\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U0001f3f4\U000e0000-\U000e01ef]"
_ASCII: Final = bytes(range(128))
# What these characters begin with in UTF-8. Without ASCII a text is searched in a tenth of the time.
_ANY: Final = re.compile(
    rb"\xe2\x80[\x8b-\x8d\xaa-\xae]|\xe2\x81[\xa0-\xa9]|\xe1\xa0\x8e|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xf3\xa0"
)
_MOST_LINES: Final = 5


@dataclass(frozen=True, slots=True)
class Invisible:
    count: int  # of characters
    lines: tuple[int, ...]  # that have them, 1-based, each once
    kinds: tuple[str, ...]  # the characters, each once, by their number

    @property
    def sentence(self) -> str:
        noun = "character that is" if self.count == 1 else "characters that are"
        lines = ", ".join(f"{line:,}" for line in self.lines[:_MOST_LINES])
        rest = len(self.lines) - _MOST_LINES
        more = f" and {rest:,} more" if rest > 0 else ""
        names = ", ".join(
            f"U+{ord(kind):04X} {unicodedata.name(kind, '').lower()}".rstrip()
            for kind in self.kinds[:_MOST_LINES]
        )
        where = "line" if len(self.lines) == 1 else "lines"
        return f"{self.count:,} {noun} invisible, in {where} {lines}{more} ({names}): a model reads what nobody sees"


def may_hide(data: bytes) -> bool:
    """Tell quickly whether a text in UTF-8 can have anything that ``find_invisible`` looks for."""
    return not data.isascii() and _ANY.search(data.translate(None, _ASCII)) is not None


def find_invisible(text: str) -> Invisible | None:
    if text.isascii():
        return None
    count, lines, kinds = 0, dict[int, None](), set[str]()
    line, position = 1, 0
    for match in _matches(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        count += match.end() - position
        lines[line] = None
        kinds.update(match[0])
    return Invisible(count, tuple(lines), tuple(sorted(kinds))) if count else None


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Yield what is invisible and not ordinary; a class alone finds where that may be in a tenth of the time."""
    # Compiled on first use: few texts have such characters, and it takes milliseconds.
    search = re.compile(_CANDIDATE).search
    either = re.compile(f"(?P<ordinary>{_ORDINARY})|{_INVISIBLE}")
    end = 0
    while candidate := search(text, end):
        match = either.match(text, candidate.start())
        end = match.end() if match else candidate.end()
        if match and match.lastgroup != "ordinary":
            yield match


_MARKERS: Final = re.compile(r"((?>(?:[ \t]*+(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]))*)[ \t]*+)")

_OPENING: Final = re.compile(
    r"(?P<fence>`{3,}(?!.*`)|~{3,})|<(?:(?P<code>script|pre|style|textarea)(?=[\s>]|\Z)|(?P<comment>!--)|(?P<ask>\?)"
    r"|(?P<data>!\[CDATA\[)|(?P<declaration>![a-z])|(?P<tag>/?[a-z][a-z0-9-]*+(?=[ \t/>]|\Z)))",
    re.IGNORECASE,
)

_BLANK: Final = re.compile(r"(?!)")

_ENDS: Final = {
    "code": re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    "comment": re.compile("-->"),
    "ask": re.compile(r"\?>"),
    "data": re.compile(r"\]\]>"),
    "declaration": re.compile(">"),
    "tag": _BLANK,
}


def leaves_open(text: str) -> bool:
    """Tell whether a text leaves a block open, for readers that break lines as CommonMark does or at more."""
    common = text.replace("\r\n", "\n").replace("\r", "\n")
    return any(map(_leaves_open, {common, RARE_BREAKS.sub("\n", common)}))


def _leaves_open(text: str) -> bool:
    end, marks, indent = None, "", 0  # of the block that is open
    for line in text.split("\n"):
        content = line.lstrip(" \t")
        if not content:
            end = None if end is _BLANK else end
            continue
        if end is None:
            content = _MARKERS.sub("", line, 1)
        column = len(line[: len(line) - len(content)].expandtabs(4))
        opening = _OPENING.match(content) if end in (None, _BLANK) else None
        if end and (opening or (end is not _BLANK and column < indent)):
            return True  # it may stand in the HTML around it, or end a list and the block in that
        if opening:
            marks, indent = opening["fence"] or "", column
            end = (
                re.compile(rf"\A[{marks[0]}]{{{len(marks)},}}[ \t]*\Z")
                if marks
                else _ENDS[opening.lastgroup or ""]
            )
        if end and not (opening and marks) and end.search(content):
            if marks and column > (indent or 3):
                return True
            end = None
    return end not in (None, _BLANK)
