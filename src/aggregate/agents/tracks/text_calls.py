"""Calls of tools as JSON in a text, for servers that know no tools: what a model is told, and what it wrote."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from aggregate.sending.models import OfferedTool, ToolCall

_BLOCK: Final = re.compile(
    r"```(?:json|tool_call)?[ \t]*\n(.*?)\n[ \t]*```|<tool_call>(.*?)</tool_call>", re.DOTALL
)
_INSTRUCTIONS: Final = """\
## Tools

To call a tool, write one JSON object in a fenced block and nothing behind it; the next message says what it gave:

```json
{{"tool": "NAME", "arguments": {{}}}}
```

When you need no tool any more, answer without such a block. The tools:

{}"""


def call_instructions(tools: Sequence[OfferedTool]) -> str:
    lines = [
        f"- {tool.name}: {tool.description} Arguments: {json.dumps(tool.parameters)}"
        for tool in tools
    ]
    return _INSTRUCTIONS.format("\n".join(lines))


def calls_in_text(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls of these tools that an answer writes as JSON: in fenced blocks, or as its whole text."""
    blocks = [match[1] or match[2] for match in _BLOCK.finditer(text)] or [text]
    objects = [each for block in blocks for each in _objects(block)]
    found: list[ToolCall] = []
    for each in objects:
        name = each.get("tool", each.get("name"))
        arguments = each.get("arguments", each.get("parameters"))
        if name in names and isinstance(arguments, dict):
            found.append(ToolCall(f"text_{len(found) + 1}", str(name), arguments))
    return tuple(found) if len(found) == len(objects) else ()


def _objects(block: str) -> Iterator[dict[str, Any]]:
    try:
        value = json.loads(block)
    except (ValueError, RecursionError):
        return
    values = value if isinstance(value, list) else [value]
    yield from (each for each in values if isinstance(each, dict))
