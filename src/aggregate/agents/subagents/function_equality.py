"""Whether two functions do the same: a lambda that is written once is a new object each time that it is reached."""

from functools import partial
from types import CodeType, FunctionType
from typing import Any


def same_code(left: object, right: object) -> bool:
    """Return whether two merge functions are equal, or have the same code, defaults and captured values.

    Where the code stands does not matter; functions of different modules differ, since their names mean other things.
    Texts are equal but for the space around them.
    """
    if isinstance(left, str) and isinstance(right, str):
        return left.strip() == right.strip()
    if isinstance(left, partial) and isinstance(right, partial):
        return same_code(left.func, right.func) and _equal(
            (left.args, left.keywords), (right.args, right.keywords)
        )
    if not isinstance(left, FunctionType) or not isinstance(right, FunctionType):
        return _equal(left, right)
    return (
        left.__globals__ is right.__globals__
        and _without_place(left.__code__) == _without_place(right.__code__)
        and _equal(
            (left.__defaults__, left.__kwdefaults__), (right.__defaults__, right.__kwdefaults__)
        )
        and _equal(_captured(left), _captured(right))
    )


def _without_place(code: CodeType) -> CodeType:
    """Return code without its name and its lines, its inner functions' too."""
    constants = tuple(
        _without_place(value) if isinstance(value, CodeType) else value for value in code.co_consts
    )
    return code.replace(co_name="", co_firstlineno=1, co_linetable=b"", co_consts=constants)


def _captured(function: FunctionType) -> list[Any]:
    cells = function.__closure__ or ()
    try:
        return [cell.cell_contents for cell in cells]
    except ValueError:  # a variable that has no value yet
        return [id(cell) for cell in cells]


def _equal(left: object, right: object) -> bool:
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - values that cannot be compared are the same only where they are one object
        return left is right
