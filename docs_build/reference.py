"""Reference pages that are made from the code: all commands, all keys of ``manual_slop.toml``, all public names."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

import aggregate
from aggregate.cli.program import program
from aggregate.project.tables import json_schema

COMMANDS_HEAD = """# Commands

Every command with its arguments and options, as in `aggregate COMMAND --help`. Results on standard output, exit codes,
environment variables and the cache: [command line](../command-line.md).
"""


def command_reference() -> str:
    """Return the page."""
    walked = _walk(program, None, "aggregate")
    return "\n".join([COMMANDS_HEAD, *(_command_section(*each) for each in walked)])


def _walk(
    command: click.Command, parent: click.Context | None, name: str
) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield a command and those below it, in the order of the lists."""
    context = click.Context(
        command, info_name=name, parent=parent, max_content_width=100, **command.context_settings
    )
    yield command, context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from _walk(found, context, below)


def _command_section(command: click.Command, context: click.Context) -> str:
    usage = context.get_usage().removeprefix("Usage: ")
    records = [
        (record, param)
        for param in command.get_params(context)
        if (record := param.get_help_record(context)) is not None and "--help" not in param.opts
    ]
    listed = "\n".join(
        f"{code(names)}\n:   {escaped(text) or '&nbsp;'}\n" for (names, text), _ in records
    )
    return "\n".join(
        [f"## {context.command_path}\n", f"```text\n{usage}\n```\n", _paragraphs(command), listed]
    )


def _paragraphs(command: click.Command) -> str:
    """Return the help's text; a paragraph whose lines are kept, and an indented one, are shown as they stand."""
    told = []
    for paragraph in inspect.cleandoc(command.help or "").split("\f")[0].split("\n\n"):
        if paragraph.startswith("\b\n"):
            told.append("```text\n" + paragraph.removeprefix("\b\n") + "\n```\n")
        elif paragraph.startswith("  "):
            told.append(f"```text\n{inspect.cleandoc(paragraph)}\n```\n")
        elif paragraph.strip():
            told.append(escaped(" ".join(paragraph.split())) + "\n")
    return "\n".join(told)


CONFIGURATION_HEAD = """# Configuration

Every key of `manual_slop.toml`, from the [schema](../manual_slop.schema.json) that `aggregate schema` prints. Examples:
[guide](../guide.md#which-keys-does-the-configuration-have). An unknown key or a wrong type is refused with file, line
and the nearest known key.
"""

Node = Mapping[str, Any]
"""A part of the schema."""


def configuration_reference() -> str:
    """Return the page."""
    schema = json_schema()
    tables: Mapping[str, Node] = schema["$defs"]
    names = _table_names(schema["properties"])
    alone = {key: node for key, node in schema["properties"].items() if key not in names.values()}
    sections = [CONFIGURATION_HEAD]
    sections += [
        _table_section(code(f"[{key}]"), table, tables[table]) for table, key in names.items()
    ]
    sections += [
        _table_section(f"A {table.removesuffix('Table').lower()} as a table", table, node)
        for table, node in tables.items()
        if table not in names
    ]
    sections.append("## At the top level\n\n" + _keys(alone, ()))
    return "\n".join(sections)


def _table_names(properties: Node) -> dict[str, str]:
    """Return the key of each table that stands at the top, as in ``[personas.NAME]``, by the table's name."""
    names = {}
    for key, node in properties.items():
        if "$ref" in node:
            names[_target(node)] = key
        elif "$ref" in node.get("additionalProperties", {}):
            names[_target(node["additionalProperties"])] = f"{key}.NAME"
    return names


def _target(node: Node) -> str:
    return str(node["$ref"]).rpartition("/")[2]


def _table_section(heading: str, table: str, node: Node) -> str:
    told = escaped(str(node.get("description", "")))
    keys = _keys(node["properties"], node.get("required", ()))
    return f"## {heading} {{#{table.lower()}}}\n\n{told}\n\n{keys}"


def _keys(properties: Node, required: Sequence[str]) -> str:
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, node in properties.items():
        default = "required" if key in required else _default(node)
        meaning = escaped(str(node.get("description", "")))
        rows.append(f"| {code(key)} | {_value(node)} | {default} | {meaning} |")
    return "\n".join(rows) + "\n"


def _default(node: Node) -> str:
    if node.get("default") in (None, "", [], {}):
        return ""
    return code(json.dumps(node["default"], ensure_ascii=False))


def _value(node: Node) -> str:
    """Return what a key may hold, in words."""
    if "$ref" in node:
        target = _target(node)
        return f"[{target.removesuffix('Table').lower()} table](#{target.lower()})"
    if "enum" in node:
        return ", ".join(code(json.dumps(value)) for value in node["enum"])
    for either in ("anyOf", "oneOf"):
        if either in node:
            return " or ".join(_value(one) for one in node[either] if one.get("type") != "null")
    if node.get("type") == "array":
        return f"list of {_value(node['items'])}" if node.get("items") else "list"
    if node.get("type") == "object":
        values = node.get("additionalProperties")
        return f"table of {_value(values)}" if isinstance(values, Mapping) else "table"
    return _plain(node)


_WORDS = {"string": "text", "integer": "whole number", "boolean": "`true` or `false`"}
_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


def _plain(node: Node) -> str:
    told = [f"{words} {node[key]:,}" for key, words in _LIMITS.items() if key in node]
    kind = str(node.get("type", "any"))
    return _WORDS.get(kind, kind) + (f" ({', '.join(told)})" if told else "")


PYTHON_HEAD = """# Python names

Every public name of `aggregate`, from its signature and docstring. Examples: [Python](../python.md).
"""


def python_reference() -> str:
    """Return the page, with a directive for each name that mkdocstrings replaces by what the docstring says."""
    rooms: dict[str, list[str]] = {}
    for name, home in sorted(aggregate._HOME_BY_NAME.items()):
        rooms.setdefault(home.removeprefix("aggregate.").split(".")[0], []).append(name)
    sections = [PYTHON_HEAD]
    for room, names in sorted(rooms.items()):
        directives = "\n\n".join(f"::: aggregate.{name}" for name in names)
        sections.append(f"## From the room `{room}`\n\n{directives}\n")
    return "\n".join(sections)


_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~^=])")


def escaped(text: str) -> str:
    """Return a text in which no character has a meaning for markdown."""
    return _SPECIAL.sub(r"\\\1", text).replace("\\<", "&lt;").replace("\\>", "&gt;")


def code(text: str) -> str:
    """Return a text as inline code, whatever backticks it has; bars are no cells of a table."""
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"
