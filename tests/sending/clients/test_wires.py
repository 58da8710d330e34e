"""What goes out and what comes back, on the wire of each protocol, against servers that refuse as providers do."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import ChatRequest, ClientError, FinishReason, Prompt, Reply
from aggregate.sending.models import CUT_CALL, NO_OUTPUT, CallResult, LoopTurn, ToolCall
from tests.fakes.chat_server import ChatServer, chat_server, reply_to
from tests.fakes.prompts import part, talk
from tests.sending.clients.test_tool_calls import SIGNATURE, TOOL, opened

PROVIDERS = ("anthropic", "openai", "gemini")
every_protocol = pytest.mark.parametrize("provider", PROVIDERS)
BLANKS = ("", " ", "\n\n", "\t", "\u00a0\u2003")
FILES = part("files", "word " * 3_000)


def answer_with(provider: str, text: object, *calls: tuple[str, object], stop: str = "") -> Any:
    """Return a provider's reply with a text and calls of ``read_file`` by their ids and arguments."""
    if provider == "anthropic":
        blocks: list[Any] = [{"type": "thinking", "thinking": "", "signature": "s"}]
        blocks.append({"type": "text", "text": text})
        blocks += [{"type": "tool_use", "id": one, "name": "read_file", "input": value} for one, value in calls]  # fmt: skip
        return {**reply_to("/messages"), "content": blocks, "stop_reason": stop or "tool_use"}
    if provider == "openai":
        made = [{"id": one, "type": "function", "function": {"name": "read_file", "arguments": value}} for one, value in calls]  # fmt: skip
        choice = {"finish_reason": stop or "tool_calls", "message": {"role": "assistant", "content": text, "tool_calls": made}}  # fmt: skip
        return {**reply_to("/chat/completions"), "choices": [choice]}
    parts: list[Any] = [{"text": text}]
    parts += [{"functionCall": {"name": "read_file", "args": value}, "thoughtSignature": SIGNATURE} for _, value in calls]  # fmt: skip
    parts.append({"text": "", "thoughtSignature": SIGNATURE})
    content = {"role": "model", "parts": parts}
    candidate = {"content": content, "finishReason": stop or "STOP"}
    return {**reply_to("/gemini"), "candidates": [candidate]}


def arguments(provider: str, value: Any) -> object:
    return json.dumps(value) if provider == "openai" else value


def texts(body: Any) -> Iterator[str]:
    """Yield each text of a request, wherever it stands."""
    if isinstance(body, dict):
        for name, value in body.items():
            if name in ("text", "content", "result") and isinstance(value, str):
                yield value
            else:
                yield from texts(value)
    elif isinstance(body, list):
        for value in body:
            yield from texts(value)


def resend(server: ChatServer, provider: str, turn: LoopTurn, prompt: Prompt) -> Any:
    opened(provider, server.url).send(ChatRequest(prompt, "Look.", tools=(TOOL,), turns=(turn,)))
    return server.bodies[-1]


@every_protocol
@pytest.mark.parametrize("text", BLANKS)
@pytest.mark.parametrize("is_native", [True, False])
def test_a_blank_text_beside_a_call(provider: str, text: str, is_native: bool) -> None:
    """It does not go back, in no form and from nowhere; a signed empty part of Gemini's does (S-12)."""
    call = ("t1", arguments(provider, {"path": "a"}))
    with chat_server(reply=lambda *_: answer_with(provider, text, call)) as server:
        reply = opened(provider, server.url).send(
            ChatRequest(Prompt((FILES,)), "Look.", tools=(TOOL,))
        )
        native = reply.native if is_native else None
        results = tuple(CallResult(call, text) for call in reply.calls)
        body = resend(server, provider, LoopTurn(text, results, text, native), Prompt((FILES,)))
    assert NO_OUTPUT in list(texts(body))
    signed = "thoughtSignature" in json.dumps(body)
    assert signed is (is_native and provider == "gemini")


@every_protocol
@pytest.mark.parametrize("text", BLANKS)
def test_blank_texts_of_a_discussion(provider: str, text: str) -> None:
    """Blank turns, instructions and messages are left out, and their breakpoints stay (S-12)."""
    history = [
        {"role": "User", "content": "Why?"},
        {"role": "AI", "content": text},
        {"role": "User", "content": text},
    ]
    history += [{"role": "AI", "content": "So."}, {"role": "User", "content": "And?"}]
    prompt = Prompt((FILES, *talk(history), part("task", text)))
    with chat_server() as server:
        client = opened(provider, server.url)
        client.send(ChatRequest(prompt, text, system=text))
        client.send(
            ChatRequest(
                prompt, text, system=text, tools=(TOOL,), turns=(LoopTurn(text, (), "Go on."),)
            )
        )
        with pytest.raises(ClientError, match="nothing to send"):
            client.send(ChatRequest(Prompt(()), text, system="Be brief."))
    assert len(server.bodies) == 2
    assert all(text.strip() for text in texts(server.bodies))


@given(
    said=st.lists(
        st.tuples(st.sampled_from(("User", "AI")), st.sampled_from(("", "\n", "Yes."))), max_size=7
    )
)
def test_any_discussion_is_taken(said: list[tuple[str, str]]) -> None:
    """Whatever of a discussion is blank, each protocol's server takes the rest (S-12)."""
    history = [
        {"role": "User", "content": "Why?"},
        *({"role": role, "content": text} for role, text in said),
    ]
    request = ChatRequest(Prompt((FILES, *talk(history))), "And?")
    with chat_server() as server:
        for provider in PROVIDERS:
            opened(provider, server.url).send(request)
    assert len(server.bodies) == len(PROVIDERS)


def sent_arguments(provider: str, body: Any) -> list[Any]:
    if provider == "anthropic":
        return [block["input"] for message in body["messages"] for block in message["content"] if block["type"] == "tool_use"]  # fmt: skip
    if provider == "openai":
        return [call["function"]["arguments"] for message in body["messages"] for call in message.get("tool_calls") or ()]  # fmt: skip
    return [part["functionCall"].get("args", {}) for content in body["contents"] for part in content["parts"] if "functionCall" in part]  # fmt: skip


def looped(provider: str, reply: Any, *, is_native: bool = True) -> tuple[Reply, Any]:
    """Return what a client read of a reply, and the request that sends it back."""
    with chat_server(reply=lambda *_: reply) as server:
        read = opened(provider, server.url).send(
            ChatRequest(Prompt((FILES,)), "Look.", tools=(TOOL,))
        )
        results = tuple(CallResult(call, "x") for call in read.calls)
        turn = LoopTurn(read.text, results, native=read.native if is_native else None)
        return read, resend(server, provider, turn, Prompt((FILES,)))


@every_protocol
@pytest.mark.parametrize("value", ["", " ", None, {}, "{}", "null"])
def test_empty_arguments(provider: str, value: object) -> None:
    """They are read as no arguments, and go back as an empty object (S-12)."""
    if provider == "gemini" and isinstance(value, str):
        value = {}  # its protocol has no texts there
    read, body = looped(provider, answer_with(provider, "I look.", ("t1", value)))
    assert [(call.arguments, call.fault) for call in read.calls] == [({}, "")]
    assert [
        one if isinstance(one, dict) else json.loads(one) for one in sent_arguments(provider, body)
    ] == [{}]


@pytest.mark.parametrize("value", ['{"path": "a', "{", '{"path"', "[1]", "3", '"a"', "path=a"])
@pytest.mark.parametrize("stop", ["tool_calls", "length"])
def test_arguments_that_are_no_object(value: str, stop: str) -> None:
    """They never go back as they are; a call that the limit has cut is said to be cut (S-12)."""
    read, body = looped(
        "openai",
        answer_with("openai", "I look.", ("t1", '{"path": "b"}'), ("t2", value), stop=stop),
    )
    first, second = read.calls
    assert (first.arguments, first.fault) == ({"path": "b"}, "")
    assert second.arguments == {}
    assert (second.fault == CUT_CALL) is (stop == "length")
    assert sent_arguments("openai", body) == ['{"path": "b"}', "{}"]


@pytest.mark.parametrize(
    ("provider", "stop"), [("anthropic", "max_tokens"), ("gemini", "MAX_TOKENS")]
)
def test_an_object_that_was_cut(provider: str, stop: str) -> None:
    """An SDK or a server may have closed it: the last call before the limit is not made (S-12)."""
    reply = answer_with(
        provider, "I look.", ("t1", {"path": "a"}), ("t2", {"path": "b"}), stop=stop
    )
    if provider == "gemini":
        reply["candidates"][0]["content"]["parts"].pop()  # the signed part behind the calls
    read, body = looped(provider, reply)
    assert [call.fault for call in read.calls] == ["", CUT_CALL]
    assert sent_arguments(provider, body) == [{"path": "a"}, {}]


def test_ids_and_names_that_are_missing() -> None:
    """Calls without ids get one each, so that their results can name them (S-12)."""
    reply = answer_with("openai", None, (None, "{}"), ("", "{}"))  # type: ignore[arg-type]
    read, body = looped("openai", reply)
    assert len({call.id for call in read.calls}) == 2
    assert [message.get("tool_call_id") for message in body["messages"][-2:]] == [
        call.id for call in read.calls
    ]


def test_blocks_that_go_back_byte_for_byte() -> None:
    """Thoughts with their signatures, an empty and a hidden one too, in their places (S-12)."""
    thoughts = [
        {"type": "thinking", "thinking": "Hm.\n ", "signature": "s1"},
        {"type": "text", "text": "\n\n"},
        {"type": "thinking", "thinking": "", "signature": "s2"},
        {"type": "redacted_thinking", "data": "abc="},
    ]
    reply = answer_with("anthropic", "I look.", ("t1", {"path": "a"}))
    reply["content"] = [*thoughts, *reply["content"][1:]]
    _, body = looped("anthropic", reply)
    said = body["messages"][1]["content"]
    assert said[:3] == [thoughts[0], *thoughts[2:]]
    assert [block["type"] for block in said[3:]] == ["text", "tool_use"]


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_reply_that_says_nothing_but_calls(is_streamed: bool) -> None:
    """A content that is null or an empty list is no text and no fault (S-12)."""
    for content in (None, [], "", [{"type": "text", "text": ""}]):
        read, body = looped(
            "openai", answer_with("openai", content, ("t1", '{"path": "a"}')), is_native=is_streamed
        )
        assert (read.text, read.stop, len(read.calls)) == ("", FinishReason.END, 1)
        assert body["messages"][-2]["content"] is None


def test_calls_that_no_tools_go_with() -> None:
    """A request without tools writes a turn by its words, and leaves out one without any (S-12)."""
    turn = LoopTurn(" ", (CallResult(ToolCall("t1", "read_file", {"path": "a"}), "A"),))
    with chat_server() as server:
        for provider in PROVIDERS:
            request = ChatRequest(
                Prompt((FILES,)), "Look.", turns=(turn, replace(turn, text="So."))
            )
            opened(provider, server.url).send(request)
    assert all("tool" not in json.dumps(body) for body in server.bodies)
