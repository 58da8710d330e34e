"""The page of all keys of ``manual_slop.toml``, from its JSON Schema."""

import json
from collections.abc import Mapping
from typing import Any

from aggregate.project.configuration.schema import json_schema
from docs_build.markdown import code, escaped

HEAD = """# Configuration

Every key of `manual_slop.toml`, from the [schema](../manual_slop.schema.json) that `aggregate schema` prints. What the
keys are for, with examples: [guide](../guide.md#configuration). An unknown key or a wrong type is refused with file,
line and the nearest known key.
"""

Node = Mapping[str, Any]
"""A part of the schema."""


def configuration_reference() -> str:
    """Return the page."""
    schema = json_schema()
    tables: Mapping[str, Node] = schema["$defs"]
    names = _table_names(schema["properties"])
    alone = {key: node for key, node in schema["properties"].items() if key not in names.values()}
    sections = [HEAD]
    sections += [_section(f"[{key}]", table, tables[table]) for table, key in names.items()]
    sections += [
        _section(_inner_heading(table), table, node)
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


def _inner_heading(table: str) -> str:
    return f"A {table.removesuffix('Table').lower()} as a table"


def _section(heading: str, table: str, node: Node) -> str:
    told = escaped(str(node.get("description", "")))
    return "\n".join(
        [
            f"## {code(heading) if heading.startswith('[') else heading} {{#{table.lower()}}}\n",
            f"{told}\n",
            _keys(node["properties"], node.get("required", ())),
        ]
    )


def _keys(properties: Node, required: "tuple[str, ...] | list[str]") -> str:
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


def _plain(node: Node) -> str:
    words = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "`true` or `false`",
    }
    limits = {
        "minimum": "at least {}",
        "exclusiveMinimum": "more than {}",
        "maximum": "at most {}",
        "exclusiveMaximum": "less than {}",
    }
    told = [text.format(f"{node[key]:,}") for key, text in limits.items() if key in node]
    kind = words.get(str(node.get("type", "")), "any")
    return f"{kind} ({', '.join(told)})" if told else kind
