"""``when`` and ``for_each``: expressions over the results of other tickets, in JavaScript.

They come with the project, so they run in the sandbox that merge functions run in, with a clock that stands still: the
same results give the same value.
"""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Final

from aggregate.agents.sandbox import SandboxLimits, run_javascript
from aggregate.base.errors import SandboxError
from aggregate.base.values import Value

_CALL: Final = '(results) => {{ "use strict"; return (\n{}\n) }}'
_COMPILE: Final = (
    '(source) => { new Function("results", "return (\\n" + source + "\\n)"); return true }'
)
"""Only compiles: what an expression does is not known before there are results."""
_NAME: Final = re.compile(
    r"""(?<![\w$.\]])results\s*(?:\??\.\s*([A-Za-z_$][\w$]*)|(?:\?\.)?\[\s*(["'])((?:(?!\2).)*)\2\s*\])"""
)
"""``results.name`` and ``results["name"]``."""
_LIMITS: Final = SandboxLimits(seconds=2.0, output_bytes=4 * 1024 * 1024)
"""A list is spread over a thousand tickets at the most, each item of which goes into a prompt."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def names_in(expression: str) -> tuple[str, ...]:
    """Return the results that an expression names, in order; what it computes as a name is not seen."""
    names = (match[1] or match[3] for match in _NAME.finditer(expression))
    return tuple(dict.fromkeys(names))


def fault_of(expression: str, known: Collection[str]) -> str:
    """Return why an expression can never be evaluated, ``""`` where that is not known yet.

    Args:
        expression: The expression.
        known: Names of results that there will be.
    """
    for name in names_in(expression):
        if name not in known:
            return f'it names "{name}", which the ticket does not depend on: add it to depends_on'
    try:
        run_javascript(_COMPILE, expression, limits=_LIMITS, now=_EPOCH)
    except SandboxError as error:
        return str(error)
    return ""


def evaluate(expression: str, results: Mapping[str, Value]) -> Value:
    """Return the value of an expression.

    Raises:
        SandboxError: It failed, was stopped, or gave nothing that JSON can hold.
    """
    source = _CALL.format(expression)
    return run_javascript(source, dict(results), limits=_LIMITS, now=_EPOCH)


def is_met(expression: str, results: Mapping[str, Value]) -> bool:
    """Return whether a condition holds, by JavaScript's rules: ``""``, ``0``, ``null`` and ``false`` do not.

    Raises:
        SandboxError: It cannot be evaluated.
    """
    return evaluate(f"Boolean((\n{expression}\n))", results) is True
