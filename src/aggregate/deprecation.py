"""Names of the last release: they still work, and a warning says what they are called now."""

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


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


def renamed_keywords(**names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator that lets a function take keywords of the last release, with a warning.

    Args:
        names: Each old keyword with its present name.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def call(*arguments: _P.args, **keywords: _P.kwargs) -> _R:
            for old in names.keys() & keywords.keys():
                warnings.warn(
                    f"{function.__qualname__}: {old}= is now {names[old]}=; the old keyword goes with the next release",
                    DeprecationWarning,
                    stacklevel=2,
                )
                keywords[names[old]] = keywords.pop(old)
            return function(*arguments, **keywords)

        return call

    return decorate
