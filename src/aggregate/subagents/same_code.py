"""Whether two functions do the same: a lambda that is written once is a new object each time that it is reached."""

from functools import partial
from types import CodeType, FunctionType
from typing import Any, Final

_PARTS: Final = (
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_flags",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
)


def same_code(one: object, other: object) -> bool:
    """Return whether two merge functions are equal, or have the same code, defaults and captured values.

    Where the code stands does not matter; functions of different modules differ, since their names mean other things.
    Texts are equal but for the space around them.
    """
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    if isinstance(one, partial) and isinstance(other, partial):
        return same_code(one.func, other.func) and _equal((one.args, one.keywords), (other.args, other.keywords))
    if not isinstance(one, FunctionType) or not isinstance(other, FunctionType):
        return _equal(one, other)
    return (
        one.__globals__ is other.__globals__
        and _same(one.__code__, other.__code__)
        and _equal((one.__defaults__, one.__kwdefaults__), (other.__defaults__, other.__kwdefaults__))
        and _equal(_captured(one), _captured(other))
    )


def _same(one: CodeType, other: CodeType) -> bool:
    constants = list(zip(one.co_consts, other.co_consts, strict=False))
    return (
        all(getattr(one, part) == getattr(other, part) for part in _PARTS)
        and len(one.co_consts) == len(other.co_consts)
        and all(
            _same(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType) else type(a) is type(b) and a == b
            for a, b in constants
        )
    )


def _captured(function: FunctionType) -> list[Any]:
    cells = function.__closure__ or ()
    try:
        return [cell.cell_contents for cell in cells]
    except ValueError:  # a variable that has no value yet
        return [id(cell) for cell in cells]


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - values that cannot be compared are the same only where they are one object
        return one is other
