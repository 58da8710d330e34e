"""Names of the last release: they still work, and a warning says what they are called now."""

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def renamed(module: str, names: Mapping[str, str], *, frames: int = 0) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose names have moved.

    Args:
        module: The module's ``__name__``.
        names: Each old name with its present place, ``package.module:name``.
        frames: How many functions stand between it and whoever asks for the name, where the warning is to point.
    """

    def find(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, present = names[name].split(":")
        warnings.warn(
            f"{module}.{name} is now {home}.{present}; the old name goes with the next release",
            DeprecationWarning,
            stacklevel=2 + frames,
        )
        return getattr(import_module(home), present)

    return find


def renamed_keywords(**names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator that lets a function be called with keywords of the last release.

    Args:
        names: Each old keyword with its present name.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for old in names.keys() & kwargs.keys():
                present = names[old]
                if present in kwargs:  # the function says itself what it does not know
                    continue
                warnings.warn(
                    f"the keyword {old} of {function.__qualname__} is now {present}; it goes with the next release",
                    DeprecationWarning,
                    stacklevel=2,
                )
                kwargs[present] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
