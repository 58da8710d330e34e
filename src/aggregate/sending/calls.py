"""Tools in a discussion: what a model is offered, what it calls, and what it is told of it, in no provider's form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class OfferedTool:
    name: str
    description: str
    parameters: Mapping[str, Any]  # the JSON Schema of an object

    def declared(self, schema_key: str) -> dict[str, Any]:
        """Return the tool as providers take it, who differ in what they call its schema."""
        named = {"name": self.name, "description": self.description}
        return {**named, schema_key: self.parameters}


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str  # the provider's, which the result must name; some have none
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""  # why its arguments could not be read


def read_call(identity: object, name: object, arguments: object) -> ToolCall:
    """Return a call as a provider reports it, its arguments an object or the text of one."""
    fault = ""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            fault = f"its arguments are no JSON ({error})"
    if not fault and not isinstance(arguments, Mapping):
        fault = "its arguments are no object"
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    return ToolCall(str(identity or ""), str(name or ""), given, fault)


@dataclass(frozen=True, slots=True)
class CallResult:
    call: ToolCall
    text: str


@dataclass(frozen=True, slots=True)
class LoopTurn:
    """What a model said and called, and what it was told then.

    Attributes:
        text: What it said.
        results: One for each of its calls, in order.
        note: What it is told besides.
        native: Its message as the provider gave it, which some want back with the results, signatures included.
    """

    text: str = ""
    results: tuple[CallResult, ...] = ()
    note: str = ""
    native: Any = None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(result.call for result in self.results)

    @property
    def told(self) -> str:
        """What the model was told, as one text."""
        return "\n\n".join(
            part for part in (*(one.text for one in self.results), self.note) if part
        )
