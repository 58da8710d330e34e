"""A model's arguments on their way into a tool: declared ones only, in their types (rule P4)."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from aggregate.agents.tools.tool import Tool
from aggregate.agents.tools.tool_schema import Parameter

_TRUTH: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class ArgumentMistake(ValueError):  # noqa: N818 - becomes a failed result that says what to change
    """An argument is missing or of the wrong type."""


def checked_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that ``tool`` declares, cast to simple types; ``None`` and undeclared ones are dropped.

    Raises:
        ArgumentMistake: A required one is missing, or one cannot be cast.
    """
    values = {name: value for name, value in arguments.items() if value is not None}
    missing = [parameter.name for parameter in tool.required if parameter.name not in values]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise ArgumentMistake(
            f"missing {len(missing)} required argument(s) of {tool.name}: {names}"
        )
    present = [parameter for parameter in tool.parameters if parameter.name in values]
    return {
        parameter.name: cast_argument(parameter, values[parameter.name]) for parameter in present
    }


def cast_argument(parameter: Parameter, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return ``value`` in the parameter's type where that is a simple one and the value says the same.

    Raises:
        ArgumentMistake: It does not.
    """
    try:
        match parameter.type:
            case "int":
                return _whole(value)
            case "float":
                return _real(value)
            case "str":
                return _text(value)
            case "bool":
                return _truth(value)
            case "list":
                return _structure(value, list)
            case "dict":
                return _structure(value, dict)
    except (ValueError, KeyError, OverflowError, RecursionError):
        raise ArgumentMistake(
            f"{parameter.name} must be {parameter.type}, not {value!r:.80}"
        ) from None
    return value


def _truth(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    return value if isinstance(value, bool) else _TRUTH[_text(value).strip().lower()]


def _whole(value: Any) -> int:  # noqa: ANN401 - whatever JSON holds
    real = _real(value)
    if not real.is_integer():
        raise ValueError
    try:
        return int(value)  # every digit of a long number
    except ValueError:
        return int(real)  # "7.0"


def _real(value: Any) -> float:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    real = float(value)
    if not isfinite(real):
        raise ValueError
    return real


def _text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    text = str(value)
    text.encode()  # half a surrogate pair is no text
    return text


def _structure(value: Any, kind: type) -> Any:  # noqa: ANN401 - a list or an object
    structure = json.loads(value) if isinstance(value, str) else value
    if not isinstance(structure, kind):
        raise ValueError
    return structure
