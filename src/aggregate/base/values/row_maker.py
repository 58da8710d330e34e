"""Named tuples by the ten thousand: made without a step in Python for each."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

_Row = TypeVar("_Row", bound=tuple[Any, ...])


def row_maker(kind: type[_Row]) -> Callable[[Iterable[Any]], _Row]:
    """Return what makes a named tuple of the values of all its fields, in order; nobody counts them.

    Calling the class takes three times as long, since that goes through a function for names and defaults. It is for
    the loops over all files, definitions or pieces of a project; elsewhere the class says more.
    """
    return partial(tuple.__new__, kind)
