"""Falling back to calls as text: only where a server refuses tools, in requests that it takes, with a warning."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate import FinishReason, Prompt, ProviderError, Reply, Usage, open_client
from aggregate.agents.tracks import TicketStatus, WorkerReply, WorkerTerms, worker_tools
from aggregate.agents.tracks.tool_calls import without_cut_call
from aggregate.sending.clients import refuses_tools
from aggregate.sending.models import CUT_CALL
from tests.fakes.acting import Turns, call, calls
from tests.fakes.chat_server import ANSWER, chat_server, reply_to
from tests.fakes.conducting import asking, assigned, attempted
from tests.fakes.prompts import part
from tests.fakes.transports import ONCE, scripted

CONTEXT = Prompt((part("files", "## Files\n\n" + "many words of files " * 300),))
ASKED = assigned("a", prompt=CONTEXT, message="Which number?", tools=("read_file", "search_files"))
REFUSALS = """\
registry.ollama.ai/library/gemma3:4b does not support tools
No endpoints found that support tool use. To learn more about provider routing, visit: https://example.org
"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set
tools param requires --jinja flag
Unsupported param: tools
Function calling is not enabled for models/gemma-3
`tool calling` is not supported with this model
Tools aren't supported by this model
deepseek-reasoner does not support Function Calling
This model doesn't support tool use in streaming mode.
Unrecognized request argument supplied: tools
Unknown name "tools": Cannot find field.
{'detail': [{'type': 'extra_forbidden', 'loc': ['body', 'tools'], 'msg': 'Extra inputs are not permitted'}]}
Additional properties are not allowed ('tools' was unexpected)
property 'tools' is unsupported
tools are only supported for command models
the model has no support for tools""".splitlines()
OTHER_ERRORS = """\
This model's maximum context length is 8192 tokens, you requested 9000 (8500 in the messages, 500 in the functions)
messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: t1
tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level
Invalid schema for function 'read_file': 'minLength' is not supported
Please ensure that function call turn comes immediately after a user turn
Unknown parameter: 'tools[0].function.strict'.
temperature is not supported with this model
The model does not support images in tool results
The number of tools is not allowed to exceed 128
messages: text content blocks must contain non-whitespace text""".splitlines()


@pytest.mark.parametrize("message", REFUSALS)
@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_what_refuses_tools(message: str, status: int) -> None:
    """The words of real servers, with whatever status (K-9)."""
    assert refuses_tools(ProviderError(f"compatible answered {status}: {message}", status=status))


@pytest.mark.parametrize("message", OTHER_ERRORS)
def test_what_names_tools_and_does_not_refuse_them(message: str) -> None:
    """A prompt that is too long, a schema, the order of messages (K-9)."""
    assert not refuses_tools(ProviderError(f"compatible answered 400: {message}", status=400))


def made(root: Path, url: str) -> WorkerReply:
    (root / "notes.txt").write_text("forty-two", encoding="utf-8")
    client = open_client("compatible", model="m", base_url=f"{url}/v1", environ={}, retry=ONCE)
    return attempted(asking(client, terms=WorkerTerms(tools=worker_tools(root))), ASKED)


def calling() -> dict[str, Any]:
    function = {"name": "read_file", "arguments": '{"path": "notes.txt"}'}
    message = {
        "content": " \n",
        "tool_calls": [{"id": "t1", "type": "function", "function": function}],
    }
    reply = reply_to("/chat/completions")
    return {**reply, "choices": [{"finish_reason": "tool_calls", "message": message}]}


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("after", [0, 1])
def test_a_fall_back_on_the_wire(tmp_path: Path, status: int, after: int) -> None:
    """Also in the midst of a loop: earlier calls and results go as text, and the outcome warns (K-9)."""

    def reply(path: str, body: Any) -> dict[str, Any]:
        if not body.get("tools"):
            return reply_to(path)
        asked = sum(message["role"] == "tool" for message in body["messages"])
        error = {"error": {"message": "m does not support tools"}, "http_status": status}
        return calling() if asked < after else error

    with chat_server(reply=reply) as server:
        attempt = made(tmp_path, server.url)
    assert (attempt.status, attempt.text) == (TicketStatus.DONE, ANSWER)
    assert (
        attempt.warning
        == f"calls were sent as text: compatible answered {status}: m does not support tools"
    )
    last = server.bodies[-1]
    assert "tool_calls" not in json.dumps(last)
    assert {message["role"] for message in last["messages"]} <= {"system", "user", "assistant"}
    if after:
        said, result = last["messages"][-2:]
        assert (
            said["content"]
            == '```json\n{"tool": "read_file", "arguments": {"path": "notes.txt"}}\n```'
        )
        assert result["content"].startswith("Result of read_file:\n\n")
        assert "forty-two" in result["content"]


def test_no_fall_back_for_other_errors(tmp_path: Path) -> None:
    """A refusal of something else is the ticket's failure, and is said as it is (K-9)."""
    error = {"error": {"message": OTHER_ERRORS[0]}, "http_status": 400}
    with chat_server(reply=lambda *_: error) as server:
        attempt = made(tmp_path, server.url)
    assert attempt.status is TicketStatus.FAILED
    assert OTHER_ERRORS[0] in attempt.text
    assert len(server.bodies) == 1


CUT_TEXT = 'I write.\n\n```json\n{"tool": "search_files", "arguments": {"path": "a", "text": "for'


def test_a_call_that_the_limit_has_cut(tmp_path: Path) -> None:
    """The model is told so, also where calls are text, and a warning names the limit (S-12)."""
    native = Reply(
        "",
        Usage(10, output=9),
        FinishReason.LENGTH,
        calls=(replace(call("search_files"), fault=CUT_CALL),),
    )
    for provider, first in (
        ("scripted", native),
        ("unheard-of", Reply(CUT_TEXT, Usage(10), FinishReason.LENGTH)),
    ):
        model = Turns([first, "It holds forty-two."])
        terms = WorkerTerms(tools=worker_tools(tmp_path))
        attempt = attempted(
            asking(scripted(model, provider, model="claude-sonnet-5"), terms=terms), ASKED
        )
        assert attempt.status is TicketStatus.DONE
        assert attempt.warning == "the limit of 16,000 tokens cut a call of search_files"
        assert CUT_CALL in model.told[0]
        assert "forty" not in model.asked[-1].turns[0].text


@pytest.mark.parametrize(
    "text", ["An answer.", "```json\n{}\n```", "```python\nprint(1)", calls(text="x").text]
)
def test_answers_without_a_cut_call(text: str) -> None:
    """A cut answer or block of code is none (S-12)."""
    assert without_cut_call(text) == (text, ())
