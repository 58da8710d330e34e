"""Numbers of tokens as people write them: ``32000``, ``32k``, ``1.5m``."""

import re
from typing import Final, Literal

AUTO: Final = "auto"
"""What is written for a budget that follows from the model."""
Amount = int | Literal["auto"]
"""A number of tokens, or ``AUTO``."""
MOST_TOKENS: Final = 1_000_000_000
"""The largest budget: a thousand times what models read, so that whatever is larger is a slip of the keyboard."""
_HINT: Final = f"must be a number of tokens from 1 to {MOST_TOKENS:,}, such as 32000, 32k or 1.5m"
_HINT_OR_AUTO: Final = f"{_HINT}, or {AUTO}"
_NUMBER: Final = re.compile(
    r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,3}(?:_[0-9]{3}){1,3}|[0-9]{1,12})"
    r"(?:\.(?P<part>[0-9]{1,6}))?(?P<unit>[km]?)",
    re.IGNORECASE,
)
_ZEROS: Final = {"": 0, "k": 3, "m": 6}


def parse_tokens(text: str) -> int:
    """Return the number of tokens that ``text`` names: ``32000``, ``32_000``, ``32,000``, ``32k``, ``1.5m``.

    Raises:
        ValueError: It names none, or less than one, or a part of one, or more than ``MOST_TOKENS``.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ValueError(_HINT)
    part = (match["part"] or "").rstrip("0")
    zeros = _ZEROS[match["unit"].lower()] - len(part)
    if zeros < 0 or (match["part"] and not match["unit"]):
        raise ValueError(_HINT)
    return _checked(int(re.sub("[_,]", "", match["whole"]) + part) * 10**zeros)


def parse_amount(value: object) -> Amount:
    """Return a budget as a configuration or a caller may write it: a number, a text of one, or ``"auto"``.

    Raises:
        ValueError: It is none of these.
    """
    try:
        return AUTO if value == AUTO else parse_number(value)
    except ValueError:
        raise ValueError(_HINT_OR_AUTO) from None


def parse_number(value: object) -> int:
    """Return a number of tokens that is written as a number or a text.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, str):
        return parse_tokens(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(_HINT)
    return _checked(value)


def _checked(number: int) -> int:
    if not 1 <= number <= MOST_TOKENS:
        raise ValueError(_HINT)
    return number
