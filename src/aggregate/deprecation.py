"""Names of the last release: they still work, and a warning says what they are called now."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose names have moved.

    Args:
        module: The module's ``__name__``.
        names: Each old name with its present place, ``package.module:name``.
    """

    def find(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, present = names[name].split(":")
        warnings.warn(
            f"{module}.{name} is now {home}.{present}; the old name goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(home), present)

    return find
