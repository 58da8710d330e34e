"""Tools on the wire of each protocol: what is offered, called, told and sent back, checked by a server on loopback."""

from typing import Any

import pytest

from aggregate import ChatRequest, Client, FinishReason, Prompt, open_client
from aggregate.sending.models import CallResult, LoopTurn, OfferedTool, ToolCall
from tests.fakes.chat_server import chat_server, reply_to
from tests.fakes.prompts import part
from tests.fakes.senders import event, sending
from tests.fakes.transports import ONCE

PROMPT = Prompt((part("files", "word " * 9_000),))
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = OfferedTool("read_file", "Read a file.", SCHEMA)
KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
SIGNATURE = "c2lnbmVkPz4_"  # with a sign that plain base64 has not
CALLS: dict[str, dict[str, Any]] = {
    "anthropic": {
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a"}},
            {"type": "tool_use", "id": "t2", "name": "read_file", "input": {"path": "b"}},
        ],
        "stop_reason": "tool_use",
    },
    "openai": {
        "content": "I look.",
        "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}},
            {"id": "t2", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "b"}'}},
        ],
    },
    "gemini": {
        "parts": [
            {"text": "I look."},
            {"functionCall": {"name": "read_file", "args": {"path": "a"}}, "thoughtSignature": SIGNATURE},
            {"functionCall": {"name": "read_file", "args": {"path": "b"}}},
        ]
    },
}  # fmt: skip


def calling(path: str) -> dict[str, Any]:
    """Return what a provider says that wants two files read."""
    reply = reply_to(path)
    if path.endswith("/messages"):
        return {**reply, **CALLS["anthropic"]}
    if "/chat/completions" in path:
        message = {"role": "assistant", **CALLS["openai"]}
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message, "logprobs": None}
        return {**reply, "choices": [choice]}
    content = {"role": "model", **CALLS["gemini"]}
    return {**reply, "candidates": [{"content": content, "finishReason": "STOP"}]}


def opened(protocol: str, url: str, provider: str = "") -> Client:
    """Return a client of a protocol; another ``provider`` may speak it."""
    base = url + {"anthropic": "", "openai": "/v1", "gemini": "/v1beta"}[protocol]
    model = "m" if provider else ""
    return open_client(provider or protocol, model=model, base_url=base, environ=KEYS, retry=ONCE)


def asked(*turns: LoopTurn) -> ChatRequest:
    return ChatRequest(PROMPT, "Look.", tools=(TOOL,), turns=turns)


def results(*calls: ToolCall) -> tuple[CallResult, ...]:
    return tuple(CallResult(call, f"result of {call.arguments['path']}") for call in calls)


def marks(value: Any) -> int:
    """Count the breakpoints of a request."""
    if isinstance(value, dict):
        own = "cache_control" in value or "prompt_cache_breakpoint" in value
        return own + sum(map(marks, value.values()))
    return sum(map(marks, value)) if isinstance(value, list) else 0


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize("is_native", [False, True])
def test_a_call_and_its_results(provider: str, is_native: bool) -> None:
    """Calls are read, and go back with one result each, and with all that the provider gave beside them."""
    with chat_server(reply=lambda path, _: calling(path)) as server:
        client = opened(provider, server.url)
        reply = client.send(asked())
        assert (reply.text, reply.stop) == ("I look.", FinishReason.END)
        named = [(call.name, call.arguments) for call in reply.calls]
        assert named == [("read_file", {"path": "a"}), ("read_file", {"path": "b"})]
        native = reply.native if is_native else None
        turn = LoopTurn(reply.text, results(*reply.calls), "Go on.", native)
        client.send(asked(turn))
    first, second = server.bodies
    check = {"anthropic": anthropic, "openai": openai, "gemini": gemini}[provider]
    check(first, second, is_native=is_native)
    assert marks(second) <= 4


def anthropic(first: Any, second: Any, *, is_native: bool) -> None:
    tool = {"name": "read_file", "description": "Read a file.", "input_schema": SCHEMA}
    assert first["tools"] == second["tools"] == [tool]
    asked, said, told = second["messages"]
    # The same bytes but for where a mark stands: the next request repeats everything.
    assert [part["text"] for part in asked["content"]] == [
        part["text"] for part in first["messages"][0]["content"]
    ]
    kinds = [part["type"] for part in said["content"]]
    assert kinds == (["thinking"] if is_native else []) + ["text", "tool_use", "tool_use"]
    assert [(part["type"], part.get("tool_use_id")) for part in told["content"]] == [
        ("tool_result", "t1"), ("tool_result", "t2"), ("text", None)
    ]  # fmt: skip
    assert "cache_control" in told["content"][-1]
    assert "cache_control" in asked["content"][-1]


def openai(first: Any, second: Any, *, is_native: bool) -> None:
    function = {"name": "read_file", "description": "Read a file.", "parameters": SCHEMA}
    assert first["tools"] == [{"type": "function", "function": function}]
    said, one, two, note = second["messages"][-4:]
    assert [call["id"] for call in said["tool_calls"]] == ["t1", "t2"]
    assert [(each["role"], each.get("tool_call_id")) for each in (one, two, note)] == [
        ("tool", "t1"), ("tool", "t2"), ("user", None)
    ]  # fmt: skip
    assert one["content"] == "result of a"
    assert second["messages"][: len(first["messages"]) - 1] == first["messages"][:-1]
    assert said["content"] == "I look."
    assert is_native in (False, True)


def gemini(first: Any, second: Any, *, is_native: bool) -> None:
    (declared,) = first["tools"][0]["functionDeclarations"]
    # Google reads its fields in both spellings, and the SDK writes this one.
    schema = declared.get("parametersJsonSchema") or declared["parameters_json_schema"]
    assert (declared["name"], schema) == ("read_file", SCHEMA)
    _, said, told = second["contents"]
    signatures = [part.get("thoughtSignature") for part in said["parts"]]
    assert any(signatures) is is_native
    if is_native:
        assert signatures[1].replace("/", "_") == SIGNATURE
    answers = [part["functionResponse"] for part in told["parts"][:-1]]
    assert [(each["name"], each["response"]) for each in answers] == [
        ("read_file", {"result": "result of a"}), ("read_file", {"result": "result of b"})
    ]  # fmt: skip
    assert told["parts"][-1]["text"] == "Go on."


@pytest.mark.parametrize("arguments", ["{", "[1]", "3"])
def test_arguments_that_are_none(arguments: str) -> None:
    """What a model writes as arguments and is no object is its call's fault, not the reply's."""

    def answer(path: str, _body: Any) -> dict[str, Any]:
        reply = calling(path)
        reply["choices"][0]["message"]["tool_calls"] = [
            {
                "id": "t",
                "type": "function",
                "function": {"name": "read_file", "arguments": arguments},
            }
        ]
        return reply

    with chat_server(reply=answer) as server:
        (call,) = opened("openai", server.url).send(asked()).calls
    assert call.fault.startswith("its arguments are no")
    assert (call.name, call.arguments) == ("read_file", {})


def test_calls_of_a_stream() -> None:
    """Calls that come in pieces, two at a time, are put together, and what was thought goes back with them."""
    pieces: list[dict[str, Any]] = [
        {"reasoning_content": "Hm"},
        {"reasoning_content": "."},
        {"tool_calls": [{"index": 0, "id": "t1", "function": {"name": "read_file"}}]},
        {"tool_calls": [{"index": 1, "id": "t2", "function": {"name": "read_file", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"path":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ' "a"}'}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": '{"path": "b"}'}}]},
    ]  # fmt: skip
    events = [{"index": 0, "delta": delta} for delta in pieces]
    events.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    text = "".join(event({"id": "x", "model": "m", "choices": [each]}) for each in events)
    with sending(text + "data: [DONE]\n\n") as url:
        reply = opened("openai", url).send(asked(), lambda _: None)
    assert [(call.id, call.arguments) for call in reply.calls] == [
        ("t1", {"path": "a"}), ("t2", {"path": "b"})
    ]  # fmt: skip
    assert reply.native["reasoning_content"] == "Hm."
