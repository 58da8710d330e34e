"""Tool calls written as JSON in texts, for servers without support for tools."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from aggregate.sending.models import CUT_CALL, CallResult, LoopTurn, OfferedTool, ToolCall

_BLOCK: Final = re.compile(
    r"```(?:json|tool_call)?[ \t]*\n(.*?)\n[ \t]*```|<tool_call>(.*?)</tool_call>", re.DOTALL
)
_CUT_CALL: Final = re.compile(
    r'(?:```(?:json|tool_call)?|<tool_call>)\s*\{\s*"(?:tool|name)"\s*:\s*"([^"`]+)"[^`]*\Z'
)
_INSTRUCTIONS: Final = """\
## Tools

To call a tool, write one JSON object in a fenced block and nothing after it; the next message has its result:

```json
{{"tool": "NAME", "arguments": {{}}}}
```

When you need no more tools, answer without such a block. The tools:

{}"""


def call_instructions(tools: Sequence[OfferedTool]) -> str:
    lines = [
        f"- {tool.name}: {tool.description} Arguments: {json.dumps(tool.parameters)}"
        for tool in tools
    ]
    return _INSTRUCTIONS.format("\n".join(lines))


def calls_in_text(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Parse calls of the named tools from fenced blocks, or from the whole text."""
    blocks = [match[1] or match[2] for match in _BLOCK.finditer(text)] or [text]
    objects = [item for block in blocks for item in _objects(block)]
    calls: list[ToolCall] = []
    for item in objects:
        name = item.get("tool", item.get("name"))
        arguments = item.get("arguments", item.get("parameters"))
        if name in names and isinstance(arguments, dict):
            calls.append(ToolCall(f"text_{len(calls) + 1}", str(name), arguments))
    return tuple(calls) if len(calls) == len(objects) else ()


def without_cut_call(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Split a truncated answer into its text and the incomplete call at its end."""
    match = _CUT_CALL.search(text)
    if match is None:
        return text, ()
    return text[: match.start()], (ToolCall("text_1", match[1], fault=CUT_CALL),)


def written_out(turn: LoopTurn) -> LoopTurn:
    """Return a turn with its calls written as text."""
    calls = [
        "```json\n" + json.dumps({"tool": call.name, "arguments": dict(call.arguments)}) + "\n```"
        for call in turn.calls
    ]
    results = tuple(
        CallResult(result.call, f"Result of {result.call.name}:\n\n{result.output}")
        for result in turn.results
    )
    return LoopTurn("\n\n".join(filter(str.strip, (turn.text, *calls))), results, turn.note)


def _objects(block: str) -> Iterator[dict[str, Any]]:
    try:
        value = json.loads(block)
    except (ValueError, RecursionError):
        return
    values = value if isinstance(value, list) else [value]
    yield from (item for item in values if isinstance(item, dict))
