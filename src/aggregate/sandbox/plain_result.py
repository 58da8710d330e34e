"""What may leave a sandbox: plain values and nothing that stands for code."""

from datetime import date, time, timedelta
from typing import Final

from aggregate.errors import SandboxError
from aggregate.models.plain import Value

LEAVES: Final = (str, int, float, bool, bytes, type(None), date, time, timedelta)


def require_plain(value: Value) -> Value:
    """Return ``value`` if it is made of plain values only.

    Raises:
        SandboxError: It holds a function, a class or an object, or it contains itself.
    """
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if type(item) in LEAVES or isinstance(item, date):
            continue
        if not isinstance(item, dict | list | tuple | set | frozenset):
            raise SandboxError(f"the code returned a {type(item).__name__}, not plain data")
        if id(item) in seen:
            continue
        seen.add(id(item))
        pending.extend(item.values() if isinstance(item, dict) else item)
    return value
