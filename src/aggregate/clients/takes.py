"""What each provider takes beside the text of a request: one table with the date of what is known.

A request with something that its provider does not take is refused as a whole, so this is asked before; where the table
is behind the times, the client asks once more with the text alone. Sources: the providers' documentation and the texts
of their SDKs, as read in November 2026.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

AS_OF: Final = "2026-11-21"


class Form(StrEnum):
    """How far an answer can be bound to a schema."""

    TEXT = "text"
    """Not at all: the answer is read as it comes."""
    OBJECT = "object"
    """Some JSON object; which one is said in the text."""
    SCHEMA = "schema"
    """JSON of that schema."""


@dataclass(frozen=True, slots=True)
class Takes:
    """What a model takes.

    Attributes:
        lowest: The lowest temperature, ``None`` where none may be set or none should.
        form: How an answer is bound to a schema.
    """

    lowest: float | None = None
    form: Form = Form.TEXT

    def temperature(self, wanted: float | None) -> float | None:
        """Return the temperature to send, ``None`` for none."""
        return None if wanted is None or self.lowest is None else max(wanted, self.lowest)


_TABLE: Final = (
    # The newest models of Anthropic and OpenAI refuse a temperature, and Anthropic's SDK has lost the word.
    ("anthropic", "", Takes(None, Form.SCHEMA)),
    ("openai", "", Takes(None, Form.SCHEMA)),
    ("openai", "gpt-4o", Takes(0.0, Form.SCHEMA)),
    ("openai", "gpt-4.1", Takes(0.0, Form.SCHEMA)),
    ("gemini", "", Takes(0.0, Form.SCHEMA)),
    # Google: below its own temperature Gemini 3 may loop.
    ("gemini", "gemini-3", Takes(None, Form.SCHEMA)),
    ("deepseek", "", Takes(0.0, Form.OBJECT)),
    ("minimax", "", Takes(0.01, Form.TEXT)),
    ("compatible", "", Takes(0.0, Form.SCHEMA)),
    ("scripted", "", Takes(0.0, Form.SCHEMA)),
)
"""By provider and the beginning of the model's name; the longest one that fits holds."""


def takes(provider: str, model: str) -> Takes:
    """Return what a provider's model takes; one that is not in the table takes text alone."""
    name = model.lower().rsplit("/", 1)[-1]
    fitting = [(len(start), row) for who, start, row in _TABLE if who == provider and name.startswith(start)]
    return max(fitting, key=lambda one: one[0], default=(0, Takes()))[1]
