"""Text that is not ours, made harmless for a terminal."""

import re

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

    Args:
        text: What somebody else wrote: a file name, an answer, an error.
        body: It is a text of many lines, whose line breaks and tabs stay; otherwise it has to fit into one line.
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
