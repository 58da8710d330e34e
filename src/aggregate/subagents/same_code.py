"""Whether two functions do the same: a lambda that is written once is a new object each time that it is reached."""

from functools import partial
from types import CodeType, FunctionType
from typing import Any


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
        and _without_place(one.__code__) == _without_place(other.__code__)
        and _equal((one.__defaults__, one.__kwdefaults__), (other.__defaults__, other.__kwdefaults__))
        and _equal(_captured(one), _captured(other))
    )


def _without_place(code: CodeType) -> CodeType:
    """Return code without its name and its lines, its inner functions' too."""
    constants = tuple(_without_place(value) if isinstance(value, CodeType) else value for value in code.co_consts)
    return code.replace(co_name="", co_firstlineno=1, co_linetable=b"", co_consts=constants)


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
