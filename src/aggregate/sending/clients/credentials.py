"""Keys, read from the environment and never shown."""

import os
import re
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import quote, quote_plus

from aggregate.base.errors import ClientSetupError

_HIDDEN = "(hidden)"
_SHORTEST = 6  # characters of a key that is hidden: shorter ones occur in ordinary words
_HEADER_VALUE = re.compile(r"[!-~]+")


class ApiKey:
    """A key that no representation shows; no dataclass, because ``dataclasses.asdict`` of its holder would show it."""

    __slots__ = ("value",)

    def __init__(self, value: str = "") -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Key({_HIDDEN if self.value else ''})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not stored: read it from the environment again")

    def hide(self, text: str) -> str:
        """Return ``text`` without the key, also as it stands in an address: providers repeat it in their messages."""
        if len(self.value) < _SHORTEST:
            return text
        for form in (self.value, quote(self.value, safe=""), quote_plus(self.value)):
            text = text.replace(form, _HIDDEN)
        return text


def find_api_key(
    provider: str, variables: tuple[str, ...], environ: Mapping[str, str], *, needed: bool
) -> ApiKey:
    name = next((name for name in variables if environ.get(name, "").strip()), "")
    if not name and needed:
        raise ClientSetupError(
            f"{provider} needs a key: set the environment variable {' or '.join(variables)}"
        )
    value = environ.get(name, "").strip()
    if value and not _HEADER_VALUE.fullmatch(value):
        # The error of an HTTP library would show it.
        raise ClientSetupError(
            f"the key in {name} holds a blank or a character that no key has: set it again"
        )
    return ApiKey(value)


def auth_headers(
    key: ApiKey | None,
    variable: str,
    others: tuple[str, ...],
    omit: Any,  # noqa: ANN401 - whatever mark an SDK has
) -> dict[str, Any]:
    """Return the headers with which an SDK sends ``key`` and nothing that it reads from the environment by itself.

    SDKs send these wherever their address leads: also to another provider than the one they are meant for. The
    ``variable`` has ``Name: value`` on each line, ``others`` are headers that the SDK makes of other variables, and
    ``omit`` is its mark for what is left out. Without a key the SDK signs by itself.
    """
    lines = os.environ.get(variable, "").split("\n")
    names = (*(line.partition(":")[0].strip() for line in lines if ":" in line), *others)
    if key is None:
        return dict.fromkeys(names, omit)
    bearer = f"Bearer {key.value or 'none'}"
    return {
        name: bearer if name.lower() == "authorization" else omit
        for name in (*names, "Authorization")
    }
