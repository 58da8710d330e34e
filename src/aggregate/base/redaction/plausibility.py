"""Whether a value that stands where a secret may stand is one, or a placeholder, a word or a piece of code."""

import math
import re
from collections import Counter
from itertools import pairwise

# What people write where a secret does not belong; it counts for nothing in a value.
_WORDS = re.compile(
    r"examples?|samples?|dummy|changeme|change|replace|placeholder|redacted|insert|enter|fixme|todo|lorem|ipsum|"
    r"your|here|this|with|fake|mock|invalid|wrong|default|demo|local|host|tests?|testing|foo|bar|baz|qux|spam|eggs|"
    r"passwords?|passwd|passphrase|pass|pwd|secrets?|tokens?|api|key|access|private|auth|client|user|name|admin|root|"
    r"value|string|none|null|true|false|undefined|bearer|basic|django|insecure|hello|world|"
    r"0?123456789|12345678|1234567|123456|12345|1234|123|abcdef|abcd|abc|qwerty|xxx+|[*.x_-]{3,}",
    re.IGNORECASE,
)
# A variable, a template, an escape, a path or an address: what refers to a value elsewhere.
_REFERENCE = re.compile(
    r"^[{<(\[]|\{\w*\}|\{\{|[$#]\{|\$\(|%\(|%[sd]\b|<\w+>|\(\)|^\$\w+$|^%\w+%$|\\[ux]|://|^(?:\.{0,2}|~)/[a-z]|\.\.\."
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|\[)\w+\]?)*[;,]?")
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^A-Za-z0-9]+")
_DIGIT = re.compile("[0-9]")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
# What names, versions and paths do not have.
_SPECIAL = frozenset("!#$%^&*+=@?~|;")
# Characters of the pieces that upper case letters and digits part: names have longer ones.
_SHORT_PIECES = 2.9
_MARKS = ("[REDACTED", "***")


# Bits per character of a secret: eight characters that occur equally often have 3.0, words and runs less. A value of
# fewer than twelve characters can hardly reach that: six different ones have 2.6.
_LEAST_BITS, _LEAST_BITS_OF_SHORT, _SHORT = 3.0, 2.5, 12
# Characters of a token behind its known beginning, and of one without. Services' tokens have 16 and more, of which a
# word that occurs by chance takes some.
_LEAST_TOKEN, _LEAST_RANDOM = 12, 20


def is_mixed(value: str) -> bool:
    rest = _WORDS.sub("", value)
    has_both = _DIGIT.search(rest) and any(map(str.isalpha, rest))
    return bool(has_both) and len(rest) >= _LEAST_TOKEN and entropy(rest) >= _LEAST_BITS


def is_random(value: str) -> bool:
    return (
        len(value) >= _LEAST_RANDOM
        and is_mixed(value)
        and not _REFERENCE.search(value)
        and not _is_spelled(value)
    )


def is_password(value: str) -> bool:
    is_minified = sum(value.count(sign) for sign in "(){}[]<>;,") > 2 + len(value) // 16
    if is_minified or not value.isprintable() or not is_login(value):
        return False
    rest = _WORDS.sub("", value)
    lower, upper = any(map(str.islower, rest)), any(map(str.isupper, rest))
    digit, special = bool(_DIGIT.search(rest)), not _SPECIAL.isdisjoint(rest)
    if len(rest) < 6 or (_is_spelled(value) and not (lower and upper and special and digit)):
        return False
    if not digit and not (len(rest) >= 10 and (special or _is_scrambled(rest))):
        return False
    # Two kinds of characters, digits among them or not: a word alone is no password, and digits alone are a number.
    if lower + upper + (not rest.isalnum()) < (1 if digit else 2):
        return False
    return entropy(rest) >= (_LEAST_BITS_OF_SHORT if len(rest) < _SHORT else _LEAST_BITS)


def is_login(value: str) -> bool:
    """Tell whether what stands at a URL's place for a password is no placeholder; it may be weak."""
    if any(mark in value for mark in _MARKS) or _REFERENCE.search(value):
        return False
    return len(_WORDS.sub("", value)) >= 4


def is_scrambled_password(value: str) -> bool:
    rest = _WORDS.sub("", value)
    return (
        is_password(value)
        and len(rest) >= 10
        and (_is_scrambled(rest) or not _SPECIAL.isdisjoint(rest))
    )


def is_unquoted_password(value: str) -> bool:
    """Tell whether a value without quotes is a secret: it could be code as well, so names are refused."""
    if _DOTTED.fullmatch(value) and not _is_scrambled(value):
        return False
    return is_password(value.rstrip(".,;:"))


def entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def _is_scrambled(name: str) -> bool:
    # What could be a name changes between letters and digits more often than names do.
    if _HEXADECIMAL.fullmatch(name) and len(name) >= 24:
        return True
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(name))
    pieces = _PIECES.findall(name)
    return entropy(name) >= _LEAST_BITS and (
        changes >= 4 or len(name) / len(pieces) < _SHORT_PIECES
    )


def _is_spelled(value: str) -> bool:
    # Of words and at most a number behind them: ``resetTokenView2``, ``acme-web-1``.
    pieces = [piece for piece in _PIECES.findall(value) if piece.isalnum()]
    words = [piece for piece in pieces if len(piece) >= 3 and piece.isalpha()]
    letters = sum(len(word) for word in words)
    digits = sum(piece.isdigit() for piece in pieces)
    return (
        letters >= 0.75 * sum(map(len, pieces))
        and digits <= 1
        and not _HEXADECIMAL.fullmatch(value)
    )
