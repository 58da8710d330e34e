"""The section of screenshots: one image link each, valid whatever the file is called."""

import re
from collections.abc import Sequence

from aggregate.base.text import heading_text
from aggregate.base.values import Screenshot

HEADING = "## Screenshots"
# What a link's text can be broken by; an underscore inside a word is plain text.
_TEXT_SPECIAL = re.compile(r"[\\\[\]`<*]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
_PLAIN_PATH = re.compile(r"[^\s()<>\\&\x00-\x20\x7f]+")
_PATH_SPECIAL = re.compile(r"[\\<>&]")
# Characters that no link may hold, bytes that are not UTF-8, white space at either end, which renderers cut off, and a
# percent sign that would be read as an escape.
_PATH_ENCODED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|^\\s+|\\s+$|%(?=[0-9A-Fa-f]{2})"
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def screenshots_section(images: Sequence[Screenshot]) -> str:
    """Render ``images`` in their order as ``![name](path)``; a missing file is marked so (rules M-7, M-51, M-X20)."""
    return "\n\n".join([HEADING, *map(_link, images)]) if images else ""


def _link(image: Screenshot) -> str:
    if image.refused:
        return f"ERROR: {image.refused}: {_link_text(image.path)}"
    name = re.split(r"[\\/]", image.path.rstrip("\\/"))[-1]
    link = f"![{_link_text(name)}]({_destination(image.path)})"
    return link if image.exists else f"{link} (missing)"


def _link_text(name: str) -> str:
    return _TEXT_SPECIAL.sub(r"\\\g<0>", heading_text(name))


def _destination(path: str) -> str:
    """Return ``path`` as a link's destination: bare where it is plain, else in angle brackets (CommonMark 6.3)."""
    encoded = _PATH_ENCODED.sub(_percent, path)
    if ":" in encoded.split("/")[0] and not _DRIVE.match(encoded):
        encoded = (
            f"./{encoded}"  # a first part with a colon would be a scheme (RFC 3986, section 4.2)
        )
    if _PLAIN_PATH.fullmatch(encoded):
        return encoded
    return "<" + _PATH_SPECIAL.sub(r"\\\g<0>", encoded) + ">"


def _percent(match: re.Match[str]) -> str:
    """Return the bytes of a match as ``%XX``; a byte that is not UTF-8 stands for itself (PEP 383)."""
    is_byte = "\udc80" <= match[0] <= "\udcff"
    raw = match[0].encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in raw)
