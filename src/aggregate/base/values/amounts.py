"""Numbers of tokens as people write them: ``32000``, ``32k``, ``1.5m``."""

import re
from typing import Final, Literal

AUTO: Final = "auto"  # a budget that follows from the model
Amount = int | Literal["auto"]
# The largest budget: a thousand times what models read, so that whatever is larger is a slip of the keyboard.
MOST_TOKENS: Final = 1_000_000_000
_HINT: Final = f"must be a number of tokens from 1 to {MOST_TOKENS:,}, such as 32000, 32k or 1.5m"
_NUMBER: Final = re.compile(
    r"(?P<whole>[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,3}(?:_[0-9]{3}){1,3}|[0-9]{1,12})"
    r"(?:\.(?P<part>[0-9]{1,6}))?(?P<unit>[km]?)",
    re.IGNORECASE,
)
_ZEROS: Final = {"": 0, "k": 3, "m": 6}


def parse_amount(value: object) -> Amount:
    try:
        return AUTO if value == AUTO else parse_number(value)
    except ValueError:
        raise ValueError(f"{_HINT}, or {AUTO}") from None


def parse_number(value: object) -> int:
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value.strip())):
        part = (match["part"] or "").rstrip("0")
        zeros = _ZEROS[match["unit"].lower()] - len(part)
        if zeros >= 0 and (match["unit"] or not match["part"]):
            value = int(re.sub("[_,]", "", match["whole"]) + part) * 10**zeros
    if type(value) is not int or not 1 <= value <= MOST_TOKENS:
        raise ValueError(_HINT)
    return value
