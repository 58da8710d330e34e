"""One request of a loop: its reply, and the calls in it.

Calls may be malformed, repeated or only announced. Servers without support for tools get and give calls as JSON in
texts.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aggregate.agents.tools import ToolRegistry, checked_arguments
from aggregate.agents.tracks.assignment import TicketStatus, WorkerReply
from aggregate.base.errors import ClientError, ProviderError, ToolError
from aggregate.base.nearest_names import did_you_mean
from aggregate.base.text import fence, plain_headings
from aggregate.base.tokens import count
from aggregate.sending import cost, shipped_ratio
from aggregate.sending.clients import ChatRequest, Client, loop_texts, refuses_tools
from aggregate.sending.models import (
    CUT_CALL,
    SCRIPTED,
    CallResult,
    FinishReason,
    LoopTurn,
    OfferedTool,
    Reply,
    ToolCall,
)


def take_turn(client: Client, request: ChatRequest, *, in_text: Collection[str]) -> WorkerReply:
    """Send a request; return its reply, or the error as a failed reply.

    Calls of the tools ``in_text`` are also read from the text.
    """
    try:
        reply = _metered(client, request, client.send(request))
    except ClientError as error:
        refusal = error if isinstance(error, ProviderError) else None
        return WorkerReply(
            str(error),
            provider=client.provider,
            status=TicketStatus.FAILED,
            again=refusal is not None and refusal.retryable,
            refuses_tools=refusal is not None and refuses_tools(refusal),
        )
    text, calls = reply.text, reply.calls
    if in_text and not calls:
        calls = calls_in_text(text, in_text)
    if in_text and not (calls or request.tools) and reply.stop is FinishReason.LENGTH:
        text, calls = without_cut_call(text)
    fault = ""
    if not calls and reply.stop is FinishReason.REFUSED:
        fault = "the model refused to answer"
    elif not (calls or reply.text.strip()):
        fault = f"the model answered nothing ({reply.stop.value})"
    return WorkerReply(
        fault or text,
        reply.usage.input + reply.usage.output,
        "; ".join(_doubts(reply, calls, request.max_output)),
        None if reply.price is None else float(reply.price),
        output_tokens=reply.usage.output,
        model=reply.model,
        provider=client.provider,
        status=TicketStatus.FAILED if fault else TicketStatus.DONE,
        # A retry is useful unless the model refused.
        again=bool(fault) and reply.stop is not FinishReason.REFUSED,
        calls=tuple(calls),
        native=reply.native if reply.calls else None,
    )


def size_of(client: Client, *texts: str) -> int:
    """Estimate the tokens of texts for the client's model."""
    ratio = shipped_ratio(client.provider, client.model)
    return ratio.provider_tokens(sum(map(count, texts)))


def _metered(client: Client, request: ChatRequest, reply: Reply) -> Reply:
    """Estimate the token counts that the server does not report."""
    usage, price = reply.usage, reply.price
    if not usage.input:
        sent = (request.prompt.markdown, request.message, request.system, *loop_texts(request))
        usage = replace(usage, fresh=size_of(client, *sent))
    if not usage.output:
        usage = replace(usage, output=size_of(client, reply.text))
    if price is not None and usage != reply.usage and client.provider != SCRIPTED:
        price = cost(usage, client.model, provider=client.provider)
    return replace(reply, usage=usage, price=price)


def _doubts(reply: Reply, calls: Sequence[ToolCall], max_output: int) -> Iterator[str]:
    """Yield warnings about a reply."""
    if not calls and reply.stop is not FinishReason.END:
        yield f"the answer is incomplete ({reply.stop.value})"
    for call in calls:
        if call.fault == CUT_CALL:
            yield f"the limit of {max_output:,} tokens cut a call of {call.name}"
    if reply.usage.output > max_output:
        yield (
            f"the server ignores the limit of an answer: it wrote {reply.usage.output:,} tokens, "
            f"{max_output:,} were allowed"
        )


SAME_CALLS: Final = 3  # with the same arguments and result
MALFORMED_CALLS: Final = 5
_ANNOUNCED: Final = re.compile(
    r"\b(?:i will|i'll|i’ll|i am going to|i'm going to|i’m going to"
    r"|let me(?! know)|let's|let’s|i(?: first)? need to|next,? i)\b"
    r"[^.!?\n]{0,120}\b(?:call|use|run|read|open|look|check|search|inspect|examine|edit|replace|write|update|fix|create)",
    re.IGNORECASE,
)
_MALFORMED: Final = "error: malformed call: "
_LONGEST_ANNOUNCEMENT: Final = 600  # characters; a longer text is an answer
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


def announces_call(text: str) -> bool:
    """Return whether an answer only announces a tool call."""
    return len(text) <= _LONGEST_ANNOUNCEMENT and _ANNOUNCED.search(text) is not None


def malformed(call: ToolCall, registry: ToolRegistry) -> str:
    """Return why a tool call cannot be run, ``""`` if it can."""
    fault = call.fault
    if not fault and call.name not in registry:
        near = did_you_mean(call.name, registry.names)
        fault = f"there is no tool {call.name!r}: {near}"
    if not fault:
        try:
            checked_arguments(registry.get(call.name), call.arguments)
        except ToolError as error:
            fault = str(error)
    return fault and f"{_MALFORMED}{fault}"


@dataclass(slots=True)
class CallWatch:
    """Counts malformed and repeated calls in a row."""

    _last: tuple[str, str, str] | None = None
    _same: int = 0
    _malformed: int = 0

    def stuck(self, results: Iterable[CallResult]) -> str:
        """Record the results of calls; return why the loop should stop, or ``""``."""
        for result in results:
            call = result.call
            key = (call.name, json.dumps(call.arguments, sort_keys=True, default=str), result.text)
            self._same = self._same + 1 if key == self._last else 1
            self._last = key
            is_malformed = result.text.startswith(_MALFORMED)
            self._malformed = self._malformed + 1 if is_malformed else 0
            if self._malformed >= MALFORMED_CALLS:
                return (
                    f"{self._malformed} calls in a row were malformed, the last one of {call.name}"
                )
            if self._same >= SAME_CALLS:
                return f"it made the same call of {call.name} {self._same} times in a row, with the same result"
        return ""


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


def result_text(output: Any) -> str:  # noqa: ANN401 - a tool's JSON
    """Render a tool's output for the model.

    Strings keep their lines. A text with headings like those of a prompt is fenced.
    """
    if not isinstance(output, dict):
        text = _text_of(output)
    elif output.get("success") is False:
        hint = f" {output['hint']}" if output.get("hint") else ""
        text = f"error: {output.get('error', 'it failed')}{hint}"
    else:
        lines: list[str] = []
        for name, value in output.items():
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                lines += [f"{name}:", *value]
            elif name != "success":
                is_content = name == "content" and isinstance(value, str)
                lines.append(value if is_content else f"{name}: {_text_of(value)}")
        text = "\n".join(lines)
    return text if plain_headings(text) == text else fence(text, "text")


def _text_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
