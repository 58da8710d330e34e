"""What providers document of a request, checked as their servers do: the first fault is the refusal's message."""

import json
import re
from collections.abc import Iterator
from typing import Any

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MARKS = ("cache_control", "prompt_cache_breakpoint")
_MOST_MARKS = 4
_ANTHROPIC_FIELDS = {"text": "text", "image": "source", "thinking": "signature", "tool_use": "input", "tool_result": "tool_use_id", "redacted_thinking": "data"}  # fmt: skip
_GEMINI_DATA = {"text", "inlineData", "functionCall", "functionResponse", "fileData"}


class Refused(Exception):  # noqa: N818 - the name of what it stands for
    """The server does not take the request."""


def refusal_of(path: str, body: Any) -> dict[str, Any] | None:
    """Return the provider's error for a request, ``None`` for one that it takes."""
    is_anthropic = path.endswith("/messages") or "rawPredict" in path or "/invoke" in path
    try:
        if is_anthropic:
            _anthropic(body)
        elif "/chat/completions" in path:
            _openai(body)
        elif "enerateContent" in path:
            _gemini(body)
    except Refused as fault:
        kind, message = "invalid_request_error", str(fault)
        if is_anthropic:
            return {"type": "error", "error": {"type": kind, "message": message}}
        if "/chat/completions" in path:
            return {"error": {"message": message, "type": kind, "param": None, "code": None}}
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    return None


def _require(holds: object, message: str) -> None:
    if not holds:
        raise Refused(message)


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def marks_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the marks of a request in the order of its prefix: tools, system, messages."""
    if isinstance(value, dict):
        ordered = sorted(value.items(), key=lambda item: ("tools", "system", "messages").index(item[0]) if item[0] in ("tools", "system", "messages") else 3)  # fmt: skip
        for name, inner in ordered:
            if name in _MARKS:
                yield inner
            elif name not in ("input_schema", "parameters", "input", "arguments"):
                yield from marks_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from marks_in(inner)


def check_marks(body: Any) -> None:
    """Check the number of marks, their order, and that none stands where none may."""
    marks = list(marks_in(body))
    _require(
        len(marks) <= _MOST_MARKS,
        f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.",
    )
    lifetimes = [mark.get("ttl", "5m") for mark in marks]
    _require(
        lifetimes == sorted(lifetimes), "a ttl='1h' cache_control block must not come after a ttl='5m' one"
    )  # fmt: skip
    for tool in body.get("tools") or ():
        _require(
            not (tool.get("defer_loading") and any(tool.get(name) for name in _MARKS)),
            f"Tool '{tool.get('name')}' cannot have both defer_loading=true and cache_control set.",
        )


def _anthropic(body: Any) -> None:
    check_marks(body)
    _require(body.get("max_tokens", 0) >= 1 and body.get("messages"), "messages: at least one message is required")  # fmt: skip
    for place, block in enumerate(_blocks(body.get("system"))):
        _require(block["text"].strip(), f"system.{place}: text content blocks must contain non-whitespace text")  # fmt: skip
    tools = [tool["name"] for tool in body.get("tools") or ()]
    _require(len(tools) == len(set(tools)), "tools: Tool names must be unique.")
    called: list[str] = []
    for number, message in enumerate(body["messages"]):
        blocks, where = _blocks(message["content"]), f"messages.{number}"
        _require(message["role"] in ("user", "assistant"), f"{where}: unexpected role")
        _require(blocks, f"{where}: all messages must have non-empty content")
        for place, block in enumerate(blocks):
            _anthropic_block(block, f"{where}.content.{place}", message["role"])
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        _require(set(results) <= set(called), f"{where}: unexpected `tool_use_id` found in `tool_result` blocks")  # fmt: skip
        _require(sorted(results) == sorted(called), f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after")  # fmt: skip
        kinds = [block["type"] for block in blocks]
        _require(kinds[: len(results)] == ["tool_result"] * len(results), f"{where}: `tool_result` blocks must come first")  # fmt: skip
        called = [block["id"] for block in blocks if block["type"] == "tool_use"]
        _require(len(called) == len(set(called)), f"{where}: `tool_use` ids must be unique")
        _require(not called or tools, "tools: required where `tool_use` blocks are sent")
    _require(not called and body["messages"][-1]["role"] == "user", "the conversation must end with a user message")  # fmt: skip


def _anthropic_block(block: Any, where: str, role: str) -> None:
    kind = block["type"]
    _require(kind in _ANTHROPIC_FIELDS, f"{where}: unknown type {kind}")
    _require(_ANTHROPIC_FIELDS[kind] in block, f"{where}: {_ANTHROPIC_FIELDS[kind]}: Field required")  # fmt: skip
    is_models = kind in ("tool_use", "thinking", "redacted_thinking")
    _require(not is_models or role == "assistant", f"{where}: {kind} blocks are the assistant's")
    if kind == "text":
        _require(block["text"], f"{where}: text content blocks must be non-empty")
        _require(block["text"].strip(), f"{where}: text content blocks must contain non-whitespace text")  # fmt: skip
    if kind == "tool_use":
        _require(_NAME.fullmatch(block["id"]) and _NAME.fullmatch(block["name"]), f"{where}: id and name should match pattern")  # fmt: skip
        _require(isinstance(block["input"], dict), f"{where}.tool_use.input: Input should be a valid dictionary")  # fmt: skip
    if kind == "tool_result":
        for inner in _blocks(block.get("content")):
            _anthropic_block(inner, f"{where}.content", role)
    if kind in ("thinking", "redacted_thinking"):
        _require("cache_control" not in block, f"{where}.cache_control: Extra inputs are not permitted")  # fmt: skip


def _openai(body: Any) -> None:
    check_marks(body)
    _require(body.get("messages"), "[] is too short - 'messages'")
    waiting: list[str] = []
    for number, message in enumerate(body["messages"]):
        role, content, where = message["role"], message.get("content"), f"messages.[{number}]"
        calls = message.get("tool_calls")
        if role == "tool":
            _require(message.get("tool_call_id") in waiting, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")  # fmt: skip
            waiting.remove(message["tool_call_id"])
        else:
            _require(not waiting, f"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: {waiting}")  # fmt: skip
        _require(calls is None or calls, f"[] is too short - '{where}.tool_calls'")
        _require(content is not None or calls, f"Invalid value for 'content': expected a string, got null ({where})")  # fmt: skip
        _require(content != [], f"{where}.content: array is too short")
        for part in _blocks(content):
            _require(part["type"] != "text" or part["text"].strip(), f"{where}.content: text must be non-empty")  # fmt: skip
        for call in calls or ():
            function = call["function"]
            _require(call.get("id") and call.get("type") == "function", f"{where}.tool_calls: id and type are required")  # fmt: skip
            _require(_NAME.fullmatch(function["name"]), f"Invalid '{where}.tool_calls.function.name'")  # fmt: skip
            _require(_is_object(function["arguments"]), f"{where}: function.arguments must be a valid JSON object")  # fmt: skip
        waiting = [call["id"] for call in calls or ()] if role == "assistant" else waiting
    _require(not waiting, "An assistant message with 'tool_calls' must be followed by tool messages")  # fmt: skip


def _is_object(arguments: Any) -> bool:
    try:
        return isinstance(arguments, str) and isinstance(json.loads(arguments), dict)
    except ValueError:
        return False


def _gemini(body: Any) -> None:
    instruction = (body.get("systemInstruction") or {}).get("parts", ())
    for part in instruction:
        _require(part["text"].strip(), "system_instruction.parts: text must not be empty")
    _require(body.get("contents"), "contents is not specified")
    called: list[str] = []
    for number, content in enumerate(body["contents"]):
        parts, where = content.get("parts"), f"contents[{number}]"
        _require(parts, f"GenerateContentRequest.{where}.parts: contents.parts must not be empty.")
        for part in parts:
            data = _GEMINI_DATA & part.keys()
            _require(len(data) == 1, f"{where}.parts: required oneof field 'data' must have one initialized field")  # fmt: skip
            is_text = part.get("text", "x").strip() or part.get("thoughtSignature")
            _require(is_text, f"{where}.parts: text must not be empty")
        answers = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        _require(answers == called, "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")  # fmt: skip
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        _require(all(isinstance(call.get("args", {}), dict) for call in calls), "args must be an object")  # fmt: skip
        called = [call["name"] for call in calls]
    _require(not called, "Please ensure that function response turn comes immediately after a function call turn.")  # fmt: skip
