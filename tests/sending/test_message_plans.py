"""Breakpoints for messages of a host's own (rules C-7, C-8)."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from simulation.loops import TOOLS, Loop, accounted, as_left, followed, of_search
from simulation.wire_cache import WireCache

from aggregate import ClientSetupError, Usage, plan_for, plan_messages, to_anthropic
from tests.fakes.wire_rules import check_marks, marks_in
from tests.projects import project

MODEL = "claude-sonnet-5"
TEXT = "\n".join(f"def name_{number}(value): return value + {number}" for number in range(4_000))
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def marks(body: dict[str, Any] | Any) -> list[Any]:
    """Return the breakpoints of a request in Anthropic's form, in order."""
    parts = [*body.get("tools", ()), *body.get("system", ())]
    for message in body["messages"]:
        parts += message["content"] if isinstance(message["content"], list) else []
    return [part["cache_control"] for part in parts if "cache_control" in part]


FIRST = {"messages": [{"role": "user", "content": [text(TEXT[:40_000])]}]}


@pytest.mark.parametrize(("steps", "calls"), [(2, 1), (3, 1), (2, 2)])
def test_a_loop_costs_little_more_than_the_best(steps: int, calls: int) -> None:
    """At most 1.05 of the cheapest of all placements of a short loop (rule C-7)."""
    planned, best = of_search(Loop(steps, calls, TEXT), FIRST)
    assert best <= planned <= 1.05 * best


@pytest.mark.parametrize(("calls", "length"), [(1, 3_000), (12, 500)])
def test_a_loop_goes_on_from_a_projects_prompt(tmp_path: Path, calls: int, length: int) -> None:
    """What ``to_anthropic`` has set moves on with the loop: all is read but what a step adds (rule C-7)."""
    files = {"a.py": TEXT[:60_000], "manual_slop.toml": '[files]\npaths = ["a.py"]\n'}
    begun = plan_for(project(tmp_path, files) / "manual_slop.toml", MODEL, "Why?")
    bodies = Loop(20, calls, TEXT, length).bodies(to_anthropic(begun))
    left, ours = (accounted(bodies, way) for way in (as_left, followed(begun)))
    assert ours.fresh == 0
    assert ours.cache_read > 0.85 * ours.input == 0.85 * left.input
    assert ours.cache_write == accounted(bodies[-1:], followed(begun)).cache_write


@settings(max_examples=15)
@given(data=st.data())
def test_no_request_has_a_breakpoint_too_many(data: st.DataObject) -> None:
    """The host's own count, none stands where none may, longer lives before shorter, and all is as expected (C-7)."""
    server, earlier = WireCache(), None
    messages: list[dict[str, Any]] = []
    for turn in range(data.draw(st.integers(1, 5))):
        for role in ("user", "assistant") if turn else ("user",):
            parts = [
                text(TEXT[: data.draw(st.integers(1, 9_000))])
                for _ in range(data.draw(st.integers(1, 24)))
            ]
            if role == "assistant":
                parts.insert(0, {"type": "thinking", "thinking": "Hm.", "signature": "x"})
            messages.append({"role": role, "content": parts})
        if data.draw(st.booleans()) and len(marks({"messages": messages})) < 4:
            ttl = {"ttl": "1h"} if not marks({"messages": messages}) else {}
            messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral", **ttl}
        messages.append({"role": "user", "content": "And now?"})
        planned = plan_messages(messages, model=MODEL, tools=TOOLS, earlier=earlier, at=server.now)
        assert len(marks(planned.arguments)) <= 4
        accounted = server.account(planned.arguments)
        assert accounted.cache_read >= (planned.expected.cache_read > 0)
        assert {str(one) for one in marks({"messages": messages})} <= {
            str(one) for one in marks(planned.arguments)
        }
        earlier = planned if data.draw(st.booleans()) else None
        server.now += 20


def test_arguments_stay_as_they_are() -> None:
    """What the host hands over is changed in nothing; a text becomes a part only where a breakpoint stands on it."""
    messages = [
        {"role": "user", "content": TEXT[:20_000]},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Why?"},
    ]
    before = copy.deepcopy(messages)
    planned = plan_messages(messages, model=MODEL, system="Be brief.", tools=TOOLS)
    assert messages == before
    mark = {"cache_control": {"type": "ephemeral"}}
    assert planned.arguments["messages"][0]["content"] == [text(TEXT[:20_000], **mark)]
    assert planned.arguments["messages"][1:] == [
        messages[1],
        {"role": "user", "content": [text("Why?", **mark)]},
    ]
    assert (
        planned.arguments["system"] == "Be brief."
    )  # with the tools shorter than the least that is cached
    assert planned.arguments["tools"] == TOOLS


def test_images_and_calls_are_pieces() -> None:
    """An image and a result may carry a breakpoint, thoughts and empty texts may not; the one before them does."""
    said = [text(TEXT[:20_000]), PNG]
    planned = plan_messages([{"role": "user", "content": said}], model=MODEL)
    assert [sorted(part) for part in planned.arguments["messages"][0]["content"]][1] == [
        "cache_control",
        "source",
        "type",
    ]
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    messages = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": [text("So."), thought, text("")]},
    ]
    parts = plan_messages(messages, model=MODEL).arguments["messages"][1]["content"]
    assert ["cache_control" in part for part in parts] == [True, False, False]


CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "It says so."}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": TEXT[:20_000]},
    CALLED,
    RESULT,
]


@pytest.mark.parametrize(
    "model", ["openrouter/anthropic/claude-sonnet-5", "bedrock/us.anthropic.claude-sonnet-5-v1:0"]
)
def test_openais_form_for_claude(model: str) -> None:
    """LiteLLM and OpenRouter take Anthropic's breakpoints on the parts of messages in OpenAI's form (rule C-8)."""
    planned = plan_messages(CHAT, model=model)
    system, user, called, result = planned.arguments["messages"]
    assert (system, called) == (CHAT[0], CALLED)
    assert user["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert result == {
        **RESULT,
        "content": [text("It says so.", cache_control={"type": "ephemeral"})],
    }
    assert [*planned.arguments] == ["messages"]


def test_openais_own_breakpoints() -> None:
    """Its newer models have a word of their own, at most four, and the last message takes none by itself (rule C-8)."""
    planned = plan_messages(CHAT, model="gpt-5.6")
    assert planned.arguments["prompt_cache_options"] == {"mode": "explicit"}
    assert planned.arguments["prompt_cache_key"]
    assert planned.arguments["messages"][3]["content"][0]["prompt_cache_breakpoint"] == {
        "mode": "explicit"
    }
    older = plan_messages(CHAT, model="gpt-4o")
    assert older.arguments["messages"] == CHAT
    assert sorted(older.arguments) == ["messages", "prompt_cache_key"]


def test_a_deferred_tool_is_never_marked() -> None:
    """The provider refuses a breakpoint there; the last tool before it gets it (C-7)."""
    tools: list[dict[str, Any]] = [
        {**TOOLS[0], "name": f"t{number}", "description": TEXT[:9_000]} for number in range(3)
    ]
    tools[2] = {**tools[2], "defer_loading": True}
    messages = [{"role": "user", "content": TEXT[:40_000]}]
    for _ in range(3):
        planned = plan_messages(messages, model=MODEL, tools=tools)
        check_marks(planned.arguments)
        messages += [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Why?"}]
    deferred = [{**tool, "defer_loading": True} for tool in tools]
    check_marks(plan_messages(messages, model=MODEL, tools=deferred).arguments)


MARK = {"cache_control": {"type": "ephemeral"}}
SIZES = st.integers(5_000, 9_000)


@given(data=st.data())
def test_marks_at_any_depth_count(data: st.DataObject) -> None:
    """In results, in tools and beside a text: never more than four are returned, the host's among them (C-7)."""

    def marked(block: dict[str, Any]) -> dict[str, Any]:
        return {**block, **MARK} if data.draw(st.booleans()) else block

    tools = [marked({**TOOLS[0], "name": f"t{number}"}) for number in range(2)]
    schema = {"type": "object", "properties": {"cache_control": {"type": "string"}}}
    tools.append({"name": "t2", "description": "Cache.", "input_schema": schema})
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [marked(text(TEXT[: data.draw(SIZES)]))]}
    ]
    earlier = None
    for step in range(data.draw(st.integers(1, 3))):
        use = {
            "type": "tool_use",
            "id": f"u{step}",
            "name": "t0",
            "input": {"cache_control": "no-store"},
        }
        inner = [marked(text(TEXT[: data.draw(SIZES)])) for _ in range(2)]
        result = marked({"type": "tool_result", "tool_use_id": f"u{step}", "content": inner})
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        before = copy.deepcopy((tools, messages))
        planned = plan_messages(messages, model=MODEL, tools=tools, earlier=earlier)
        assert (tools, messages) == before
        hosts, returned = (
            list(marks_in({"tools": tools, "messages": messages})),
            list(marks_in(planned.arguments)),
        )
        assert min(len(hosts), 4) <= len(returned) <= 4
        check_marks(planned.arguments)
        assert (
            planned.arguments["tools"][2] == tools[2]
            or "cache_control" in planned.arguments["tools"][2]
        )
        earlier = planned if data.draw(st.booleans()) else None
        if data.draw(st.booleans()):
            messages = copy.deepcopy(planned.arguments["messages"])


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Why?"}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
    ],
)
def test_items_of_the_responses_api_are_refused(item: dict[str, Any]) -> None:
    """With a sentence that names the item and the forms that are planned (C-7)."""
    messages = [{"role": "user", "content": "Why?"}, item]
    with pytest.raises(ClientSetupError, match="message 2 is an item of OpenAI's Responses API"):
        plan_messages(messages, model="gpt-5.6")


def test_what_is_expected_follows_from_the_last_plan() -> None:
    """Nothing is known of the first request; the second one reads it, if it comes in time (rule C-7)."""
    first = plan_messages(CHAT, model=MODEL, at=0.0)
    assert first.expected == Usage(cache_write=first.plan.total)
    more = [*CHAT, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Why?"}]
    soon, late = (
        plan_messages(more, model=MODEL, earlier=first, at=at).expected for at in (60.0, 400.0)
    )
    assert (soon.cache_read, late.cache_read) == (first.plan.total, 0)


def test_there_must_be_a_message() -> None:
    """One sentence says so."""
    with pytest.raises(ClientSetupError, match="the messages are empty"):
        plan_messages([], model=MODEL)
