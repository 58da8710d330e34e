"""The tool loop of a ticket: requests, calls, answer.

Requests are sent and calls run until the model answers. Each reply and each result is recorded before it is used. After
a kill the loop replays the record and continues. So all decisions, including sums of tokens, costs and seconds, depend
only on recorded data.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from time import monotonic
from typing import Any, Final

from aggregate.agents.limits import TicketLimits
from aggregate.agents.tools import EDITS, ToolRegistry
from aggregate.agents.tracks.answer_schema import AnswerSchemaError, checked_answer, enforced_schema
from aggregate.agents.tracks.assignment import Assignment, WorkerReply
from aggregate.agents.tracks.loop_guards import (
    ACT_OR_SAY,
    CALL_NOW,
    CallWatch,
    announces_call,
    malformed,
)
from aggregate.agents.tracks.metering import doubt_of, fault_of, size_of
from aggregate.agents.tracks.steps import Steps
from aggregate.agents.tracks.text_calls import (
    call_instructions,
    calls_in_text,
    without_cut_call,
    written_out,
)
from aggregate.base.concurrency import ordered_map
from aggregate.base.errors import ClientError, ProviderError, ToolError, WorkerError
from aggregate.base.text import fence, plain_headings
from aggregate.prompt import READ_RESULT
from aggregate.sending.clients import ChatRequest, Client, refuses_tools, takes_tools
from aggregate.sending.models import (
    CUT_CALL,
    CallResult,
    FinishReason,
    LoopTurn,
    OfferedTool,
    ToolCall,
)

# Characters of a shown result, head and tail: about 4,000 tokens. ``read_result`` shows the rest.
SHOWN: Final = 16_000
_TAIL: Final = 4_000
RESULT_CHARACTERS: Final = 1_000_000  # of a stored result; a project tool gives no more than 60,000
LEAST_ANSWER: Final = 500  # tokens of an answer, about a page; with fewer left nothing is asked
_OF_TOOL: Final = 200  # tokens of a tool's schema, about
_AROUND_RESULT: Final = 50  # tokens of a call's frame in a request, at most
_AT_ONCE: Final = 8  # reading calls of one turn
LAST_TURN: Final = "This was your last call: answer now from what you know, without calling a tool."
CORRECT_IT: Final = "Your last answer was rejected: {}. Answer again without this fault."
CHECK_FAILED: Final = "You are not done yet: the check `{}` failed:\n\n{}\n\nFix it."
_OFFERED: Final = OfferedTool(
    READ_RESULT,
    "Read the rest of a shortened result.",
    {
        "type": "object",
        "properties": {
            "reference": {
                "type": "string",
                "description": "The name given in the shortened result.",
            },
            "start": {"type": "integer", "description": "The first character to show, from 0."},
        },
        "required": ["reference", "start"],
    },
)


class Changes:
    """The folder that a ticket's tools work on; this one is only read."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry

    def tools(self) -> ToolRegistry:
        return self._registry

    def save(self) -> str:
        """Return the commit of the folder's present state, ``""`` if it has none."""
        return ""

    def go_to(self, commit: str) -> None:
        """Restore the state of a recorded commit."""

    def check(self) -> str:
        """Run the ticket's check; return its output if it fails, else ``""``."""
        return ""

    def informed(self, assignment: Assignment) -> Assignment:
        """Add a note on other tickets' changes to the assignment."""
        return assignment

    def finish(self, reply: WorkerReply) -> WorkerReply:
        """Add the ticket's changes to the reply."""
        return reply

    def close(self) -> None:
        """Delete temporary files and folders."""


@dataclass(slots=True)
class ToolLoop:
    """One attempt at a ticket whose worker may call tools."""

    assignment: Assignment
    client: Client
    limits: TicketLimits
    changes: Changes
    steps: Steps
    begun: Callable[[], None] = lambda: None  # called when the first answer is there
    turns: list[LoopTurn] = field(default_factory=list)
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    _as_text: bool = False
    _refused: str = ""  # why an answer was not taken
    _failed_checks: int = 0
    _size: int = 0  # tokens of its context
    _warnings: dict[str, None] = field(default_factory=dict)
    _whole: dict[str, str] = field(default_factory=dict)  # results shown in part
    _expected: int = 0  # tokens of the next request, estimated
    _commit: str = ""  # where the last recorded change stands
    _watch: CallWatch = field(default_factory=CallWatch)
    _reminders: set[str] = field(default_factory=set)  # reminders sent already

    def run(self) -> WorkerReply:
        """Run the loop; return the answer, or raise ``WorkerError``."""
        self._as_text = not takes_tools(self.client.provider, self.client.model)
        self._whole |= self.assignment.whole_results
        self._size = size_of(self.client, self.assignment.text, self.assignment.persona)
        # Their schemas are not at hand here: a work tree is checked out only when a call needs it.
        self._expected = self._size + _OF_TOOL * (len(self.assignment.tools) + 1)
        while True:
            is_last = self._is_last()
            if is_last and self.turns and not self.turns[-1].note:
                self.turns[-1] = replace(self.turns[-1], note=LAST_TURN)
            reply = self._ask()
            calls = tuple(ToolCall(**call) for call in reply["calls"])
            if calls and not is_last:
                native = reply["native"] if not self._as_text else None
                results = tuple(self._called(calls))
                self._add_turn(LoopTurn(reply["text"], results, native=native), reply["tokens"])
                if reason := self._watch.stuck(results):
                    raise self._failed(reason)
            elif calls:
                raise self._failed(
                    f"it called tools again instead of answering in its last turn, {len(self.turns) + 1} of "
                    f"{self.limits.max_turns}: allow more with max_turns or max_tokens, or ask for less"
                )
            elif note := self._fault_of(reply):
                if is_last:
                    raise self._failed(note)
                self._add_turn(LoopTurn(reply["text"], note=note), reply["tokens"])
            elif not is_last and (reminder := self._reminder(reply["text"])):
                self._reminders.add(reminder)
                self._add_turn(LoopTurn(reply["text"], note=reminder), reply["tokens"])
            else:
                if announces_call(reply["text"]):
                    self._warnings["the answer only announces a call"] = None
                warning = "; ".join(self._warnings)
                return WorkerReply(reply["text"], self.tokens, warning, self.cost)

    def _add_turn(self, turn: LoopTurn, tokens: int) -> None:
        """Add a turn of ``tokens`` tokens to the next request."""
        self.turns.append(turn)
        texts = (*(result.text for result in turn.results), turn.note)
        self._expected = tokens + size_of(self.client, *texts) + _AROUND_RESULT * len(turn.results)

    def _reminder(self, text: str) -> str:
        """Return a reminder for the model, or ``""``.

        Each reminder is sent once, before the answer is accepted.
        """
        if announces_call(text) and CALL_NOW not in self._reminders:
            return CALL_NOW
        may_edit = any(name in EDITS for name in self.assignment.tools)
        is_unchanged = self._commit in ("", self.assignment.base)
        return ACT_OR_SAY if may_edit and is_unchanged and ACT_OR_SAY not in self._reminders else ""

    def _is_last(self) -> bool:
        """Return whether the limits of turns, tokens or dollars allow only one more answer."""
        growth = max(self._size, self.tokens // max(len(self.turns), 1))
        tokens_left = self._left
        if tokens_left < LEAST_ANSWER:
            raise self._over(
                f"used {self._used:,} of {self.limits.max_tokens:,} tokens, and its next request has about "
                f"{self._expected:,},",
                again=False,
            )
        most = self.assignment.max_cost
        is_spent = most is not None and (self.cost or 0.0) >= most
        return len(self.turns) + 1 >= self.limits.max_turns or is_spent or tokens_left < growth

    @property
    def _used(self) -> int:
        return self.assignment.used_tokens + self.tokens

    @property
    def _left(self) -> int:
        """The tokens left for the next answer, if the request is not cached."""
        return self.limits.max_tokens - self._used - self._expected

    def _over(self, reason: str, *, again: bool = True) -> WorkerError:
        return self._failed(f"it {reason} before it answered", again=again)

    def _failed(self, reason: str, *, again: bool = False) -> WorkerError:
        return WorkerError(reason, again=again, tokens=self.tokens, cost=self.cost)

    def _record(self, name: str, action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        seconds_left = self.assignment.timeout - self.seconds
        if seconds_left <= 0:
            raise self._over(f"took {self.assignment.timeout:g} s")
        record = self.steps.record(name, action, seconds_left)
        self.seconds += record["seconds"]
        return record

    def _ask(self) -> dict[str, Any]:
        reply = self._record("turn", self._send)
        if reply.get("refuses_tools") and not self._as_text:
            self._as_text = True
            self.turns = [written_out(turn) for turn in self.turns]
            self._warnings[f"calls were sent as text: {reply['error']}"] = None
            reply = self._record("turn", self._send)
        if "timeout" in reply:
            raise self._over(f"took {self.assignment.timeout:g} s")
        self.tokens += reply["tokens"]
        self.cost = None if reply["cost"] is None else (self.cost or 0.0) + reply["cost"]
        if reply["error"]:
            raise self._failed(reply["error"], again=reply["again"])
        self._warnings |= dict.fromkeys(reply["warnings"])
        self.begun()
        return reply

    def _send(self) -> dict[str, Any]:
        """Send the next request; return the record of the reply."""
        registry = self.changes.tools()
        tools = [OfferedTool(tool.name, tool.description, tool.input_schema) for tool in registry]
        tools.append(_OFFERED)
        message = self.assignment.message
        if self._as_text:
            message = f"{message}\n\n{call_instructions(tools)}"
        request = ChatRequest(
            self.assignment.prompt,
            message,
            system=self.assignment.persona,
            max_output=max(min(ChatRequest().max_output, self._left), 1),
            seconds=self.assignment.timeout - self.seconds,
            schema=enforced_schema(self.assignment.answer) if self._refused else None,
            tools=() if self._as_text else tuple(tools),
            turns=tuple(self.turns),
        )
        try:
            reply = self.client.send(request)
        except ClientError as error:
            refusal = error if isinstance(error, ProviderError) else None
            return _turn_record(
                provider=self.client.provider,
                error=str(error),
                again=refusal is not None and refusal.retryable,
                refuses_tools=refusal is not None and refuses_tools(refusal),
            )
        text, calls = reply.text, reply.calls
        calls = calls or calls_in_text(text, {tool.name for tool in tools})
        if not calls and self._as_text and reply.stop is FinishReason.LENGTH:
            text, calls = without_cut_call(text)
        warnings = [] if calls else [*filter(None, [doubt_of(reply)])]
        warnings += [
            f"the limit of {request.max_output:,} tokens cut a call of {call.name}"
            for call in calls
            if call.fault == CUT_CALL
        ]
        if reply.usage.output > request.max_output:
            warnings.append(
                f"the server ignores the limit of an answer: it wrote {reply.usage.output:,} tokens, "
                f"{request.max_output:,} were allowed"
            )
        return _turn_record(
            text=text,
            calls=[asdict(call) for call in calls],
            native=reply.native if reply.calls else None,
            error="" if calls else fault_of(reply),
            again=reply.stop is not FinishReason.REFUSED,
            warnings=warnings,
            tokens=reply.usage.input + reply.usage.output,
            output_tokens=reply.usage.output,
            model=reply.model,
            provider=self.client.provider,
            cost=None if reply.price is None else float(reply.price),
        )

    def _called(self, calls: Sequence[ToolCall]) -> Iterator[CallResult]:
        """Run the calls of a turn; consecutive calls that read run at the same time."""
        registry = self.changes.tools()
        number = 0
        for writes, group in groupby(calls, key=lambda call: _writes(registry, call)):
            if writes:
                results = [(call, self._write(call)) for call in group]
            else:
                results = list(zip(read := list(group), self._read(read), strict=True))
            for call, text in results:
                number += 1
                yield CallResult(call, self._shown(text, f"{len(self.turns) + 1}.{number}"))

    def _read(self, calls: Sequence[ToolCall]) -> list[str]:
        def read() -> dict[str, Any]:
            registry = self.changes.tools()
            made = ordered_map(
                "call", lambda call: self._timed(registry, call), calls, workers=_AT_ONCE
            )
            texts, took = [text for text, _ in made], [seconds for _, seconds in made]
            return {"calls": [call.name for call in calls], "results": texts, "took": took}

        record = self._record("calls", read)
        return record["results"] if "results" in record else [_TOO_LONG] * len(calls)

    def _write(self, call: ToolCall) -> str:
        """Run a call with possible side effects; return its output.

        In a work tree an interrupted call is repeated from the last recorded commit. Elsewhere an interrupted call may
        already have taken effect and is not repeated.
        """
        is_new = False

        def begin() -> dict[str, Any]:
            nonlocal is_new
            is_new = True
            return {"calls": [call.name]}

        registry = self.changes.tools()
        in_tree = call.name in registry and registry.get(call.name).repeatable
        if not in_tree:
            self._record("begin", begin)

        def write() -> dict[str, Any]:
            if not in_tree and not is_new:
                return {"calls": [call.name], "results": [_INTERRUPTED], "commit": ""}
            text = self._run(registry, call)
            return {"calls": [call.name], "results": [text], "commit": self.changes.save()}

        record = self._record("write", write)
        if "results" not in record:
            self.changes.go_to("")
            return _TOO_LONG
        if record["commit"]:
            self.changes.go_to(record["commit"])
            self._commit = record["commit"]
        return str(record["results"][0])

    def _timed(self, registry: ToolRegistry, call: ToolCall) -> tuple[str, float]:
        began = monotonic()
        return self._run(registry, call), round(monotonic() - began, 3)

    def _run(self, registry: ToolRegistry, call: ToolCall) -> str:
        if call.name == READ_RESULT:
            return self._read_on(call.arguments)
        if fault := malformed(call, registry):
            return fault
        try:
            output = registry.run(call.name, call.arguments)
        except ToolError as error:
            return f"error: {error}"
        return result_text(output)[:RESULT_CHARACTERS]

    def _read_on(self, arguments: Mapping[str, Any]) -> str:
        reference, start = str(arguments.get("reference")), arguments.get("start", 0)
        if reference not in self._whole or not isinstance(start, int):
            names = ", ".join(self._whole) or "none"
            return f"error: reference is one of {names}, and start a number"
        text = self._whole[reference]
        start = max(start, 0)
        return (
            text[start : start + SHOWN - _TAIL]
            or f"error: start is beyond the end of {reference}, which has {len(text):,} characters"
        )

    def _shown(self, text: str, reference: str) -> str:
        if len(text) <= SHOWN:
            return text
        # Equal results share a reference; the guard compares shown texts.
        reference = next((name for name, whole in self._whole.items() if whole == text), reference)
        self._whole[reference] = text
        head = SHOWN - _TAIL
        omitted = len(text) - SHOWN
        on = json.dumps({"reference": reference, "start": head})
        return f"{text[:head]}\n[{omitted:,} characters are left out here: {READ_RESULT} {on}]\n{text[-_TAIL:]}"

    def _fault_of(self, reply: Mapping[str, Any]) -> str:
        """Return the message to the model that rejects its answer, ``""`` if accepted."""
        try:
            if self.assignment.answer is not None:
                checked_answer(reply["text"], self.assignment.answer)
        except AnswerSchemaError as fault:
            if self._refused:
                raise self._failed(f"the answer does not match its schema: {fault}") from None
            self._refused = str(fault)
            return CORRECT_IT.format(fault)
        if not self.assignment.verify:
            return ""
        record = self._record("check", lambda: {"said": self.changes.check()})
        failed = record.get("said", _TOO_LONG)
        if not failed:
            return ""
        self._failed_checks += 1
        if self._failed_checks >= self.assignment.attempts:
            times = f"{self._failed_checks} times" if self._failed_checks > 1 else "once"
            raise self._failed(
                f"its check `{self.assignment.verify}` failed {times}: {failed[-2_000:]}"
            )
        return CHECK_FAILED.format(self.assignment.verify, failed)


_TOO_LONG: Final = "error: the ticket's time was over before the call ended; ask for less"
_INTERRUPTED: Final = (
    "error: this call was interrupted and may have taken effect: check first, and repeat it "
    "only if not"
)


def _turn_record(**reply: Any) -> dict[str, Any]:  # noqa: ANN401 - the values of a record
    """Return the record of a turn; missing fields get defaults."""
    nothing: dict[str, Any] = {"text": "", "calls": [], "native": None, "error": "", "again": False}
    taken = {
        "refuses_tools": False,
        "warnings": [],
        "tokens": 0,
        "cost": 0.0,
        "output_tokens": 0,
        "model": "",
        "provider": "",
    }
    return {**nothing, **taken, **reply}


def _writes(registry: ToolRegistry, call: ToolCall) -> bool:
    return call.name in registry and registry.get(call.name).writes


def result_text(output: Any) -> str:  # noqa: ANN401 - a tool's JSON
    """Render a tool's output for the model.

    Strings keep their lines. A text with headings like those of a prompt is fenced.
    """
    text = _plain_result(output)
    return text if plain_headings(text) == text else fence(text, "text")


def _plain_result(output: Any) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(output, str):
        return output
    if not isinstance(output, dict):
        return json.dumps(output, ensure_ascii=False)
    if output.get("success") is False:
        hint = f" {output['hint']}" if output.get("hint") else ""
        return f"error: {output.get('error', 'it failed')}{hint}"
    return "\n".join(_lines_of(name, value) for name, value in output.items() if name != "success")


def _lines_of(name: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
    if name == "content" and isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join((f"{name}:", *value))
    return f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
