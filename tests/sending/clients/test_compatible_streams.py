"""Answers of compatible servers, which leave fields out, send them empty or in another form (S-14)."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import ChatRequest, FinishReason, Prompt, ProviderError, Reply
from aggregate.sending.clients import LeadingThoughts
from aggregate.sending.models import CallResult, LoopTurn
from tests.fakes.chat_server import chat_server, reply_to
from tests.fakes.prompts import part
from tests.fakes.senders import event, sending, typed
from tests.sending.clients.test_tool_calls import TOOL, opened

REQUEST = ChatRequest(Prompt((part("files", "word"),)), "Look.", tools=(TOOL,))
ABSENT = object()


def openai_events() -> list[Any]:
    """Return the events of an answer with thoughts, a text in two pieces, and a call."""
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}]},
        {"content": "Hel"},
        {"content": "lo"},
        {"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": {"name": "read_file", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"path": "a"}'}}]},
    ]  # fmt: skip
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    events = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 2},
    }
    return [*events, {**head, "choices": [], "usage": usage}]


def anthropic_events() -> list[Any]:
    usage = {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 2}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "c",
        "content": [],
        "usage": usage,
    }
    blocks: list[tuple[Any, list[Any]]] = [
        ({"type": "thinking", "thinking": "", "signature": ""}, [{"type": "thinking_delta", "thinking": "Hm."}, {"type": "signature_delta", "signature": "s"}]),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Hel"}, {"type": "text_delta", "text": "lo"}]),
        ({"type": "tool_use", "id": "t1", "name": "read_file", "input": {}}, [{"type": "input_json_delta", "partial_json": ""}, {"type": "input_json_delta", "partial_json": '{"path": "a"}'}]),
    ]  # fmt: skip
    events: list[Any] = [{"type": "message_start", "message": message}]
    for number, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": number, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": number, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": number})
    events.append(
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 5},
        }
    )
    return [*events, {"type": "message_stop"}]


def gemini_events() -> list[Any]:
    parts: list[Any] = [
        {"text": "Hm.", "thought": True},
        {"text": "Hel"},
        {"text": "lo"},
        {"functionCall": {"name": "read_file", "args": {"path": "a"}}},
    ]
    events = [
        {"candidates": [{"content": {"role": "model", "parts": [one]}, "index": 0}]}
        for one in parts
    ]
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 5, "cachedContentTokenCount": 2}
    end = {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
        ]
    }
    return [*events, {**end, "usageMetadata": usage, "modelVersion": "g"}]


EVENTS = {"openai": openai_events, "anthropic": anthropic_events, "gemini": gemini_events}


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each field in events."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, inner in items:
        yield (*before, name)
        yield from places(inner, (*before, name))


def varied(events: list[Any], path: tuple[Any, ...], value: object) -> list[Any]:
    events = deepcopy(events)
    holder = events
    for name in path[:-1]:
        holder = holder[name]
    if value is ABSENT:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return events


def wire(provider: str, events: list[Any]) -> str:
    if provider == "anthropic":
        return "".join(
            typed(one) if isinstance(one, dict) and one.get("type") else event(one)
            for one in events
        )
    return "".join(map(event, events)) + "data: [DONE]\n\n" * (provider == "openai")


def read(provider: str, events: list[Any], name: str = "") -> tuple[Reply, str]:
    """Return the reply to a stream, and the text that was shown."""
    pieces: list[str] = []
    with sending(wire(provider, events)) as url:
        reply = opened(provider, url, name).send(REQUEST, pieces.append)
    return reply, "".join(pieces)


@pytest.mark.parametrize("provider", EVENTS)
def test_a_stream_as_documented(provider: str) -> None:
    """The text, the call and the usage are read, and thoughts are none of the text."""
    reply, shown = read(provider, EVENTS[provider]())
    assert (reply.text, shown, reply.stop) == ("Hello", "Hello", FinishReason.END)
    assert [(call.name, call.arguments, call.fault) for call in reply.calls] == [
        ("read_file", {"path": "a"}, "")
    ]
    assert (reply.usage.input, reply.usage.cache_read, reply.usage.output) == (9, 2, 5)


VALUES = [ABSENT, None, "", [], {}, 5, "x", True, [None], [5]]


def check_varied(provider: str, path: tuple[Any, ...], value: object) -> None:
    pieces: list[str] = []
    with sending(wire(provider, varied(EVENTS[provider](), path, value))) as url:
        try:
            reply = opened(provider, url).send(REQUEST, pieces.append)
        except ProviderError:
            assert "".join(pieces) == "", (path, value)
            return
    assert reply.text == "".join(pieces), (path, value)
    text = reply.text.replace("x", "").replace("Hm.", "")
    assert text in ("Hello", "Hel", "lo", ""), (path, value)


@given(data=st.data())
@pytest.mark.parametrize("provider", EVENTS)
def test_each_field_varied(provider: str, data: st.DataObject) -> None:
    """No variation of one field loses a text that was shown (S-14)."""
    path = data.draw(st.sampled_from(list(places(EVENTS[provider]()))))
    check_varied(provider, path, data.draw(st.sampled_from(VALUES)))


def openai_stream(
    *deltas: Any, finish: object = "stop", provider: str = "compatible"
) -> tuple[Reply, str]:
    """Return what is read and shown of a stream of deltas."""
    events = [
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    events.append(
        {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    )
    return read("openai", events, provider)


def piece(arguments: object = None, *, name: object = None, **more: Any) -> dict[str, Any]:
    """Return a delta with a piece of a call."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not None}
    return {"tool_calls": [{**more, "function": function}]}


A, B = '{"path": "a"}', '{"path": "b"}'


@pytest.mark.parametrize(
    "deltas",
    [
        # Without an index, each whole, with and without ids
        [piece(A, name="read_file", id="t1"), piece(B, name="read_file", id="t2")],
        [piece(A, name="read_file"), piece(B, name="read_file")],
        [{"tool_calls": [*piece(A, name="read_file")["tool_calls"], *piece(B, name="read_file")["tool_calls"]]}],
        # Without an index, in pieces
        [piece("", name="read_file", id="t1"), piece('{"path":'), piece(' "a"}'), piece("", name="read_file", id="t2"), piece(B)],
        [piece(name="read_file", id="t1"), piece(A[:5], id="t1"), piece(A[5:], id="t1"), piece(B, name="read_file", id="t2")],
        # Indexes from 1, as texts, null, and the same for all
        [piece(A, name="read_file", id="t1", index=1), piece(B, name="read_file", id="t2", index=2)],
        [piece(A, name="read_file", id="t1", index="0"), piece(B, name="read_file", id="t2", index="1")],
        [piece(A, name="read_file", id="t1", index=None), piece(B, name="read_file", id="t2", index=None)],
        [piece(A, name="read_file", id="t1", index=0), piece(B, name="read_file", id="t2", index=0)],
        [piece("", name="read_file", id="t1", index=0), piece(A, index=0), piece("", name="read_file", id="t2", index=0), piece(B, index=0)],
        # Id and name in each piece, or an id of its own for each piece
        [piece(A[:5], name="read_file", id="t1", index=0), piece(A[5:], name="read_file", id="t1", index=0), piece(B, name="read_file", id="t2", index=1)],
        [piece(A[:5], name="read_file", id="t1", index=0), piece(A[5:], name="", id="x9", index=0), piece(B, name="read_file", id="t2", index=1)],
        # Two at a time, and arguments as an object
        [piece("", name="read_file", id="t1", index=0), piece("", name="read_file", id="t2", index=1), piece(A[:5], index=0), piece(B, index=1), piece(A[5:], index=0)],
        [piece({"path": "a"}, name="read_file", id="t1", index=0), piece({"path": "b"}, name="read_file", id="t2", index=1)],
    ],
)  # fmt: skip
def test_calls_in_each_form(deltas: list[Any]) -> None:
    """Two calls with their arguments, whatever numbers their pieces have (S-14)."""
    reply, _ = openai_stream(*deltas, finish="tool_calls")
    assert [(call.name, call.arguments, call.fault) for call in reply.calls] == [
        ("read_file", {"path": "a"}, ""),
        ("read_file", {"path": "b"}, ""),
    ]
    assert len({call.id for call in reply.calls}) == 2


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}], "Hello"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Hello"}], "Hello"),
        ([{"text": "Hello"}, None, {"type": "text", "text": None}, "x"], "Hello"),
        ("<think>Hm.</think>\n\nHello", "Hello"),
        ("\n<think>\n\n</think>\n\nHello", "Hello"),
        ("<thin", "<thin"),
        ("<think>I never end", "<think>I never end"),
        ("Write `<think>` and `</think>`.", "Write `<think>` and `</think>`."),
        ("Hm.</think>Hello", "Hm.</think>Hello"),
        (" \nHello", " \nHello"),
    ],
)  # fmt: skip
def test_contents(content: Any, text: str, streamed: bool) -> None:
    """A text in parts is joined; thoughts before it are kept apart, and nothing that is no thought is lost (S-14)."""
    if streamed:
        reply, shown = openai_stream({"content": content})
        assert shown == reply.text
    else:
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        with chat_server(
            reply=lambda *_: {**reply_to("/chat/completions"), "choices": [choice]}
        ) as server:
            reply = opened("openai", server.url, "compatible").send(REQUEST)
    assert (reply.text, reply.stop) == (text, FinishReason.END)


def test_a_thought_that_the_limit_has_cut() -> None:
    """It is no answer (S-14)."""
    reply, shown = openai_stream(
        {"content": "<think>I never"}, {"content": " end"}, finish="length"
    )
    assert (reply.text, shown, reply.stop) == ("", "", FinishReason.LENGTH)


@given(
    text=st.text(st.sampled_from("<think/>a \n"), max_size=40), cuts=st.lists(st.integers(0, 40))
)
def test_thoughts_in_any_pieces(text: str, cuts: list[int]) -> None:
    """The same text is shown wherever the pieces end (S-14)."""
    whole, parts = LeadingThoughts(), LeadingThoughts()
    expected = whole.without(text) + whole.rest(is_cut=False)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert "".join(map(parts.without, pieces)) + parts.rest(is_cut=False) == expected
    if not text.lstrip().startswith("<think>"):
        assert expected == text


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_thoughts_in_fields_of_their_own(name: str) -> None:
    """They are neither shown nor a part of the answer (S-14)."""
    reply, shown = openai_stream(
        {name: "Hm."}, {"content": None, name: " So."}, {"content": "Hello", name: None}
    )
    assert (reply.text, shown) == ("Hello", "Hello")


@pytest.mark.parametrize(
    "reason", ["stop", "eos", "STOP", "end_turn", "tool_calls", "function_call"]
)
def test_words_for_an_end(reason: str) -> None:
    """Compatible servers have their own (S-14)."""
    assert openai_stream({"content": "Hello"}, finish=reason)[0].stop is FinishReason.END
    assert openai_stream({"content": "Hello"}, finish="max_tokens")[0].stop is FinishReason.LENGTH


@pytest.mark.parametrize("finish", [None, "", ABSENT])
def test_an_end_without_a_reason(finish: object) -> None:
    """A text or a whole call is an answer; nothing but thoughts broke off (S-14)."""
    finish = None if finish is ABSENT else finish
    assert openai_stream({"content": "Hello"}, finish=finish)[0].stop is FinishReason.OTHER
    (call,) = openai_stream(piece(A, name="read_file", id="t1", index=0), finish=finish)[0].calls
    assert call.arguments == {"path": "a"}
    (cut,) = openai_stream(piece(A[:6], name="read_file", id="t1", index=0), finish=finish)[0].calls
    assert cut.fault
    with pytest.raises(ProviderError, match="the answer broke off before its end"):
        openai_stream({"reasoning_content": "Hm."}, finish=finish)


USAGE = {"prompt_tokens": 9, "completion_tokens": 5}


@pytest.mark.parametrize(
    "more",
    [
        {"usage": USAGE},
        {"usage": {"input_tokens": 9, "output_tokens": 5}},
        {"x_groq": {"usage": USAGE}},
        {"choices": [{"delta": {}, "usage": USAGE}]},
        {"usage": USAGE, "choices": None},
    ],
)
def test_usage_in_each_form(more: dict[str, Any]) -> None:
    """Beside the choices, in one of them, and by other names (S-14)."""
    text = {
        "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}],
        "usage": None,
    }
    reply, _ = read("openai", [text, {"id": "x", "choices": [], **more}], "compatible")
    assert (reply.text, reply.usage.input, reply.usage.output) == ("Hello", 9, 5)


DETAILS = [
    {
        "type": "reasoning.text",
        "text": "Let me see.",
        "signature": "sig",
        "format": "anthropic-claude-v1",
        "index": 0,
    },
    {
        "type": "reasoning.encrypted",
        "data": "abc=",
        "id": "r1",
        "format": "google-gemini-v1",
        "index": 1,
    },
    {"type": "reasoning.summary", "summary": "I look.", "index": 2},
]
DETAIL_PIECES = [
    {"type": "reasoning.text", "text": "Let", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.text", "text": " me see.", "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.text", "signature": "sig", "format": "anthropic-claude-v1", "index": 0},
    DETAILS[1],
    {"type": "reasoning.summary", "summary": "I ", "index": 2},
    {"type": "reasoning.summary", "summary": "look.", "index": 2},
]
BLOCKS = [
    {"type": "thinking", "thinking": "Let me see.", "signature": "sig"},
    {"type": "redacted_thinking", "data": "abc="},
    {"type": "redacted_thinking", "data": "def="},
    {"type": "thinking", "thinking": "Again.", "signature": "sig2"},
]
BLOCK_PIECES = [
    {"type": "thinking", "thinking": "Let", "signature": None},
    {"type": "thinking", "thinking": " me see.", "signature": ""},
    {"type": "thinking", "thinking": "", "signature": "sig"},
    *BLOCKS[1:3],
    {"type": "thinking", "thinking": "Again.", "signature": ""},
    {"type": "thinking", "thinking": "", "signature": "sig2"},
]


@pytest.mark.parametrize("provider", ["compatible", "gateway"])
@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize(
    ("name", "whole", "parts"),
    [("reasoning_details", DETAILS, DETAIL_PIECES), ("thinking_blocks", BLOCKS, BLOCK_PIECES)],
)
def test_thoughts_go_back(
    name: str, whole: list[Any], parts: list[Any], provider: str, pieces: int
) -> None:
    """Unchanged, and as whole blocks where they came in pieces: a signature is of the whole text (S-12)."""
    deltas = [{name: parts[place : place + pieces]} for place in range(0, len(parts), pieces)]
    streamed, _ = openai_stream(
        *deltas,
        piece(
            A,
            name="read_file",
            id="t1",
            index=0,
            extra_content={"google": {"thought_signature": "s"}},
        ),
        finish="tool_calls",
        provider=provider,
    )
    message = {
        "role": "assistant",
        "content": None,
        name: whole,
        "tool_calls": [
            {
                "id": "t1",
                "type": "function",
                "function": {"name": "read_file", "arguments": A},
                "extra_content": {"google": {"thought_signature": "s"}},
            }
        ],
    }
    choice = {"finish_reason": "tool_calls", "message": message}
    with chat_server(
        reply=lambda *_: {**reply_to("/chat/completions"), "choices": [choice]}
    ) as server:
        client = opened("openai", server.url, provider)
        for reply in (client.send(REQUEST), streamed):
            turn = LoopTurn(
                reply.text,
                tuple(CallResult(call, "x") for call in reply.calls),
                native=reply.native,
            )
            client.send(replace(REQUEST, turns=(turn,)))
            said = server.bodies[-1]["messages"][-2]
            assert [strip_nulls(one) for one in said[name]] == whole
            assert said["tool_calls"] == message["tool_calls"]


def strip_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if inner is not None}
