"""The loop of a ticket: requests, calls, answer. A ticket without tools makes one request.

Requests are sent and calls run until the model answers. Each reply and each result is recorded before it is used. After
a kill the loop replays the record and continues. So all decisions, including sums of tokens, costs and seconds, depend
only on recorded data.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from time import monotonic
from typing import Any, Final

from aggregate.agents.limits import TicketLimits
from aggregate.agents.tools import EDITS, ToolRegistry
from aggregate.agents.tracks.answer_schema import AnswerSchemaError, checked_answer, enforced_schema
from aggregate.agents.tracks.assignment import Assignment, WorkerReply
from aggregate.agents.tracks.attempt import CORRECT_IT, Action, Steps
from aggregate.agents.tracks.tool_calls import (
    CallWatch,
    announces_call,
    call_instructions,
    malformed,
    result_text,
    size_of,
    take_turn,
    written_out,
)
from aggregate.agents.tracks.work_trees import Changes
from aggregate.base.concurrency import ordered_map
from aggregate.base.errors import ToolError, WorkerError
from aggregate.prompt.sections.subagent_results import READ_RESULT
from aggregate.sending import known_model
from aggregate.sending.clients import ChatRequest, Client
from aggregate.sending.models import CallResult, LoopTurn, OfferedTool, ToolCall

# Characters of a shown result, head and tail: about 4,000 tokens. ``read_result`` shows the rest.
SHOWN: Final = 16_000
_TAIL: Final = 4_000
RESULT_CHARACTERS: Final = 1_000_000  # of a stored result; a project tool gives no more than 60,000
LEAST_ANSWER: Final = 500  # tokens of an answer, about a page; with fewer left nothing is asked
_OF_TOOL: Final = 200  # tokens of a tool's schema, about
_AROUND_RESULT: Final = 50  # tokens of a call's frame in a request, at most
_AT_ONCE: Final = 8  # reading calls of one turn
_GRACE_SECONDS: Final = 0.5  # a request ends after its attempt, which has timed out
LAST_TURN: Final = "This was your last call: answer now from what you know, without calling a tool."
CHECK_FAILED: Final = "You are not done yet: the check `{}` failed:\n\n{}\n\nFix it."
CALL_NOW: Final = (
    "You announced a call and made none. Make the call now, or give your final answer."
)
ACT_OR_SAY: Final = (
    "You have changed no file. Make the change now with your tools, or say in one sentence why none is "
    "needed."
)
_TOO_LONG: Final = "error: the ticket's time was over before the call ended; ask for less"
_INTERRUPTED: Final = (
    "error: this call was interrupted and may have taken effect: check first, and repeat it "
    "only if not"
)
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


@dataclass(slots=True)
class ToolLoop:
    """One attempt at a ticket whose worker may call tools."""

    assignment: Assignment
    client: Client
    limits: TicketLimits
    changes: Changes
    steps: Steps
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
        assignment, client = self.assignment, self.client
        self._as_text = not known_model(client.provider, client.model).takes_tools
        self._whole |= assignment.whole_results
        self._size = self._expected = size_of(client, assignment.text, assignment.persona)
        if not assignment.tools:
            return self._answer_at_once()
        # Their schemas are not at hand here: a work tree is checked out only when a call needs it.
        self._expected += _OF_TOOL * (len(assignment.tools) + 1)
        while True:
            is_last = self._is_last()
            if is_last and self.turns and not self.turns[-1].note:
                self.turns[-1] = replace(self.turns[-1], note=LAST_TURN)
            reply = self._ask()
            if reply.calls and is_last:
                raise self._failed(
                    f"it called tools again instead of answering in its last turn, {len(self.turns) + 1} of "
                    f"{self.limits.max_turns}: allow more with max_turns or max_tokens, or ask for less"
                )
            if reply.calls:
                results = tuple(self._called(reply.calls))
                native = None if self._as_text else reply.native
                self._add_turn(LoopTurn(reply.text, results, native=native), reply.tokens)
                if reason := self._watch.stuck(results):
                    raise self._failed(reason)
            elif note := self._objection(reply.text, is_last=is_last):
                self._add_turn(LoopTurn(reply.text, note=note), reply.tokens)
            else:
                if announces_call(reply.text):
                    self._warnings["the answer only announces a call"] = None
                warning = "; ".join(self._warnings)
                return replace(reply, tokens=self.tokens, warning=warning, cost=self.cost)

    def _answer_at_once(self) -> WorkerReply:
        """Return the answer of a ticket without tools; its attempt checks, times and records it."""
        if self._left <= 0:
            most, used = self.limits.max_tokens, self.assignment.used_tokens
            rest = f" (earlier attempts used {used:,})" if used else ""
            raise self._failed(
                f"its context of {self._size:,} tokens exceeds max_tokens, {most:,}{rest}: "
                "raise max_tokens, or lower its budget"
            )
        return self._ask()

    def _add_turn(self, turn: LoopTurn, tokens: int) -> None:
        """Add a turn of ``tokens`` tokens to the next request."""
        self.turns.append(turn)
        texts = (*(result.text for result in turn.results), turn.note)
        self._expected = tokens + size_of(self.client, *texts) + _AROUND_RESULT * len(turn.results)

    def _is_last(self) -> bool:
        """Return whether the limits of turns, tokens or dollars allow only one more answer."""
        growth = max(self._size, self.tokens // max(len(self.turns), 1))
        if self._left < LEAST_ANSWER:
            raise self._over(
                f"used {self._used:,} of {self.limits.max_tokens:,} tokens, and its next request has about "
                f"{self._expected:,},",
                again=False,
            )
        most = self.assignment.max_cost
        is_spent = most is not None and (self.cost or 0.0) >= most
        return len(self.turns) + 1 >= self.limits.max_turns or is_spent or self._left < growth

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

    def _record(self, name: str, action: Action) -> dict[str, Any]:
        if not self.assignment.tools:
            return action()
        seconds_left = self.assignment.timeout - self.seconds
        if seconds_left <= 0:
            raise self._over(f"took {self.assignment.timeout:g} s")
        record = self.steps.record(name, action, seconds_left)
        self.seconds += record["seconds"]
        return record

    def _ask(self) -> WorkerReply:
        record = self._record("turn", self._send)
        if record.get("refuses_tools") and not self._as_text:
            self._as_text = True
            self.turns = [written_out(turn) for turn in self.turns]
            self._warnings[f"calls were sent as text: {record['text']}"] = None
            record = self._record("turn", self._send)
        if "timeout" in record:
            raise self._over(f"took {self.assignment.timeout:g} s")
        reply = WorkerReply.from_recorded(record)
        self.tokens += reply.tokens
        if reply.tokens:  # else no server was reached
            self.cost = None if reply.cost is None else (self.cost or 0.0) + reply.cost
        if reply.status.has_failed:
            raise self._failed(reply.text, again=reply.again)
        self._warnings |= dict.fromkeys(filter(None, [reply.warning]))
        return reply

    def _send(self) -> dict[str, Any]:
        """Send the next request; return the record of the reply."""
        offered = {*self.assignment.tools, READ_RESULT} if self.assignment.tools else set()
        return asdict(take_turn(self.client, self._request(), in_text=offered))

    def _request(self) -> ChatRequest:
        assignment = self.assignment
        message, tools = assignment.message, list[OfferedTool]()
        if assignment.tools:
            registry = self.changes.tools()
            tools = [OfferedTool(one.name, one.description, one.input_schema) for one in registry]
            tools.append(_OFFERED)
            if self._as_text:
                message = f"{message}\n\n{call_instructions(tools)}"
        takes_schema = self._refused or not tools  # with tools it would forbid their calls
        return ChatRequest(
            assignment.prompt,
            message,
            system=assignment.persona,
            max_output=max(min(ChatRequest().max_output, self._left), 1),
            seconds=assignment.timeout - self.seconds + _GRACE_SECONDS,
            schema=enforced_schema(assignment.answer) if takes_schema else None,
            tools=() if self._as_text else tuple(tools),
            turns=tuple(self.turns) if tools else None,
        )

    def _called(self, calls: Sequence[ToolCall]) -> Iterator[CallResult]:
        """Run the calls of a turn; consecutive calls that read run at the same time."""
        registry = self.changes.tools()
        writing = {tool.name for tool in registry if tool.writes}
        number = 0
        for writes, group in groupby(calls, key=lambda call: call.name in writing):
            consecutive = list(group)
            texts = list(map(self._write, consecutive)) if writes else self._read(consecutive)
            for call, text in zip(consecutive, texts, strict=True):
                number += 1
                yield CallResult(call, self._shown(text, f"{len(self.turns) + 1}.{number}"))

    def _read(self, calls: Sequence[ToolCall]) -> list[str]:
        def read() -> dict[str, Any]:
            registry = self.changes.tools()

            def timed(call: ToolCall) -> tuple[str, float]:
                began = monotonic()
                return self._run(registry, call), round(monotonic() - began, 3)

            made = ordered_map("call", timed, calls, workers=_AT_ONCE)
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

    def _objection(self, text: str, *, is_last: bool) -> str:
        """Return the message to the model that rejects its answer, ``""`` if accepted.

        Each reminder is sent once, before the answer is accepted.
        """
        fault = self._schema_fault(text) or self._check_fault()
        if fault and is_last:
            raise self._failed(fault)
        if fault or is_last:
            return fault
        may_edit = any(name in EDITS for name in self.assignment.tools)
        is_unchanged = self._commit in ("", self.assignment.base)
        reminders = []
        if announces_call(text):
            reminders.append(CALL_NOW)
        if may_edit and is_unchanged:
            reminders.append(ACT_OR_SAY)
        reminder = next((one for one in reminders if one not in self._reminders), "")
        self._reminders.add(reminder)
        return reminder

    def _schema_fault(self, text: str) -> str:
        if self.assignment.answer is None:
            return ""
        try:
            checked_answer(text, self.assignment.answer)
        except AnswerSchemaError as fault:
            if self._refused:
                raise self._failed(f"the answer does not match its schema: {fault}") from None
            self._refused = str(fault)
            return CORRECT_IT.format(fault)
        return ""

    def _check_fault(self) -> str:
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
