"""Instruction files: a goal with its description, as TOML or as plain ``key: value`` lines."""

import re
from pathlib import Path
from typing import Any

from aggregate.base.disk import read_text
from aggregate.base.errors import ConfigError
from aggregate.cli.output import warn
from aggregate.project.configuration import parse_untrusted_toml

_USED = ("goal", "description")
_ESCAPES = {"n": "\n", "t": "\t"}
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?")
_QUOTED = re.compile(r"(\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)')\s*(?:#.*)?")


def read_instruction(path: Path) -> str:
    """Return the goal in ``path``; ``.toml`` is TOML, anything else simple YAML. Keys that nothing reads are told.

    Of YAML these are read: ``key: value``, quoted values, and blocks after ``|`` and ``>``. Lists and mappings belong
    to keys that nothing reads.
    """
    try:
        text = read_text(path)
        is_toml = path.suffix.lower() == ".toml"
        values: dict[str, Any] = parse_untrusted_toml(text) if is_toml else _simple_yaml(text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ConfigError(f"it cannot be read: {reason or error}", path=str(path)) from None
    goal = values.get("goal")
    if not isinstance(goal, str) or not goal.strip():
        raise ConfigError(
            'it has no goal: add a line such as goal: "Count the runs"', path=str(path), key="goal"
        )
    for key in values:
        if key not in _USED:
            warn(f"{path}: {key} is not used")
    return goal.strip()


def _simple_yaml(text: str) -> dict[str, Any]:
    values: dict[str, str] = {}
    blocks: dict[str, list[str]] = {}
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#") or bare == "---":
            if key in blocks and not bare:
                blocks[key].append("")
        elif line[0] in " \t-":
            if not key:
                raise ValueError(f"line {number}: a line is indented below no key")
            blocks.setdefault(key, []).append(bare)
        elif match := _KEY.fullmatch(line.rstrip()):
            key = match[1]
            values[key] = _scalar((match[2] or "").strip())
        else:
            raise ValueError(f"line {number}: it is no key: value line")
    return {name: _joined(value, blocks.get(name, [])) for name, value in values.items()}


def _scalar(text: str) -> str:
    """Return a value without its quotes, or without the comment behind it."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is None:
        return re.sub(r"\s+#.*$", "", text)
    if quoted["double"] is None:
        return str(quoted["single"]).replace("''", "'")
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted["double"])


def _joined(value: str, lines: list[str]) -> str:
    if value in ("|", "|-", "|+"):
        return "\n".join(lines).strip()
    folded = "" if value in (">", ">-", ">+") else value
    return " ".join(part for part in (folded, *lines) if part)
