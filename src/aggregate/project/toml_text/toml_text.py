"""TOML that somebody else may have written, within limits."""

import re
import tomllib
from typing import Any

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


# The most bytes of a configuration: one with ten thousand entries has about 500,000.
MOST_BYTES = 750_000
