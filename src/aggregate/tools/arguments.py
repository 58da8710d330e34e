"""A model's arguments on their way into a tool: declared ones only, in their types (rule P4)."""

import json
from collections.abc import Mapping
from typing import Any, Final

from aggregate.tools.schema import Parameter
from aggregate.tools.tool import Tool

_TRUTH: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class ArgumentMistake(ValueError):  # noqa: N818 - becomes a failed result that says what to change
    """An argument is missing or of the wrong type."""


def checked_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that ``tool`` declares, cast to simple types; ``None`` and undeclared ones are dropped.

    Raises:
        ArgumentMistake: A required one is missing, or one cannot be cast.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    missing = [one.name for one in tool.required if one.name not in given]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise ArgumentMistake(f"missing {len(missing)} required argument(s) of {tool.name}: {names}")
    return {one.name: cast_argument(one, given[one.name]) for one in tool.parameters if one.name in given}


def cast_argument(parameter: Parameter, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return ``value`` in the parameter's type where that is a simple one and the value says the same.

    Raises:
        ArgumentMistake: It does not.
    """
    try:
        match parameter.type:
            case "int":
                return _whole(value)
            case "float" if isinstance(value, int | float | str) and not isinstance(value, bool):
                return float(value)
            case "str" if isinstance(value, int | float) and not isinstance(value, bool):
                return str(value)
            case "bool" if isinstance(value, str | int) and not isinstance(value, bool):
                return _TRUTH[str(value).strip().lower()]
            case "list" | "dict" if isinstance(value, str):
                return _parsed(value, list if parameter.type == "list" else dict)
    except (ValueError, KeyError, OverflowError):
        raise ArgumentMistake(f"{parameter.name} must be {parameter.type}, not {value!r:.80}") from None
    return value


def _whole(value: Any) -> int:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float | str) or float(value) != int(float(value)):
        raise ValueError
    return int(value) if isinstance(value, int | str) else round(value)


def _parsed(text: str, kind: type) -> Any:  # noqa: ANN401 - a list or an object
    value = json.loads(text)
    if not isinstance(value, kind):
        raise ValueError
    return value
