"""Instruction files: a goal with its description, as TOML or as plain ``key: value`` lines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk import read_text
from aggregate.base.errors import ConfigError
from aggregate.project.configuration import parse_untrusted_toml

USED: Final = ("goal", "description")
_ESCAPES: Final = {"n": "\n", "t": "\t"}
_KEY: Final = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?")


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a file asks for.

    Attributes:
        description: What the file is for; for people.
        ignored: Its other keys, which nothing reads.
    """

    goal: str
    description: str = ""
    ignored: tuple[str, ...] = ()


def read_instruction(path: Path) -> Instruction:
    """Return the instruction in ``path``; ``.toml`` is TOML, anything else simple YAML.

    Of YAML these are read: ``key: value``, quoted values, and blocks after ``|`` and ``>``. Lists and mappings belong
    to keys that nothing reads.
    """
    try:
        text = read_text(path)
        values = (
            parse_untrusted_toml(text) if path.suffix.lower() == ".toml" else _simple_yaml(text)
        )
    except OSError as error:
        raise ConfigError(f"it cannot be read: {error.strerror or error}", path=str(path)) from None
    except ValueError as error:
        raise ConfigError(f"it cannot be read: {error}", path=str(path)) from None
    return _instruction(values, path)


def _instruction(values: Mapping[str, Any], path: Path) -> Instruction:
    goal, description = values.get("goal"), values.get("description", "")
    if not isinstance(goal, str) or not goal.strip():
        raise ConfigError(
            'it has no goal: add a line such as goal: "Count the runs"', path=str(path), key="goal"
        )
    return Instruction(
        goal.strip(), str(description), tuple(key for key in values if key not in USED)
    )


def _simple_yaml(text: str) -> dict[str, str]:
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
            key = match.group(1)
            values[key] = _scalar(match.group(2) or "")
        else:
            raise ValueError(f"line {number}: it is no key: value line")
    return {name: _joined(value, blocks.get(name, [])) for name, value in values.items()}


def _scalar(text: str) -> str:
    """Return a value without its quotes, or without the comment behind it."""
    text = text.strip()
    quoted = re.fullmatch(
        r"(\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)')\s*(?:#.*)?", text
    )
    if quoted is None:
        return re.sub(r"\s+#.*$", "", text)
    if quoted.group("double") is not None:
        return re.sub(
            r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted.group("double")
        )
    return str(quoted.group("single")).replace("''", "'")


def _joined(value: str, lines: list[str]) -> str:
    if value in ("|", "|-", "|+"):
        return "\n".join(lines).strip()
    if value in (">", ">-", ">+"):
        value = ""
    return " ".join(part for part in (value, *lines) if part)
