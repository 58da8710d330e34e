"""Which configuration is meant, and TOML that somebody else may have written: what would take minutes is refused."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

CONFIG_NAME = "manual_slop.toml"


def nearest_config(folder: Path | None = None) -> Path:
    """Return the nearest ``manual_slop.toml`` at or above ``folder``, up to the root of its git repository.

    Outside of a repository nothing above counts, and inside it nothing that belongs to another user: on a machine that
    is shared anybody may put a repository and a configuration into a folder such as ``/tmp``. Where there is none, it
    is the one to be written here.
    """
    here = Path(CONFIG_NAME)
    folder = folder or Path()
    if (folder / here).exists():
        return here
    above = [folder.absolute(), *folder.absolute().parents]
    root = next((depth for depth, parent in enumerate(above) if _is_own(parent / ".git")), 0)
    for depth, parent in enumerate(above[1 : root + 1], start=1):
        if not _is_own(parent):
            break
        if _is_own(parent / here):
            return Path(*[os.pardir] * depth, here)
    return here


def _is_own(path: Path) -> bool:
    try:
        owner = path.lstat().st_uid
        return not hasattr(os, "geteuid") or owner == os.geteuid()
    except OSError:
        return False


# The most parts of a dotted key: the parser's time grows with their square, and no key of ours has more.
MOST_PARTS = 6

# The most characters of a number or a name without quotes; Python turns no longer ones into text and back.
MOST_CHARACTERS = 1_000

_STRING = r"""\"(?:[^"\\\n]++|\\.)*+\"?|'[^'\n]*+'?"""
_PART = rf"(?:[\w-]++|{_STRING})[ \t]*+"
_TOKEN = re.compile(
    rf"(?P<parts>(?<![\w.\"'-]){_PART}(?:\.[ \t]*+{_PART}){{{MOST_PARTS}}})"
    r"""|(?P<text>\"{3}(?:\\[\s\S]|"[^"\\]|"\\[\s\S]|""[^"\\]|""\\[\s\S]|[^"\\]++)*+(?:"{3,5})?"""
    rf"|'{{3}}(?:'[^']|''[^']|[^']++)*+(?:'{{3,5}})?|{_STRING}|\#[^\n]*+)"
    rf"|(?P<word>[\w.+-]{{{MOST_CHARACTERS + 1}}})"
)


def parse_untrusted_toml(text: str) -> dict[str, Any]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"it holds half of a surrogate pair (at character {error.start + 1})"
        ) from None
    for token in _TOKEN.finditer(text):
        if token.lastgroup != "text":
            line = text.count("\n", 0, token.start()) + 1
            raise ValueError(f"{_EXCESS[str(token.lastgroup)]} (at line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply: write flat tables and lists") from None


_EXCESS = {
    "parts": f"a key has more than {MOST_PARTS} parts",
    "word": f"a number or name has more than {MOST_CHARACTERS:,} characters",
}
