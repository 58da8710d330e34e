"""Keys: read from the environment, handed to an SDK, and never shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from aggregate.errors import ClientSetupError

_HIDDEN = "(hidden)"
_SHORTEST = 6


@dataclass(frozen=True, slots=True)
class Key:
    """A key that no representation shows.

    Attributes:
        value: The key itself.
    """

    value: str = field(default="", repr=False)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not stored: read it from the environment again")

    def hide(self, text: str) -> str:
        """Return ``text`` without the key: providers repeat it in their error messages."""
        return text.replace(self.value, _HIDDEN) if len(self.value) >= _SHORTEST else text


def find_key(provider: str, variables: tuple[str, ...], environ: Mapping[str, str], *, needed: bool) -> Key:
    """Return the first key that one of the environment's ``variables`` holds.

    Raises:
        ClientSetupError: None of them is set, and one is needed.
    """
    value = next((environ[name].strip() for name in variables if environ.get(name, "").strip()), "")
    if needed and not value:
        raise ClientSetupError(f"{provider} needs a key: set the environment variable {' or '.join(variables)}")
    return Key(value)
