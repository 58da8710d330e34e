"""What each provider takes beside the text of a request, in one table.

A request with something that its provider does not take is refused as a whole, so this is asked before; where the table
is behind the times, the client asks once more with the text alone. Sources: the providers' documentation and the texts
of their SDKs, as read in November 2026.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aggregate.base.values import api_family, bare_model_name


class ResponseFormat(StrEnum):
    """How far an answer can be bound to a schema."""

    TEXT = "text"
    """Not at all: the answer is read as it comes."""
    OBJECT = "object"
    """Some JSON object; which one is said in the text."""
    SCHEMA = "schema"
    """JSON of that schema."""


class Effort(StrEnum):
    """How long a model thinks before it answers, in the words that the providers share."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes.

    Attributes:
        lowest_temperature: ``None`` where none may be set or none should.
        response_format: How an answer is bound to a schema.
        takes_effort: Whether it can be told how long to think.
    """

    lowest_temperature: float | None = None
    response_format: ResponseFormat = ResponseFormat.TEXT
    takes_effort: bool = False

    def temperature(self, requested: float | None) -> float | None:
        """Return the temperature to send, ``None`` for none."""
        if requested is None or self.lowest_temperature is None:
            return None
        return max(requested, self.lowest_temperature)


_TABLE: Final = (
    # The newest models of Anthropic and OpenAI refuse a temperature, and Anthropic's SDK has lost the word.
    ("anthropic", "", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-haiku-4", Capabilities(None, ResponseFormat.SCHEMA)),
    ("anthropic", "claude-sonnet-4", Capabilities(None, ResponseFormat.SCHEMA)),
    (
        "anthropic",
        "claude-sonnet-4-6",
        Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True),
    ),
    ("anthropic", "claude-opus-4", Capabilities(None, ResponseFormat.SCHEMA)),
    ("anthropic", "claude-opus-4-5", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-opus-4-6", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-opus-4-7", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-opus-4-8", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("openai", "", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("openai", "gpt-4o", Capabilities(0.0, ResponseFormat.SCHEMA)),
    ("openai", "gpt-4.1", Capabilities(0.0, ResponseFormat.SCHEMA)),
    ("gemini", "", Capabilities(0.0, ResponseFormat.SCHEMA)),
    # Google: below its own temperature Gemini 3 may loop.
    ("gemini", "gemini-3", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("gemini", "gemini-4", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("deepseek", "", Capabilities(0.0, ResponseFormat.OBJECT)),
    ("minimax", "", Capabilities(0.01, ResponseFormat.TEXT)),
    ("compatible", "", Capabilities(0.0, ResponseFormat.SCHEMA, takes_effort=True)),
    ("scripted", "", Capabilities(0.0, ResponseFormat.SCHEMA, takes_effort=True)),
)
"""By provider and the beginning of the model's name; the longest one that fits holds."""


def capabilities_of(provider: str, model: str) -> Capabilities:
    """Return what a provider's model takes; one that is not in the table takes text alone."""
    name = bare_model_name(model)
    family = api_family(provider, model)
    rows = [(start, row) for who, start, row in _TABLE if who == family and name.startswith(start)]
    _, capabilities = max(rows, key=lambda row: len(row[0]), default=("", Capabilities()))
    return capabilities


def unused_options(
    provider: str, model: str, *, effort: Effort | None, temperature: float | None
) -> tuple[str, ...]:
    """Return a warning for each option that a user has set and the model does not take."""
    capabilities = capabilities_of(provider, model)
    asked = f"{provider} {model}".strip()
    warnings = []
    if effort is not None and not capabilities.takes_effort:
        warnings.append(f"{asked} takes no effort: {effort.value} is left out")
    taken = capabilities.temperature(temperature)
    if temperature is not None and taken is None:
        warnings.append(f"{asked} takes no temperature: {temperature:g} is left out")
    elif temperature is not None and taken != temperature:
        warnings.append(f"{asked} takes no temperature of {temperature:g}: {taken:g} is sent")
    return tuple(warnings)
